#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""inject.py: send every frame of a pcap file from PEER to NETIF.

usage: inject.py FILE

The frames' Ethernet addresses are replaced by those of the two ports if the file was
made for others (destination 02:00:00:00:00:aa stands for NETIF). No more frames are
on their way than fit into a receive ring. Prints how many frames were sent, how many
the device received, and what the driver counted. Exit status: 0 if every frame that a
port can receive arrived and the counters add up, 1 if not.
"""
import sys
import time

import frames as f
from wire import COUNTERS, Wire

WINDOW = 128
STAND_IN = f.mac("02:00:00:00:00:aa")


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] == ["--help"] else 2
    wire = Wire()
    frames = [frame for burst in f.read_pcap(sys.argv[1]) for frame in burst]
    here = f.mac(wire.netif_mac)
    wire.settle()
    before, stats = wire.ethtool.zcg(), wire.ethtool.stats()
    sent = refused = delivered = marks = 0
    started = last = time.monotonic()
    for number, frame in enumerate(frames, 1):
        if frame[:6] == STAND_IN:
            frame = here + frame[6:]
        try:
            wire.send(frame)
            sent += 1
        except OSError:
            refused += 1        # longer than the MTU, or no whole Ethernet header
        if number % WINDOW == 0:
            delivered += len(wire.mark())
            marks += 1
        if time.monotonic() - last > 5:
            last = time.monotonic()
            print(f"{number} of {len(frames)} frames after {last - started:.0f} s", flush=True)
    delivered += len(wire.settle())
    marks += 2
    after, stats_after = wire.ethtool.zcg(), wire.ethtool.stats()
    grown = {n: after[n] - before[n] for n in COUNTERS}
    received = stats_after["rx_packets"] - stats["rx_packets"] - marks
    print(f"{len(frames)} frames in {time.monotonic() - started:.1f} s: {sent} sent, {refused} not "
          f"sendable; {received} received, {delivered} packets delivered; " +
          ", ".join(f"{n} {v}" for n, v in grown.items()))
    problems = []
    for n in ("rx_missed_errors", "rx_no_dma_resources"):
        if stats_after.get(n, 0) != stats.get(n, 0):
            problems.append(f"{n} grew by {stats_after[n] - stats[n]}")
    problems += wire.ethtool.sums()
    print(*problems, sep="\n", end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())

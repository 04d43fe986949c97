#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""order.py: the cases of order.sh, single frames and the order they are delivered in.

usage: order.py open|gated

GRO is made to keep a segment for a second (gro_flush_timeout). So a first segment is
sent and stays in GRO, then something changes or not, and the next segment of the flow
is sent: the stack must get the first one first, whatever way the second one takes.
That GRO held the first one is looked at, too, or the case would prove nothing.
"""
import os
import subprocess
import sys
import time

import frames as f
from wire import Ktap, Wire, wait_for

PORT = int(os.environ.get("VX_PORT", "5766"))
OUT, IN = ("192.168.1.1", "192.168.1.2"), ("10.0.2.1", "10.0.2.2")
ON, DEFER = FLAGS = ("zero-csum-gro", "zero-csum-gro-defer")
OFF = None
HOLD_NS = 1_000_000_000
# The inner TCP payload, and that of a segment without a tunnel.
INNER, PLAIN = 14 + 20 + 8 + 8 + 14 + 20 + 20, 14 + 20 + 20
SIZE = 200


class Bench:
    def __init__(self):
        self.wire = Wire()
        self.flow = 0

    def inside(self, *command):
        subprocess.run(["ip", "netns", "exec", self.wire.rx_ns, *command], check=True,
                       stdout=subprocess.DEVNULL)

    def hold(self, nanoseconds):
        for name, value in (("napi_defer_hard_irqs", int(bool(nanoseconds))), ("gro_flush_timeout", nanoseconds)):
            self.inside("sh", "-c", f"echo {value} > /sys/class/net/{self.wire.netif}/{name}")

    def mode(self, flag):
        self.wire.ethtool.set_flags({name: name == flag for name in FLAGS})

    def port_known(self, on):
        self.inside("ethtool", "-K", self.wire.netif, "rx-udp_tunnel-port-offload", "on" if on else "off")

    def checksums(self, on):
        self.inside("ethtool", "-K", self.wire.netif, "rx", "on" if on else "off")

    def tcp(self, number, addresses):
        return f.ip4(*addresses, f.TCP, f.tcp(*addresses, 6000 + self.flow, 6001, bytes([number]) * SIZE,
                                              seq=1000 + SIZE * number))

    def plain(self, number):
        return f.eth(self.wire.netif_mac, self.wire.peer_mac, f.ETH_IP, self.tcp(number, OUT))

    def tunnelled(self, number, check=0, flags=f.VXLAN_I):
        inner = f.eth("02:00:00:00:00:02", "02:00:00:00:00:01", f.ETH_IP, self.tcp(number, IN))
        return f.eth(self.wire.netif_mac, self.wire.peer_mac, f.ETH_IP,
                     f.ip4(*OUT, f.UDP, f.udp(*OUT, 40000 + self.flow, PORT, f.vxlan(inner, flags=flags),
                                              check=check)))

    def received(self):
        return self.wire.ethtool.stats()["rx_packets"]

    def send(self, frame):
        """Returns when the device has counted it: the poll is over then."""
        before = self.received()
        self.wire.send(frame)
        wait_for("a frame to be received", 5, lambda: self.received() > before)

    def delivered(self, seconds, number=None):
        """Numbers of the segments that reached the stack, until number is among them."""
        got, end = [], time.monotonic() + seconds
        while number not in got:
            try:
                packet = self.wire._receive(max(end - time.monotonic(), 0.001))
            except OSError:
                return got
            if packet is None:
                continue
            if packet.data[23] == f.UDP and packet.data[36:38] == PORT.to_bytes(2, "big"):
                got.append(packet.data[INNER])
            elif packet.data[23] == f.TCP and len(packet.data) >= PLAIN + SIZE:
                got.append(packet.data[PLAIN])
        return got

    def first(self, mode, frame, held):
        """Sends it in that mode; what the stack has got of it a moment later. A host that
        is busy elsewhere can let so much time pass that GRO has given the segment up:
        what was seen then tells nothing, and the next flow is tried."""
        for _ in range(5):
            self.flow += 1
            self.mode(mode)
            self.wire.settle()
            self.delivered(0.01)
            begin = time.monotonic()
            self.send(frame(1))
            early = self.delivered(0.05)
            if not (early and held) or time.monotonic() - begin < HOLD_NS / 2e9:
                break
        return early

    def two(self, mode, first, change, second, held=True):
        """What is wrong with the order of two segments, as a list of words."""
        early = self.first(mode, first, held)
        change()
        self.send(second(2))
        got = early + self.delivered(5, 2)
        problems = []
        if bool(early) == held:
            problems.append(f"GRO {'did not hold' if held else 'held'} the first segment")
        if got != [1, 2]:
            problems.append(f"the stack got segments {got}")
        return problems

    def others_stay(self):
        """A deferred frame does not take out of GRO what is none of its flow."""
        self.flow += 1
        self.mode(DEFER)
        self.send(self.tunnelled(1))
        got = self.delivered(5, 1)
        self.send(self.plain(2))
        self.send(self.tunnelled(3))
        got += self.delivered(5, 3)
        if got != [1, 3]:
            return [f"the stack got segments {got}, should be 1 and 3"]
        got = self.delivered(5, 2)
        return [] if got == [2] else [f"then it got {got}, should be 2"]


def cases(b, is_open):
    zero = b.tunnelled

    def to(mode):
        return lambda: b.mode(mode)

    def nothing():
        pass

    def checked(number):
        return b.tunnelled(number, check=None)

    def malformed(number):
        return b.tunnelled(number, flags=0)

    yield "zero-csum-gro, then defer", lambda: b.two(ON, zero, to(DEFER), zero)
    yield "off, then defer", lambda: b.two(OFF, zero, to(DEFER), zero, held=is_open)
    yield "zero-csum-gro, then off", lambda: b.two(ON, zero, to(OFF), zero)
    yield "defer, then zero-csum-gro", lambda: b.two(DEFER, zero, to(ON), zero, held=False)
    yield "defer, then off", lambda: b.two(DEFER, zero, to(OFF), zero, held=False)
    yield "off and on again", lambda: b.two(ON, zero, lambda: (b.mode(OFF), b.mode(DEFER)), zero)
    yield "defer, with outer checksum, then without", lambda: b.two(DEFER, checked, nothing, zero)
    yield "defer, without outer checksum, then with", lambda: b.two(DEFER, zero, nothing, checked, held=False)
    yield "defer, malformed, then well formed", lambda: b.two(DEFER, malformed, nothing, zero, held=is_open)

    def learned():
        b.port_known(False)
        try:
            return b.two(DEFER, zero, lambda: b.port_known(True), zero, held=is_open)
        finally:
            b.port_known(True)

    yield "defer, port unknown, then known", learned
    # Twice, since what was done about it once must be done again.
    for flag, held in ((ON, True), (ON, True), (DEFER, False)):
        def unchecked(flag=flag, held=held):
            try:
                return b.two(flag, zero, lambda: b.checksums(False), zero, held=held)
            finally:
                b.checksums(True)

        yield f"{flag}, then rx checksums off", unchecked
    yield "defer, other people's packets stay in GRO", b.others_stay


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in ("open", "gated"):
        print(__doc__, file=sys.stdout if sys.argv[1:] == ["--help"] else sys.stderr)
        return 0 if sys.argv[1:] == ["--help"] else 2
    bench = Bench()
    todo = list(cases(bench, sys.argv[1] == "open"))
    ktap = Ktap(len(todo) + 1)
    bench.hold(HOLD_NS)
    for name, case in todo:
        ktap.case(name, case())
    bench.mode(OFF)
    bench.hold(0)
    ktap.case("the counters add up", bench.wire.ethtool.sums())
    return ktap.status()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""probe.py: does the driver take a UDP port for a tunnel's?

usage: probe.py PORT[/vxlan|/vxlan-gpe|/geneve]...

For each port sends one good zero-checksum frame from PEER and prints the port with
what the driver counted it as: verified, outer_proto, inner_bad, malformed, or
"unknown" if it was counted as one to an unknown port. zero-csum-gro has to be on.
"""
import sys

import frames as f
from wire import Wire

OUT = ("192.168.1.1", "192.168.1.2")
IN = ("10.0.2.1", "10.0.2.2")


def tunnelled(wire, port, kind):
    inner = f.eth("02:00:00:00:00:02", "02:00:00:00:00:01", f.ETH_IP,
                  f.ip4(*IN, f.UDP, f.udp(*IN, 7, 7, b"which port?")))
    body = {"vxlan": f.vxlan, "vxlan-gpe": f.gpe, "geneve": f.geneve}[kind](inner)
    return f.eth(wire.netif_mac, wire.peer_mac, f.ETH_IP,
                 f.ip4(*OUT, f.UDP, f.udp(*OUT, 40000, port, body, check=0)))


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__)
        return 0 if sys.argv[1:] == ["--help"] else 2
    wire = Wire()
    for word in sys.argv[1:]:
        port, _, kind = word.partition("/")
        before = wire.ethtool.zcg()
        wire.send(tunnelled(wire, int(port), kind or "vxlan"))
        wire.settle()
        after = wire.ethtool.zcg()
        grown = {name: after[name] - before[name] for name in after if after[name] != before[name]}
        if grown == {"seen": 1, "unknown_port": 1}:
            verdict = "unknown"
        elif len(grown) == 2 and grown.pop("seen", 0) == 1 and list(grown.values()) == [1]:
            verdict = next(iter(grown))
        else:
            verdict = f"strange: {grown}"
        print(word, verdict)
    return 0


if __name__ == "__main__":
    sys.exit(main())

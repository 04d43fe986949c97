#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""forwarded.py: what NETIF's host passes on must leave as it came, byte for byte.

usage: forwarded.py bridge|route|outer DEV [options]
  --port N        UDP port of the tunnel (VX_PORT)
  --tunnel DEV    the tunnel device of NETIF's host (vxlan01)
  --exit-mac MAC  route, outer: address that frames leave NETIF's host with
  --router MAC    route: address of the tunnel device
  --expect merged|single  what NETIF's host is to make of the bursts
  --spoil         expect other bytes than were sent, to see that the comparison works

Sends tunnel frames out of PEER in bursts that GRO can merge wholly, in part or not at
all, and compares what arrives at DEV in namespace zcg-far behind NETIF's host with what
was sent:
  bridge  the inner frame, as it was
  route   the inner frame with new Ethernet addresses, hop limit and IPv4 header checksum
  outer   the whole frame, likewise: the tunnel ends elsewhere
Every frame must arrive exactly once, those of one flow in order. The one thing that may
differ besides: the identification of an outer IPv4 header that says "don't fragment",
which means nothing then (RFC 6864) and which GSO numbers anew.

Prints what was sent and in how many packets NETIF's host handled it, and, for each
frame that is not as it was, where it differs. Exit status: 0 all as sent, 1 not, 2 bad
usage.
"""
import argparse
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time

import frames as f
from wire import PACKET_AUXDATA, PACKET_OUTGOING, SO_RCVBUFFORCE, SOL_PACKET, STATUS_VLAN, Wire, \
    inside, snmp

NS_FAR = "zcg-far"
OUTER = ("192.168.1.1", "192.168.1.2")
OUTER_FAR = "192.168.3.2"
INNER, INNER6 = ("10.0.2.1", "10.0.3.2"), ("fd00::1", "fd03::2")
SENDER = "02:00:00:00:00:01"
PATIENCE = 10
ETH_P_ALL = 3
SOL_PACKET_ADD_MEMBERSHIP, MR_PROMISC = 1, 1


def address(namespace, device):
    return subprocess.run(["ip", "-n", namespace, "-br", "link", "show", device], check=True,
                          capture_output=True, text=True).stdout.split()[2]


class Far:
    """What arrives at the far device, tags put back where they were."""

    def __init__(self, device):
        with inside(NS_FAR):
            self.sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self.sock.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            self.sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 16 << 20)
            self.sock.bind((device, ETH_P_ALL))
            index = socket.if_nametoindex(device)
            self.sock.setsockopt(SOL_PACKET, SOL_PACKET_ADD_MEMBERSHIP,
                                 struct.pack("iHH8s", index, MR_PROMISC, 0, b""))

    def receive(self, seconds):
        while select.select([self.sock], [], [], seconds)[0]:
            data, controls, _, where = self.sock.recvmsg(1 << 17, 256)
            if where[2] == PACKET_OUTGOING:
                continue
            for level, kind, value in controls:
                if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                    status, tci = struct.unpack_from("I", value)[0], struct.unpack_from("HH", value, 16)
                    if status & STATUS_VLAN:
                        data = data[:12] + struct.pack("!HH", tci[1] or f.ETH_VLAN, tci[0]) + data[12:]
            return data
        return None


class Mix:
    """Bursts of inner packets: (name, [(flow, EtherType, packet, tags, trailer)])."""

    def __init__(self, mode):
        self.rng = random.Random(5766)
        self.mode = mode
        self.sport = 20000

    def data(self, length):
        return self.rng.getrandbits(8 * length).to_bytes(length, "big")

    def tcp(self, count, v6=False, ids="up", sizes=None, flips=(), options=b"", flags=None,
            tags=(), trailer=b"", tos=None, outer_df=False):
        """One run of consecutive segments."""
        self.sport += 1
        sport = self.sport
        seq, ident = self.rng.getrandbits(31), self.rng.getrandbits(15)
        for i in range(count):
            size = 1340 if sizes is None else sizes[i]
            end = INNER6 if v6 else INNER
            segment = f.tcp(*end, sport, 9, self.data(size), seq=seq, options=options,
                            flags=flags[i] if flags else 0x10, flip=0x40 if i in flips else 0)
            seq += size
            if v6:
                kind, packet = f.ETH_IPV6, f.ip6(*end, f.TCP, segment)
            else:
                number = {"up": ident + i, "same": ident, "any": self.rng.getrandbits(16)}[ids]
                kind, packet = f.ETH_IP, f.ip4(*end, f.TCP, segment, ident=number & 0xffff)
            # Damaged ones overtake what GRO holds back; the stack has it so.
            flow = f"damaged {sport} {i}" if i in flips else sport
            yield flow, kind, packet, tags, trailer, outer_df

    def udp(self, count, check=None, size=1000, frag=0x4000):
        for _ in range(count):
            self.sport += 1
            datagram = f.udp(*INNER, self.sport, 9, self.data(size), check=check)
            yield self.sport, f.ETH_IP, f.ip4(*INNER, f.UDP, datagram, frag=frag,
                                              ident=self.sport & 0xffff), (), b"", False

    def bursts(self):
        last = [1340] * 15 + [700]
        push = [0x10] * 15 + [0x18]
        stamps = struct.pack("!BBBBII", 1, 1, 8, 10, 1234567, 7654321)
        yield "TCP, the last one short and with PSH", [*self.tcp(16, sizes=last, flags=push)]
        yield "TCP with timestamps", [*self.tcp(16, options=stamps)]
        yield "TCP over IPv6", [*self.tcp(16, v6=True, sizes=last, flags=push)]
        yield "TCP, all with the same identification", [*self.tcp(16, ids="same")]
        yield "TCP, identifications of any kind", [*self.tcp(8, ids="any")]
        yield "TCP, two damaged", [*self.tcp(16, flips=(3, 9))]
        yield "TCP over IPv6, one damaged", [*self.tcp(8, v6=True, flips=(4,))]
        yield "TCP, PSH and FIN on the way", [*self.tcp(8, flags=[16, 24, 16, 16, 24, 16, 16, 17])]
        yield "TCP, CWR and ECE", [*self.tcp(8, flags=[0x90, 16, 16, 0x50, 0x50, 16, 16, 16])]
        yield "TCP, odd and mixed lengths", [*self.tcp(8, sizes=[999, 999, 999, 1, 13, 1001, 1001, 77])]
        yield "TCP, pure acknowledgements", [*self.tcp(6, sizes=[0] * 6)]
        yield "TCP, acknowledgements padded as on a wire", [*self.tcp(4, sizes=[0] * 4, trailer=bytes(6))]
        yield "TCP, bytes behind the IP packet", [*self.tcp(6, trailer=b"tail")]
        yield "two TCP flows, interleaved", [x for pair in zip(self.tcp(12), self.tcp(12, v6=True))
                                             for x in pair]
        yield "UDP", [*self.udp(6)]
        yield "UDP without checksums", [*self.udp(6, check=0)]
        yield "UDP, wrong checksums", [*self.udp(3, check=0x1234)]
        yield "fragments", [*self.udp(3, size=800, frag=0x2000)]
        yield "TCP between others", [*self.tcp(5), *self.udp(2), *self.tcp(5, v6=True), *self.udp(1)]
        if self.mode == "bridge":
            yield "TCP in a VLAN", [*self.tcp(12, tags=[(f.ETH_VLAN, 0x2007)])]
        if self.mode == "outer":
            yield "TCP, outer identification 0 and DF", [*self.tcp(12, outer_df=True)]


def hop(packet, at):
    """The IP packet at that offset after one router."""
    out = bytearray(packet)
    if out[at] >> 4 == 6:
        out[at + 7] -= 1
        return bytes(out)
    out[at + 8] -= 1
    out[at + 10:at + 12] = b"\0\0"
    hlen = (out[at] & 15) * 4
    out[at + 10:at + 12] = struct.pack("!H", ~f.ones_sum(bytes(out[at:at + hlen])) & 0xffff)
    return bytes(out)


def unnumbered(frame):
    """Without what an outer IPv4 header with DF may change: identification, checksum."""
    if frame[12:14] == b"\x08\x00" and frame[20] & 0x40:
        return frame[:18] + b"\0\0" + frame[20:24] + b"\0\0" + frame[26:]
    return frame


class Run:
    def __init__(self, args):
        self.args, self.wire, self.far = args, Wire(), Far(args.dev)
        self.wire.stop_listening()
        self.far_mac = address(NS_FAR, args.dev)
        self.ident = 1
        self.problems = []

    def prepare(self, item):
        """One item of a burst: what is sent, what must arrive."""
        flow, kind, packet, tags, trailer, outer_df = item
        mode = self.args.mode
        # The router of "route" is the vxlan device's own address, told by the caller.
        inner_to = self.far_mac if mode != "route" else self.args.router
        inner = f.eth(inner_to, SENDER, kind, packet + trailer, tags)
        far_ip = OUTER_FAR if mode == "outer" else OUTER[1]
        datagram = f.udp(OUTER[0], far_ip, 40000, self.args.port, f.vxlan(inner), check=0)
        self.ident = self.ident + 1 & 0xffff
        ip = f.ip4(OUTER[0], far_ip, f.UDP, datagram, ident=0 if outer_df else self.ident,
                   frag=0x4000 if outer_df else 0)
        frame = f.eth(self.wire.netif_mac, self.wire.peer_mac, f.ETH_IP, ip)
        if mode == "bridge":
            want = inner
        elif mode == "route":
            # A router takes the packet out of its frame, and the frame's tail stays behind.
            want = f.eth(self.far_mac, self.args.exit_mac, kind, hop(packet, 0))
        else:
            want = f.eth(self.far_mac, self.args.exit_mac, f.ETH_IP, hop(ip, 0))
        if self.args.spoil:
            want = want[:-1] + bytes([want[-1] ^ 1])
        return flow, frame, unnumbered(want) if mode == "outer" else want

    def ours(self, frame):
        """Not the neighbour discovery and so on of the hosts themselves."""
        if self.args.mode == "bridge":
            return frame[6:12] == f.mac(SENDER)
        if self.args.mode == "outer":
            return frame[12:14] == b"\x08\x00" and frame[23] == f.UDP and frame[26:30] == \
                socket.inet_aton(OUTER[0])
        if frame[12:14] == b"\x08\x00":
            return frame[26:30] == socket.inet_aton(INNER[0]) and frame[23] != f.ICMP
        return frame[12:14] == b"\x86\xdd" and frame[22:38] == socket.inet_pton(socket.AF_INET6, INNER6[0]) \
            and frame[20] != f.ICMP6

    def collect(self, count):
        got, end = [], time.monotonic() + PATIENCE
        while len(got) < count and time.monotonic() < end:
            frame = self.far.receive(0.2)
            if frame and self.ours(frame):
                got.append(unnumbered(frame) if self.args.mode == "outer" else frame)
        return got

    def burst(self, name, items):
        prepared = [self.prepare(item) for item in items]
        for _, frame, _ in prepared:
            self.wire.send(frame)
        got = self.collect(len(prepared))
        # A wire pads to 60 bytes.
        flow_of, order = {}, {}
        for flow, _, want in prepared:
            flow_of[want] = flow
            order.setdefault(flow, []).append(want)
        arrived, strange = {}, []
        for frame in got:
            if frame not in flow_of and len(frame) == 60 and not self.args.spoil:
                frame = next((w for w in flow_of if len(w) < 60 and w.ljust(60, b"\0") == frame), frame)
            if frame in flow_of:
                arrived.setdefault(flow_of[frame], []).append(frame)
            else:
                strange.append(frame)
        said = len(self.problems)
        for flow, wanted in order.items():
            have = arrived.get(flow, [])
            if sorted(have) == sorted(wanted) and have != wanted:
                self.problems.append(f"{name}: out of order: "
                                     f"{[wanted.index(frame) for frame in have]}")
            for frame in wanted:
                if frame not in have:
                    self.problems.append(f"{name}: missing " + self.like(frame, strange))
        for frame in strange:
            self.problems.append(f"{name}: {len(frame)} bytes arrived that nobody sent: {frame[:80].hex()}")
        if len(got) > len(set(got)):
            self.problems.append(f"{name}: a frame arrived twice")
        return len(prepared), len(self.problems) > said

    @staticmethod
    def like(frame, strange):
        """The stray frame that has most in common with the missing one."""
        best = max(strange, key=lambda s: sum(a == b for a, b in zip(s, frame)), default=None)
        if best is None:
            return f"{len(frame)} bytes {frame[:60].hex()}"
        where = [i for i, (a, b) in enumerate(zip(best, frame)) if a != b]
        return (f"{len(frame)} bytes; one of {len(best)} is like it but at "
                f"{where[:12]}: {bytes(best[i] for i in where[:12]).hex()} "
                f"and not {bytes(frame[i] for i in where[:12]).hex()}")

    def packets(self):
        """Packets that NETIF's host handled, merged ones counted as one."""
        if self.args.mode == "outer":
            return snmp(os.environ["NS_RX"])["IpForwDatagrams"]
        text = subprocess.run(["ip", "netns", "exec", os.environ["NS_RX"], "cat",
                               f"/sys/class/net/{self.args.tunnel}/statistics/rx_packets"],
                              check=True, capture_output=True, text=True).stdout
        return int(text)

    def run(self):
        sent = bursts = bad = 0
        before = self.packets()
        for name, items in Mix(self.args.mode).bursts():
            count, wrong = self.burst(name, items)
            sent, bursts, bad = sent + count, bursts + 1, bad + wrong
        took = self.packets() - before
        extra = self.far.receive(0.2)
        while extra:
            if self.ours(extra):
                self.problems.append(f"one more arrived: {extra[:60].hex()}")
            extra = self.far.receive(0.2)
        print(f"{self.args.mode} to {self.args.dev}: {sent} frames in {bursts} bursts, handled as "
              f"{took} packets, {bad} bursts not as sent")
        for line in self.problems[:12]:
            print(line)
        # Half of them can't be merged, and a busy machine may cut a burst in two.
        fits = {"merged": took * 5 < sent * 4, "single": took >= sent}
        if self.args.expect and not fits[self.args.expect]:
            print(f"expected them {self.args.expect}")
            return 1
        return int(bool(self.problems))


def main():
    parser = argparse.ArgumentParser(description=__doc__, add_help=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--help", action="store_true")
    parser.add_argument("mode", nargs="?", choices=("bridge", "route", "outer"))
    parser.add_argument("dev", nargs="?")
    parser.add_argument("--port", type=int, default=int(os.environ.get("VX_PORT", "5766")))
    parser.add_argument("--tunnel", default="vxlan01")
    parser.add_argument("--router")
    parser.add_argument("--exit-mac")
    parser.add_argument("--expect", choices=("merged", "single"))
    parser.add_argument("--spoil", action="store_true")
    args = parser.parse_args()
    if args.help:
        print(__doc__)
        return 0
    if not args.dev or (args.mode != "bridge" and not args.exit_mac) or \
            (args.mode == "route" and not args.router):
        parser.error("say which mode and device, --exit-mac to route, --router too (--help)")
    return Run(args).run()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The cases of claims.sh: single frames, and what must come of each.

usage: claims.py

Every frame is sent three times in every set-up of the device, with both flags off,
with zero-csum-gro and with zero-csum-gro-defer. Off, nothing may be counted. On,
exactly one counter must grow, or none; what the driver wrote into the sk_buff must be
CHECKSUM_UNNECESSARY where a claim is due and the same as with the flags off where none
is; and the very same packets must reach the stack and its sockets as with them off.

ZCG_SETUPS=N: only the first N set-ups.
"""
import os
import socket
import subprocess
import sys

import frames as f
from remote import far
from wire import COUNTERS, Ktap, Trace, Wire, inside, snmp, wait_for

PORT = int(os.environ.get("VX_PORT", "5766"))
OUT4, OUT6 = ("192.168.1.1", "192.168.1.2"), ("fd01::1", "fd01::2")
IN4, IN6 = ("10.0.2.1", "10.0.2.2"), ("fd00::1", "fd00::2")
LISTEN = 7000
DATA = bytes(range(256)) * 2
UNNECESSARY = 1

VERIFIED, BAD, MALFORMED, UNKNOWN, NONE = "verified", "inner_bad", "malformed", "unknown_port", None
PROTO, FRAGMENT, REMCSUM, GRO_OFF = "outer_proto", "outer_fragment", "outer_remcsum", "outer_gro_off"
DEFERRED = "deferred"
FLAGS = ("zero-csum-gro", "zero-csum-gro-defer")
# What is left as the in-box driver reports it.
IN_BOX = (MALFORMED, UNKNOWN, NONE)


class Case:
    """expect: the counter that must grow; delivered: the payload must reach a socket
    (True), must not (False), or either (None); errors: the counter of wrong
    checksums that the stack must move; or_none: hardware may take the frame for no
    UDP at all, and then nothing is counted; inside: the verdict is about what is in
    the tunnel, which is not looked at with GRO off."""

    def __init__(self, name, frame, expect, delivered=None, errors=None, or_none=False, inside=None):
        self.name, self.frame, self.expect = name, frame, expect
        self.delivered, self.errors, self.or_none = delivered, errors, or_none
        self.inside = expect in (VERIFIED, BAD, PROTO, FRAGMENT) if inside is None else inside


class Bricks:
    """The frames' parts, with the addresses of this pair of ports filled in."""

    def __init__(self, wire, vxlan_mac):
        self.macs = (wire.netif_mac, wire.peer_mac)
        self.inner_macs = (vxlan_mac, "02:00:00:00:00:01")

    def outer(self, payload, port=PORT, check=0, tags=(), six=False, length=None, **ip):
        ends = OUT6 if six else OUT4
        datagram = f.udp(*ends, 40000, port, payload, check=check, length=length)
        if six:
            packet = f.ip6(*ends, f.UDP, datagram, **ip)
        else:
            packet = f.ip4(*ends, f.UDP, datagram, **ip)
        return f.eth(*self.macs, f.ETH_IPV6 if six else f.ETH_IP, packet, tags)

    def inner(self, packet, kind=f.ETH_IP, tags=()):
        return f.eth(*self.inner_macs, kind, packet, tags)

    def tcp4(self, data=DATA, flip=0, tags=(), **tcp):
        return self.inner(f.ip4(*IN4, f.TCP, f.tcp(*IN4, 5000, 5001, data, flip=flip, **tcp)),
                          tags=tags)

    def tcp6(self, data=DATA, flip=0):
        return self.inner(f.ip6(*IN6, f.TCP, f.tcp(*IN6, 5000, 5001, data, flip=flip)), f.ETH_IPV6)

    def udp4(self, data=DATA, **udp):
        return self.inner(f.ip4(*IN4, f.UDP, f.udp(*IN4, 5000, LISTEN, data, **udp)))

    def udp6(self, data=DATA, **udp):
        return self.inner(f.ip6(*IN6, f.UDP, f.udp(*IN6, 5000, LISTEN, data, **udp)), f.ETH_IPV6)


def good_cases(b):
    vx = f.vxlan
    tso = b"\x01\x01\x08\x0a" + bytes(8)
    yield Case("VXLAN, IPv4 in IPv4, TCP", b.outer(vx(b.tcp4())), VERIFIED)
    yield Case("VXLAN, IPv4 in IPv4, TCP with options, odd length",
               b.outer(vx(b.tcp4(DATA + b"!", options=tso))), VERIFIED)
    yield Case("VXLAN, IPv4 in IPv4, TCP without data", b.outer(vx(b.tcp4(b""))), VERIFIED)
    yield Case("VXLAN, IPv4 in IPv4, UDP", b.outer(vx(b.udp4())), VERIFIED, True)
    yield Case("VXLAN, IPv4 in IPv4, UDP with checksum 0",
               b.outer(vx(b.udp4(check=0))), VERIFIED, True)
    yield Case("VXLAN, IPv4 in IPv4, UDP of 1400 bytes",
               b.outer(vx(b.udp4(b"\xa5" * 1400))), VERIFIED, True)
    yield Case("VXLAN, IPv6 in IPv4, TCP", b.outer(vx(b.tcp6())), VERIFIED)
    yield Case("VXLAN, IPv6 in IPv4, UDP", b.outer(vx(b.udp6())), VERIFIED, True)
    yield Case("VXLAN, IPv4 in IPv6, TCP", b.outer(vx(b.tcp4(), vni=6), six=True), VERIFIED)
    yield Case("VXLAN, IPv6 in IPv6, TCP", b.outer(vx(b.tcp6(), vni=6), six=True), VERIFIED)
    yield Case("VXLAN, IPv4 in IPv6, UDP", b.outer(vx(b.udp4(), vni=6), six=True), VERIFIED)
    yield Case("VXLAN, outer IPv4 options",
               b.outer(vx(b.udp4()), options=b"\x01\x01\x01\x00"), VERIFIED, True)
    yield Case("VXLAN, outer VLAN tag",
               b.outer(vx(b.udp4()), tags=[(f.ETH_VLAN, 5)]), VERIFIED)
    yield Case("VXLAN, two outer VLAN tags",
               b.outer(vx(b.udp4()), tags=[(f.ETH_VLAN, 5), (f.ETH_VLAN, 6)]), NONE, False)
    yield Case("VXLAN, inner VLAN tag", b.outer(vx(b.tcp4(tags=[(f.ETH_VLAN, 7)]))), VERIFIED)
    yield Case("VXLAN, two inner VLAN tags",
               b.outer(vx(b.tcp4(tags=[(f.ETH_QINQ, 7), (f.ETH_VLAN, 8)]))), VERIFIED)
    yield Case("VXLAN, inner frame padded behind its IP packet",
               b.outer(vx(b.udp4(b"short") + bytes(13))), VERIFIED, True)
    yield Case("VXLAN, reserved bits set", b.outer(vx(b.udp4(), flags=0x09000001)), VERIFIED)
    yield Case("Geneve, TCP", b.outer(f.geneve(b.tcp4()), port=6081), VERIFIED)
    yield Case("Geneve with options, TCP",
               b.outer(f.geneve(b.tcp4(), options=b"\x01\x02\x03\x01abcd" * 3), port=6081), VERIFIED)
    yield Case("Geneve carrying IPv4",
               b.outer(f.geneve(b.tcp4()[14:], proto=f.ETH_IP), port=6081), VERIFIED)
    yield Case("VXLAN-GPE carrying Ethernet", b.outer(f.gpe(b.tcp4()), port=4790), VERIFIED)
    yield Case("VXLAN-GPE carrying IPv4", b.outer(f.gpe(b.tcp4()[14:], proto=1), port=4790), VERIFIED)
    yield Case("VXLAN-GPE carrying IPv6", b.outer(f.gpe(b.tcp6()[14:], proto=2), port=4790), VERIFIED)


def outer_cases(b):
    vx = f.vxlan
    segment = f.udp(*IN4, 5000, LISTEN, DATA)
    yield Case("inside ICMP", b.outer(vx(b.inner(f.ip4(*IN4, f.ICMP, f.icmp_echo(DATA))))), PROTO)
    yield Case("inside ICMPv6",
               b.outer(vx(b.inner(f.ip6(*IN6, f.ICMP6, b"\x80\0\0\0" + DATA), f.ETH_IPV6))), PROTO)
    yield Case("inside ARP",
               b.outer(vx(b.inner(f.arp_request(b.inner_macs[1], *IN4), f.ETH_ARP))), PROTO)
    yield Case("inside SCTP", b.outer(vx(b.inner(f.ip4(*IN4, f.SCTP, DATA)))), PROTO)
    yield Case("inside a first fragment",
               b.outer(vx(b.inner(f.ip4(*IN4, f.UDP, segment[:256], frag=0x2000, ident=7)))), FRAGMENT)
    yield Case("inside a last fragment",
               b.outer(vx(b.inner(f.ip4(*IN4, f.UDP, segment[256:], frag=32, ident=9)))), FRAGMENT)
    yield Case("inside an IPv6 fragment",
               b.outer(vx(b.inner(f.ip6(*IN6, f.FRAG6, b"\x11\0\0\x01\0\0\0\x09" + segment[:256]),
                                  f.ETH_IPV6))), FRAGMENT)
    yield Case("inside IPv6 with destination options",
               b.outer(vx(b.inner(f.ip6(*IN6, f.DSTOPT6, b"\x11\0\x01\x04\0\0\0\0" +
                                        f.udp(*IN6, 5000, LISTEN, DATA)), f.ETH_IPV6))), PROTO, True)
    yield Case("inside UDP over IPv6 with checksum 0", b.outer(vx(b.udp6(check=0))), PROTO, False)
    yield Case("remote checksum offload",
               b.outer(vx(b.udp4(), flags=f.VXLAN_I | f.VXLAN_RCO)), REMCSUM)
    yield Case("inside TCP cut off in its header",
               b.outer(vx(b.inner(f.ip4(*IN4, f.TCP, DATA[:12])))), MALFORMED, inside=True)
    yield Case("inside IPv4 longer than the datagram",
               b.outer(vx(b.inner(f.ip4(*IN4, f.UDP, segment, length=900)))), MALFORMED, False, inside=True)
    yield Case("inside UDP shorter than its IP packet",
               b.outer(vx(b.inner(f.ip4(*IN4, f.UDP, f.udp(*IN4, 5000, LISTEN, DATA[:100]) + bytes(9))))),
               MALFORMED, inside=True)
    yield Case("inside nothing but a tunnel header", b.outer(vx(b"")), MALFORMED, inside=True)
    yield Case("VXLAN-GPE carrying NSH", b.outer(f.gpe(DATA, proto=4), port=4790), PROTO, inside=False)
    yield Case("Geneve control packet", b.outer(f.geneve(b.tcp4(), second=0x80), port=6081), PROTO, inside=False)


def bad_cases(b):
    vx = f.vxlan
    yield Case("inner TCP checksum wrong, IPv4", b.outer(vx(b.tcp4(flip=1))), BAD, errors="TcpInCsumErrors")
    yield Case("inner TCP checksum wrong, IPv6", b.outer(vx(b.tcp6(flip=0x8000))), BAD,
               errors="TcpInCsumErrors")
    yield Case("inner UDP checksum wrong, IPv4", b.outer(vx(b.udp4(flip=0x10))), BAD, False,
               "UdpInCsumErrors")
    yield Case("inner UDP checksum wrong, IPv6", b.outer(vx(b.udp6(flip=0x10))), BAD, False,
               "Udp6InCsumErrors")
    bent = bytearray(b.outer(vx(b.udp4())))
    bent[-1] ^= 4
    yield Case("last byte corrupted", bytes(bent), BAD, False, "UdpInCsumErrors")
    bent = bytearray(b.outer(f.geneve(b.tcp4(), options=b"\x01\x02\x03\x01abcd"), port=6081))
    bent[200] ^= 1
    yield Case("Geneve, a byte corrupted", bytes(bent), BAD)
    bent = bytearray(b.outer(vx(b.tcp4(), vni=6), six=True))
    bent[-7] ^= 128
    yield Case("outer IPv6, a byte corrupted", bytes(bent), BAD)


def malformed_cases(b):
    vx = f.vxlan
    yield Case("VXLAN header cut off", b.outer(vx(b"")[:7]), MALFORMED)
    yield Case("no tunnel header at all", b.outer(b""), MALFORMED)
    yield Case("VXLAN without the I flag", b.outer(vx(b.udp4(), flags=0)), MALFORMED, False)
    yield Case("UDP length longer than the IP payload",
               b.outer(vx(b.udp4()), length=8 + 8 + len(b.udp4()) + 4), MALFORMED, False)
    yield Case("UDP length shorter than the IP payload",
               b.outer(vx(b.udp4()), length=8 + 8 + len(b.udp4()) - 4), MALFORMED)
    whole = b.outer(vx(b.udp4()))
    yield Case("frame cut off in the inner payload", whole[:-40], MALFORMED, False, or_none=True)
    yield Case("frame cut off in the inner TCP header", b.outer(vx(b.tcp4()))[:14 + 20 + 8 + 8 + 14 + 20 + 9],
               MALFORMED, or_none=True)
    yield Case("outer IPv6 longer than the frame", b.outer(vx(b.tcp4(), vni=6), six=True)[:-40], MALFORMED,
               or_none=True)
    yield Case("Geneve version 1", b.outer(f.geneve(b.tcp4(), first=0x40), port=6081), MALFORMED)
    yield Case("Geneve options longer than the datagram",
               b.outer(f.geneve(b"\0" * 40, words=63), port=6081), MALFORMED)
    yield Case("VXLAN-GPE without the P flag", b.outer(f.gpe(b.tcp4(), flags=0x08000000), port=4790), MALFORMED)
    yield Case("VXLAN-GPE version 1", b.outer(f.gpe(b.tcp4(), flags=0x1c000000), port=4790), MALFORMED)


def foreign_cases(b):
    vx = f.vxlan
    body = vx(b.udp4())
    yield Case("outer checksum not 0 and right", b.outer(body, check=None), NONE, True)
    yield Case("outer checksum not 0 and wrong", b.outer(body, check=0x1234), NONE, False)
    yield Case("unknown port", b.outer(body, port=PORT + 1), UNKNOWN, False)
    yield Case("the tunnel port as source port only",
               f.eth(*b.macs, f.ETH_IP, f.ip4(*OUT4, f.UDP, f.udp(*OUT4, PORT, 9, body, check=0))), UNKNOWN)
    yield Case("outer first fragment",
               f.eth(*b.macs, f.ETH_IP, f.ip4(*OUT4, f.UDP, f.udp(*OUT4, 1, PORT, body, check=0)[:400],
                                              frag=0x2000, ident=3)), NONE)
    yield Case("outer later fragment",
               f.eth(*b.macs, f.ETH_IP, f.ip4(*OUT4, f.UDP, f.udp(*OUT4, 1, PORT, body, check=0),
                                              frag=0x0040, ident=4)), NONE)
    yield Case("outer IPv4 header checksum wrong",
               f.eth(*b.macs, f.ETH_IP, f.ip4(*OUT4, f.UDP, f.udp(*OUT4, 1, PORT, body, check=0),
                                              check=0x5555)), NONE, False)
    yield Case("outer IPv6 extension header",
               f.eth(*b.macs, f.ETH_IPV6, f.ip6(*OUT6, f.DSTOPT6, b"\x11\0\x01\x04\0\0\0\0" +
                                                f.udp(*OUT6, 1, PORT, body, check=0))), NONE)
    yield Case("plain TCP", f.eth(*b.macs, f.ETH_IP, f.ip4(*OUT4, f.TCP, f.tcp(*OUT4, 1, PORT, DATA))), NONE)
    yield Case("plain TCP, checksum wrong",
               f.eth(*b.macs, f.ETH_IP, f.ip4(*OUT4, f.TCP, f.tcp(*OUT4, 1, PORT, DATA, flip=2))), NONE,
               errors="TcpInCsumErrors")
    yield Case("plain UDP", f.eth(*b.macs, f.ETH_IP, f.ip4(*OUT4, f.UDP, f.udp(*OUT4, 1, LISTEN, DATA))), NONE)
    yield Case("ARP", f.eth(*b.macs, f.ETH_ARP, f.arp_request(b.macs[1], *OUT4)), NONE)
    yield Case("three bytes of IPv4", f.eth(*b.macs, f.ETH_IP, b"\x45\0\0"), NONE)


def all_cases(b):
    return [*good_cases(b), *outer_cases(b), *bad_cases(b), *malformed_cases(b), *foreign_cases(b)]


# --- running them -------------------------------------------------------------------

class Outcome:
    """What one frame did."""

    def __init__(self, bench, case):
        zcg, mib = bench.wire.ethtool.zcg(), snmp(bench.wire.rx_ns)
        bench.trace.take()
        bench.wire.send(case.frame)
        packets = bench.wire.settle()
        bench.wait_backlog()
        # A socket checks a datagram's checksum when it is read, so read first.
        self.payloads = bench.heard()
        after, mib_after = bench.wire.ethtool.zcg(), snmp(bench.wire.rx_ns)
        self.counts = {n: after[n] - zcg[n] for n in COUNTERS if after[n] != zcg[n]}
        self.packets = [(p.data, p.tci) for p in packets]
        self.valid = [p.csum_valid for p in packets]
        self.summed = bench.trace.take()
        self.errors = {n: mib_after[n] - mib[n]
                       for n in ("TcpInCsumErrors", "UdpInCsumErrors", "Udp6InCsumErrors")
                       if mib_after[n] != mib[n]}

    def differs(self, other):
        """What of it may not depend on the flag."""
        for name in ("packets", "payloads", "errors"):
            if getattr(self, name) != getattr(other, name):
                yield (f"{name} differ: flag off {shorten(getattr(other, name))}, "
                       f"on {shorten(getattr(self, name))}")


def shorten(value):
    return [f"{len(p[0])} bytes {p[0][:64].hex()}" for p in value] if isinstance(value, list) and value and \
        isinstance(value[0], tuple) else str(value)[:200]


class Bench:
    def __init__(self):
        self.wire = Wire()
        self.trace = Trace(self.wire.netif)
        self._socks = []
        with inside(self.wire.rx_ns):
            for kind, addr in ((socket.AF_INET, IN4[1]), (socket.AF_INET6, IN6[1])):
                sock = socket.socket(kind, socket.SOCK_DGRAM)
                sock.bind((addr, LISTEN))
                sock.setblocking(False)
                self._socks.append(sock)
            self.vxlan_mac = subprocess.run(
                ["ip", "-n", self.wire.rx_ns, "-br", "link", "show", os.environ.get("VX_DEV", "vxlan01")],
                check=True, capture_output=True, text=True).stdout.split()[2]

    def wait_backlog(self):
        """The tunnel device hands packets on from a NAPI of its own (gro_cells), on
        the same CPU; a second pair of marks is received after that has run."""
        self.wire.settle()

    def heard(self):
        got = []
        for sock in self._socks:
            while True:
                try:
                    got.append(sock.recv(65536))
                except BlockingIOError:
                    break
        return got

    def tool(self, *args):
        subprocess.run(["ip", "netns", "exec", self.wire.rx_ns, "ethtool", *args],
                       check=True, stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT)

    def flag(self, on):
        """Both off, or the one with that name on."""
        self.wire.ethtool.set_flags({name: name == on for name in FLAGS})


def judge(case, off, on, flag, gro):
    expect = case.expect
    if flag == "zero-csum-gro-defer":
        # Whatever a tunnel with a good outside carries.
        if case.inside or expect not in IN_BOX:
            expect = DEFERRED
    elif not gro and case.inside:
        expect = GRO_OFF
    if off.counts:
        yield f"counted with the flag off: {off.counts}"
    want = {"seen": 1, expect: 1} if expect else {}
    if on.counts != want and (on.counts or not case.or_none):
        yield f"expected {want or 'no count'}, counted {on.counts or 'nothing'}"
    if expect == DEFERRED:
        if on.summed:
            yield "GRO was asked about it"
        if not all(on.valid):
            yield "the outer checksum was not reported"
    elif on.summed is not None:
        claim = off.summed if expect in IN_BOX else [UNNECESSARY]
        if on.summed != claim:
            yield f"ip_summed should be {claim}, is {on.summed} (flag off: {off.summed})"
    yield from on.differs(off)
    if case.delivered is not None and bool(on.payloads) != case.delivered:
        yield f"a socket {'should' if case.delivered else 'should not'} have received it"
    if case.errors and not on.errors.get(case.errors):
        yield f"the stack did not count {case.errors}: {on.errors}"


def run(bench, ktap, setup, cases, gro=True):
    outcomes = []
    for flag in (None, *FLAGS):
        bench.flag(flag)
        bench.wire.settle()
        outcomes.append([Outcome(bench, case) for case in cases])
    bench.flag(None)
    for case, off, *others in zip(cases, *outcomes):
        problems = [f"{flag}: {problem}" for flag, on in zip(FLAGS, others)
                    for problem in judge(case, off, on, flag, gro)]
        if problems:
            problems.append(f"frame: {case.frame.hex()}")
        ktap.case(f"{setup}: {case.name}", problems)


SETUPS = (
    ("as loaded", [], [], True),
    ("legacy-rx", [("--set-priv-flags", "legacy-rx", "on")], [("--set-priv-flags", "legacy-rx", "off")], True),
    ("rxvlan off", [("-K", "rxvlan", "off")], [("-K", "rxvlan", "on")], True),
    ("GRO off", [("-K", "gro", "off")], [("-K", "gro", "on")], False),
)


def main():
    if len(sys.argv) > 1:
        print(__doc__)
        return 0 if sys.argv[1:] == ["--help"] else 2
    setups = SETUPS[:int(os.environ.get("ZCG_SETUPS", len(SETUPS)))]
    bench = Bench()
    cases = all_cases(Bricks(bench.wire, bench.vxlan_mac))
    ktap = Ktap(len(cases) * len(setups) + 1)
    if not bench.trace.usable:
        print("# no tracepoints: ip_summed as the driver left it is not looked at")
    for setup, begin, end, gro in setups:
        for option, *rest in begin:
            bench.tool(option, bench.wire.netif, *rest)
        wait_for("link", 20, lambda: link(bench.wire))
        run(bench, ktap, setup, cases, gro)
        for option, *rest in end:
            bench.tool(option, bench.wire.netif, *rest)
        wait_for("link", 20, lambda: link(bench.wire))
    ktap.case("seen is the sum of the others, for the port and each queue", bench.wire.ethtool.sums())
    bench.trace.close()
    return ktap.status()


def link(wire):
    here = ["ip", "netns", "exec", wire.rx_ns, "cat", f"/sys/class/net/{wire.netif}/carrier"]
    for command in (far("cat", f"/sys/class/net/{wire.peer}/carrier"), here):
        state = subprocess.run(command, capture_output=True, text=True, check=False).stdout
        if state.strip() != "1":
            return False
    return True


if __name__ == "__main__":
    sys.exit(main())

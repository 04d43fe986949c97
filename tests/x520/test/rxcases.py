# SPDX-License-Identifier: GPL-2.0
"""Received frames and what an 82599 and the in-box ixgbe must make of each.

Sources: the 82599 datasheet's table of receive checksum capabilities and its
description of the receive descriptor (names of status and packet-type bits as
there), and the driver's reaction to these bits.
"""

import struct

import frames as f

# Status and errors, packet type (info): bits of the written-back descriptor.
L4CS, IPCS, VP = 0x20, 0x40, 0x08
L4E, IPE = 0x40000000, 0x80000000
IPV4, IPV4E, IPV6, IPV6E, P_TCP, P_UDP, P_SCTP = 0x10, 0x20, 0x40, 0x80, 0x100, 0x200, 0x400

A6, B6 = f.IP6_A, f.IP6_B
HOP = (0, b"\x01\x04\0\0\0\0")          # hop-by-hop options, padding only
DEST = (60, b"\x01\x04\0\0\0\0")
FRAG = (44, b"\0\1\0\0\0\7")            # more fragments, offset 0


def v4(l4, proto, tags=(), **ip):
    return f.eth(f.ipv4(l4, proto, **ip), f.ETH_IP, tags=tags)


def v6(l4, proto, tags=(), **ip):
    return f.eth(f.ipv6(l4, proto, **ip), f.ETH_IP6, tags=tags)


class Case:
    """claim: ip_summed is CHECKSUM_UNNECESSARY. counted: one more in
    rx_csum_offload_errors. status, types: bits that must be set among `mask`
    and in the packet type, None where the datasheet is not definite; such a
    frame must only never be claimed wrongly."""

    MASK = L4CS | IPCS | VP | L4E | IPE

    def __init__(self, name, frame, claim, counted=0, status=None, types=None, delivered=True,
                 tci=None, maybe=False):
        self.name, self.frame, self.claim, self.counted = name, frame, claim, counted
        self.status, self.types, self.delivered = status, types, delivered
        self.tci, self.maybe = tci, maybe


def ip_cases():
    out = []
    payload = f.filler(300)
    good4, good6 = IPCS | L4CS, L4CS
    tcp, udp, sctp = f.tcp(payload), f.udp(payload), f.sctp(payload)
    out += [
        Case("IPv4 TCP", v4(tcp, f.TCP), 1, status=good4, types=IPV4 | P_TCP),
        Case("IPv4 TCP, bad checksum", v4(f.tcp(payload, bad=True), f.TCP), 0, 1,
             good4 | L4E, IPV4 | P_TCP),
        Case("IPv4 TCP, bad header checksum", v4(tcp, f.TCP, bad=True), 0, 1,
             good4 | IPE, IPV4 | P_TCP),
        Case("IPv4 TCP, both bad", v4(f.tcp(payload, bad=True), f.TCP, bad=True), 0, 1,
             good4 | IPE | L4E, IPV4 | P_TCP),
        Case("IPv4 UDP", v4(udp, f.UDP), 1, status=good4, types=IPV4 | P_UDP),
        # On this MAC the driver counts no UDP checksum error, because of the erratum.
        Case("IPv4 UDP, bad checksum", v4(f.udp(payload, check="bad"), f.UDP), 0, 0,
             good4 | L4E, IPV4 | P_UDP),
        Case("IPv4 UDP, bad header checksum", v4(udp, f.UDP, bad=True), 0, 1,
             good4 | IPE, IPV4 | P_UDP),
        Case("IPv4 SCTP", v4(sctp, f.SCTP), 1, status=good4, types=IPV4 | P_SCTP),
        Case("IPv4 SCTP, bad CRC", v4(f.sctp(payload, bad=True), f.SCTP), 0, 1,
             good4 | L4E, IPV4 | P_SCTP),
        Case("IPv4 ICMP", v4(b"\x08\0" + struct.pack("!H", f.inet_csum(b"\x08\0\0\0" + payload)) +
                             payload, f.ICMP), 0, status=IPCS, types=IPV4),
        Case("IPv4 ICMP, bad header checksum", v4(b"\x08\0\0\0" + payload, f.ICMP, bad=True), 0, 1,
             IPCS | IPE, IPV4),
        Case("IPv4 options, TCP", v4(tcp, f.TCP, options=b"\1" * 8), 1, 0, good4,
             IPV4 | IPV4E | P_TCP),
        Case("IPv4 options, bad header checksum", v4(tcp, f.TCP, options=b"\1" * 8, bad=True), 0, 1,
             good4 | IPE, IPV4 | IPV4E | P_TCP),
        Case("IPv4 40 bytes of options, UDP bad", v4(f.udp(payload, check="bad"), f.UDP,
                                                     options=b"\1" * 40), 0, 0,
             good4 | L4E, IPV4 | IPV4E | P_UDP),
        Case("IPv4 TCP options", v4(f.tcp(payload, options=b"\1" * 40), f.TCP), 1, 0, good4,
             IPV4 | P_TCP),
        Case("IPv4 first fragment", v4(udp, f.UDP, frag=0x2000), 0, 0, IPCS, IPV4),
        Case("IPv4 later fragment", v4(payload[:296], f.UDP, frag=0x2010), 0, 0, IPCS, IPV4),
        Case("IPv4 last fragment", v4(payload, f.TCP, frag=0x0010), 0, 0, IPCS, IPV4),
        Case("IPv4 fragment, bad header checksum", v4(udp, f.UDP, frag=0x2000, bad=True), 0, 1,
             IPCS | IPE, IPV4),
        Case("IPv6 TCP", v6(f.tcp(payload, src=A6, dst=B6), f.TCP), 1, 0, good6, IPV6 | P_TCP),
        Case("IPv6 TCP, bad checksum", v6(f.tcp(payload, src=A6, dst=B6, bad=True), f.TCP), 0, 1,
             good6 | L4E, IPV6 | P_TCP),
        Case("IPv6 UDP", v6(f.udp(payload, src=A6, dst=B6), f.UDP), 1, 0, good6, IPV6 | P_UDP),
        Case("IPv6 UDP, bad checksum", v6(f.udp(payload, src=A6, dst=B6, check="bad"), f.UDP), 0, 0,
             good6 | L4E, IPV6 | P_UDP),
        Case("IPv6 SCTP", v6(sctp, f.SCTP), 1, 0, good6, IPV6 | P_SCTP),
        Case("IPv6 ICMPv6", v6(b"\x80\0\0\0" + payload, f.ICMP6), 0, 0, 0, IPV6),
        Case("IPv6 hop-by-hop options, TCP", v6(f.tcp(payload, src=A6, dst=B6), f.TCP, ext=(HOP,)),
             1, 0, good6, IPV6 | IPV6E | P_TCP),
        Case("IPv6 destination options, UDP bad",
             v6(f.udp(payload, src=A6, dst=B6, check="bad"), f.UDP, ext=(DEST,)),
             0, 0, good6 | L4E, IPV6 | IPV6E | P_UDP),
        Case("IPv6 two extension headers, TCP bad",
             v6(f.tcp(payload, src=A6, dst=B6, bad=True), f.TCP, ext=(HOP, DEST)),
             0, 1, good6 | L4E, IPV6 | IPV6E | P_TCP),
        Case("IPv6 fragment", v6(f.udp(payload, src=A6, dst=B6), f.UDP, ext=(FRAG,)), 0, 0, 0),
    ]
    # Every L4 length near the ends of a word, and an odd one.
    for n in (0, 1, 2, 3, 1447, 1448, 1459, 1460):
        out.append(Case("IPv4 TCP, %d bytes" % n, v4(f.tcp(f.filler(n, n)), f.TCP), 1, 0, good4,
                        IPV4 | P_TCP))
    for n in (0, 1, 17, 18, 19, 1471, 1472):
        out.append(Case("IPv4 UDP, %d bytes" % n, v4(f.udp(f.filler(n, n)), f.UDP), 1, 0, good4,
                        IPV4 | P_UDP))
    return out


def edge_cases():
    """Sums that come to zero, padding, lengths that don't hold together."""
    out = []
    good4 = IPCS | L4CS
    # A payload whose last word makes the sum 0xffff, so that the field is 0xffff.
    body = f.filler(64)
    seg = f.udp(body, check=0)
    rest = f.ones_sum(seg, f.pseudo(f.IP_A, f.IP_B, f.UDP, len(seg) + 2) + 2)
    body2 = body + struct.pack("!H", 0xffff - rest)
    frame = v4(f.udp(body2), f.UDP)
    assert struct.unpack_from("!H", frame, 40)[0] == 0xffff and not f.problems(frame)
    out.append(Case("IPv4 UDP whose checksum comes to zero", frame, 1, 0, good4, IPV4 | P_UDP))
    short = f.tcp(b"abc")
    for name, pad in (("zero", b"\0" * 3), ("garbage", b"\xde\xad\xbe")):
        out.append(Case("IPv4 TCP with %s padding" % name, v4(short, f.TCP) + pad, 1, 0, good4,
                        IPV4 | P_TCP))
    out += [
        Case("IPv4 TCP, long garbage after the packet", v4(f.tcp(f.filler(100)), f.TCP) + b"\x55" * 77,
             1, 0, good4, IPV4 | P_TCP),
        Case("IPv4 UDP bad, garbage after the packet",
             v4(f.udp(f.filler(100), check="bad"), f.UDP) + b"\x55" * 33, 0, 0, good4 | L4E, IPV4 | P_UDP),
        Case("IPv6 UDP, garbage after the packet",
             v6(f.udp(f.filler(100), src=A6, dst=B6), f.UDP) + b"\x55" * 7, 1, 0, L4CS, IPV6 | P_UDP),
        Case("runt of 34 bytes, IPv4 header only", v4(b"", 59), 0, 0, IPCS, IPV4),
        Case("runt of 15 bytes", f.eth(b"\x45", f.ETH_IP), 0, maybe=True),
        Case("runt of 42 bytes, UDP", v4(f.udp(b""), f.UDP), 1, 0, good4, IPV4 | P_UDP),
        Case("ARP", f.eth(b"\0\1\x08\0\6\4\0\1" + f.MAC_A + f.IP_A + b"\0" * 6 + f.IP_B, f.ETH_ARP),
             0, 0, 0, 0),
        Case("unknown Ethernet type", f.eth(f.filler(100), 0x88b7), 0, 0, 0, 0),
        Case("IPv4 in IPv4", v4(f.ipv4(f.udp(f.filler(50)), f.UDP), 4), 0, 0, IPCS, IPV4),
        # Cut off or contradictory: nothing to claim, whatever else is said.
        Case("IPv4 total length beyond the frame", v4(f.udp(f.filler(50)), f.UDP, total=600), 0,
             maybe=True),
        Case("IPv4 total length below the header", v4(f.udp(f.filler(50)), f.UDP, total=16), 0,
             maybe=True),
        Case("IPv4 header length below 20", bad_ihl(4), 0, maybe=True),
        Case("IPv4 header length beyond the packet", bad_ihl(15), 0, maybe=True),
        Case("IP version 5", bad_version(), 0, maybe=True),
        Case("IPv4 TCP cut to 10 bytes", v4(f.tcp(b"")[:10], f.TCP), 0, maybe=True),
        Case("IPv4 UDP cut to 4 bytes", v4(f.udp(b"")[:4], f.UDP), 0, maybe=True),
        Case("IPv4 UDP length beyond the packet", v4(f.udp(f.filler(50), length=90), f.UDP), 0,
             maybe=True),
        Case("IPv4 UDP length below 8", v4(f.udp(f.filler(50), length=7), f.UDP), 0, maybe=True),
        Case("IPv6 payload length beyond the frame",
             v6(f.udp(f.filler(50), src=A6, dst=B6), f.UDP, length=300), 0, maybe=True),
        Case("IPv6 payload length 0", v6(f.udp(f.filler(50), src=A6, dst=B6), f.UDP, length=0), 0,
             maybe=True),
        Case("IPv6 extension header beyond the packet",
             v6(b"", f.UDP, ext=((0, b"\x01\x04\0\0\0\0"),))[:-7] + b"\xff" + b"\0" * 6, 0, maybe=True),
        Case("802.3 with LLC SNAP", f.eth(b"\xaa\xaa\3\0\0\0\x08\0" +
                                          f.ipv4(f.udp(f.filler(50)), f.UDP), 86), 0, maybe=True),
    ]
    return out


def bad_ihl(words):
    frame = bytearray(v4(f.udp(b"x" * 6), f.UDP))
    frame[14] = 0x40 | words
    return bytes(frame)


def bad_version():
    frame = bytearray(v4(f.udp(f.filler(50)), f.UDP))
    frame[14] = 0x55
    return bytes(frame)


def vlan_cases():
    """The guest has VLAN 100 on the port, and not 200."""
    good4 = IPCS | L4CS | VP
    payload = f.filler(200)

    def tag(tci, tpid=f.ETH_VLAN):
        return ((tpid, tci),)

    return [
        Case("VLAN 100, IPv4 TCP", v4(f.tcp(payload), f.TCP, tag(100)), 1, 0, good4, IPV4 | P_TCP,
             tci=100),
        Case("VLAN 100 priority 5, IPv4 TCP bad", v4(f.tcp(payload, bad=True), f.TCP, tag(0xa064)),
             0, 1, good4 | L4E, IPV4 | P_TCP, tci=0xa064),
        Case("VLAN 100, IPv6 UDP", v6(f.udp(payload, src=A6, dst=B6), f.UDP, tag(100)), 1, 0,
             L4CS | VP, IPV6 | P_UDP, tci=100),
        Case("VLAN 0 (priority only)", v4(f.udp(payload), f.UDP, tag(0x6000)), 1, 0, good4,
             IPV4 | P_UDP, tci=0x6000),
        Case("VLAN 200, filtered", v4(f.udp(payload), f.UDP, tag(200)), 0, delivered=False),
        Case("VLAN 100, 1518 bytes", v4(f.tcp(f.filler(1460)), f.TCP, tag(100)), 1, 0, good4,
             IPV4 | P_TCP, tci=100),
        Case("VLAN 100 within VLAN 100", v4(f.udp(payload), f.UDP, tag(100) + tag(100)), 0,
             status=VP, tci=100),
        Case("802.1ad tag", v4(f.udp(payload), f.UDP, tag(100, f.ETH_QINQ)), 0, 0, 0, 0,
             tci=100),    # stripped by the kernel
    ]


def zero_cases():
    """UDP with a checksum of zero: the erratum's business."""
    payload = f.filler(300)
    inner = f.eth(f.ipv4(f.tcp(payload, src=b"\x0a\0\2\1", dst=b"\x0a\0\2\2"), f.TCP,
                         b"\x0a\0\2\1", b"\x0a\0\2\2"), f.ETH_IP)
    return [
        ("IPv4 UDP", v4(f.udp(payload, check="zero"), f.UDP)),
        ("IPv4 UDP, no payload", v4(f.udp(b"", check="zero"), f.UDP)),
        ("VXLAN over IPv4, port 5766", v4(f.udp(f.vxlan(inner), 40000, 5766, check="zero"), f.UDP)),
        ("VXLAN over IPv4, port 4789", v4(f.udp(f.vxlan(inner), 40000, 4789, check="zero"), f.UDP)),
        ("IPv6 UDP", v6(f.udp(payload, src=A6, dst=B6, check="zero"), f.UDP)),
    ]

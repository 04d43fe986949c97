# SPDX-License-Identifier: GPL-2.0
"""Builds Ethernet frames byte by byte, right or wrong on purpose.

Every function takes the payload as bytes and returns bytes with one header in
front. Lengths and checksums are right unless a keyword says otherwise.
"""
import ipaddress
import struct

ETH_IP, ETH_IPV6, ETH_ARP, ETH_VLAN, ETH_QINQ, ETH_TEB = \
    0x0800, 0x86dd, 0x0806, 0x8100, 0x88a8, 0x6558
ICMP, TCP, UDP, GRE, FRAG6, DSTOPT6, ICMP6, SCTP = 1, 6, 17, 47, 44, 60, 58, 132

VXLAN_I = 0x08000000       # RFC 7348
VXLAN_RCO = 0x00200000     # draft-herbert-vxlan-rco
GPE_IP = 0x0c000000        # draft-ietf-nvo3-vxlan-gpe: I and P


def mac(text):
    return bytes.fromhex(text.replace(":", ""))


def ones_sum(data):
    """Ones' complement sum of big-endian 16-bit words, folded (RFC 1071)."""
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def l4_check(src, dst, proto, segment):
    """Checksum of a TCP, UDP or ICMPv6 segment whose own field is zero."""
    src, dst = ipaddress.ip_address(src).packed, ipaddress.ip_address(dst).packed
    return ~ones_sum(src + dst + struct.pack("!HH", proto, len(segment)) + segment) & 0xffff


def eth(dst, src, kind, payload, tags=()):
    """tags: (TPID, TCI) pairs, outermost first."""
    head = mac(dst) + mac(src)
    for tag in tags:
        head += struct.pack("!HH", *tag)
    return head + struct.pack("!H", kind) + payload


def ip4(src, dst, proto, payload, options=b"", frag=0x4000, length=None, check=None,
        ident=0, ttl=64):
    hlen = 20 + len(options)
    if length is None:
        length = hlen + len(payload)
    head = struct.pack("!BBHHHBBH4s4s", 0x40 | hlen // 4, 0, length, ident, frag, ttl, proto, 0,
                       ipaddress.ip_address(src).packed, ipaddress.ip_address(dst).packed) + options
    if check is None:
        check = ~ones_sum(head) & 0xffff
    return head[:10] + struct.pack("!H", check) + head[12:] + payload


def ip6(src, dst, proto, payload, length=None):
    if length is None:
        length = len(payload)
    return struct.pack("!IHBB16s16s", 6 << 28, length, proto, 64,
                       ipaddress.ip_address(src).packed,
                       ipaddress.ip_address(dst).packed) + payload


def udp(src, dst, sport, dport, payload, check=None, length=None, flip=0):
    """check: None for the right one; flip: bits to turn over in the right one."""
    if length is None:
        length = 8 + len(payload)
    head = struct.pack("!HHHH", sport, dport, length, 0)
    if check is None:
        check = (l4_check(src, dst, UDP, head + payload) or 0xffff) ^ flip
    return head[:6] + struct.pack("!H", check) + payload


def tcp(src, dst, sport, dport, payload, seq=1000, ack=1, flags=0x10, flip=0, options=b"",
        offset=None):
    if offset is None:
        offset = 5 + len(options) // 4
    head = struct.pack("!HHIIBBHHH", sport, dport, seq & 0xffffffff, ack, offset << 4, flags,
                       0x4000, 0, 0) + options
    check = l4_check(src, dst, TCP, head + payload) ^ flip
    return head[:16] + struct.pack("!H", check) + head[18:] + payload


def icmp_echo(payload, seq=1):
    head = struct.pack("!BBHHH", 8, 0, 0, 77, seq)
    check = ~ones_sum(head + payload) & 0xffff
    return head[:2] + struct.pack("!H", check) + head[4:] + payload


def arp_request(src_mac, src, dst):
    return struct.pack("!HHBBH6s4s6s4s", 1, ETH_IP, 6, 4, 1, mac(src_mac),
                       ipaddress.ip_address(src).packed, b"", ipaddress.ip_address(dst).packed)


def vxlan(payload, vni=2, flags=VXLAN_I):
    return struct.pack("!II", flags, vni << 8) + payload


def gpe(payload, vni=2, proto=3, flags=GPE_IP):
    """proto: 1 IPv4, 2 IPv6, 3 Ethernet."""
    return struct.pack("!II", flags | proto, vni << 8) + payload


def geneve(payload, vni=2, proto=ETH_TEB, options=b"", words=None, first=0, second=0):
    if words is None:
        words = len(options) // 4
    return struct.pack("!BBHI", first | words, second, proto, vni << 8) + options + payload


# --- pcap, so that a mix can be kept and replayed -------------------------------

def write_pcap(path, bursts):
    """bursts: lists of frames; the frames of a burst share their time stamp."""
    with open(path, "wb") as out:
        out.write(struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1))
        for second, burst in enumerate(bursts):
            for frame in burst:
                out.write(struct.pack("<IIII", second, 0, len(frame), len(frame)) + frame)


def read_pcap(path):
    bursts = []
    with open(path, "rb") as src:
        magic = struct.unpack("<IHHiIII", src.read(24))[0]
        if magic != 0xa1b2c3d4:
            raise ValueError(f"{path} is not a pcap file in little-endian byte order")
        last = None
        while True:
            head = src.read(16)
            if len(head) < 16:
                return bursts
            when, _, caplen, _ = struct.unpack("<IIII", head)
            if when != last:
                bursts.append([])
                last = when
            bursts[-1].append(src.read(caplen))

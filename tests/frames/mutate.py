#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Writes a pcap of tunnel frames, most of them broken on purpose.

A few dozen good VXLAN, VXLAN-GPE and Geneve frames are made with scapy; each
frame of the output is one of them with bytes, lengths, tags or headers changed.
The same arguments give the same file, byte for byte.
"""
import argparse
import ipaddress
import logging
import random
import struct
import sys
import time

# Scapy has much to say about routes that no frame here needs.
logging.getLogger("scapy").setLevel(logging.ERROR)
try:
    from scapy.all import (ARP, Dot1Q, Ether, GRE, ICMP, ICMPv6EchoRequest, IP, IPOption,
                           IPv6, IPv6ExtHdrDestOpt, IPv6ExtHdrFragment, IPv6ExtHdrHopByHop,
                           IPv6ExtHdrRouting, Raw, TCP, UDP, bind_layers)
    from scapy.contrib.geneve import GENEVE
    from scapy.layers.vxlan import VXLAN
except ImportError as error:
    sys.exit(f"mutate.py: {error}: install python3-scapy (and run it with /usr/bin/python3)")

MAX_FRAME = 1514


class Frame:
    """A good frame and where its headers are (None: it has no such header)."""

    def __init__(self, name, pkt):
        self.name = name
        self.raw = bytes(pkt)
        self.ip = self.udp = self.tun = self.inner = self.iip = self.l4 = None
        self.v6 = self.iv6 = False
        self.proto = 0
        at, cur = 0, pkt
        while cur and not isinstance(cur, Raw):
            kind = type(cur)
            if kind in (IP, IPv6):
                if self.tun is None:
                    self.ip, self.v6 = at, kind is IPv6
                elif self.iip is None:
                    self.iip, self.iv6 = at, kind is IPv6
            elif kind in (UDP, TCP):
                if self.tun is None:
                    self.udp = at
                elif self.l4 is None:
                    self.l4, self.proto = at, 17 if kind is UDP else 6
            elif kind in (VXLAN, GENEVE) and self.tun is None:
                self.tun = at
                self.inner = at + len(cur) - len(cur.payload)
            at += len(cur) - len(cur.payload)
            cur = cur.payload
        self.end = len(self.raw)


def bases(args, rng):
    """The good frames."""
    def text(n):
        return Raw(rng.randbytes(n))

    out4 = IP(src=args.src_ip, dst=args.dst_ip, id=7)
    out6 = IPv6(src="fd00::2", dst="fd00::1")
    eth = Ether(src=args.src_mac, dst=args.dst_mac)
    ieth = Ether(src="02:00:00:00:02:02", dst=args.inner_mac)
    in4 = IP(src=args.inner_src, dst=args.inner_dst, flags="DF")
    in6 = IPv6(src="fd00:2::2", dst="fd00:2::1")
    tcp = TCP(sport=40000, dport=5001, seq=1, ack=1, flags="A")
    udp = UDP(sport=40000, dport=5001)
    gpe = UDP(sport=50000, dport=args.gpe_port, chksum=0)
    gen = UDP(sport=50000, dport=args.geneve_port, chksum=0)
    vx = UDP(sport=50000, dport=args.port, chksum=0) / VXLAN(vni=args.vni, flags=8)
    opt = b"\x01\x02\x03\x01" + b"abcd"
    tag = Dot1Q(vlan=5)
    # VXLAN-GPE and MPLS payloads are written as bytes: scapy would guess them
    # wrong, and only the offsets of the outer headers matter there.
    found = [
        ("tcp", eth / out4 / vx / ieth / in4 / tcp / text(80)),
        ("tcp-full", eth / out4 / vx / ieth / in4 / tcp / text(1400)),
        ("tcp-odd", eth / out4 / vx / ieth / in4 / tcp / text(33)),
        ("tcp-empty", eth / out4 / vx / ieth / in4 / tcp),
        ("tcp-options", eth / out4 / vx / ieth / in4 / TCP(
            flags="S", dport=5001, options=[("MSS", 1460), ("Timestamp", (1, 2)), ("EOL", None)])),
        ("udp", eth / out4 / vx / ieth / in4 / udp / text(64)),
        ("udp-zero", eth / out4 / vx / ieth / in4 / UDP(dport=5001, chksum=0) / text(64)),
        ("tcp6", eth / out4 / vx / ieth / in6 / tcp / text(77)),
        ("udp6", eth / out4 / vx / ieth / in6 / udp / text(31)),
        ("udp6-zero", eth / out4 / vx / ieth / in6 / UDP(dport=5001, chksum=0) / text(31)),
        ("icmp", eth / out4 / vx / ieth / in4 / ICMP() / text(40)),
        ("icmp6", eth / out4 / vx / ieth / in6 / ICMPv6EchoRequest(data=b"x" * 40)),
        ("arp", eth / out4 / vx / ieth / ARP(pdst=args.inner_dst)),
        ("gre", eth / out4 / vx / ieth / in4 / GRE() / in4 / tcp),
        ("inner-tag", eth / out4 / vx / ieth / tag / in4 / tcp / text(50)),
        ("inner-tags", eth / out4 / vx / ieth / tag / tag / in6 / tcp / text(50)),
        ("inner-fragment", eth / out4 / vx / ieth / IP(
            src=args.inner_src, dst=args.inner_dst, flags="MF") / tcp / text(64)),
        ("inner-fragment6", eth / out4 / vx / ieth / in6 / IPv6ExtHdrFragment(m=1) / tcp / text(64)),
        ("inner-dstopt", eth / out4 / vx / ieth / in6 / IPv6ExtHdrDestOpt() / tcp / text(64)),
        ("inner-options", eth / out4 / vx / ieth / IP(
            src=args.inner_src, dst=args.inner_dst, options=[IPOption(b"\x94\x04\x00\x00")]) / tcp / text(9)),
        ("nested", eth / out4 / vx / ieth / in4 / UDP(dport=args.port, chksum=0) /
         VXLAN(vni=3, flags=8) / ieth / in4 / tcp / text(40)),
        ("nested-sum", eth / out4 / vx / ieth / in4 / UDP(dport=args.port) /
         VXLAN(vni=3, flags=8) / ieth / in4 / udp / text(40)),
        ("empty-tunnel", eth / out4 / vx),
        ("outer-tag", eth / tag / out4 / vx / ieth / in4 / tcp / text(60)),
        ("outer-options", eth / IP(src=args.src_ip, dst=args.dst_ip, options=[
            IPOption(b"\x94\x04\x00\x00")]) / vx / ieth / in4 / tcp / text(60)),
        ("outer-fragment", eth / IP(src=args.src_ip, dst=args.dst_ip, flags="MF") /
         vx / ieth / in4 / tcp / text(64)),
        ("outer-sum", eth / out4 / UDP(dport=args.port) / VXLAN(vni=args.vni, flags=8) /
         ieth / in4 / tcp / text(64)),
        ("outer6", eth / out6 / vx / ieth / in4 / tcp / text(70)),
        ("outer6-hop", eth / out6 / IPv6ExtHdrHopByHop() / vx / ieth / in4 / tcp / text(70)),
        ("outer6-chain", eth / out6 / IPv6ExtHdrHopByHop() / IPv6ExtHdrRouting() /
         IPv6ExtHdrDestOpt() / vx / ieth / in4 / tcp / text(70)),
        ("outer6-fragment", eth / out6 / IPv6ExtHdrFragment(offset=4) / vx / ieth / in4 / tcp),
        ("geneve", eth / out4 / gen / GENEVE(vni=args.vni, proto=0x6558) / ieth / in4 / tcp / text(80)),
        ("geneve6", eth / out6 / gen / GENEVE(vni=args.vni, proto=0x6558) / ieth / in6 / udp / text(80)),
        ("geneve-bare", eth / out4 / gen / GENEVE(vni=args.vni, proto=0x0800) / in4 / tcp / text(80)),
        ("geneve-options", eth / out4 / gen / Raw(
            b"\x02\x40\x65\x58" + struct.pack("!I", args.vni << 8) + opt +
            bytes(ieth / in4 / tcp / text(80)))),
        ("gpe-ip", eth / out4 / gpe / Raw(b"\x0c\0\0\x01" + struct.pack("!I", args.vni << 8) +
                                          bytes(in4 / tcp / text(80)))),
        ("gpe-eth", eth / out4 / gpe / Raw(b"\x0c\0\0\x03" + struct.pack("!I", args.vni << 8) +
                                           bytes(ieth / in6 / tcp / text(80)))),
        ("other-udp", eth / out4 / UDP(dport=9, chksum=0) / text(60)),
        ("other-tcp", eth / out4 / TCP(dport=9, flags="A") / text(60)),
    ]
    return [Frame(name, pkt) for name, pkt in found]


def ones_sum(data):
    """Ones' complement sum of big-endian words, not inverted."""
    if len(data) % 2:
        data = bytes(data) + b"\0"
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def put16(b, at, value):
    if 0 <= at and at + 2 <= len(b):
        struct.pack_into("!H", b, at, value & 0xffff)


def get16(b, at):
    return struct.unpack_from("!H", b, at)[0] if 0 <= at and at + 2 <= len(b) else 0


class Mutator:
    """Changes one frame in place; the offsets move along where bytes come in."""

    def __init__(self, rng, frame, args):
        self.rng = rng
        self.args = args
        self.b = bytearray(frame.raw)
        self.__dict__.update({k: v for k, v in vars(frame).items() if k not in ("raw", "name")})
        self.fix_sum = None

    def insert(self, at, data):
        self.b[at:at] = data
        for name in ("ip", "udp", "tun", "inner", "iip", "l4", "end"):
            value = getattr(self, name)
            if value is not None and (value > at or (value == at and name != "end")):
                setattr(self, name, value + len(data))

    def outer_lengths(self, end):
        """The outer headers say that the packet ends there."""
        if self.ip is None:
            return
        if self.v6:
            put16(self.b, self.ip + 4, end - self.ip - 40)
        else:
            put16(self.b, self.ip + 2, end - self.ip)
        if self.udp is not None:
            put16(self.b, self.udp + 4, end - self.udp)

    def ip_check(self):
        if self.ip is None or self.v6 or len(self.b) < self.ip + 20:
            return
        size = (self.b[self.ip] & 15) * 4
        put16(self.b, self.ip + 10, 0)
        put16(self.b, self.ip + 10, ~ones_sum(self.b[self.ip:self.ip + size]))

    def inner_check(self):
        """Makes the inner checksum right for what the inner lengths say now."""
        if self.l4 is None or self.iip is None:
            return
        if self.iv6:
            end = self.iip + 40 + get16(self.b, self.iip + 4)
            addrs = self.b[self.iip + 8:self.iip + 40]
        else:
            end = self.iip + get16(self.b, self.iip + 2)
            addrs = self.b[self.iip + 12:self.iip + 20]
        if not self.l4 + 20 <= end <= len(self.b):
            return
        field = self.l4 + (6 if self.proto == 17 else 16)
        put16(self.b, field, 0)
        segment = self.b[self.l4:end]
        pseudo = addrs + struct.pack("!HH", self.proto, len(segment))
        put16(self.b, field, ~ones_sum(pseudo + segment) & 0xffff or 0xffff)

    # The ways to break a frame. Each returns nothing and may find nothing to do.

    def nothing(self):
        pass

    def flip_bits(self):
        for _ in range(self.rng.choice((1, 1, 1, 2, 8))):
            self.b[self.rng.randrange(12, len(self.b))] ^= 1 << self.rng.randrange(8)

    def flip_headers(self):
        last = min(len(self.b), (self.l4 or self.inner or 50) + 20)
        for _ in range(self.rng.choice((1, 1, 2, 4))):
            self.b[self.rng.randrange(12, last)] ^= 1 << self.rng.randrange(8)

    def flip_payload(self):
        start = self.l4 if self.l4 is not None else 34
        if start < len(self.b):
            self.b[self.rng.randrange(start, len(self.b))] ^= 1 << self.rng.randrange(8)

    def random_word(self):
        put16(self.b, self.rng.randrange(12, max(13, len(self.b) - 2)),
              self.rng.choice((0, 1, 0xffff, 0x8000, 0x7fff, self.rng.randrange(65536))))

    def near_length(self, at, keep):
        value = get16(self.b, at)
        put16(self.b, at, self.rng.choice((
            0, 1, 7, 8, 19, 20, 0xffff, value - 1, value + 1, value + self.rng.randrange(-64, 64))))
        if keep:
            self.inner_check()

    def outer_ip_length(self):
        if self.ip is not None:
            self.near_length(self.ip + (4 if self.v6 else 2), False)

    def outer_udp_length(self):
        if self.udp is not None:
            self.near_length(self.udp + 4, False)

    def inner_ip_length(self):
        if self.iip is not None:
            self.near_length(self.iip + (4 if self.iv6 else 2), self.rng.random() < .5)

    def inner_l4_length(self):
        if self.l4 is None:
            return
        if self.proto == 17:
            self.near_length(self.l4 + 4, self.rng.random() < .5)
        elif self.l4 + 12 < len(self.b):
            self.b[self.l4 + 12] = self.rng.randrange(16) << 4
            if self.rng.random() < .5:
                self.inner_check()

    def header_lengths(self):
        for at, v6 in ((self.ip, self.v6), (self.iip, self.iv6)):
            if at is not None and not v6 and self.rng.random() < .6:
                self.b[at] = self.rng.choice((0x40, 0x60)) | self.rng.randrange(16)

    def fragments(self):
        at, v6 = self.rng.choice(((self.ip, self.v6), (self.iip, self.iv6)))
        if at is None:
            return
        if v6:
            self.b[at + 6] = 44
        else:
            put16(self.b, at + 6, self.rng.choice((0x2000, 0x2001, 1, 0x1fff, 0x4000, 0x8000, 0xffff)))

    def cut(self):
        del self.b[self.rng.randrange(14, len(self.b)):]
        self.end = min(self.end, len(self.b))

    def cut_headers(self):
        self.cut_at(self.rng.randrange(14, min(len(self.b), (self.l4 or 50) + 24)))

    def cut_at(self, at):
        del self.b[at:]
        self.end = min(self.end, len(self.b))

    def cut_consistently(self):
        if self.udp is None:
            return
        end = self.rng.randrange(self.udp + 1, len(self.b) + 1)
        if self.rng.random() < .5:
            self.cut_at(end)
        self.outer_lengths(end)

    def outer_tags(self):
        for _ in range(self.rng.randrange(1, 5)):
            self.insert(12, struct.pack("!HH", self.rng.choice((0x8100, 0x88a8, 0x9100)),
                                        self.rng.randrange(4096)))

    def inner_tags(self):
        if self.inner is None:
            return
        for _ in range(self.rng.randrange(1, 5)):
            self.insert(self.inner + 12, struct.pack(
                "!HH", self.rng.choice((0x8100, 0x88a8)), self.rng.randrange(4096)))
        self.outer_lengths(len(self.b))

    def tunnel_flags(self):
        if self.udp is None or self.udp + 16 > len(self.b):
            return
        tun = self.udp + 8
        kind = self.rng.randrange(4)
        if kind == 0:
            self.b[tun + 1] |= 0x20                     # remote checksum offload
        elif kind == 1:
            self.b[tun] ^= 1 << self.rng.randrange(8)
        elif kind == 2:
            self.b[tun:tun + 4] = self.rng.randbytes(4)
        else:
            self.b[tun + 1] ^= 1 << self.rng.randrange(8)

    def geneve_options(self):
        if self.udp is None or self.udp + 16 > len(self.b):
            return
        words = self.rng.randrange(64)
        self.b[self.udp + 8] = words
        put16(self.b, self.udp + 2, self.args.geneve_port)
        put16(self.b, self.udp + 10, self.rng.choice((0x6558, 0x0800, 0x86dd, 0)))
        if self.rng.random() < .7:
            self.insert(self.udp + 16, self.rng.randbytes(words * 4))
            self.outer_lengths(len(self.b))

    def nest(self):
        if self.tun is None or self.inner is None:
            return
        inside = bytes(self.b[self.inner:])
        shell = bytes(self.b[:self.inner])
        for _ in range(self.rng.randrange(1, 4)):
            if len(shell) + len(inside) + self.inner > MAX_FRAME:
                break
            inside = shell + inside
        self.b = bytearray(shell + inside)
        self.outer_lengths(len(self.b))
        self.iip = self.l4 = None

    def extension_headers(self):
        at, v6 = self.rng.choice(((self.ip, self.v6), (self.iip, self.iv6)))
        if at is None or not v6:
            return
        for _ in range(self.rng.randrange(1, 6)):
            kind = self.rng.choice((0, 43, 44, 60, 51, 59, 135))
            body = bytes((self.b[at + 6], 0)) + self.rng.randbytes(6)
            self.b[at + 6] = kind
            self.insert(at + 40, body)
        put16(self.b, at + 4, get16(self.b, at + 4) + 8)
        if at != self.ip:
            self.outer_lengths(len(self.b))
        else:
            put16(self.b, at + 4, len(self.b) - at - 40)

    def padding(self):
        extra = self.rng.randbytes(self.rng.randrange(1, 64))
        self.b += extra
        if self.rng.random() < .5:
            self.outer_lengths(len(self.b))     # behind the inner packet, not the outer
            self.end = len(self.b)

    def outer_sum(self):
        if self.udp is not None:
            put16(self.b, self.udp + 6, self.rng.choice((1, 0x8000, 0xffff, self.rng.randrange(65536))))

    def inner_sum(self):
        if self.l4 is not None:
            put16(self.b, self.l4 + (6 if self.proto == 17 else 16),
                  self.rng.choice((0, 0, 1, 0xffff, self.rng.randrange(65536))))

    def ports(self):
        if self.udp is not None:
            put16(self.b, self.udp + 2, self.rng.choice((
                self.args.port, self.args.geneve_port, self.args.gpe_port, 4789, 8472, 0,
                self.rng.randrange(65536))))

    def protocols(self):
        at, v6 = self.rng.choice(((self.ip, self.v6), (self.iip, self.iv6)))
        if at is not None:
            self.b[at + (6 if v6 else 9)] = self.rng.choice((0, 1, 6, 17, 41, 43, 44, 47, 50, 58, 132, 136,
                                                            self.rng.randrange(256)))

    def ether_types(self):
        at = self.rng.choice((self.ip, self.iip))
        if at is not None:
            put16(self.b, at - 2, self.rng.choice((0, 60, 0x0800, 0x86dd, 0x0806, 0x8100, 0x88a8,
                                                   0x8847, 0x6558, self.rng.randrange(65536))))

    def tail_of_noise(self):
        at = self.rng.randrange(14, len(self.b))
        self.b[at:] = self.rng.randbytes(len(self.b) - at)

    WAYS = (nothing, nothing, flip_bits, flip_bits, flip_headers, flip_headers, flip_payload,
            flip_payload, random_word, outer_ip_length, outer_udp_length, inner_ip_length,
            inner_l4_length, header_lengths, fragments, cut, cut_headers, cut_consistently,
            outer_tags, inner_tags, tunnel_flags, geneve_options, nest, extension_headers,
            padding, outer_sum, inner_sum, ports, protocols, ether_types, tail_of_noise)

    def run(self):
        for _ in range(self.rng.choice((1, 1, 1, 2, 3))):
            if len(self.b) <= 20:
                break
            try:
                self.rng.choice(self.WAYS)(self)
            except (IndexError, ValueError):
                pass    # an earlier cut took the place away: nothing to change there
        if self.rng.random() < .3:
            self.inner_check()
        if self.rng.random() < .85:     # a bad outer header sum ends it all early
            self.ip_check()
        return bytes(self.b[:MAX_FRAME])


def pcap_header():
    return struct.pack("<IHHiIII", 0xa1b2c3d4, 2, 4, 0, 0, 65535, 1)


def pcap_record(micros, frame):
    return struct.pack("<IIII", micros // 1000000, micros % 1000000, len(frame), len(frame)) + frame


def number(low, high):
    def parse(text):
        value = int(text, 0)
        if not low <= value <= high:
            raise argparse.ArgumentTypeError(f"{text} is not from {low} to {high}")
        return value
    return parse


def mac(text):
    parts = text.split(":")
    if len(parts) != 6 or not all(len(p) == 2 and int(p, 16) >= 0 for p in parts):
        raise argparse.ArgumentTypeError(f"{text} is not a MAC address")
    return text


def ipv4(text):
    return str(ipaddress.IPv4Address(text))


def arguments():
    p = argparse.ArgumentParser(description=__doc__.split("\n\n", maxsplit=1)[0],
                                formatter_class=argparse.ArgumentDefaultsHelpFormatter)
    p.add_argument("-o", "--output", required=True, help="the pcap to write")
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--count", type=number(1, 10000000), default=10000, help="number of frames")
    p.add_argument("--clean", action="store_true", help="only the good frames, in turn")
    p.add_argument("--port", type=number(1, 65535), default=5766, help="VXLAN's UDP port")
    p.add_argument("--geneve-port", type=number(1, 65535), default=6081)
    p.add_argument("--gpe-port", type=number(1, 65535), default=4790)
    p.add_argument("--vni", type=number(0, 0xffffff), default=2)
    p.add_argument("--dst-mac", type=mac, required=True, help="of the receiving port")
    p.add_argument("--src-mac", type=mac, default="02:00:00:00:00:02")
    p.add_argument("--dst-ip", type=ipv4, required=True, help="outer destination")
    p.add_argument("--src-ip", type=ipv4, default="192.168.1.2", help="outer source")
    p.add_argument("--inner-mac", type=mac, default="02:00:00:00:02:01", help="inner destination")
    p.add_argument("--inner-src", type=ipv4, default="10.0.2.2", help="inner source")
    p.add_argument("--inner-dst", type=ipv4, default="10.0.2.1", help="inner IPv4 destination")
    return p.parse_args()


def main():
    args = arguments()
    started = time.monotonic()
    rng = random.Random(args.seed)
    bind_layers(UDP, VXLAN, dport=args.port)
    bind_layers(UDP, GENEVE, dport=args.geneve_port)
    good = bases(args, rng)
    try:
        with open(args.output, "wb") as out:
            out.write(pcap_header())
            for i in range(args.count):
                base = good[i % len(good)]
                frame = base.raw if args.clean else Mutator(rng, base, args).run()
                out.write(pcap_record(i, frame))
    except OSError as error:
        sys.exit(f"mutate.py: cannot write {args.output}: {error.strerror}")
    print(f"{args.output}: {args.count} frames from {len(good)} bases, seed {args.seed}, "
          f"{time.monotonic() - started:.1f} s")


if __name__ == "__main__":
    main()

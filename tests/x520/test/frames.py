# SPDX-License-Identifier: GPL-2.0
"""Build, cut up and judge Ethernet frames, in plain Python.

The tests' own opinion of what is right: it shares no code with the model or
with a kernel, and needs nothing that a guest has not got. (scapy would do, but
takes 10 s to import on an emulated CPU.)
"""

import struct

MAC_A = bytes.fromhex("020000000001")
MAC_B = bytes.fromhex("020000000002")
IP_A, IP_B = bytes([192, 168, 1, 1]), bytes([192, 168, 1, 2])
IP6_A = bytes.fromhex("fd000000000000000000000000000001")
IP6_B = bytes.fromhex("fd000000000000000000000000000002")

ETH_IP, ETH_IP6, ETH_ARP = 0x0800, 0x86dd, 0x0806
ETH_VLAN, ETH_QINQ = 0x8100, 0x88a8
TCP, UDP, SCTP, ICMP, ICMP6, GRE = 6, 17, 132, 1, 58, 47
FIN, SYN, RST, PSH, ACK, URG, ECE, CWR = (1 << i for i in range(8))
VXLAN_PORTS = (4789, 5766, 8472)
GENEVE_PORT = 6081


# --- checksums ------------------------------------------------------------------

def ones_sum(data, start=0):
    """Folded ones' complement sum of big-endian 16-bit words (RFC 1071)."""
    if len(data) & 1:
        data += b"\0"
    total = start + sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return total


def inet_csum(data, start=0):
    return ~ones_sum(data, start) & 0xffff


def _crc32c_table():
    table = []
    for n in range(256):
        for _ in range(8):
            n = n >> 1 ^ 0x82f63b78 if n & 1 else n >> 1
        table.append(n)
    return table


CRC32C = _crc32c_table()


def crc32c(data):
    crc = 0xffffffff
    for byte in data:
        crc = CRC32C[(crc ^ byte) & 0xff] ^ crc >> 8
    return crc ^ 0xffffffff


def pseudo(src, dst, proto, length):
    """Sum of the pseudo header, IPv4 or IPv6 by the addresses' length."""
    if len(src) == 4:
        return ones_sum(src + dst + struct.pack("!HH", proto, length))
    return ones_sum(src + dst + struct.pack("!II", length, proto))


# --- building -------------------------------------------------------------------

def eth(payload, proto, dst=MAC_B, src=MAC_A, tags=()):
    """tags: (TPID, TCI) pairs, the outermost first."""
    head = dst + src
    for tpid, tci in tags:
        head += struct.pack("!HH", tpid, tci)
    return head + struct.pack("!H", proto) + payload


def ipv4(payload, proto, src=IP_A, dst=IP_B, ident=1, frag=0x4000, options=b"",
         bad=False, total=None, ttl=64, tos=0):
    """frag: flags and offset as in the header; total: a false total length."""
    hlen = 20 + len(options)
    if total is None:
        total = hlen + len(payload)
    head = struct.pack("!BBHHHBBH4s4s", 0x40 | hlen // 4, tos, total, ident, frag,
                       ttl, proto, 0, src, dst) + options
    check = inet_csum(head) ^ (0x0101 if bad else 0)
    return head[:10] + struct.pack("!H", check) + head[12:] + payload


def ipv6(payload, proto, src=IP6_A, dst=IP6_B, ext=(), length=None):
    """ext: (next header value, body of 8n bytes less the first two) in order."""
    chain, nexthdr = b"", proto
    for number, body in reversed(ext):
        assert (len(body) + 2) % 8 == 0
        second = 0 if number == 44 else (len(body) + 2) // 8 - 1
        chain = struct.pack("BB", nexthdr, second) + body + chain
        nexthdr = number
    if length is None:
        length = len(chain) + len(payload)
    return struct.pack("!IHBB16s16s", 0x60000000, length, nexthdr, 64, src, dst) + \
        chain + payload


def udp(payload, sport=1111, dport=2222, src=IP_A, dst=IP_B, check="good", length=None):
    """check: good, bad, zero, or a number; length: a false UDP length."""
    if length is None:
        length = 8 + len(payload)
    seg = struct.pack("!HHHH", sport, dport, length, 0) + payload
    value = inet_csum(seg, pseudo(src, dst, UDP, len(seg))) or 0xffff
    if check == "zero":
        value = 0
    elif check == "bad":
        value = value ^ 0x5a5a or 0x5a5a
    elif check != "good":
        value = check
    return seg[:6] + struct.pack("!H", value) + payload


def tcp(payload, sport=1111, dport=2222, src=IP_A, dst=IP_B, seq=1, ack=1,
        flags=ACK, options=b"", bad=False):
    off = (20 + len(options)) // 4
    seg = struct.pack("!HHIIBBHHH", sport, dport, seq & 0xffffffff, ack, off << 4,
                      flags, 1024, 0, 0) + options + payload
    value = inet_csum(seg, pseudo(src, dst, TCP, len(seg))) ^ (0x5a5a if bad else 0)
    return seg[:16] + struct.pack("!H", value) + seg[18:]


def sctp(payload, sport=1111, dport=2222, bad=False):
    chunk = struct.pack("!BBH", 0, 3, 4 + len(payload)) + payload
    chunk += b"\0" * (-len(chunk) % 4)
    head = struct.pack("!HHI", sport, dport, 0x01020304)
    value = crc32c(head + b"\0\0\0\0" + chunk) ^ (0x5a5a if bad else 0)
    return head + struct.pack("<I", value) + chunk


def vxlan(inner, vni=2):
    return struct.pack("!BxxxI", 8, vni << 8) + inner


def filler(n, seed=0):
    """n bytes that tell where they come from."""
    return bytes((i * 7 + (i >> 8) * 13 + seed) & 0xff for i in range(n))


# --- judging --------------------------------------------------------------------

class Parsed:
    """Headers of one frame, from the outside in: (name, fields) pairs."""

    def __init__(self, tunnels=True):
        self.layers = []
        self.problems = []
        self.tunnels = tunnels
        self.padding = 0
        self.fragment = False

    def get(self, name, index=0):
        return [f for n, f in self.layers if n == name][index]

    def names(self):
        return "/".join(n for n, _ in self.layers)


def parse(frame, quiet_padding=True, tunnels=True):
    """Every checksum, length and header of a frame, tunnels included if asked.

    quiet_padding: bytes after the IP packet are no problem in frames of 60
    bytes or less (64 with a tag).
    """
    out = Parsed(tunnels)
    _parse_eth(frame, out, quiet_padding)
    return out


def problems(frame):
    return parse(frame).problems


def _parse_eth(frame, out, quiet_padding):
    if len(frame) < 14:
        out.problems.append("frame of %d bytes" % len(frame))
        return
    off, tags = 12, []
    proto = struct.unpack_from("!H", frame, off)[0]
    while proto in (ETH_VLAN, ETH_QINQ) and len(frame) >= off + 6:
        tags.append((proto, struct.unpack_from("!H", frame, off + 2)[0]))
        off += 4
        proto = struct.unpack_from("!H", frame, off)[0]
    out.layers.append(("eth", dict(dst=frame[:6], src=frame[6:12], tags=tags, proto=proto)))
    body = frame[off + 2:]
    if proto == ETH_IP:
        used = _parse_ipv4(body, out)
    elif proto == ETH_IP6:
        used = _parse_ipv6(body, out)
    else:
        return
    out.padding = len(body) - used
    if out.padding and not (quiet_padding and len(frame) <= 60 + 4 * len(tags)):
        out.problems.append("%d bytes after the packet" % out.padding)


def _parse_ipv4(data, out):
    if len(data) < 20 or data[0] >> 4 != 4:
        out.problems.append("not an IPv4 header")
        return len(data)
    hlen = (data[0] & 15) * 4
    total, ident, frag = struct.unpack_from("!HHH", data, 2)
    proto, src, dst = data[9], data[12:16], data[16:20]
    if hlen < 20 or total < hlen or total > len(data):
        out.problems.append("IPv4 header %d, total %d, frame holds %d" % (hlen, total, len(data)))
        return len(data)
    if ones_sum(data[:hlen]) != 0xffff:
        out.problems.append("IPv4 header checksum")
    out.layers.append(("ipv4", dict(ident=ident, frag=frag, total=total, hlen=hlen,
                                    proto=proto, src=src, dst=dst, head=data[:hlen])))
    if frag & 0x3fff:
        out.fragment = True
        return total
    _parse_l4(data[hlen:total], proto, src, dst, out)
    return total


def _parse_ipv6(data, out):
    if len(data) < 40 or data[0] >> 4 != 6:
        out.problems.append("not an IPv6 header")
        return len(data)
    length, nexthdr = struct.unpack_from("!HB", data, 4)
    src, dst = data[8:24], data[24:40]
    if 40 + length > len(data):
        out.problems.append("IPv6 payload %d, frame holds %d" % (length, len(data) - 40))
        return len(data)
    out.layers.append(("ipv6", dict(length=length, src=src, dst=dst, next=nexthdr)))
    body = data[40:40 + length]
    while nexthdr in (0, 43, 60, 44):
        if len(body) < 8:
            out.problems.append("IPv6 extension header is cut off")
            return 40 + length
        if nexthdr == 44:
            out.fragment = True
            return 40 + length
        size = (body[1] + 1) * 8
        nexthdr, body = body[0], body[size:]
    _parse_l4(body, nexthdr, src, dst, out)
    return 40 + length


def _parse_l4(data, proto, src, dst, out):
    if proto == TCP:
        if len(data) < 20 or (data[12] >> 4) * 4 > len(data) or data[12] >> 4 < 5:
            out.problems.append("TCP header is cut off")
            return
        if ones_sum(data, pseudo(src, dst, TCP, len(data))) != 0xffff:
            out.problems.append("TCP checksum")
        sport, dport, seq, ack, off, flags, win = struct.unpack_from("!HHIIBBH", data)
        hlen = (off >> 4) * 4
        out.layers.append(("tcp", dict(sport=sport, dport=dport, seq=seq, ack=ack,
                                       flags=flags, hlen=hlen, payload=data[hlen:],
                                       options=data[20:hlen], window=win)))
    elif proto == UDP:
        if len(data) < 8:
            out.problems.append("UDP header is cut off")
            return
        sport, dport, length, check = struct.unpack_from("!HHHH", data)
        if length < 8 or length != len(data):
            out.problems.append("UDP length %d in a packet of %d" % (length, len(data)))
            return
        if check == 0 and len(src) == 16 and dport not in VXLAN_PORTS + (GENEVE_PORT,):
            out.problems.append("zero UDP checksum over IPv6")
        if check and ones_sum(data, pseudo(src, dst, UDP, length)) != 0xffff:
            out.problems.append("UDP checksum")
        out.layers.append(("udp", dict(sport=sport, dport=dport, check=check,
                                       payload=data[8:length])))
        if out.tunnels and dport in VXLAN_PORTS:
            out.layers.append(("vxlan", dict(head=data[8:16])))
            _parse_eth(data[16:], out, False)
        elif out.tunnels and dport == GENEVE_PORT:
            skip = 8 + (data[8] & 0x3f) * 4
            out.layers.append(("geneve", dict(head=data[8:8 + skip])))
            _parse_eth(data[8 + skip:], out, False)
    elif proto == GRE:
        if len(data) < 4:
            out.problems.append("GRE header is cut off")
            return
        flags, inner = struct.unpack_from("!HH", data)
        skip = 4 + 4 * bool(flags & 0x8000) + 4 * bool(flags & 0x2000)
        if flags & 0x8000 and ones_sum(data) != 0xffff:
            out.problems.append("GRE checksum")
        out.layers.append(("gre", dict(head=data[:skip])))
        if inner == 0x6558:
            _parse_eth(data[skip:], out, False)
    elif proto == SCTP:
        if len(data) < 12:
            out.problems.append("SCTP header is cut off")
        elif crc32c(data[:8] + b"\0\0\0\0" + data[12:]) != struct.unpack_from("<I", data, 8)[0]:
            out.problems.append("SCTP CRC32c")
        else:
            out.layers.append(("sctp", {}))


def l4_valid(frame):
    """Whether a receiver may be told that the outermost TCP, UDP or SCTP
    checksum is right. Says no when in doubt."""
    seen = parse(frame, tunnels=False)
    if seen.fragment or seen.layers[-1][0] not in ("tcp", "udp", "sctp"):
        return False
    return not [p for p in seen.problems if not p.endswith("after the packet")]


# --- TCP segmentation, as a NIC must do it ------------------------------------------

def segments(frame, gso_size):
    """The frames that one large TCP frame becomes: IPv4 id counts up, FIN and
    PSH only on the last, CWR only on the first, checksums anew."""
    seen = parse(frame)
    seg = seen.get("tcp")
    link = seen.get("eth")
    payload, out = seg["payload"], []
    pieces = [payload[i:i + gso_size] for i in range(0, len(payload), gso_size)]
    for n, piece in enumerate(pieces):
        flags = seg["flags"]
        if n < len(pieces) - 1:
            flags &= ~(FIN | PSH)
        if n:
            flags &= ~CWR
        if link["proto"] == ETH_IP:
            ip = seen.get("ipv4")
            src, dst = ip["src"], ip["dst"]
        else:
            src, dst = seen.get("ipv6")["src"], seen.get("ipv6")["dst"]
        body = tcp(piece, seg["sport"], seg["dport"], src, dst, seg["seq"] + n * gso_size,
                   seg["ack"], flags, seg["options"])
        body = body[:14] + struct.pack("!H", seg["window"]) + body[16:]
        body = body[:16] + b"\0\0" + body[18:]
        body = body[:16] + struct.pack("!H", inet_csum(body, pseudo(src, dst, TCP, len(body)))) + \
            body[18:]
        if link["proto"] == ETH_IP:
            body = ipv4(body, TCP, src, dst, ip["ident"] + n & 0xffff, ip["frag"],
                        ip["head"][20:], ttl=ip["head"][8], tos=ip["head"][1])
        else:
            body = ipv6(body, TCP, src, dst)
        out.append(eth(body, link["proto"], link["dst"], link["src"], link["tags"]))
    return out


# --- RSS --------------------------------------------------------------------------

def toeplitz(key, data):
    """Microsoft's RSS hash, as the 82599 computes it."""
    window = int.from_bytes(key[:4], "big")
    bits = int.from_bytes(key[4:], "big")
    left = (len(key) - 4) * 8
    result = 0
    for byte in data:
        for bit in range(7, -1, -1):
            if byte >> bit & 1:
                result ^= window
            left -= 1
            window = (window << 1 | bits >> left & 1) & 0xffffffff
    return result


def read_pcap(path):
    """Frames of a capture file, each with its time stamp in ns."""
    with open(path, "rb") as f:
        data = f.read()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    unit = 1 if data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1000
    off, out = 24, []
    while off + 16 <= len(data):
        sec, frac, caplen, length = struct.unpack_from(order + "IIII", data, off)
        if caplen != length:
            raise ValueError("%s: a frame of %d bytes was cut to %d" % (path, length, caplen))
        out.append((sec * 10**9 + frac * unit, data[off + 16:off + 16 + caplen]))
        off += 16 + caplen
    return out

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Registers, descriptors, RSS, checksums and segmentation, without a guest.

usage: qtest_offload.py --qemu PROGRAM

See qtest.py, whose two ports on one wire these tests drive. What is expected
stands in the 82599 datasheet, or follows from RFC 791, 793, 768 and 2460.
"""

import socket
import struct
import sys

import qtest
from qtest import BROADCAST, DD, EOP, MAC, RING, RX_BUF, RX_RING, TX_BUF, TX_RING, Card
import frames as fr

DATA, CONTEXT = 0x20300000, 0x20200000
LAST, RS, VLE, TSE = 0x01000000, 0x08000000, 0x40000000, 0x80000000
IXSM, TXSM = 0x100, 0x200
IPV4, TCP, SCTP = 0x400, 0x800, 0x1000          # context descriptor, TUCMD
L4CS, UDPCS, IPCS, VP, L4E, IPE = 0x20, 0x10, 0x40, 8, 0x40000000, 0x80000000

# The verification suite of Microsoft's "RSS Hash Type" documentation, which
# the datasheet repeats: destination, source, hash of addresses, and with ports.
RSS_KEY = bytes.fromhex("6d5a56da255b0ec24167253d43a38fb0d0ca2bcb"
                        "ae7b30b477cb2da38030f20c6a42b73bbeac01fa")
RSS4 = (
    ("161.142.100.80", 1766, "66.9.149.187", 2794, 0x323e8fc2, 0x51ccc178),
    ("65.69.140.83", 4739, "199.92.111.2", 14230, 0xd718262a, 0xc626b0ea),
    ("12.22.207.184", 38024, "24.19.198.95", 12898, 0xd2d0a5de, 0x5c2b394a),
    ("209.142.163.6", 2217, "38.27.205.30", 48228, 0x82989176, 0xafc7327f),
    ("202.188.127.2", 1303, "153.39.163.191", 44251, 0x5d1809c5, 0x10e828a2),
)
RSS6 = (
    ("3ffe:2501:200:3::1", 1766, "3ffe:2501:200:1fff::7", 2794, 0x2cc18cd5, 0x40207d3d),
    ("ff02::1", 4739, "3ffe:501:8::260:97ff:fe40:efab", 14230, 0x0f0c461c, 0xdde51bbf),
    ("fe80::200:f8ff:fe21:67cf", 38024, "3ffe:1900:4545:3:200:f8ff:fe21:67cf", 44251,
     0x4b61e985, 0x02d1feef),
)


def eth(payload, ethertype=0x0800, tags=()):
    return fr.eth(payload, ethertype, dst=BROADCAST, src=MAC[0], tags=tags)


def blank(frame, at):
    return frame[:at] + b"\0\0" + frame[at + 2:]


def seeded(src, dst, proto, length):
    """What software leaves in a checksum field: the pseudo header's sum."""
    return fr.inet_csum(b"", fr.pseudo(src, dst, proto, length)) ^ 0xffff


def data(addr, size, payload, cmd=LAST | RS, opts=0):
    return struct.pack("<QII", addr, DATA | cmd | size, payload << 14 | opts)


def context(mac_len, ip_len, tucmd, l4_len=0, mss=0, vlan=0, index=0):
    return struct.pack("<IIII", ip_len | mac_len << 9 | vlan << 16, 0, CONTEXT | tucmd,
                       index << 4 | l4_len << 8 | mss << 16)


class Bench(Card):
    """A card whose descriptors are written one by one."""

    def post(self, *descriptors):
        at = self.tail[0, 0]
        for d in descriptors:
            self.put(TX_RING + 16 * at, d)
            at = (at + 1) % RING
        self.tail[0, 0] = at
        self.write(0, 0x6018, at)
        self.step(1000)

    def transmit(self, frame, before=(), cmd=LAST | RS, opts=0, payload=None):
        self.put(TX_BUF, frame)
        self.post(*before, data(TX_BUF, len(frame), len(frame) if payload is None else payload,
                                cmd, opts))

    def raw(self, slot, n):
        return struct.unpack("<IIIHH", self.memory(RX_RING + 0x2000 * slot + 16 * n, 16))

    def arrived(self):
        return [f for *_, f in self.received(1)]


def same(got, want):
    """Prints what differs; frames come padded to 60 bytes."""
    want = [w.ljust(60, b"\0") for w in want]
    for n, (g, w) in enumerate(zip(got, want)):
        if g != w:
            at = [i for i in range(min(len(g), len(w))) if g[i] != w[i]]
            print("# frame %d: %d bytes, %d expected, differs from offset %s: %s, expected %s" % (
                n, len(g), len(w), at[:1], g[:80].hex(), w[:80].hex()))
    if len(got) != len(want):
        print("# %d frames, %d expected" % (len(got), len(want)))
    return got == want


# --- registers ----------------------------------------------------------------------

def test_reset_values(qemu):
    """registers have the datasheet's values after a reset"""
    values = {0x00008: None, 0x04268: 0x05ee0000, 0x03c00: 0x00080000, 0x0cc00: 0x00028000,
              0x05088: 0x00008100, 0x08810: 0x00000001, 0x08808: 0x00000250, 0x04a88: 0x0ff60ff6,
              0x04a8c: 0x00000f7f, 0x05080: 0, 0x02f00: None, 0x00808: 0, 0x00880: 0, 0x06028: 0}
    wrong = []
    with Card(qemu) as card:
        card.write(0, 0, 0x04000000)
        for off, value in values.items():
            seen = card.read(0, off)
            if value is not None and seen != value:
                wrong.append("%#x is %#x, not %#x" % (off, seen, value))
    print("\n".join("# " + w for w in wrong) or "# %d registers" % len(values))
    return not wrong


def test_causes(qemu):
    """EICS sets, EICR clears what is written and all when read, EIMS and EIMC mask"""
    with Card(qemu) as card:
        card.write(0, 0x898, 0)                         # GPIE: no auto-mask, no MSI-X
        card.read(0, 0x800)
        card.write(0, 0x888, 0xffffffff)
        card.write(0, 0x880, 0x00f)
        card.write(0, 0x888, 0x003)
        mask = card.read(0, 0x880) & 0xffff
        card.write(0, 0x808, 0x7)
        card.write(0, 0x800, 0x1)
        left = card.read(0, 0x808) & 0xffff
        read = card.read(0, 0x800) & 0xffff, card.read(0, 0x800) & 0xffff
    print("# EIMS %#x, EICS %#x, EICR %#x then %#x" % ((mask, left) + read))
    return (mask, left, read) == (0xc, 0x6, (0x6, 0))


def test_counters(qemu):
    """statistics count frames and octets with FCS, and clear when read"""
    sizes = (60, 64, 123, 251, 507, 1019, 1514)
    with Card(qemu) as card:
        for n in range(2):
            card.send(0, [qtest.frame(i)[:18] + bytes(s - 18) for i, s in enumerate(sizes)])
            card.step(1000)
            # PRC64 to PRC1522, GPRC, BPRC, GORC of the receiver; PTC64 on, GPTC, GOTC
            seen = [card.read(1, off) for off in (*range(0x405c, 0x4074, 4), 0x4074, 0x4078, 0x4088)], \
                [card.read(0, off) for off in (*range(0x40d8, 0x40f0, 4), 0x4080, 0x40f4, 0x4090)]
    octets = sum(s + 4 for s in sizes)
    want = [1, 2, 1, 1, 1, 1, 7, 7, octets]
    print("# received %s, sent %s" % seen)
    return seen == (want, want)


# --- descriptors ----------------------------------------------------------------------

def test_buffers(qemu):
    """a frame over several receive buffers: lengths, EOP and status in the last"""
    frame = eth(bytes(range(256)) * 12)[:3000]
    with Bench(qemu) as card:
        for fn in (0, 1):
            card.write(fn, 0x04240, 0x0c000407)         # HLREG0: jumbo
            card.write(fn, 0x04268, 9022 << 16)
        card.write(1, 0x1014, 0x02000001)               # 1 KiB
        card.put(TX_BUF, frame)                         # from three pieces
        card.post(data(TX_BUF, 1000, 3000, 0), data(TX_BUF + 1000, 1, 3000, 0),
                  data(TX_BUF + 1001, 1999, 3000))
        seen = [card.raw(1, n) for n in range(4)]
        got = b"".join(card.memory(RX_BUF + 0x80000 + 2048 * n, s[3]) for n, s in enumerate(seen[:3]))
    print("# %s" % [(hex(s[2] & 3), s[3]) for s in seen])
    return [(s[2] & 3, s[3]) for s in seen[:3]] == [(DD, 1024), (DD, 1024), (DD | EOP, 952)] and \
        not seen[3][2] & DD and got == frame


def test_legacy(qemu):
    """legacy descriptors: transmit with a checksum and a tag, receive"""
    frame = eth(fr.ipv4(fr.udp(b"legacy"), fr.UDP)).ljust(60, b"\0")
    with Bench(qemu) as card:
        card.write(1, 0x1014, 2)                        # SRRCTL: legacy, 2 KiB
        card.put(TX_BUF, blank(frame, 24))
        # IC: an Internet checksum over the frame from CSS on goes to CSO
        card.post(struct.pack("<QHBBBBH", TX_BUF, len(frame), 24, 0x4d, 0, 14, 0x2123))
        low, high = struct.unpack("<QQ", card.memory(RX_RING + 0x2000, 16))
        got = card.memory(RX_BUF + 0x80000, high & 0xffff)
    want = blank(frame, 24)
    want = want[:24] + struct.pack("!H", fr.inet_csum(want[14:])) + want[26:]
    print("# second quadword %#x" % high)
    return (high >> 32 & 3, high >> 32 & VP) == (3, VP) and \
        got == want[:12] + b"\x81\x00\x21\x23" + want[12:]


def test_vlan(qemu):
    """a tag is inserted from the context, and stripped by RXDCTL.VME"""
    plain = eth(fr.ipv4(fr.udp(bytes(30)), fr.UDP))
    with Bench(qemu) as card:
        card.transmit(plain, [context(14, 20, IPV4, vlan=0x6123)], LAST | RS | VLE)
        card.write(1, 0x1028, 0x42000000)
        card.transmit(plain, [], LAST | RS | VLE)
        (_, first, _, tagged), (_, second, _, bare) = card.received(1)
        tci = card.raw(1, 1)[4]
    print("# status %#x and %#x, tag %#x" % (first, second, tci))
    return same([tagged, bare], [eth(plain[14:], 0x0800, tags=[(0x8100, 0x6123)]), plain]) and \
        bool(first & second & VP) and tci == 0x6123


def test_write_back(qemu):
    """DD in descriptors with RS only; or the head, to where TDWBAL says"""
    frame = qtest.frame(1)
    with Bench(qemu) as card:
        card.put(TX_BUF, frame)
        card.post(data(TX_BUF, len(frame), len(frame), LAST), data(TX_BUF, len(frame), len(frame)))
        done = [card.memory(TX_RING + 16 * n + 12, 4)[0] & DD for n in (0, 1)]
        card.write(0, 0x6038, 0x200001)
        card.post(data(TX_BUF, len(frame), len(frame)))
        head, third = card.memory(0x200000, 4), card.memory(TX_RING + 16 * 2 + 12, 4)[0] & DD
    print("# DD %s, then head %s and DD %d" % (done, head.hex(), third))
    return done == [0, 1] and head == b"\3\0\0\0" and third == 0


def test_ring_end(qemu):
    """both rings wrap; without descriptors frames wait, or with DROP_EN are lost"""
    with Card(qemu) as card:
        for n in range(3):
            card.send(0, [qtest.frame(i) for i in range(RING - 1)])
            card.step(1000)
            first, waits = card.read(1, 0x1010), card.read(1, 0x1430)   # RDH, QPRDC
            card.write(1, 0x1018, (first - 1) % RING)
            card.step(100)
        card.send(0, [qtest.frame(i) for i in range(RING - 1)])
        card.step(1000)
        card.write(1, 0x1014, 0x12000002)               # DROP_EN
        card.send(0, [qtest.frame(i) for i in range(20)])
        card.step(1000)
        lost = card.read(1, 0x1430)
        heads = card.read(0, 0x6010), card.read(1, 0x1010)
    print("# heads %s, %d and %d lost" % (heads, waits, lost))
    return waits == 0 and lost == 20 and heads == ((4 * (RING - 1) + 20) % RING, 4 * (RING - 1) % RING)


# --- receive side scaling ---------------------------------------------------------------

def flow(src, sport, dst, dport, proto):
    family = socket.AF_INET6 if ":" in src else socket.AF_INET
    src, dst = socket.inet_pton(family, src), socket.inet_pton(family, dst)
    l4 = (fr.udp if proto == fr.UDP else fr.tcp)(b"payload", sport, dport, src, dst)
    if family == socket.AF_INET6:
        return eth(fr.ipv6(l4, proto, src, dst), 0x86dd)
    return eth(fr.ipv4(l4, proto, src, dst))


def rss_card(qemu, mrqc):
    card = Bench(qemu)
    for n in range(10):
        card.write(1, 0x5c80 + 4 * n, struct.unpack_from("<I", RSS_KEY, 4 * n)[0])
    card.write(1, 0x05000, 0x2000)                      # RXCSUM.PCSD
    card.write(1, 0x05818, mrqc)
    return card


def hashes(qemu, mrqc, proto):
    """RSS type and hash of each vector, as descriptors have them."""
    with rss_card(qemu, mrqc) as card:
        for n, (dst, dport, src, sport, _, _) in enumerate(RSS4 + RSS6):
            card.transmit(flow(src, sport, dst, dport, proto))
        return [(card.raw(1, n)[0] & 0xf, card.raw(1, n)[1]) for n in range(len(RSS4 + RSS6))]


def rss_test(qemu, mrqc, proto, type4, type6, column):
    got = hashes(qemu, mrqc, proto)
    want = [(type4, v[column]) for v in RSS4] + [(type6, v[column]) for v in RSS6]
    for g, w, v in zip(got, want, RSS4 + RSS6):
        print("# %s: type %d, %#010x%s" % (v[0], g[0], g[1], "" if g == w else
                                           ", expected type %d, %#010x" % w))
    return got == want


def test_rss_addresses(qemu):
    """RSS: the verification suite, addresses only"""
    return rss_test(qemu, 1 | 1 << 17 | 1 << 20, fr.TCP, 2, 5, 4)


def test_rss_tcp(qemu):
    """RSS: the verification suite, with TCP ports"""
    return rss_test(qemu, 1 | 1 << 16 | 1 << 17 | 1 << 20 | 1 << 21, fr.TCP, 1, 3, 5)


def test_rss_udp(qemu):
    """RSS: the same ports of UDP"""
    return rss_test(qemu, 1 | 1 << 17 | 1 << 20 | 1 << 22 | 1 << 23, fr.UDP, 7, 8, 5)


def test_rss_queue(qemu):
    """RSS: the redirection table's entry for the hash's low seven bits is the queue"""
    with rss_card(qemu, 1 | 1 << 16) as card:
        table = [(7 * i + i // 16) % 16 for i in range(128)]
        for n in range(32):
            card.write(1, 0x5c00 + 4 * n, struct.unpack("<I", bytes(table[4 * n:4 * n + 4]))[0])
        for n in range(1, 16):
            card.rx_ring(1, n, 10 + n)
        wrong = []
        for dst, dport, src, sport, _, value in RSS4:
            queue = table[value & 127]
            before = card.read(1, 0x1010 + 0x40 * queue)
            card.transmit(flow(src, sport, dst, dport, fr.TCP))
            if card.read(1, 0x1010 + 0x40 * queue) != before + 1:
                wrong.append("%#x did not go to queue %d" % (value, queue))
    print("# %s" % (wrong or [table[v[5] & 127] for v in RSS4]))
    return not wrong


# --- checksums ----------------------------------------------------------------------------

def test_insert(qemu):
    """checksums inserted: IPv4, TCP, UDP, SCTP, IPv6"""
    cases = []
    for six in (False, True):
        src, dst = (fr.IP6_A, fr.IP6_B) if six else (fr.IP_A, fr.IP_B)
        for proto, made, at, tucmd in (
                (fr.TCP, fr.tcp(bytes(range(101)), 1, 2, src, dst), 16, TCP),
                (fr.UDP, fr.udp(bytes(range(100)), 1, 2, src, dst), 6, 0),
                (fr.SCTP, fr.sctp(b"some data"), 8, SCTP)):
            ip_len = 40 if six else 20
            frame = eth(fr.ipv6(made, proto), 0x86dd) if six else eth(fr.ipv4(made, proto))
            l4 = 14 + ip_len
            seed = 0 if proto == fr.SCTP else seeded(src, dst, proto, len(made))
            asked = frame[:l4 + at] + struct.pack("!H", seed) + frame[l4 + at + 2:]
            if proto == fr.SCTP:
                asked = blank(asked, l4 + at + 2)
            if not six:
                asked = blank(asked, 24)
            cases.append((frame, asked, context(14, ip_len, tucmd | (0 if six else IPV4), index=six),
                          TXSM | (1 << 4 if six else IXSM)))
    with Bench(qemu) as card:
        for _, asked, ctx, opts in cases:
            card.transmit(asked, [ctx], opts=opts)
        return same(card.arrived(), [frame for frame, *_ in cases])


def test_insert_zero(qemu):
    """a UDP checksum that comes out as zero is sent as ffff"""
    payload = bytearray(2)
    made = fr.udp(bytes(payload), 1, 2)
    payload = struct.pack("!H", struct.unpack("!H", made[6:8])[0])
    frame = eth(fr.ipv4(made[:6] + b"\xff\xff" + payload, fr.UDP))
    seed = seeded(fr.IP_A, fr.IP_B, fr.UDP, 10)
    with Bench(qemu) as card:
        card.transmit(frame[:40] + struct.pack("!H", seed) + frame[42:], [context(14, 20, IPV4)],
                      opts=TXSM)
        return same(card.arrived(), [frame])


def test_verify(qemu):
    """checksums verified: status and error bits, and the erratum of zero"""
    def v4(l4, proto, **ip):
        return eth(fr.ipv4(l4, proto, **ip))

    zero = v4(fr.udp(bytes(40), check="zero"), fr.UDP)
    cases = [(v4(fr.tcp(b"good"), fr.TCP), IPCS | L4CS), (v4(fr.tcp(b"bad", bad=True), fr.TCP), IPCS | L4CS | L4E),
             (v4(fr.udp(b"good"), fr.UDP), IPCS | L4CS | UDPCS),
             (v4(fr.udp(b"bad", check="bad"), fr.UDP), IPCS | L4CS | UDPCS | L4E),
             (v4(fr.tcp(b"header"), fr.TCP, bad=True), IPCS | L4CS | IPE),
             (eth(fr.ipv6(fr.tcp(b"six", src=fr.IP6_A, dst=fr.IP6_B), fr.TCP), 0x86dd), L4CS),
             (v4(fr.udp(bytes(40)), fr.UDP, frag=0x2000), IPCS), (qtest.frame(0), 0)]
    seen = {}
    for erratum in ("never", "always"):
        with Bench(qemu, "erratum=" + erratum) as card:
            for frame, _ in cases + [(zero, 0)]:
                card.transmit(frame)
            seen[erratum] = [s & (IPCS | L4CS | UDPCS | L4E | IPE) for _, s, _, _ in card.received(1)]
    want = [status for _, status in cases]
    print("# %s; expected %s" % ([hex(s) for s in seen["never"]], [hex(s) for s in want]))
    return seen["never"] == want + [IPCS] and seen["always"] == want + [IPCS | L4CS | UDPCS | L4E]


# --- segmentation -------------------------------------------------------------------------

def segment(qemu, six, tcp, size, mss, vlan=None):
    src, dst = (fr.IP6_A, fr.IP6_B) if six else (fr.IP_A, fr.IP_B)
    proto, payload = (fr.TCP, fr.UDP)[not tcp], fr.filler(size)
    made = fr.tcp(payload, 1, 2, src, dst, seq=0xfffff000, flags=fr.ACK | fr.PSH | fr.FIN) if tcp else \
        fr.udp(payload, 1, 2, src, dst)
    whole = eth(fr.ipv6(made, proto, src, dst), 0x86dd) if six else eth(fr.ipv4(made, proto, ident=0xfffe))
    ip_len, l4_len = 40 if six else 20, 20 if tcp else 8
    l4, at = 14 + ip_len, 16 if tcp else 6
    # lengths are left out: they differ from segment to segment
    seed = seeded(src, dst, proto, 0)
    asked = whole[:l4 + at] + struct.pack("!H", seed) + whole[l4 + at + 2:]
    asked = blank(asked, 18) if six else blank(blank(asked, 24), 16)
    ctx = context(14, ip_len, (0 if six else IPV4) | (TCP if tcp else 0), l4_len, mss, vlan or 0)
    with Bench(qemu) as card:
        card.transmit(asked, [ctx], LAST | RS | TSE | (VLE if vlan else 0),
                      TXSM | (0 if six else IXSM), len(asked) - l4 - l4_len)
        got, octets = card.arrived(), card.read(0, 0x4090)
    if not tcp:
        # no bytes of ours to compare with: the parts, and that nothing is wrong
        wrong = [p for g in got for p in fr.problems(g)]
        print("# %d frames%s" % (len(got), "; " + "; ".join(wrong[:3]) if wrong else ""))
        return not wrong and b"".join(g[l4 + 8:] for g in got) == payload
    want = fr.segments(whole, mss)
    if vlan:
        want = [w[:12] + struct.pack("!HH", 0x8100, vlan) + w[12:] for w in want]
    print("# %d frames, %d octets counted" % (len(got), octets))
    return same(got, want) and octets == sum(max(len(w), 60) + 4 for w in want)


def test_tso4(qemu):
    """segmentation of TCP over IPv4: lengths, ids, sequence, flags, checksums"""
    return segment(qemu, False, True, 10001, 1448)


def test_tso6(qemu):
    """segmentation of TCP over IPv6"""
    return segment(qemu, True, True, 10001, 1428)


def test_tso_vlan(qemu):
    """segmentation with a tag in each segment"""
    return segment(qemu, False, True, 5000, 1000, 0x6123)


def test_tso_tiny(qemu):
    """segments of eight bytes, and a packet that needs no segmentation"""
    return segment(qemu, False, True, 99, 8) and segment(qemu, True, True, 99, 1400)


def test_uso(qemu):
    """segmentation of UDP"""
    return segment(qemu, False, False, 4000, 1000) and segment(qemu, True, False, 4000, 1000)


if __name__ == "__main__":
    sys.exit(qtest.main(globals(), __doc__))

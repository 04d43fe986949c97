#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Registers, descriptors and faults of the X520 model, without a guest.

usage: qtest.py --qemu PROGRAM

The test is the driver: it sets up both ports through QEMU's qtest protocol, on
a virtual clock that only moves when told to, and looks at what is written back.
"""

import argparse
import os
import struct
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fuzz  # noqa: E402

RING = 256
TX_RING, RX_RING = 0x100000, 0x140000           # + 0x2000 for each port or queue
TX_BUF, RX_BUF = 0x400000, 0x800000             # 2 KiB each
DD, EOP = 1, 2
STAMP, LOOPBACK = 0x10000, 0x40000
STOP = 0x01000000                               # descriptor: end of packet
MAC = [bytes.fromhex("525400120000"), bytes.fromhex("525400120001")]
BROADCAST = b"\xff" * 6


class Card(fuzz.Machine):
    """Two ports on one wire."""

    def __init__(self, qemu, *props):
        super().__init__(qemu, [",".join(("mac=" + mac.hex(":"),) + props) for mac in MAC], 60)
        self.tail = {}
        for fn in (0, 1):
            self.bars(fn)
            self.setup(fn)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def step(self, us):
        self.do("clock_step %d" % (us * 1000))

    def memory(self, addr, size):
        return bytes.fromhex(self.do("read %#x %#x" % (addr, size))[1][2:])

    def put(self, addr, data):
        self.do("write %#x %#x 0x%s" % (addr, len(data), data.hex()))

    def setup(self, fn):
        self.write(fn, 0x042a0, 0xc09c6005)     # AUTOC: link up whatever comes
        self.write(fn, 0x05080, 0x702)          # everything is for us
        self.write(fn, 0x03000, 1)
        self.write(fn, 0x04a80, 1)
        self.write(fn, 0x00900, 0x80808080)     # all queues: cause 0
        self.rx_ring(fn, 0, fn)
        self.tx_ring(fn, 0, fn)

    def rx_ring(self, fn, queue, slot):
        """Descriptors and buffers number `slot` for a queue."""
        base = fuzz.rx_base(queue)
        for i in range(RING):
            self.put(RX_RING + 0x2000 * slot + 16 * i,
                     struct.pack("<QQ", RX_BUF + 0x80000 * slot + 2048 * i, 0))
        self.write(fn, base, RX_RING + 0x2000 * slot)
        self.write(fn, base + 8, 16 * RING)
        self.write(fn, base + 0x14, 0x02000002)     # SRRCTL: advanced, 2 KiB
        self.write(fn, base + 0x28, 0x02000000)
        self.write(fn, base + 0x18, RING - 1)

    def tx_ring(self, fn, queue, slot):
        base = 0x6000 + 0x40 * queue
        self.write(fn, base, TX_RING + 0x2000 * slot)
        self.write(fn, base + 8, 16 * RING)
        self.write(fn, base + 0x28, 0x02000000)
        self.tail[fn, queue] = 0

    def send(self, fn, frames, queue=0, slot=None, mac=0):
        """Leaves frames to a transmit queue; nothing moves before step()."""
        slot = fn if slot is None else slot
        at = self.tail[fn, queue]
        for frame in frames:
            addr = TX_BUF + 0x80000 * slot + 2048 * at
            self.put(addr, frame)
            self.put(TX_RING + 0x2000 * slot + 16 * at, struct.pack(
                "<QII", addr, 0x20300000 | STOP | 0x08000000 | mac | len(frame), len(frame) << 14))
            at = (at + 1) % RING
        self.tail[fn, queue] = at
        self.write(fn, 0x6018 + 0x40 * queue, at)

    def received(self, slot):
        """(types, status, length, bytes) of what was written back."""
        out = []
        for i in range(RING):
            raw = self.memory(RX_RING + 0x2000 * slot + 16 * i, 16)
            types, _, status, length, _ = struct.unpack("<IIIHH", raw)
            if status & (DD | EOP) != DD | EOP:
                break
            out.append((types, status, length,
                        self.memory(RX_BUF + 0x80000 * slot + 2048 * i, min(length, 2048))))
        return out

    def numbers(self, slot):
        return [struct.unpack_from("!I", frame, 14)[0] for *_, frame in self.received(slot)]

    def eeprom(self, word):
        self.write(0, 0x10014, word << 2 | 1)
        return self.read(0, 0x10014) >> 16

    def vf(self, vf, off, value=None):
        addr = fuzz.VF_BAR0[0] + fuzz.VF_SIZE * vf + off
        if value is None:
            return int(self.do("readl %#x" % addr)[1], 16)
        return self.do("writel %#x %#x" % (addr, value))


def frame(number, dst=BROADCAST, src=MAC[0], ethertype=0x88b5):
    return dst + src + struct.pack("!HI", ethertype, number) + bytes(60)


def transfer(qemu, *props, count=200, us=20000):
    with Card(qemu, *props) as card:
        card.send(0, [frame(n) for n in range(count)])
        card.step(us)
        return card.numbers(1)


def test_plain(qemu):
    """frames arrive, all and in order"""
    return transfer(qemu) == list(range(200))


def test_drop(qemu):
    """fault-drop: some are lost, the same ones with the same seed"""
    runs = [transfer(qemu, "fault-drop=200", "fault-seed=%d" % s) for s in (1, 1, 2)]
    print("# received of 200: %s" % [len(r) for r in runs])
    return all(130 < len(r) < 190 and r == sorted(set(r)) for r in runs) and \
        runs[0] == runs[1] and runs[0] != runs[2]


def test_duplicate(qemu):
    """fault-duplicate: some come twice"""
    got = transfer(qemu, "fault-duplicate=200", "fault-seed=1")
    print("# received of 200: %d" % len(got))
    return sorted(set(got)) == list(range(200)) and 210 < len(got) < 256 and got == sorted(got)


def test_reorder(qemu):
    """fault-reorder: all come, some behind the next one"""
    got = transfer(qemu, "fault-reorder=200", "fault-seed=1")
    late = sum(1 for a, b in zip(got, got[1:]) if b < a)
    print("# %d of 200 out of order" % late)
    return sorted(got) == list(range(200)) and 15 < late < 65


def test_delay(qemu):
    """fault-delay: some come later, by the time that was asked for"""
    with Card(qemu, "fault-delay=100", "fault-delay-us=5000", "fault-seed=1") as card:
        card.send(0, [frame(n) for n in range(100)])
        card.step(1000)
        early = card.numbers(1)
        card.step(3000)
        still = card.numbers(1)
        card.step(2000)
        got = card.numbers(1)
    print("# of 100, %d after 1 ms, %d after 4 ms, %d after 6 ms" % (len(early), len(still), len(got)))
    return 75 < len(early) < 100 and still == early and got[:len(early)] == early and \
        sorted(got) == list(range(100))


def test_desc(qemu):
    """fault-desc: status, errors, types and length as asked"""
    with Card(qemu, "fault-desc=1000", "fault-desc-set=0x60000000", "fault-desc-clear=0x8",
              "fault-desc-type=0x10", "fault-desc-length=1999") as card:
        card.send(0, [frame(n) for n in range(5)])
        card.step(1000)
        got = card.received(1)
    print("# %s" % [(hex(t), hex(s), n) for t, s, n, _ in got[:1]])
    return [(t & 0xfff0, s & 0x60000000, n) for t, s, n, _ in got] == [(0x10, 0x60000000, 1999)] * 5


def cause(qemu, *props):
    with Card(qemu, *props) as card:
        card.read(1, 0x00800)
        card.send(0, [frame(0)])
        card.step(1000)
        return len(card.numbers(1)), card.read(1, 0x00808) & 1


def test_irq_lost(qemu):
    """fault-irq-lost: the frame is there, the cause is not"""
    return cause(qemu) == (1, 1) and cause(qemu, "fault-irq-lost=1000") == (1, 0)


def test_tx_hang(qemu):
    """fault-tx-hang: the transmitter stops, and a reset helps"""
    with Card(qemu, "fault-tx-hang=5") as card:
        for _ in range(2):
            card.send(0, [frame(n) for n in range(9)])
            card.step(10000)
            head = card.read(0, 0x6010)
            if head != 5:
                print("# TDH is %d" % head)
                return False
            card.write(0, 0, 0x04000000)
            card.setup(0)
            card.write(0, 0x6010, 0)
        return True


def test_eeprom(qemu):
    """eeprom=bad: the checksum, and nothing else, differs"""
    images = []
    for props in ("eeprom=good", "eeprom=bad"):
        with Card(qemu, props) as card:
            images.append([card.eeprom(w) for w in range(0x40)])
    return [w for w in range(0x40) if images[0][w] != images[1][w]] == [0x3f]


def test_sfp(qemu):
    """sfp=none: no module, no link"""
    seen = []
    for props in ("sfp=da", "sfp=none"):
        with Card(qemu, props) as card:
            card.write(0, 0x042a0, 0xc09c7004)  # not forced: 10G serial, restart
            card.step(10000)
            card.read(0, 0x042a4)
            seen.append((card.read(0, 0x20) >> 2 & 1, card.read(0, 0x042a4) >> 30 & 1))
    print("# module present, link: %s" % seen)
    return seen == [(1, 1), (0, 0)]


def stamp(card, fn, low, high):
    return card.read(fn, low) | card.read(fn, high) << 32


def test_stamps(qemu):
    """time stamps of a PTP message: both ends, once, until read"""
    sync = BROADCAST + MAC[0] + struct.pack("!HBB", 0x88f7, 0, 2) + bytes(42)
    with Card(qemu) as card:
        for fn in (0, 1):
            card.write(fn, 0x08c14, 0x01000040)         # TIMINCA: 64 each 6.4 ns
            card.write(fn, 0x05128, 0xc00088f7)         # ETQF: 1588
            card.write(fn, 0x05188, 0x1a)               # TSYNCRXCTL: events, v2
            card.write(fn, 0x08c00, 0x10)
        card.step(1000)
        card.send(0, [sync, sync, frame(0)], mac=0x00080000)
        card.step(1000)
        status = [s & STAMP for _, s, _, _ in card.received(1)]
        valid = card.read(0, 0x08c00) & 1, card.read(1, 0x05188) & 1
        sent = stamp(card, 0, 0x08c04, 0x08c08)
        got = stamp(card, 1, 0x051e8, 0x051a4)
        after = card.read(0, 0x08c00) & 1, card.read(1, 0x05188) & 1
        now = stamp(card, 0, 0x08c0c, 0x08c10)
    print("# sent at %d, received at %d, now %d" % (sent, got, now))
    # both clocks began together; one unit is a tenth of a nanosecond
    return status == [STAMP, 0, 0] and valid == (1, 1) and after == (0, 0) and \
        10000000 < sent < now and abs(got - sent) < 2000


def functions(card, check=0):
    """Two virtual functions on port 0, pools of two queues, the switch on."""
    card.sriov(0, 2)
    for off, value in ((0x11050, 3), (0x051b0, 0x40000001 | 2 << 7), (0x08120, 2 | 1 << 2),
                       (0x0ec80, 0xb), (0x08220, 1), (0x051e0, 7), (0x08110, 7),
                       (0x08200, check), (0x08790, 3)):
        card.write(0, off, value)
    for vf in (0, 1):
        mac = address(vf)
        card.write(0, 0x0a208 + 8 * vf, struct.unpack("<I", mac[:4])[0])
        card.write(0, 0x0a20c + 8 * vf, 0x80000000 | struct.unpack("<H", mac[4:])[0])
        card.write(0, 0x0a608 + 8 * vf, 1 << vf)        # MPSAR
        card.write(0, 0x0f000 + 4 * vf, 0x09000000)     # VMOLR: broadcast, untagged
        card.rx_ring(0, 2 * vf, 2 + vf)
        card.tx_ring(0, 2 * vf, 2 + vf)


def address(vf):
    return bytes.fromhex("5254001300%02x" % vf)


def test_mailbox(qemu):
    """mailbox between a function and its port"""
    with Card(qemu, "vfs=8") as card:
        functions(card)
        card.write(0, 0x18, 0x10000000)
        rsti = card.vf(1, 0x2fc) & 0x40
        card.write(0, 0x18, 0x10004000)                 # PFRSTD
        rstd = card.vf(1, 0x2fc) & 0xc0
        again = card.vf(1, 0x2fc) & 0xc0
        card.vf(1, 0x2fc, 4)                            # VFU
        card.write(0, 0x4b04, 8)                        # PFU: too late
        owner = card.vf(1, 0x2fc) & 0xc, card.read(0, 0x4b04) & 0xc
        card.vf(1, 0x200, 0x12345678)
        card.vf(1, 0x2fc, 1)                            # REQ
        asked = card.read(0, 0x710), card.read(0, 0x13040), card.read(0, 0x808) >> 19 & 1
        card.write(0, 0x710, 2)
        card.write(0, 0x4b04, 3)                        # STS and ACK
        answer = card.vf(1, 0x2fc) & 0x30, card.vf(1, 0x2fc) & 0x30
        left = card.read(0, 0x710), card.vf(0, 0x2fc) & 0x30
        card.write(0, 0x700, 3)                         # VFLREC: forget how they came
        card.vf(0, 0, 0x04000000)                       # VFCTRL.RST
        reset = card.read(0, 0x600)
    seen = rsti, rstd, again, owner, asked, answer, left, reset
    print("# %s" % (seen,))
    return seen == (0x40, 0x80, 0, (4, 4), (2, 0x12345678, 1), (0x30, 0), (0, 0), 1)


def test_switch(qemu):
    """the local switch: to a function, to the wire, or to both"""
    with Card(qemu, "vfs=8") as card:
        functions(card)
        card.send(0, [frame(1, address(1), address(0)), frame(2, MAC[1], address(0)),
                      frame(3, BROADCAST, address(0)), frame(4, address(0), address(0))],
                  queue=0, slot=2)
        card.step(1000)
        seen = [card.numbers(slot) for slot in (2, 3, 1)]
        loop = [bool(s & LOOPBACK) for _, s, _, _ in card.received(3)]
        counted = card.vf(0, 0x201c), card.vf(1, 0x101c)
    print("# own, other, wire: %s; counted %s" % (seen, counted))
    return seen == [[], [1, 3], [2, 3, 4]] and loop == [True, True] and counted == (4, 2)


def test_spoof(qemu):
    """anti-spoofing: another's address is dropped and counted"""
    with Card(qemu, "vfs=8") as card:
        functions(card, check=1)
        card.send(0, [frame(1, MAC[1], MAC[1]), frame(2, MAC[1], address(0)),
                      frame(3, address(1), address(1))], queue=0, slot=2)
        card.step(1000)
        seen = card.numbers(1), card.numbers(3), card.read(0, 0x8780)
    print("# wire %s, other function %s, SSVPC %d" % seen)
    return seen == ([2], [], 2)


def test_rate(qemu):
    """RTTBCNRC: a queue's rate, in time on the wire"""
    with Card(qemu) as card:
        card.write(0, 0x4904, 0)
        card.write(0, 0x4984, 0x80000000 | 100 << 14)   # a hundredth
        card.send(0, [frame(n) + bytes(900) for n in range(100)])
        card.step(400)
        early = len(card.numbers(1))
        card.step(20000)
        late = len(card.numbers(1))
    print("# %d after 400 us, %d after 20 ms" % (early, late))
    # 1002 bytes at 100 Mb/s take 80 us
    return 4 <= early <= 7 and late == 100


def main(names, doc):
    """Runs the tests among a program's names."""
    parser = argparse.ArgumentParser(description=doc,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--qemu", required=True, help="QEMU with the model")
    args = parser.parse_args()
    tests = [f for name, f in sorted(names.items()) if name.startswith("test_")]
    failed = 0
    print("TAP version 13\n1..%d" % len(tests))
    for n, test in enumerate(tests, 1):
        try:
            good = test(args.qemu.split())
        except (fuzz.Died, LookupError, ValueError, struct.error) as e:
            print("# %s: %s" % (type(e).__name__, e))
            good = False
        failed += not good
        print("%s %d - %s" % ("ok" if good else "not ok", n, test.__doc__), flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main(globals(), __doc__))

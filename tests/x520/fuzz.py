#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Misuse the X520 model without a guest, through QEMU's qtest protocol.

Random registers, descriptors, PCI configuration, resets and time steps, in
phases: chaos, then a card set up well enough to move frames, with garbage in
its descriptors. Passes when QEMU still answers at the end of every run; a
crash, an assertion or a command that takes longer than the limit fails and
prints the seed, which replays the run exactly.
"""
import argparse
import random
import select
import struct
import subprocess
import sys
import time

BAR0 = (0xe0000000, 0xe0200000)
MSIX = (0xe0400000, 0xe0410000)
IO = (0xc000, 0xc040)
VFS = 8
VF_BAR0 = (0xe1000000, 0xe1200000)
VF_MSIX = (0xe1400000, 0xe1600000)
VF_SIZE = 0x4000
ECAM = 0xb0000000
SRIOV = 0x160
RINGS, BUFFERS = 0x100000, 0x300000
DEVICE = 4


class Died(Exception):
    pass


class Machine:
    def __init__(self, qemu, props, limit):
        """props: properties of either port."""
        self.limit = limit
        cmd = qemu + ["-machine", "q35", "-accel", "qtest", "-nodefaults",
                      "-display", "none", "-m", "256", "-qtest", "stdio",
                      "-qtest-log", "none"]
        for n in (0, 1):
            cmd += ["-netdev", "hubport,id=w%d,hubid=0" % n, "-device",
                    "x520,netdev=w%d,addr=%d.%d,multifunction=on,%s" %
                    (n, DEVICE, n, props[n])]
        self.errors = []
        self.proc = subprocess.Popen(cmd, stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE,
                                     stderr=subprocess.PIPE, bufsize=0)
        self.rest = b""

    def line(self):
        end = time.monotonic() + self.limit
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0:
                raise Died("no answer within %d s" % self.limit)
            if not select.select([self.proc.stdout], [], [], left)[0]:
                continue
            more = self.proc.stdout.read(65536)
            if not more:
                raise Died("QEMU ended with status %s" % self.proc.wait())
            self.rest += more
        text, self.rest = self.rest.split(b"\n", 1)
        return text.decode()

    def do(self, command):
        try:
            self.proc.stdin.write(command.encode() + b"\n")
        except BrokenPipeError:
            raise Died("QEMU ended with status %s" % self.proc.wait())
        while True:
            words = self.line().split()
            if words and words[0] != "IRQ":
                return words

    def config_write(self, fn, off, value):
        self.do("outl 0xcf8 %#x" % (1 << 31 | DEVICE << 11 | fn << 8 | off))
        self.do("outl 0xcfc %#x" % value)

    def config_read(self, fn, off):
        self.do("outl 0xcf8 %#x" % (1 << 31 | DEVICE << 11 | fn << 8 | off))
        return int(self.do("inl 0xcfc")[1], 16)

    def ecam(self, devfn, off):
        return ECAM + (devfn << 12) + off

    def vf_config(self, fn, vf, off, value):
        self.do("writel %#x %#x" %
                (self.ecam((DEVICE << 3 | fn) + 128 + 2 * vf, off), value))

    def sriov(self, fn, num):
        """Virtual functions, with their BARs mapped; 0: none."""
        cap = self.ecam(DEVICE << 3 | fn, SRIOV)
        self.do("outl 0xcf8 0x80000060")
        self.do("outl 0xcfc %#x" % (ECAM | 1))
        self.do("writew %#x 0" % (cap + 8))
        self.do("writew %#x %d" % (cap + 0x10, num))
        for bar, at in ((0x24, VF_BAR0[fn]), (0x30, VF_MSIX[fn])):
            self.do("writel %#x %#x" % (cap + bar, at))
            self.do("writel %#x 0" % (cap + bar + 4))
        if num:
            self.do("writew %#x 9" % (cap + 8))
            for vf in range(min(num, VFS)):
                self.vf_config(fn, vf, 4, 7)
                self.vf_config(fn, vf, 0x70, 0x80000000)

    def bars(self, fn):
        self.config_write(fn, 0x10, BAR0[fn])
        self.config_write(fn, 0x14, 0)
        self.config_write(fn, 0x18, IO[fn])
        self.config_write(fn, 0x20, MSIX[fn])
        self.config_write(fn, 0x24, 0)
        self.config_write(fn, 0x04, 7)

    def write(self, fn, off, value):
        self.do("writel %#x %#x" % (BAR0[fn] + off, value & 0xffffffff))

    def read(self, fn, off):
        return int(self.do("readl %#x" % (BAR0[fn] + off))[1], 16)

    def close(self):
        self.proc.terminate()
        return self.proc.communicate(timeout=30)[1].decode()


def rx_base(queue):
    return 0x1000 + 0x40 * queue if queue < 64 else \
        0xd000 + 0x40 * (queue - 64)


def word(rnd):
    return rnd.choice((rnd.getrandbits(32), 0, 0xffffffff,
                       1 << rnd.randrange(32)))


def descriptors(m, at, tx):
    rnd = m.rnd
    for i in range(16):
        addr = rnd.choice((BUFFERS + 0x1000 * rnd.randrange(16),
                           BUFFERS + rnd.randrange(1 << 16),
                           rnd.getrandbits(64), BAR0[0] + 0x6018,
                           VF_BAR0[0] + rnd.choice((0, 0x2018, 0x2fc))))
        if not tx:
            raw = struct.pack("<QQ", addr, rnd.choice((0, addr)))
        elif rnd.random() < .3:     # a context
            raw = struct.pack("<QII", rnd.getrandbits(64),
                              rnd.getrandbits(32) & ~0x00f00000 | 0x20200000,
                              rnd.getrandbits(32))
        else:
            size = rnd.choice((60, 64, 1500, 0, 1, 9000, 65535))
            raw = struct.pack("<QII", addr,
                              0x20300000 | size | rnd.getrandbits(8) << 24,
                              (rnd.choice((size, size + 54,
                                           rnd.getrandbits(18))) << 14 |
                               rnd.getrandbits(14)) & 0xffffffff)
        m.do("write %#x 0x10 0x%s" % (at + 16 * i, raw.hex()))


def ring(m, fn, queue, tx):
    rnd = m.rnd
    base = 0x6000 + 0x40 * queue if tx else rx_base(queue)
    at = RINGS + 0x10000 * rnd.randrange(16)
    m.write(fn, base, at)
    m.write(fn, base + 4, 0 if rnd.random() < .95 else rnd.getrandbits(32))
    m.write(fn, base + 8, rnd.choice((128, 256, 512, 1024, 0, 4096,
                                      rnd.getrandbits(32))))
    m.write(fn, base + 0x10, rnd.choice((0, 0, rnd.getrandbits(16))))
    m.write(fn, base + 0x28, 0x02000000 |
            (rnd.getrandbits(32) if rnd.random() < .2 else 0))
    m.write(fn, base + 0x18, rnd.randrange(64) if rnd.random() < .8 else
            rnd.getrandbits(16))
    return at


def pools(m, fn):
    """Virtual functions in every layout, sensible or not."""
    rnd = m.rnd
    layout = rnd.randrange(4)
    m.write(fn, 0x11050, rnd.choice((layout, word(rnd))))       # GCR_EXT
    m.write(fn, 0x051b0, rnd.choice((0x40000001, word(rnd))))   # VT_CTL
    m.write(fn, 0x08120, 2 | layout << 2)                       # MTQC
    m.write(fn, 0x0ec80, rnd.choice((8, 0xa, 0xb, 0xc, 0xd, word(rnd))))
    m.write(fn, 0x08220, 1)                                     # switch
    for off in (0x51e0, 0x51e4, 0x8110, 0x8114):                # VFRE, VFTE
        m.write(fn, off, rnd.choice((0xffffffff, word(rnd))))
    for off in (0x5180, 0x8200, 0x8000, 0x8004, 0x8790, 0x2f04,
                0xf000, 0xf004, 0xf008, 0xf100, 0xf200, 0xa600, 0xa604):
        m.write(fn, off, rnd.choice((0xffffffff, word(rnd))))
    for queue in (0, 1):                                        # its rate
        m.write(fn, 0x04904, queue)
        m.write(fn, 0x04984, rnd.choice((0, 0x80004000, word(rnd))))


def flow_director(m, fn):
    rnd = m.rnd
    m.write(fn, 0x0ee00, rnd.getrandbits(2) | rnd.getrandbits(32) & ~0xf)
    for off in range(0xee3c, 0xee78, 4):                        # masks, keys
        if rnd.random() < .3:
            m.write(fn, off, word(rnd))
    for _ in range(20):
        for off in range(0xee18, 0xee2c, 4):
            m.write(fn, off, rnd.choice((rnd.randrange(4), word(rnd))))
        m.write(fn, 0x0ee2c, rnd.randrange(4) | rnd.getrandbits(32) & ~3)


def virtual(m):
    """One of the things that can be done to, or by, a virtual function."""
    rnd = m.rnd
    fn, vf = rnd.randrange(2), rnd.randrange(VFS)
    bar = VF_BAR0[fn] + VF_SIZE * vf
    kind = rnd.randrange(8)
    if kind == 0:
        m.sriov(fn, rnd.choice((0, 1, 2, VFS, VFS, VFS + 1, 0xffff)))
    elif kind == 1:
        m.vf_config(fn, vf, 0xa8, 0x8000)                       # FLR
        m.vf_config(fn, vf, 4, rnd.choice((7, 7, 3, 0)))
    elif kind == 2:
        m.do("writel %#x %#x" % (bar, 0x04000000))              # VFCTRL.RST
    elif kind == 3:
        m.do("writel %#x %#x" % (VF_MSIX[fn] + VF_SIZE * vf +
                                 4 * rnd.randrange(12), word(rnd)))
    elif kind == 4:
        m.do("writel %#x %#x" % (bar + rnd.choice((
            0x2fc, 0x104, 0x108, 0x10c, 0x120, 0x140, 0x820, 0x1018, 0x2018,
            0x1028, 0x2028)), word(rnd)))
        m.write(fn, 0x4b00 + 4 * vf, rnd.getrandbits(5))
    elif kind == 5:
        pools(m, fn)
    else:
        off = rnd.randrange(VF_SIZE)
        m.do("writel %#x %#x" % (bar + (off & ~3), word(rnd)))
        m.do("readl %#x" % (bar + (off & ~3)))
        m.do("readb %#x" % (bar + off))


def traffic(m):
    """A card that works, with garbage in its descriptors."""
    rnd = m.rnd
    rings = []
    for fn in (0, 1):
        m.write(fn, 0x00000, 0x04000000)
        m.write(fn, 0x042a0, 0xc09c6005)        # force the link up
        m.write(fn, 0x05080, 0x702)             # everything is for us
        m.write(fn, 0x03000, 1)
        m.write(fn, 0x04a80, 1)
        m.write(fn, 0x04240, rnd.choice((0x0c000407, 0x0c00c407, word(rnd))))
        m.write(fn, 0x04268, rnd.choice((0x26000000, 0x05ee0000, word(rnd))))
        m.write(fn, 0x0ec80, rnd.choice((0, 0x330001, word(rnd))))
        m.write(fn, 0x02100, rnd.choice((0x02000402, 0x02000001, 0,
                                         0x0a000402, word(rnd))))
        m.write(fn, 0x00900, 0x80808080)
        m.write(fn, 0x00880, word(rnd))
        if rnd.random() < .5:
            pools(m, fn)
        if rnd.random() < .5:
            flow_director(m, fn)
        m.write(fn, 0x05188, rnd.getrandbits(5))        # time stamps
        m.write(fn, 0x08c00, 0x10)
        for tx in (0, 1):
            rings.append((ring(m, fn, 0, tx), tx))
    for _ in range(rnd.randrange(1, 12)):
        for at, tx in rings:
            descriptors(m, at, tx)
        for fn in (0, 1):
            m.write(fn, 0x1018, rnd.randrange(64))
            m.write(fn, 0x6018, rnd.randrange(64))
        m.do("clock_step %d" % rnd.choice((1000, 100000, 10000000)))
    return m.read(0, 0x40d0) + m.read(1, 0x40d0)


def chaos(m):
    rnd = m.rnd
    fn = rnd.randrange(2)
    kind = rnd.randrange(15)
    off = rnd.randrange(0x20000)
    if kind <= 2:
        m.write(fn, off & ~3, word(rnd))
    elif kind <= 4:
        m.read(fn, off & ~3)
    elif kind == 5:
        ring(m, fn, rnd.choice((0, 1, rnd.randrange(128))), rnd.randrange(2))
    elif kind == 6:
        m.write(fn, rnd.choice((0x818, 0x808, 0x880, 0x888, 0x898, 0xa90,
                                0xaa0, 0xab0, 0xad0, 0x820, 0x900, 0xa00,
                                0x12300)), rnd.getrandbits(32))
    elif kind == 7:
        m.do("clock_step %d" % rnd.choice((1, 1000, 1000000, 100000000)))
    elif kind == 8:     # other sizes, unaligned
        m.do("writeq %#x %#x" % (BAR0[fn] + off, rnd.getrandbits(64)))
        m.do("readb %#x" % (BAR0[fn] + off))
        m.do("writew %#x %#x" % (BAR0[fn] + off, rnd.getrandbits(16)))
    elif kind == 9:     # I2C and SPI pins
        for _ in range(8):
            m.write(fn, 0x28, rnd.getrandbits(4))
            m.write(fn, 0x10010, rnd.getrandbits(8))
        m.read(fn, 0x28)
        m.read(fn, 0x10010)
        m.write(fn, 0x10014, rnd.getrandbits(32))
    elif kind == 10:    # the I/O window, the MSI-X table
        m.do("outl %#x %#x" % (IO[fn], rnd.getrandbits(18)))
        m.do("outl %#x %#x" % (IO[fn] + 4, rnd.getrandbits(32)))
        m.do("inl %#x" % (IO[fn] + 4))
        m.do("writel %#x %#x" % (MSIX[fn] + 4 * rnd.randrange(256),
                                 rnd.getrandbits(32)))
    elif kind == 11:    # resets: software, link, function; bus mastering
        how = rnd.randrange(4)
        if how < 2:
            m.write(fn, 0, (0x04000000, 8)[how])
        elif how == 2:
            m.config_write(fn, 0xa8, 0x8000)
            m.bars(fn)
        else:
            m.config_write(fn, 4, 3)
            m.config_write(fn, 4, 7)
    elif kind == 12:
        virtual(m)
    elif kind == 13:
        flow_director(m, fn)
    else:
        m.config_write(fn, 0x70, rnd.choice((0x80000000, 0, 0xc0000000)))


def random_properties(rnd):
    """What each port is to be like."""
    props = ["corrupt-permille=%d,corrupt-seed=%d" %
             (rnd.choice((0, 500)), rnd.getrandbits(16)),
             "pace=%s,erratum=%s" % (rnd.choice(("on", "off")),
                                     rnd.choice(("never", "sometimes",
                                                 "always")))]
    for n in (0, 1):
        props[n] += ",vfs=%d,fault-seed=%d" % (VFS, rnd.getrandbits(16))
        for what in ("drop", "duplicate", "reorder", "delay", "desc",
                     "irq-lost", "irq-spurious"):
            props[n] += ",fault-%s=%d" % (what, rnd.choice((0, 0, 200)))
        props[n] += ",fault-desc-length=%d,fault-desc-set=%d" % \
            (rnd.choice((0, 65535)), rnd.getrandbits(32))
    return props


def run(qemu, seed, ops, limit):
    rnd = random.Random(seed)
    m = Machine(qemu, random_properties(rnd), limit)
    m.rnd = rnd
    frames, why = 0, None
    try:
        for fn in (0, 1):
            m.bars(fn)
            m.sriov(fn, VFS)
            if m.config_read(fn, 0) != 0x10fb8086:
                raise Died("function %d is no X520" % fn)
        for at in range(BUFFERS, BUFFERS + 0x10000, 0x1000):
            frame = b"\xff" * 6 + b"\2\0\0\0\0\1\x08\0" + \
                bytes.fromhex("4500002e00000000401100000a0000010a000002") + \
                bytes(rnd.getrandbits(8) for _ in range(200))
            m.do("write %#x %#x 0x%s" % (at, len(frame), frame.hex()))
        done = 0
        while done < ops:
            if rnd.random() < .05:
                frames += traffic(m)
                done += 200
            else:
                chaos(m)
                done += 1
        for fn in (0, 1):       # does it still work?
            m.bars(fn)
            m.write(fn, 0, 0x04000000)
            if m.read(fn, 8) & 0xc != 4 * fn:
                raise Died("STATUS of function %d is wrong" % fn)
    except Died as e:
        why = str(e)
    errors = m.close()
    for sign in ("ssert", "Sanitizer", "runtime error"):
        if why is None and sign in errors:
            why = "QEMU says: " + next(e for e in errors.splitlines() if sign in e)
    if why:
        print("not ok: seed %d: %s" % (seed, why))
        print("\n".join("# " + e for e in errors.splitlines()[-10:]))
        return False, frames
    return True, frames


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--qemu", required=True, help="QEMU with the model")
    parser.add_argument("--seed", type=int, default=1, help="first seed (1)")
    parser.add_argument("--runs", type=int, default=5, help="seeds to try (5)")
    parser.add_argument("--minutes", type=float,
                        help="as many seeds as fit in so long, not --runs")
    parser.add_argument("--ops", type=int, default=20000,
                        help="operations in each run (20000)")
    parser.add_argument("--limit", type=int, default=60,
                        help="seconds that one operation may take (60)")
    args = parser.parse_args()
    begin, good, total, seed = time.monotonic(), 0, 0, args.seed - 1
    while time.monotonic() - begin < 60 * args.minutes if args.minutes \
            else seed + 1 < args.seed + args.runs:
        seed += 1
        ok, frames = run(args.qemu.split(), seed, args.ops, args.limit)
        good += ok
        total += frames
        print("# seed %d: %d operations, %d frames received, %.0f s" %
              (seed, args.ops, frames, time.monotonic() - begin), flush=True)
    runs = seed + 1 - args.seed
    if good == runs and not total:
        print("not ok: no frame was ever received, the test tests nothing")
        return 1
    print("%d passed, %d failed" % (good, runs - good))
    return 0 if good == runs else 1


if __name__ == "__main__":
    sys.exit(main())

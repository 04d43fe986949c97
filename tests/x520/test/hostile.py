#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A driver gone mad: descriptors and registers of random content.

usage: hostile.py [--seconds N] [--seed N]    (in a guest, as root)

Takes both ports from their driver, and for N (30) seconds hands them rings full
of random, half plausible descriptors: lengths that contradict each other,
packets without an end, segmentation of nothing, addresses that lead nowhere or
to the port's own registers, ring lengths that fit nothing. In between it writes
random values to registers and resets the port. The ports must go on answering,
the emulator must live; afterwards the driver must get them to work again, which
is the caller's part to try.

Receive buffers and rings lie in huge pages of this process, so that nothing but
its own memory is written to.
"""

import argparse
import glob
import mmap
import os
import random
import struct
import sys
import time

HUGE = 2 << 20
MAP_HUGETLB = 0x40000
REGS = 0x20000
CTRL, STATUS, RXCTRL, DMATXCTL, HLREG0 = 0x0, 0x8, 0x3000, 0x4A80, 0x4240
FCTRL, MAXFRS, MRQC, VLNCTRL = 0x5080, 0x4268, 0xEC80, 0x5088
CTRL_RST, LPBK = 1 << 26, 1 << 15


def txq(q): return 0x6000 + 0x40 * q
def rxq(q): return 0x1000 + 0x40 * q if q < 64 else 0xD000 + 0x40 * (q - 64)


def physical(address):
    with open("/proc/self/pagemap", "rb") as pagemap:
        pagemap.seek(address // 4096 * 8)
        entry, = struct.unpack("<Q", pagemap.read(8))
    if not entry >> 63 or not entry & ((1 << 55) - 1):
        sys.exit("hostile.py: a page has no physical address (are we root?)")
    return (entry & ((1 << 55) - 1)) * 4096


class HugePage:
    def __init__(self):
        import ctypes
        self.mem = mmap.mmap(-1, HUGE, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_HUGETLB)
        self.mem[:8] = b"\0" * 8
        self.phys = physical(ctypes.addressof(ctypes.c_char.from_buffer(self.mem)))


class Port:
    def __init__(self, path, rng):
        self.rng = rng
        driver = path + "/driver/unbind"
        if os.path.exists(driver):
            with open(driver, "w") as f:
                f.write(os.path.basename(path))
        with open(path + "/config", "r+b", buffering=0) as config:
            config.seek(4)
            config.write(struct.pack("<H", 0x406))      # memory, bus master, no INTx
        with open(path + "/resource") as f:
            self.bar = int(f.readline().split()[0], 16)
        fd = os.open(path + "/resource0", os.O_RDWR)
        self.regs = memoryview(mmap.mmap(fd, REGS)).cast("I")
        self.txring, self.rxring, self.data = HugePage(), HugePage(), HugePage()
        self.data.mem[:] = rng.randbytes(HUGE)

    def read(self, reg):
        return self.regs[reg // 4]

    def write(self, reg, value):
        self.regs[reg // 4] = value & 0xffffffff

    def reset(self):
        self.write(CTRL, CTRL_RST)
        time.sleep(0.002)

    def length(self):
        r = self.rng
        return r.choice([r.randrange(64), r.randrange(2000), 1514, r.randrange(65536), 0, 65535])

    def context(self):
        r = self.rng
        if r.random() < 0.5:    # as for TCP or UDP over IPv4 or IPv6
            mac, ip, l4 = r.choice([14, 18]), r.choice([20, 40, 90]), r.choice([8, 20, 32])
            mss = r.choice([1, 8, 536, 1448, 8000])
        else:
            mac, ip, l4, mss = r.randrange(128), r.randrange(512), r.randrange(256), r.randrange(65536)
        return struct.pack("<IIII", ip | mac << 9 | r.randrange(65536) << 16, r.getrandbits(32),
                           2 << 20 | 1 << 29 | r.randrange(8) << 10,
                           r.randrange(2) << 4 | l4 << 8 | mss << 16)

    def tx_address(self):
        r = self.rng
        kind = r.random()
        if kind < 0.9:
            return self.data.phys + r.randrange(HUGE - 65536)
        if kind < 0.95:
            return r.getrandbits(64)
        return self.bar + r.randrange(REGS)

    def tx_desc(self):
        r = self.rng
        kind = r.random()
        if kind < 0.25:
            return self.context()
        if kind < 0.3:
            return r.randbytes(16)
        command = 3 << 20 | 1 << 29 if kind < 0.9 else r.randrange(65536) << 16 & 0xff0000
        for bit, chance in ((24, 0.5), (25, 0.9), (26, 0.1), (27, 0.5), (30, 0.3), (31, 0.4)):
            command |= (r.random() < chance) << bit
        return struct.pack("<QII", self.tx_address(), command | self.length(), r.getrandbits(32))

    def rx_desc(self):
        r = self.rng
        where = r.random()
        if where < 0.95:
            addr = self.data.phys + HUGE // 2 + r.randrange(HUGE // 2 - 65536)
        else:
            addr = self.bar + r.randrange(REGS)         # must lead nowhere
        return struct.pack("<QQ", addr, r.getrandbits(64) & ~1)

    def ring_length(self):
        r = self.rng
        return r.choice([4096, 4096, 128, 0, 16, r.randrange(1 << 20), (1 << 20) - 128])

    def rings(self):
        r = self.rng
        n = r.choice([8, 64, 256])
        self.txring.mem[:16 * n] = b"".join(self.tx_desc() for _ in range(n))
        self.rxring.mem[:16 * n] = b"".join(self.rx_desc() for _ in range(n))
        q = r.choice([0, 0, 1, 63, 64, 127])
        for base, page, ctl in ((txq(q), self.txring, 0x28), (rxq(q), self.rxring, 0x28)):
            self.write(base + ctl, 0)
            self.write(base, page.phys)
            self.write(base + 4, page.phys >> 32)
            size = self.ring_length()
            if page is self.rxring:
                size = min(size, HUGE // 2)
            self.write(base + 8, size)
            last = max(size // 16, 1)
            self.write(base + 0x10, r.choice([0, 0, r.randrange(last), r.getrandbits(16)]))
            self.write(base + ctl, 1 << 25 | r.choice([0, 1 << 30]))
            self.write(base + 0x18, r.choice([n - 1, n - 1, r.randrange(last), r.getrandbits(16)]))
        self.write(rxq(q) + 0x14, r.choice([2, 1, 16, r.randrange(32)]) | r.choice([0, 1]) << 25 |
                   r.choice([0, 1]) << 28)
        # Head write-back, to where the data comes from.
        self.write(txq(q) + 0x38, (self.data.phys + r.randrange(4096)) & ~3 | r.choice([0, 0, 0, 1]))
        self.write(txq(q) + 0x3C, self.data.phys >> 32)

    def open(self):
        r = self.rng
        self.write(MAXFRS, r.choice([1518, 9728, 65535]) << 16)
        self.write(HLREG0, r.choice([LPBK, LPBK, 0]) | r.choice([0, 2]) | r.choice([0, 4]) | r.choice([0, 1 << 10]))
        self.write(FCTRL, 0x702)
        self.write(VLNCTRL, 0x8100 | r.choice([0, 1 << 30]))
        self.write(MRQC, r.getrandbits(32) & 0xfff0000f)
        self.write(RXCTRL, 1)
        self.write(DMATXCTL, 1)

    def scribble(self):
        """A random value for a random register, but not for one that tells the
        port where to write in memory, or how far."""
        reg = self.rng.randrange(REGS) & ~3
        if (0x1000 <= reg < 0x2000 or 0xD000 <= reg < 0xE000) and reg & 0x3f < 0xC:
            return
        if 0x6000 <= reg < 0x8000 and reg & 0x3f in (0, 4, 8, 0x38, 0x3C):
            return
        self.write(reg, self.rng.getrandbits(32))

    def mad(self):
        kind = self.rng.random()
        if kind < 0.5:
            self.open()
            self.rings()
        elif kind < 0.6:
            self.reset()
        else:
            for _ in range(self.rng.randrange(20)):
                self.scribble()
        time.sleep(self.rng.choice([0, 0.0005, 0.002]))
        return self.read(STATUS) != 0xffffffff


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("usage: ")[1].split("\n")[0])
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    rng = random.Random(args.seed)

    paths = [p[:-7] for p in sorted(glob.glob("/sys/bus/pci/devices/*/device"))
             if open(p).read().strip() == "0x10fb" and open(p[:-6] + "vendor").read().strip() == "0x8086"]
    if not paths:
        sys.exit("hostile.py: no X520 here")
    with open("/proc/sys/vm/nr_hugepages", "w") as f:
        f.write(str(3 * len(paths)))
    ports = [Port(p, rng) for p in paths]
    for port in ports:
        port.reset()

    rounds, begin, said = 0, time.monotonic(), 0
    while time.monotonic() - begin < args.seconds:
        port = rng.choice(ports)
        if not port.mad():
            sys.exit("hostile.py: the port does not answer any more, round %d of seed %d" % (rounds, args.seed))
        rounds += 1
        if time.monotonic() - begin > said + 5:
            said += 5
            print("# %d s: %d rounds" % (said, rounds), flush=True)
    sent = [sum(port.read(reg) for reg in (0x4080,)) for port in ports]
    got = [port.read(0x40D0) for port in ports]
    for port in ports:
        port.reset()
    print("%d rounds; since the last reset the ports sent %s frames and saw %s" % (rounds, sent, got))


if __name__ == "__main__":
    main()

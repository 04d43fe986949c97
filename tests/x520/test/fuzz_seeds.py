#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Inputs for QEMU's generic-fuzz to start from: a card that moves frames.

usage: fuzz_seeds.py DIR               writes them there, one a file
       fuzz_seeds.py --coverage LOG    what libFuzzer says that it ran of the model

An input is a list of operations of generic_fuzz.c, each an opcode and a structure
as that file declares it, with "FUZZ" between. Left to itself, libFuzzer would have
to guess a dozen registers before the first descriptor is read.
"""

import os
import re
import struct
import sys

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import frames as f  # noqa: E402
import fuzz  # noqa: E402

IN, OUT, READ, WRITE, PCI_READ, PCI_WRITE, _, DMA, CLEAR_DMA, CLOCK_STEP = range(10)
BYTE, WORD, LONG, QUAD = range(4)
# Devices in the order of QEMU_FUZZ_OBJECTS, see generic-fuzz.
PORTS, MCH = (0, 1), 2
DEVFN = 2 << 3
TX_RING, RX_RING, BUFFER = 0x100000, 0x140000, 0x400000
CONTEXT, DATA = 0x20200000, 0x20300000
END, REPORT, TSE = 0x01000000, 0x08000000, 0x80000000


class Input:
    """Regions are numbered by address: those of port 0, its registers, MSI-X table
    and pending bits, then those of port 1. The window to the configuration space
    comes before them once it is open."""

    def __init__(self):
        self.ops = []
        self.window = 0

    def op(self, code, fmt="", *args):
        self.ops.append(bytes([code]) + struct.pack("<" + fmt, *args))

    def mmio(self, region, off, value, size=LONG):
        self.op(WRITE, "BBxxIQ", size, region, off, value)

    def write(self, port, off, value):
        self.mmio(self.window + 3 * port, off, value & 0xffffffff)

    def io(self, port, off, value):
        self.op(OUT, "BBHI", LONG, port, off, value)

    def read(self, port, off):
        self.op(READ, "BBxxI", LONG, self.window + 3 * port, off)

    def config(self, dev, off, value):
        self.op(PCI_WRITE, "BBBxI", LONG, dev, off, value)

    def ecam(self, devfn, off, value, size=LONG):
        self.mmio(0, (devfn << 12) + off, value, size)

    def dma(self, data, index=0, stride=0):
        """What the next read from memory finds (they take turns)."""
        self.ops.append(bytes([DMA, index, stride]) + data)

    def clear_dma(self):
        self.op(CLEAR_DMA)

    def step(self, times=1):
        for _ in range(times):
            self.op(CLOCK_STEP)

    def bytes(self):
        return b"FUZZ".join(self.ops)

    # --- the card ---------------------------------------------------------------------

    def port(self, port, mrqc=0, extra=()):
        """As qtest.py has it: link up, everything is for us, one queue each way."""
        for off, value in ((0x042a0, 0xc09c6005), (0x05080, 0x702), (0x03000, 1),
                           (0x04a80, 1), (0x00900, 0x80808080), (0x00880, 0x7fffffff),
                           (0x04240, 0x0c000407), (0x04268, 0x26000000),
                           (0x0ec80, mrqc)) + tuple(extra):
            self.write(port, off, value)
        self.rings(lambda off, value: self.write(port, off, value), 0x1000, 0x6000)

    @staticmethod
    def rings(write, rx, tx):
        write(rx, RX_RING)
        write(rx + 8, 0x400)
        write(rx + 0x14, 0x02000402)
        write(rx + 0x28, 0x02000000)
        write(rx + 0x18, 0x3f)
        write(tx, TX_RING)
        write(tx + 8, 0x400)
        write(tx + 0x28, 0x02000000)

    def open_window(self):
        """q35's PCIEXBAR: extended configuration space, 256 MB."""
        self.config(MCH, 0x60, fuzz.ECAM | 1)
        self.window = 1

    def vfs(self, port, count):
        at = fuzz.SRIOV
        self.ecam(DEVFN | port, at + 0x10, count, WORD)
        for bar, addr in ((0x24, fuzz.VF_BAR0[port]), (0x30, fuzz.VF_MSIX[port])):
            self.ecam(DEVFN | port, at + bar, addr)
            self.ecam(DEVFN | port, at + bar + 4, 0)
        self.ecam(DEVFN | port, at + 8, 9, WORD)
        for vf in range(count):
            self.ecam((DEVFN | port) + 128 + 2 * vf, 4, 7, WORD)
            self.ecam((DEVFN | port) + 128 + 2 * vf, 0x70, 0x80000000)

    def switch(self, port):
        """Pools for four virtual functions, all receive everything."""
        for off, value in ((0x11050, 1), (0x051b0, 0x40000001), (0x08120, 6),
                           (0x0ec80, 8), (0x08220, 1), (0x051e0, 0xffffffff),
                           (0x08110, 0xffffffff), (0x0f000, 0x1f000000),
                           (0x0f004, 0x1f000000), (0x0f008, 0x1f000000)):
            self.write(port, off, value)


def data(size, cmd=0, paylen=None, olinfo=0):
    return struct.pack("<QII", BUFFER, DATA | END | REPORT | cmd | size,
                       (size if paylen is None else paylen) << 14 | olinfo)


def context(maclen, iplen, tucmd, mss=0, l4len=0, vlan=0):
    return struct.pack("<QII", vlan << 16 | maclen << 9 | iplen, CONTEXT | tucmd << 9,
                       mss << 16 | l4len << 8)


RX = struct.pack("<QQ", BUFFER + 0x1000, 0)
TCP4 = f.eth(f.ipv4(f.tcp(f.filler(200), flags=f.ACK), f.TCP), f.ETH_IP)
UDP4 = f.eth(f.ipv4(f.udp(f.filler(100)), f.UDP), f.ETH_IP)
TCP6 = f.eth(f.ipv6(f.tcp(f.filler(200), src=f.IP6_A, dst=f.IP6_B), f.TCP), f.ETH_IP6)
TUNNEL = f.eth(f.ipv4(f.udp(f.vxlan(TCP4), dport=4789, check="zero"), f.UDP), f.ETH_IP)
TAGGED = f.eth(f.ipv4(f.udp(f.filler(60)), f.UDP), f.ETH_IP, tags=((f.ETH_VLAN, 5),))
SCTP4 = f.eth(f.ipv4(f.sctp(f.filler(40)), f.SCTP), f.ETH_IP)
PTP = f.eth(bytes([0, 2, 0, 44]) + f.filler(60), 0x88f7)


def moves(frame, patterns=None, mrqc=0, extra=(), tail=3):
    """Port 0 sends, port 1 receives."""
    i = Input()
    i.port(0)
    i.port(1, mrqc, extra)
    for p in patterns or (data(len(frame)), frame, RX):
        i.dma(p)
    i.write(0, 0x6018, tail)
    i.step(3)
    i.write(0, 0x6018, 2 * tail)
    i.step(3)
    for off in (0x800, 0x4080, 0x4074, 0x40d0, 0x101c):
        i.read(1, off)
    return i


def i2c():
    """The module's byte 3, as the driver reads it: clock (bit 1) and data (bit 3)."""
    i = Input()
    pins = [0xa, 0x2, 0]
    for octet in (0xa0, 3, None, 0xa1, 0xff):
        if octet is None:
            pins += [8, 0xa, 2, 0]
            continue
        for bit in [8 if octet & 1 << n else 0 for n in range(7, -1, -1)] + [8]:
            pins += [bit, bit | 2, bit]
    for value in pins + [0, 2, 0xa]:
        i.write(0, 0x28, value)
    i.read(0, 0x28)
    return i


def spi():
    """Word 5 of the EEPROM: clock (bit 0), select (bit 1), data (bit 2)."""
    i = Input()
    i.write(0, 0x10010, 0x40)
    bits = "{:08b}{:016b}".format(3, 10) + "0" * 16
    for value in [0x42] + [0x42 | 4 * int(b) | clock for b in bits for clock in (0, 1)] + [0x42, 0x40, 0]:
        i.write(0, 0x10010, value)
    i.read(0, 0x10010)
    return i


def inputs():
    rss = 0xf30001
    everything = ((0x05188, 0x1a), (0x08c00, 0x10), (0x05000, 0x3000), (0x05088, 0x40000000), (0x0a000, 0xffffffff))
    yield "tcp4", moves(TCP4, mrqc=rss)
    yield "udp4", moves(UDP4, mrqc=rss, extra=everything)
    yield "tcp6", moves(TCP6, mrqc=rss)
    yield "tunnel", moves(TUNNEL, mrqc=rss)
    yield "tagged", moves(TAGGED, extra=everything + ((0x1028, 0x42000000),))
    yield "sctp4", moves(SCTP4)
    yield "ptp", moves(PTP, extra=((0x05188, 0x18), (0x05128, 0xc00088f7), (0x08c00, 0x10)))
    yield "legacy", moves(UDP4, (struct.pack("<QII", BUFFER, 0x0b000000 | len(UDP4), 0), UDP4, RX))
    # checksums and segmentation
    big = f.eth(f.ipv4(f.tcp(f.filler(3000)), f.TCP), f.ETH_IP)
    tso = data(len(big), TSE, len(big) - 54, 0x300)
    yield "csum", moves(TCP4, (context(14, 20, 6), data(len(TCP4), 0, None, 0x300), TCP4, RX), tail=4)
    yield "tso", moves(big, (context(14, 20, 6, 1000, 20), tso, big, RX), tail=4)
    big6 = f.eth(f.ipv6(f.tcp(f.filler(3000), src=f.IP6_A, dst=f.IP6_B), f.TCP), f.ETH_IP6)
    yield "tso6", moves(big6, (context(14, 40, 4, 1000, 20), data(len(big6), TSE, len(big6) - 74, 0x200), big6, RX), tail=4)
    # coalescing
    yield "rsc", moves(big, (context(14, 20, 6, 500, 20), tso, big, RX), tail=6,
                       extra=((0x102c, 0xd), (0x02f00, 0x02000002), (0x03028, 0), (0x820, 0x100), (0x05008, 0)))
    # Flow Director: signature, perfect, by key
    for name, mode in (("signature", 0x1), ("perfect", 0x11)):
        filters = [(0x0ee00, mode)] + [(off, 0) for off in range(0xee3c, 0xee50, 4)]
        filters += [(0xee18, 0x0201a8c0), (0xee1c, 0x0101a8c0), (0xee20, 1111 << 16 | 2222),
                    (0xee24, 0), (0xee28, 5), (0xee2c, 0x00010061)]
        yield "fdir-" + name, moves(TCP4, extra=filters + [(0xee2c, 0x00010062), (0xee2c, 0x3)])
    # virtual functions
    i = Input()
    i.open_window()
    for port in PORTS:
        i.port(port)
        i.vfs(port, 4)
        i.switch(port)
    # Functions' registers follow, then their tables; those of port 0 first.
    base = 1 + 6
    for region in (base, base + 1, base + 2, base + 3):
        i.rings(lambda off, value, r=region: i.mmio(r, off, value), 0x1000, 0x2000)
        for off, value in ((0x108, 7), (0x120, 0x8080), (0x200, 1), (0x2fc, 1), (0x2fc, 5), (0x104, 1)):
            i.mmio(region, off, value)
    for p in (data(len(UDP4)), UDP4, RX, RX, RX):
        i.dma(p)
    for region in range(base, base + 4):
        i.mmio(region, 0x2018, 4)
    i.step(4)
    i.write(0, 0x6018, 4)
    for off in (0x04b00, 0x04b04, 0x13000, 0x00700, 0x00704, 0x00600):
        i.write(0, off, 0xf)
        i.read(0, off)
    i.mmio(base, 0, 0x04000000)
    i.ecam(DEVFN + 128, 0xa8, 0x8000, WORD)
    i.step(4)
    i.ecam(DEVFN, fuzz.SRIOV + 8, 0, WORD)
    yield "virtual", i
    # pins, semaphores, resets, interrupts
    yield "module", i2c()
    yield "eeprom", spi()
    i = Input()
    i.io(0, 0, 0x10014)
    i.io(0, 4, 5)
    for off, value in ((0x10014, 1), (0x10018, 1), (0x10010, 0x40), (0x10010, 0x42), (0x10140, 3), (0x10160, 0xff),
                       (0x808, 0x7fffffff), (0x898, 0x80000011), (0x820, 0x100), (0xa90, 0xff), (0, 8), (0, 0x04000000)):
        i.write(0, off, value)
        i.read(0, off)
    i.config(0, 0x70, 0x80000000)
    i.config(0, 0xa8, 0x8000)
    i.step(2)
    yield "pins", i


def write_inputs(directory):
    for name, i in inputs():
        with open(os.path.join(directory, name), "wb") as out:
            out.write(i.bytes())


def coverage(log):
    """Prints how many functions and edges of each file of the model were run, and
    which functions were not. Passes if two thirds of the functions were, of those that a guest can
    reach: not set-up and migration, nor the host at the other end of the cable. (Most
    edges are UndefinedBehaviorSanitizer's, and never taken in a good run.)"""
    files, missed = {}, []
    line = re.compile(r"(UN)?COVERED_FUNC: hits: \d+ edges: (\d+)/(\d+) (\S+) .*/(x520\w*\.[ch]):\d+")
    beyond = re.compile(r"_(realize|unrealize|init|uninit|exit|load|save|loaded|saved|types|removed|choice)$")
    with open(log, errors="replace") as text:
        for m in filter(None, map(line.match, text)):
            if "peer" in m.group(5) or m.group(5).endswith(".h") or beyond.search(m.group(4)):
                continue
            count = files.setdefault(m.group(5), [0, 0, 0, 0])
            for n, more in enumerate((not m.group(1), 1, int(m.group(2)), int(m.group(3)))):
                count[n] += more
            if m.group(1):
                missed.append(m.group(4))
    for name, count in sorted(files.items()):
        print("# %-14s %3d of %3d functions, %4d of %4d edges" % (name, *count))
    total = [sum(x) for x in zip(*files.values())] or [0] * 4
    print("# together       %3d of %3d functions, %4d of %4d edges" % tuple(total))
    print("# not run: " + " ".join(sorted(missed)))
    return 0 if total[1] > 100 and 3 * total[0] > 2 * total[1] else 1


def main(args):
    if args == ["--help"]:
        print(__doc__.strip())
        return 0
    if len(args) == 2 and args[0] == "--coverage":
        return coverage(args[1])
    if len(args) != 1 or args[0].startswith("-") or not os.path.isdir(args[0]):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    write_inputs(args[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

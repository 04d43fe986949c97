#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""XDP programs of a few instructions, and an AF_XDP socket, without libbpf.

usage: xdp.py pin FILE pass|drop|tx|redirect [IFINDEX]
       xdp.py socket FILE DEV COUNT
       xdp.py --help

pin: loads a program that does this with each frame, pins it to FILE, which is
     in a bpf file system, for: ip link set DEV xdpdrv pinned FILE
socket: a zero-copy socket on queue 0 of DEV, and a program pinned to FILE that
     gives it all frames of that queue; prints "ready", sends COUNT frames back
     as they come, then prints how many came and how many of them were test frames
"""

import ctypes
import mmap
import os
import select
import socket
import struct
import sys

# include/uapi/linux/bpf.h
MAP_CREATE, MAP_UPDATE_ELEM, PROG_LOAD, OBJ_PIN = 0, 2, 5, 6
MAP_TYPE_XSKMAP, PROG_TYPE_XDP = 17, 6
XDP_DROP, XDP_PASS, XDP_TX = 1, 2, 3
FUNC_REDIRECT, FUNC_REDIRECT_MAP = 23, 51
PSEUDO_MAP_FD = 1
RX_QUEUE_INDEX = 16             # in struct xdp_md

# include/uapi/linux/if_xdp.h
AF_XDP, SOL_XDP = 44, 283
MMAP_OFFSETS, RX_RING, TX_RING, UMEM_REG, FILL_RING, COMPLETION_RING = 1, 2, 3, 4, 5, 6
BIND_ZEROCOPY = 1 << 2
PGOFF = {RX_RING: 0, TX_RING: 0x80000000, FILL_RING: 0x100000000, COMPLETION_RING: 0x180000000}
CHUNK, CHUNKS = 4096, 1024

MAGIC = b"x520 test frame "     # as packet.py has it

libc = ctypes.CDLL(None, use_errno=True)


def checked(what, ret):
    if ret < 0:
        err = ctypes.get_errno()
        sys.exit("xdp.py: %s: %s" % (what, os.strerror(err)))
    return ret


def bpf(what, cmd, attr):
    buf = ctypes.create_string_buffer(attr, 128)
    return checked(what, libc.syscall(321, cmd, buf, 128))


def insn(op, dst=0, src=0, off=0, imm=0):
    return struct.pack("<BBhi", op, src << 4 | dst, off, imm)


def mov(reg, value):
    return insn(0xb7, reg, imm=value)


EXIT = insn(0x95)


def call(func):
    return insn(0x85, imm=func)


def load_and_pin(code, path):
    insns = ctypes.create_string_buffer(code, len(code))
    licence = ctypes.create_string_buffer(b"GPL")
    prog = bpf("loading the program", PROG_LOAD, struct.pack(
        "<IIQQ", PROG_TYPE_XDP, len(code) // 8, ctypes.addressof(insns), ctypes.addressof(licence)))
    name = ctypes.create_string_buffer(path.encode())
    bpf("pinning it to " + path, OBJ_PIN, struct.pack("<QI", ctypes.addressof(name), prog))


def pin(path, action, ifindex="0"):
    if action == "redirect":
        code = mov(1, int(ifindex)) + mov(2, 0) + call(FUNC_REDIRECT)
    else:
        code = mov(0, {"pass": XDP_PASS, "drop": XDP_DROP, "tx": XDP_TX}[action])
    load_and_pin(code + EXIT, path)


class Ring:
    """One ring that is shared with the kernel: 16 bytes (receive, transmit) or
    8 (fill, completion) an entry."""

    def __init__(self, fd, kind, offsets):
        checked("ring %d" % kind, setsockopt(fd, kind, struct.pack("=I", CHUNKS)))
        index = {RX_RING: 0, TX_RING: 1, FILL_RING: 2, COMPLETION_RING: 3}[kind]
        self.prod, self.cons, self.desc, _ = struct.unpack_from("=4Q", offsets, 32 * index)
        self.size = 16 if kind in (RX_RING, TX_RING) else 8
        self.map = mmap.mmap(fd, self.desc + self.size * CHUNKS,
                             mmap.MAP_SHARED | mmap.MAP_POPULATE, offset=PGOFF[kind])

    def index(self, at):
        return struct.unpack_from("=I", self.map, at)[0]

    def produce(self, *words):
        at = self.index(self.prod)
        struct.pack_into("=QII" if self.size == 16 else "=Q", self.map,
                         self.desc + self.size * (at % CHUNKS), *words)
        struct.pack_into("=I", self.map, self.prod, (at + 1) & 0xffffffff)

    def consume(self):
        at = self.index(self.cons)
        while at != self.index(self.prod):
            entry = struct.unpack_from("=QII" if self.size == 16 else "=Q", self.map,
                                       self.desc + self.size * (at % CHUNKS))
            at = (at + 1) & 0xffffffff
            struct.pack_into("=I", self.map, self.cons, at)
            yield entry


def setsockopt(fd, option, value):
    return libc.setsockopt(fd, SOL_XDP, option, value, len(value))


def xsk(path, dev, count):
    count = int(count)
    # not Python's own kind, which wants a name of every socket
    fd = checked("a socket of AF_XDP", libc.socket(AF_XDP, socket.SOCK_RAW, 0))
    umem = mmap.mmap(-1, CHUNK * CHUNKS)
    base = ctypes.addressof(ctypes.c_char.from_buffer(umem))
    checked("memory for frames", setsockopt(
        fd, UMEM_REG, struct.pack("=QQIII4x", base, CHUNK * CHUNKS, CHUNK, 0, 0)))
    offsets = ctypes.create_string_buffer(128)
    size = ctypes.c_uint32(128)
    checked("where the rings are", libc.getsockopt(fd, SOL_XDP, MMAP_OFFSETS, offsets,
                                                   ctypes.byref(size)))
    fill, done = (Ring(fd, kind, offsets.raw) for kind in (FILL_RING, COMPLETION_RING))
    receive, transmit = (Ring(fd, kind, offsets.raw) for kind in (RX_RING, TX_RING))
    for n in range(CHUNKS):
        fill.produce(n * CHUNK)

    xskmap = bpf("a map of sockets", MAP_CREATE, struct.pack("<IIIII", MAP_TYPE_XSKMAP, 4, 4, 1, 0))
    load_and_pin(insn(0x61, 2, 1, RX_QUEUE_INDEX) +
                 insn(0x18, 1, PSEUDO_MAP_FD, imm=xskmap) + insn(0) +
                 mov(3, XDP_PASS) + call(FUNC_REDIRECT_MAP) + EXIT, path)
    if os.system("ip link set %s xdpdrv pinned %s" % (dev, path)):
        sys.exit("xdp.py: the program cannot be attached to " + dev)
    checked("binding to queue 0 of %s, zero-copy" % dev, libc.bind(
        fd, struct.pack("=HHIII", AF_XDP, BIND_ZEROCOPY, socket.if_nametoindex(dev), 0, 0), 16))
    key, value = (ctypes.create_string_buffer(struct.pack("=I", v)) for v in (0, fd))
    bpf("the socket into the map", MAP_UPDATE_ELEM, struct.pack(
        "<I4xQQQ", xskmap, ctypes.addressof(key), ctypes.addressof(value), 0))
    print("ready", flush=True)

    came = ours = 0
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    while came < count and poll.poll(20000):
        for addr, length, _ in receive.consume():
            came += 1
            ours += MAGIC in umem[addr:addr + length]
            transmit.produce(addr, length, 0)
        libc.sendto(fd, None, 0, socket.MSG_DONTWAIT, None, 0)
        for addr, in done.consume():
            fill.produce(addr)
    # what is still to leave
    back = 0
    while back < 100 and transmit.index(transmit.cons) != transmit.index(transmit.prod):
        libc.sendto(fd, None, 0, socket.MSG_DONTWAIT, None, 0)
        select.select([], [], [], 0.05)
        back += 1
    print(came, ours)


if __name__ == "__main__":
    usage = {"pin": (pin, (2, 3)), "socket": (xsk, (3,))}
    if sys.argv[1:] == ["--help"]:
        print(__doc__)
    elif len(sys.argv) > 1 and sys.argv[1] in usage and len(sys.argv) - 2 in usage[sys.argv[1]][1]:
        usage[sys.argv[1]][0](*sys.argv[2:])
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)

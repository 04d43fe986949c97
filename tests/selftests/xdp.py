#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""xdp.py: an XDP program on a port, and AF_XDP on one of its queues, by system calls.

usage: xdp.py DEVICE pass|drop|tx|redirect
       xdp.py DEVICE copy|zero-copy [UDP-PORT]
       xdp.py DEVICE echo [TEXT]

The program passes all frames to the stack, drops them, or sends them back, by XDP_TX or
XDP_REDIRECT. With copy or zero-copy an AF_XDP socket of that mode is bound to queue 0, and
gets what is sent to UDP-PORT (9999) over IPv4; with echo, zero-copy, it gets all frames and
sends them back.
Prints "ready" and, for each line of standard input, how many frames the socket got and, for
echo, in how many of them TEXT is. Program and socket are gone when standard input ends.
"""
import ctypes
import mmap
import os
import select
import socket
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
AF_XDP, SOL_XDP = 44, 283
# linux/if_xdp.h
MMAP_OFFSETS, RX_RING, TX_RING, UMEM_REG, FILL_RING, COMPLETION_RING, OPTIONS = 1, 2, 3, 4, 5, 6, 8
# Of each ring: where mmap() has it, and what an entry is. In the order of MMAP_OFFSETS.
RINGS = {RX_RING: (0, "<QII"), TX_RING: (0x80000000, "<QII"),
         FILL_RING: (0x100000000, "<Q"), COMPLETION_RING: (0x180000000, "<Q")}
BIND_COPY, BIND_ZEROCOPY = 1 << 1, 1 << 2
# linux/bpf.h
MAP_CREATE, MAP_UPDATE, PROG_LOAD, LINK_CREATE = 0, 2, 5, 28
MAP_XSKMAP, PROG_XDP, ATTACH_XDP, PSEUDO_MAP_FD, REDIRECT, REDIRECT_MAP = 17, 6, 37, 1, 23, 51
XDP_DROP, XDP_PASS, XDP_TX, XDP_FLAGS_DRV_MODE = 1, 2, 3, 1 << 2
# The 82599 takes buffer sizes in steps of 1 KB, and headroom goes off a frame.
FRAMES, FRAME_SIZE = 2048, 4096


def check(value, what):
    if value < 0:
        raise OSError(ctypes.get_errno(), f"{what}: {os.strerror(ctypes.get_errno())}")
    return value


def bpf(command, attr):
    # The call's number on x86_64.
    return check(libc.syscall(321, command, ctypes.create_string_buffer(attr, 128), 128), f"bpf command {command}")


def insn(code, dst=0, src=0, off=0, imm=0):
    return struct.pack("<BBhi", code, src << 4 | dst, off, imm)


EXIT = insn(0x95)


def action(name, ifindex):
    """Instructions that do this with each frame."""
    if name == "redirect":
        return insn(0xb7, 1, imm=ifindex) + insn(0xb7, 2) + insn(0x85, imm=REDIRECT) + EXIT
    return insn(0xb7, 0, imm={"pass": XDP_PASS, "drop": XDP_DROP, "tx": XDP_TX}[name]) + EXIT


def to_socket(xskmap, port):
    """Instructions that give a queue's socket what is for that UDP port, or all if it is None,
    and pass the rest; all leaps go to the last two, which do that. (None may be out of reach.)"""
    def unless_equal(size, offset, value):  # r5 = *(size *)(r2 + offset)
        return [(size, 5, 2, offset, 0), (0x55, 5, 0, None, value)]

    code = [] if port is None else [
        (0x61, 2, 1, 0, 0), (0x61, 3, 1, 4, 0),                 # r2 = data, r3 = data_end
        (0xbf, 4, 2, 0, 0), (0x07, 4, 0, 0, 42), (0x2d, 4, 3, None, 0),
        *unless_equal(0x69, 12, socket.htons(0x0800)),
        *unless_equal(0x71, 23, socket.IPPROTO_UDP),
        *unless_equal(0x69, 36, socket.htons(port))]
    code += [(0x61, 2, 1, 16, 0),                               # r2 = rx_queue_index
             (0x18, 1, PSEUDO_MAP_FD, 0, xskmap), (0, 0, 0, 0, 0),
             (0xb7, 3, 0, 0, XDP_PASS), (0x85, 0, 0, 0, REDIRECT_MAP), (0x95, 0, 0, 0, 0)]
    return b"".join(insn(c, d, s, len(code) - i - 1 if off is None else off, imm)
                    for i, (c, d, s, off, imm) in enumerate(code)) + (action("pass", 0) if port is not None else b"")


def attach(ifindex, code):
    """Until the link's descriptor is closed, at the latest with this process."""
    text, gpl = ctypes.create_string_buffer(code), ctypes.create_string_buffer(b"GPL")
    log = ctypes.create_string_buffer(65536)
    try:
        prog = bpf(PROG_LOAD, struct.pack("<IIQQIIQ", PROG_XDP, len(code) // 8, ctypes.addressof(text),
                                          ctypes.addressof(gpl), 1, len(log), ctypes.addressof(log)))
    except OSError:
        print(log.value.decode(), file=sys.stderr)
        raise
    return bpf(LINK_CREATE, struct.pack("<IIII", prog, ifindex, ATTACH_XDP, XDP_FLAGS_DRV_MODE))


class Ring:
    """One ring that is shared with the kernel."""

    def __init__(self, sock, kind, offsets):
        pgoff, self.entry = RINGS[kind]
        # Producer, consumer, descriptors, flags.
        self.producer, self.consumer, self.entries, _ = offsets
        self.map = mmap.mmap(sock.fileno(), self.entries + FRAMES * struct.calcsize(self.entry), mmap.MAP_SHARED,
                             offset=pgoff)

    def index(self, of):
        return struct.unpack_from("<I", self.map, of)[0]

    def _at(self, index):
        return self.entries + index % FRAMES * struct.calcsize(self.entry)

    def produce(self, *entry):
        index = self.index(self.producer)
        struct.pack_into(self.entry, self.map, self._at(index), *entry)
        struct.pack_into("<I", self.map, self.producer, (index + 1) & 0xffffffff)

    def consume(self):
        while (index := self.index(self.consumer)) != self.index(self.producer):
            entry = struct.unpack_from(self.entry, self.map, self._at(index))
            struct.pack_into("<I", self.map, self.consumer, (index + 1) & 0xffffffff)
            yield entry


class Xsk:
    """A socket with a full fill ring."""

    def __init__(self, ifindex, mode):
        self.sock = socket.socket(AF_XDP, socket.SOCK_RAW)
        self.umem = mmap.mmap(-1, FRAMES * FRAME_SIZE)
        where = ctypes.addressof(ctypes.c_char.from_buffer(self.umem))
        self.sock.setsockopt(SOL_XDP, UMEM_REG, struct.pack("<QQII", where, len(self.umem), FRAME_SIZE, 0))
        for kind in RINGS:
            self.sock.setsockopt(SOL_XDP, kind, struct.pack("<I", FRAMES))
        offsets = struct.unpack("<16Q", self.sock.getsockopt(SOL_XDP, MMAP_OFFSETS, 128))
        self.rx, self.tx, self.fill, self.done = (
            Ring(self.sock, kind, offsets[4 * i:4 * i + 4]) for i, kind in enumerate(RINGS))
        for frame in range(FRAMES):
            self.fill.produce(frame * FRAME_SIZE)
        flags = BIND_COPY if mode == "copy" else BIND_ZEROCOPY
        address = struct.pack("<HHIII", AF_XDP, flags, ifindex, 0, 0)
        check(libc.bind(self.sock.fileno(), address, len(address)), f"bind to queue 0, {mode}")

    def zero_copy(self):
        return struct.unpack("<I", self.sock.getsockopt(SOL_XDP, OPTIONS, 4))[0] & 1

    def received(self):
        return self.rx.index(self.rx.producer)

    def echo(self, text):
        """Sends back what came; in how many of these frames the text was."""
        found = 0
        for where, length, _ in self.rx.consume():
            found += text in self.umem[where:where + length]
            self.tx.produce(where, length, 0)
        libc.sendto(self.sock.fileno(), None, 0, socket.MSG_DONTWAIT, None, 0)
        for where, in self.done.consume():
            self.fill.produce(where)
        return found


def serve(xsk, echo_text):
    """Until standard input ends."""
    found = 0
    poll = select.poll()
    poll.register(0, select.POLLIN)
    if echo_text is not None:
        poll.register(xsk.sock, select.POLLIN)
    while True:
        # A frame may wait for the kernel to look at the ring once more.
        ready = dict(poll.poll(50 if echo_text is not None else None))
        if echo_text is not None:
            found += xsk.echo(echo_text)
        if 0 in ready:
            if not os.read(0, 4096):
                return
            told = f"received {xsk.received()}"
            print(told if echo_text is None else f"{told}, {found} as expected", flush=True)


def main():
    args = sys.argv[1:]
    sockets = ("copy", "zero-copy", "echo")
    if len(args) not in (2, 3) or args[1] not in ("pass", "drop", "tx", "redirect") + sockets or \
       (len(args) == 3 and args[1] not in sockets):
        print(__doc__, file=sys.stderr)
        return 2
    ifindex, mode, more = socket.if_nametoindex(args[0]), args[1], (args[2:] + [None])[0]
    if mode not in sockets:
        attach(ifindex, action(mode, ifindex))
        print("ready", flush=True)
        sys.stdin.read()
        return 0
    # The driver wants a program before it gives a queue away.
    xskmap = bpf(MAP_CREATE, struct.pack("<IIII", MAP_XSKMAP, 4, 4, 64))
    attach(ifindex, to_socket(xskmap, None if mode == "echo" else int(more or 9999)))
    xsk = Xsk(ifindex, mode)
    key, value = ctypes.c_uint32(0), ctypes.c_uint32(xsk.sock.fileno())
    bpf(MAP_UPDATE, struct.pack("<IIQQQ", xskmap, 0, ctypes.addressof(key), ctypes.addressof(value), 0))
    if xsk.zero_copy() != (mode != "copy"):
        print(f"asked for {mode}, got the other", file=sys.stderr)
        return 1
    print("ready", flush=True)
    serve(xsk, (more or "").encode() if mode == "echo" else None)
    return 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""xdp.py: an XDP program on a port, and AF_XDP on one of its queues, by system calls.

usage: xdp.py DEVICE pass|drop|copy|zero-copy [UDP-PORT]

The program passes all frames to the stack, or drops them; with copy or zero-copy an AF_XDP socket of
that mode is bound to queue 0, and gets what is sent to UDP-PORT (9999) over IPv4. Prints
"ready" and, for each line of standard input, how many frames the socket got. Program and
socket are gone when standard input ends.
"""
import ctypes
import mmap
import os
import socket
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
AF_XDP, SOL_XDP = 44, 283
# linux/if_xdp.h
MMAP_OFFSETS, RX_RING, UMEM_REG, FILL_RING, COMPLETION_RING, OPTIONS = 1, 2, 4, 5, 6, 8
PGOFF_RX, PGOFF_FILL = 0, 0x100000000
BIND_COPY, BIND_ZEROCOPY = 1 << 1, 1 << 2
# linux/bpf.h
MAP_CREATE, MAP_UPDATE, PROG_LOAD, LINK_CREATE = 0, 2, 5, 28
MAP_XSKMAP, PROG_XDP, ATTACH_XDP, PSEUDO_MAP_FD, REDIRECT_MAP = 17, 6, 37, 1, 51
XDP_DROP, XDP_PASS, XDP_FLAGS_DRV_MODE = 1, 2, 1 << 2
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


def program(xskmap, port):
    """Instructions; all leaps go to the last two, which pass the frame."""
    passes = insn(0xb7, 0, imm=XDP_PASS) + insn(0x95)
    if xskmap is None:
        return passes

    def unless_equal(size, offset, value):  # r5 = *(size *)(r2 + offset)
        return [(size, 5, 2, offset, 0), (0x55, 5, 0, None, value)]

    code = [(0x61, 2, 1, 0, 0), (0x61, 3, 1, 4, 0),             # r2 = data, r3 = data_end
            (0xbf, 4, 2, 0, 0), (0x07, 4, 0, 0, 42), (0x2d, 4, 3, None, 0),
            *unless_equal(0x69, 12, socket.htons(0x0800)),
            *unless_equal(0x71, 23, socket.IPPROTO_UDP),
            *unless_equal(0x69, 36, socket.htons(port)),
            (0x61, 2, 1, 16, 0),                                # r2 = rx_queue_index
            (0x18, 1, PSEUDO_MAP_FD, 0, xskmap), (0, 0, 0, 0, 0),
            (0xb7, 3, 0, 0, XDP_PASS), (0x85, 0, 0, 0, REDIRECT_MAP), (0x95, 0, 0, 0, 0)]
    return b"".join(insn(c, d, s, len(code) - i - 1 if off is None else off, imm)
                    for i, (c, d, s, off, imm) in enumerate(code)) + passes


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


class Xsk:
    """A socket with a full fill ring. What it receives stays in its ring."""

    def __init__(self, ifindex, mode):
        self.sock = socket.socket(AF_XDP, socket.SOCK_RAW)
        self.umem = mmap.mmap(-1, FRAMES * FRAME_SIZE)
        where = ctypes.addressof(ctypes.c_char.from_buffer(self.umem))
        self.sock.setsockopt(SOL_XDP, UMEM_REG, struct.pack("<QQII", where, len(self.umem), FRAME_SIZE, 0))
        for ring in (FILL_RING, COMPLETION_RING, RX_RING):
            self.sock.setsockopt(SOL_XDP, ring, struct.pack("<I", FRAMES))
        # Producer, consumer, descriptors, flags of rx, tx, fill, completion.
        offsets = struct.unpack("<16Q", self.sock.getsockopt(SOL_XDP, MMAP_OFFSETS, 128))
        self.rx = self._map(PGOFF_RX, offsets[2] + FRAMES * 16)
        self.rx_producer = offsets[0]
        fill = self._map(PGOFF_FILL, offsets[10] + FRAMES * 8)
        fill[offsets[10]:offsets[10] + FRAMES * 8] = struct.pack(f"<{FRAMES}Q", *range(0, FRAMES * FRAME_SIZE, FRAME_SIZE))
        fill[offsets[8]:offsets[8] + 4] = struct.pack("<I", FRAMES)
        flags = BIND_ZEROCOPY if mode == "zero-copy" else BIND_COPY
        address = struct.pack("<HHIII", AF_XDP, flags, ifindex, 0, 0)
        check(libc.bind(self.sock.fileno(), address, len(address)), f"bind to queue 0, {mode}")

    def _map(self, offset, size):
        return mmap.mmap(self.sock.fileno(), size, mmap.MAP_SHARED, offset=offset)

    def zero_copy(self):
        return struct.unpack("<I", self.sock.getsockopt(SOL_XDP, OPTIONS, 4))[0] & 1

    def received(self):
        return struct.unpack_from("<I", self.rx, self.rx_producer)[0]


def main():
    args = sys.argv[1:]
    if len(args) not in (2, 3) or args[1] not in ("pass", "drop", "copy", "zero-copy"):
        print(__doc__, file=sys.stderr)
        return 2
    ifindex, mode, port = socket.if_nametoindex(args[0]), args[1], int(args[2]) if len(args) > 2 else 9999
    if mode in ("pass", "drop"):
        attach(ifindex, program(None, port) if mode == "pass" else insn(0xb7, 0, imm=XDP_DROP) + insn(0x95))
        print("ready", flush=True)
        sys.stdin.read()
        return 0
    # The driver wants a program before it gives a queue away.
    xskmap = bpf(MAP_CREATE, struct.pack("<IIII", MAP_XSKMAP, 4, 4, 64))
    attach(ifindex, program(xskmap, port))
    xsk = Xsk(ifindex, mode)
    key, value = ctypes.c_uint32(0), ctypes.c_uint32(xsk.sock.fileno())
    bpf(MAP_UPDATE, struct.pack("<IIQQQ", xskmap, 0, ctypes.addressof(key), ctypes.addressof(value), 0))
    if xsk.zero_copy() != (mode == "zero-copy"):
        print(f"asked for {mode}, got the other", file=sys.stderr)
        return 1
    print("ready", flush=True)
    for _ in sys.stdin:
        print(f"received {xsk.received()}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

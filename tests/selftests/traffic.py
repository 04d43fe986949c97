#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""traffic.py: a checked stream from namespace zcg-tx to zcg-rx.

usage: traffic.py tcp|udp [options]
  --to ADDR        where the receiver listens (10.0.2.2)
  --mbytes N       tcp: how much to send (4)
  --count N        udp: how many datagrams (2000)
  --size N         udp: bytes of each (200)
  --gap USECS      udp: pause between two datagrams (0)
  --until FILE     go on until FILE exists, whatever --mbytes or --count say
  --ready FILE     create FILE once data flows
  --flows N        tcp: parallel connections (1)
  --window N       udp: datagrams on their way at most (64)
  --lossy          udp: missing datagrams are counted, not an error; each that
                   arrives must still be intact

tcp sends random bytes and compares SHA-256 at both ends. udp numbers datagrams and
fills each from its number; with at most --window of them on their way no queue can
overflow, so one that is missing was lost by a driver. Prints one line of what
happened. Exit status 0: complete and intact; 1: not; 2: bad usage.
"""
import argparse
import hashlib
import os
import random
import select
import socket
import struct
import sys
import threading
import time

from remote import far_socket, inside

CHUNK = 1 << 16
STALL = 10      # seconds without progress after which a stream is given up


def family(addr):
    return socket.AF_INET6 if ":" in addr else socket.AF_INET


class Failure(Exception):
    pass


def go_on(args, done, wanted):
    if args.until:
        return not os.path.exists(args.until)
    return done < wanted


def touch(path):
    if path:
        with open(path, "w"):
            pass


# --- TCP --------------------------------------------------------------------------

class Stream(threading.Thread):
    """The sending half of one connection, in a thread of its own."""

    def __init__(self, args, listener, seed):
        super().__init__(daemon=True)
        self.args, self.digest, self.sent, self.error = args, hashlib.sha256(), 0, None
        rng = random.Random(seed)
        self.block = rng.getrandbits(8 * 8 * CHUNK).to_bytes(8 * CHUNK, "little")
        self.sock = far_socket(family(args.to), socket.SOCK_STREAM)
        self.sock.settimeout(STALL)
        self.sock.connect((args.to, listener.getsockname()[1]))

    def run(self):
        try:
            number = 0
            while go_on(self.args, self.sent, self.args.mbytes << 20):
                # No two chunks alike: a number, then a slice at an odd offset.
                begin = number * 1021 % (7 * CHUNK)
                data = struct.pack("!Q", number) + self.block[begin:begin + CHUNK - 8]
                self.sock.sendall(data)
                self.digest.update(data)
                self.sent += len(data)
                number += 1
                if number == 1:
                    touch(self.args.ready)
            self.sock.shutdown(socket.SHUT_WR)
        except OSError as err:
            self.error = err


def tcp(args):
    with inside(os.environ["NS_RX"]):
        listener = socket.socket(family(args.to), socket.SOCK_STREAM)
    listener.bind((args.to, 0))
    listener.listen(16)
    listener.settimeout(STALL)
    started = time.monotonic()
    streams, ends = [], {}
    for i in range(args.flows):
        stream = Stream(args, listener, 5766 + i)
        end = listener.accept()[0]
        ends[end] = [stream, hashlib.sha256(), 0]
        streams.append(stream)
    for stream in streams:
        stream.start()
    live = set(ends)
    buf = bytearray(4 * CHUNK)
    while live:
        ready = select.select(list(live), [], [], STALL)[0]
        if not ready:
            got = sum(e[2] for e in ends.values())
            raise Failure(f"the stream stalled for {STALL} s after {got} bytes")
        for end in ready:
            n = end.recv_into(buf)
            if not n:
                live.discard(end)
                continue
            ends[end][1].update(memoryview(buf)[:n])
            ends[end][2] += n
    took = time.monotonic() - started
    total = 0
    for stream, digest, got in ends.values():
        stream.join(STALL)
        if stream.error:
            raise Failure(f"the sender failed: {stream.error}")
        if got != stream.sent:
            raise Failure(f"{stream.sent} bytes sent, {got} received")
        if digest.digest() != stream.digest.digest():
            raise Failure(f"{got} bytes received, but not those that were sent (SHA-256 differs)")
        total += got
    return (f"tcp to {args.to}: {total} bytes in {len(ends)} flow(s) and {took:.2f} s, "
            "complete, SHA-256 equal")


# --- UDP --------------------------------------------------------------------------

def datagram(number, size):
    body = random.Random(number).getrandbits(8 * (size - 24)).to_bytes(size - 24, "little")
    head = struct.pack("!Q", number)
    return head + hashlib.md5(head + body).digest() + body


def udp(args):
    with inside(os.environ["NS_RX"]):
        rx = socket.socket(family(args.to), socket.SOCK_DGRAM)
    tx = far_socket(family(args.to), socket.SOCK_DGRAM)
    rx.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)   # SO_RCVBUFFORCE
    rx.bind((args.to, 0))
    tx.connect(rx.getsockname()[:2])
    rx.settimeout(0)
    sent = received = late = 0
    expected = 0
    last = started = time.monotonic()
    missing = set()
    sending = True
    while sending or expected < sent:
        sending = sending and go_on(args, sent, args.count)
        if sending and sent - expected < args.window:
            tx.send(datagram(sent, args.size))
            sent += 1
            if args.gap:
                time.sleep(args.gap / 1e6)
        elif not select.select([rx], [], [], 0.2)[0] and time.monotonic() - last > 2:
            # Nothing for two seconds: the whole window is gone.
            missing.update(range(expected, sent))
            expected, last = sent, time.monotonic()
        while True:
            try:
                data = rx.recv(65536)
            except BlockingIOError:
                break
            number = struct.unpack_from("!Q", data)[0]
            if len(data) != args.size or hashlib.md5(data[:8] + data[24:]).digest() != data[8:24]:
                raise Failure(f"a datagram arrived that is not one of those sent (after {received})")
            last = time.monotonic()
            received += 1
            if received == 1:
                touch(args.ready)
            if number >= expected:
                missing.update(range(expected, number))
                expected = number + 1
            else:
                late += 1
                missing.discard(number)
    lost = len(missing)
    text = (f"udp to {args.to}: {sent} datagrams of {args.size} bytes sent in "
            f"{time.monotonic() - started:.2f} s, {received} received intact, {lost} lost, "
            f"{late} out of order")
    if lost and not args.lossy:
        raise Failure(text)
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__, add_help=False,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--help", action="store_true")
    parser.add_argument("kind", nargs="?", choices=("tcp", "udp"))
    parser.add_argument("--to", default=os.environ.get("INNER_RX", "10.0.2.2"))
    parser.add_argument("--mbytes", type=int, default=4)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--gap", type=int, default=0)
    parser.add_argument("--flows", type=int, default=1)
    parser.add_argument("--window", type=int, default=64)
    parser.add_argument("--until")
    parser.add_argument("--ready")
    parser.add_argument("--lossy", action="store_true")
    args = parser.parse_args()
    if args.help:
        print(__doc__)
        return 0
    if not args.kind or args.size < 25:
        parser.error("say tcp or udp; a datagram has at least 25 bytes (--help)")
    try:
        print({"tcp": tcp, "udp": udp}[args.kind](args), flush=True)
    except (Failure, OSError) as err:
        print(f"{args.kind}: {err}", flush=True)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

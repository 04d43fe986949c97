#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""A TCP stream whose bytes can be checked at the far end.

usage: stream.py recv PORT [FLOWS]              prints "ready", then bytes and SHA-256
       stream.py send ADDR PORT BYTES [FLOWS]   sends random bytes, prints the same
       stream.py --help

With FLOWS there are so many connections at once, of BYTES each.
"""

import hashlib
import os
import socket
import sys
import threading


def summary(flows):
    """One line for all flows, in whatever order they came."""
    digests = sorted(digest for _, digest in flows)
    return "%d %s" % (sum(size for size, _ in flows), hashlib.sha256(b"".join(digests)).hexdigest())


def in_threads(count, call):
    out = []
    threads = [threading.Thread(target=lambda n=n: out.append(call(n))) for n in range(count)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    if len(out) != count:
        raise OSError("only %d of %d flows were complete" % (len(out), count))
    return out


def recv_one(conn):
    total, digest = 0, hashlib.sha256()
    while True:
        data = conn.recv(1 << 18)
        if not data:
            return total, digest.digest()
        total += len(data)
        digest.update(data)


def recv(port, flows="1"):
    with socket.socket(socket.AF_INET6) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(("::", int(port)))
        listener.listen(64)
        print("ready", flush=True)
        conns = [listener.accept()[0] for _ in range(int(flows))]
    print(summary(in_threads(len(conns), lambda n: recv_one(conns[n]))))


def send_one(conn, size, n):
    block, left, turn, digest = os.urandom(1 << 19), size, n, hashlib.sha256()
    conn.settimeout(240)
    while left:
        turn += 1
        data = (block[turn % 251:] + block[:turn % 251])[:left]
        conn.sendall(data)
        digest.update(data)
        left -= len(data)
    conn.close()
    return size, digest.digest()


def send(addr, port, size, flows="1"):
    conns = [socket.create_connection((addr, int(port)), timeout=60) for _ in range(int(flows))]
    print(summary(in_threads(len(conns), lambda n: send_one(conns[n], int(size), n))))


def main(args):
    if "--help" in args:
        print(__doc__.strip())
        return
    try:
        {"recv": recv, "send": send}[args[0]](*args[1:])
    except (IndexError, KeyError, TypeError, ValueError):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    except OSError as err:
        sys.exit("stream.py: %s: %s" % (" ".join(args), err))


if __name__ == "__main__":
    main(sys.argv[1:])

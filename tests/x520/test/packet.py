#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Send and count raw frames on an interface of the guest.

usage: packet.py send DEV KIND COUNT [dst=MAC] [size=BYTES] [vlan=TCI]
       packet.py groups DEV COUNT DST[,TCI]...
       packet.py flood DEV COUNT DST
       packet.py count DEV
       packet.py --help

send: COUNT frames of one KIND, with good checksums unless the kind says so:
      plain (an experimental ethertype), udp, tcp, udp-bad, tcp-bad, ip-bad,
      udp-zero
groups: COUNT plain frames to each DST (with a VLAN tag TCI), and a broadcast
      that tells "count" to stop
flood: COUNT frames that the device cuts into 40 segments of 1514 bytes each
count: prints "ready", then how many frames of each group a socket on DEV saw
      before that broadcast; it does not make the port promiscuous
"""

import os
import socket
import struct
import sys

import frames as f

SOL_PACKET, PACKET_AUXDATA, PACKET_VNET_HDR = 263, 8, 15
SO_RCVBUFFORCE = 33
NEEDS_CSUM, GSO_NONE, GSO_TCPV4, GSO_TCPV6 = 1, 0, 1, 4
TEST_PROTO = 0x88b5     # IEEE local experimental ethertype 1
MAGIC, END = b"x520 test frame ", b"x520 test end "


def raw_socket(dev, proto=0, vnet=False):
    sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(proto))
    if vnet:
        sock.setsockopt(SOL_PACKET, PACKET_VNET_HDR, 1)
    sock.bind((dev, proto))
    return sock


def offload(frame, gso_size=0):
    """virtio_net_hdr and frame, the TCP or UDP checksum left to the device: the
    field holds the sum of the pseudo header. With gso_size also segmentation."""
    proto, off = struct.unpack_from("!H", frame, 12)[0], 14
    if proto == f.ETH_VLAN:
        proto, off = struct.unpack_from("!H", frame, 16)[0], 18
    if proto == f.ETH_IP:
        start = off + (frame[off] & 15) * 4
        src, dst, l4 = frame[off + 12:off + 16], frame[off + 16:off + 20], frame[off + 9]
        end = off + struct.unpack_from("!H", frame, off + 2)[0]
    else:
        start = off + 40
        src, dst, l4 = frame[off + 8:off + 24], frame[off + 24:off + 40], frame[off + 6]
        end = start + struct.unpack_from("!H", frame, off + 4)[0]
    where = 16 if l4 == f.TCP else 6
    check = f.pseudo(src, dst, l4, end - start)
    frame = frame[:start + where] + struct.pack("!H", check) + frame[start + where + 2:]
    kind, hdr_len = GSO_NONE, 0
    if gso_size:
        kind = GSO_TCPV4 if proto == f.ETH_IP else GSO_TCPV6
        hdr_len = start + (frame[start + 12] >> 4) * 4
    return struct.pack("=BBHHHH", NEEDS_CSUM, kind, hdr_len, gso_size, start, where) + frame


def make(kind, dst, src, size, tci):
    tags = () if tci is None else ((f.ETH_VLAN, tci),)
    if kind == "plain":
        body = (MAGIC + f.filler(size))[:size - 14 - 4 * len(tags)]
        return f.eth(body, TEST_PROTO, dst, src, tags)
    room = size - 14 - 4 * len(tags) - 20
    if kind.startswith("tcp"):
        seg, proto = f.tcp(f.filler(room - 20), bad=kind == "tcp-bad"), f.TCP
    else:
        check = {"udp-bad": "bad", "udp-zero": "zero"}.get(kind, "good")
        seg, proto = f.udp(f.filler(room - 8), check=check), f.UDP
    return f.eth(f.ipv4(seg, proto, bad=kind == "ip-bad"), f.ETH_IP, dst, src, tags)


def send(dev, kind, count, dst="ff:ff:ff:ff:ff:ff", size="100", vlan=None):
    if kind not in ("plain", "udp", "tcp", "udp-bad", "tcp-bad", "ip-bad", "udp-zero"):
        usage("unknown kind of frame: " + kind)
    sock = raw_socket(dev)
    src = sock.getsockname()[4]
    frame = make(kind, bytes.fromhex(dst.replace(":", "")), src, int(size),
                 None if vlan is None else int(vlan))
    for _ in range(int(count)):
        sock.send(frame)


def groups(dev, count, *specs):
    sock = raw_socket(dev)
    src = sock.getsockname()[4]
    # One CPU, one transmit queue: the end stays the end.
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    for number, spec in enumerate(specs):
        dst, _, tci = spec.partition(",")
        body = (MAGIC + bytes([number])).ljust(80, b"\0")
        frame = f.eth(body, TEST_PROTO, bytes.fromhex(dst.replace(":", "")), src,
                      ((f.ETH_VLAN, int(tci)),) if tci else ())
        for _ in range(int(count)):
            sock.send(frame)
    sock.send(f.eth((END + bytes([len(specs)])).ljust(46, b"\0"), TEST_PROTO, b"\xff" * 6, src))


def flood(dev, count, dst):
    sock = raw_socket(dev, vnet=True)
    frame = f.eth(f.ipv4(f.tcp(f.filler(40 * 1460)), f.TCP), f.ETH_IP,
                  bytes.fromhex(dst.replace(":", "")), sock.getsockname()[4])
    data = offload(frame, 1460)
    for _ in range(int(count)):
        sock.send(data)


def count(dev):
    sock = raw_socket(dev, 3)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 4 << 20)
    sock.settimeout(60)
    print("ready", flush=True)
    seen = {}
    while True:
        frame, addr = sock.recvfrom(65536)
        if addr[2] == socket.PACKET_OUTGOING:
            continue
        if END in frame[:40]:
            last = frame[frame.index(END) + len(END)]
            break
        if MAGIC in frame[:40]:
            number = frame[frame.index(MAGIC) + len(MAGIC)]
            seen[number] = seen.get(number, 0) + 1
    print(*[seen.get(n, 0) for n in range(last)])


def vlan_of(aux):
    """The tag that was stripped from a received frame, None if there was none."""
    for level, kind, data in aux:
        if level == SOL_PACKET and kind == PACKET_AUXDATA:
            status, _, _, _, _, tci, _ = struct.unpack_from("=IIIHHHH", data)
            if status & 0x10:
                return tci
    return None


def usage(why=None):
    if why:
        print("packet.py: " + why, file=sys.stderr)
    print(__doc__.strip(), file=sys.stderr if why else sys.stdout)
    sys.exit(2 if why else 0)


def main(args):
    if "--help" in args:
        usage()
    try:
        named = dict(a.split("=", 1) for a in args if "=" in a)
        plain = [a for a in args if "=" not in a]
        call = {"send": send, "count": count, "groups": groups, "flood": flood}[plain[0]]
        call(*plain[1:], **named)
    except (IndexError, KeyError, TypeError, ValueError) as err:
        usage("bad command line: %r" % err)
    except OSError as err:
        sys.exit("packet.py: %s: %s" % (" ".join(args), err))


if __name__ == "__main__":
    main(sys.argv[1:])

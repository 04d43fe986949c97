#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""parity.py: one mix of traffic, replayed to two drivers, and what they made of it.

usage: parity.py record FILE              write the mix, a pcap file
       parity.py replay FILE RESULT       send it, write what came of it as JSON
       parity.py compare WHAT A B         WHAT: counters, packets, protocols, sockets

The mix comes from a seeded generator, so it is the same each time.
"""
import hashlib
import json
import os
import random
import socket
import subprocess
import sys

import frames as f
from wire import Wire, inside, snmp

PORT = int(os.environ.get("VX_PORT", "5766"))
OUT4, OUT6 = ("192.168.1.1", "192.168.1.2"), ("fd01::1", "fd01::2")
IN4, IN6 = ("10.0.2.1", "10.0.2.2"), ("fd00::1", "fd00::2")
LISTEN = 7000
SEED = 5766
ROUNDS = 6
CORPUS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../unit/corpus.txt")
# What the in-box driver counts by the clock and not by the frame.
BY_TIME = ("lsc_int", "tx_restart_queue", "tx_timeout_count")


def generate(netif_mac, peer_mac, vxlan_mac):
    """Bursts of frames; each burst is meant for one poll of the device."""
    rng = random.Random(SEED)

    def outer(payload, check=0, tags=(), port=PORT, **ip):
        return f.eth(netif_mac, peer_mac, f.ETH_IP,
                     f.ip4(*OUT4, f.UDP, f.udp(*OUT4, 40000, port, payload, check=check), **ip), tags)

    def plain(packet, kind=f.ETH_IP, tags=()):
        return f.eth(netif_mac, peer_mac, kind, packet, tags)

    def inner(packet, kind=f.ETH_IP):
        return f.vxlan(f.eth(vxlan_mac, "02:00:00:00:00:01", kind, packet))

    def data(length):
        return rng.getrandbits(8 * length).to_bytes(length, "big")

    def segments(count, ends, sport, flips=()):
        seq = rng.getrandbits(32)
        for i in range(count):
            body = data(1380)
            yield f.tcp(*ends, sport, 9, body, seq=seq + 1380 * i, flip=1 if i in flips else 0)

    for turn in range(ROUNDS):
        sport = 5000 + turn
        yield [plain(f.ip4(*OUT4, f.TCP, s)) for s in segments(16, OUT4, sport)]
        yield [plain(f.ip4(*OUT4, f.TCP, s)) for s in segments(16, OUT4, sport, flips=(5, 11))]
        yield [plain(f.ip6(*OUT6, f.TCP, s), f.ETH_IPV6) for s in segments(8, OUT6, sport)]
        yield [outer(inner(f.ip4(*IN4, f.TCP, s))) for s in segments(16, IN4, sport)]
        yield [outer(inner(f.ip4(*IN4, f.TCP, s))) for s in segments(16, IN4, sport, flips=(3,))]
        yield [outer(inner(f.ip4(*IN4, f.TCP, s)), check=None) for s in segments(16, IN4, sport)]
        yield [outer(inner(f.ip6(*IN6, f.TCP, s), f.ETH_IPV6)) for s in segments(8, IN6, sport)]
        yield [plain(f.ip4(*OUT4, f.TCP, s), tags=[(f.ETH_VLAN, 9)]) for s in segments(8, OUT4, sport)]
        yield [outer(inner(f.ip4(*IN4, f.UDP, f.udp(*IN4, sport, LISTEN, data(rng.randint(1, 1300))))),
                     check=rng.choice((0, None))) for _ in range(16)]
        yield [outer(inner(f.ip4(*IN4, f.UDP, f.udp(*IN4, sport, LISTEN, data(100),
                                                    flip=rng.choice((0, 1, 256)))))) for _ in range(8)]
        yield [plain(f.ip4(*OUT4, f.UDP, f.udp(*OUT4, sport, LISTEN + 1, data(rng.randint(1, 1400)),
                                               flip=rng.choice((0, 0, 2))))) for _ in range(16)]
        yield [plain(f.ip4(*OUT4, f.UDP, f.udp(*OUT4, sport, LISTEN + 1, data(64), check=0)))
               for _ in range(4)]
        yield [plain(f.ip4(*OUT4, f.ICMP, f.icmp_echo(data(64), i))) for i in range(4)]
        yield [plain(f.arp_request(peer_mac, *OUT4), f.ETH_ARP),
               outer(inner(f.arp_request("02:00:00:00:00:01", *IN4), f.ETH_ARP))]
        yield [outer(f.vxlan(b"")[:5]), outer(inner(b"")), outer(data(80)),
               outer(inner(f.ip4(*IN4, f.TCP, data(40))), check=0x1111),
               plain(f.ip4(*OUT4, f.UDP, f.udp(*OUT4, 1, PORT, data(900), check=0)[:400], frag=0x2000)),
               plain(f.ip4(*OUT4, f.UDP, data(80), check=0x1234)), plain(data(200), 0x88b6)]


def corpus(netif_mac):
    """The fuzzer's frames, as far as a packet socket sends them, to the port's address;
    one burst each, so that what precedes a frame in GRO is the same for every driver."""
    with open(CORPUS, encoding="ascii") as src:
        frames = [bytes.fromhex(line) for line in src if line.strip() and not line.startswith("#")]
    return [[f.mac(netif_mac) + frame[6:]] for frame in frames if 14 < len(frame) <= 1514]


def link_address(namespace, device):
    return subprocess.run(["ip", "-n", namespace, "-br", "link", "show", device], check=True,
                          capture_output=True, text=True).stdout.split()[2]


def record(path):
    wire = Wire()
    # vxlan01 gets a random address; the recording and every replay use this one.
    bursts = list(generate(wire.netif_mac, wire.peer_mac, "02:00:00:00:00:02"))
    damaged = corpus(wire.netif_mac)
    f.write_pcap(path, bursts + damaged)
    print(f"{len(bursts)} bursts of the mix, {len(damaged)} frames of the corpus")


def replay(path, result):
    wire = Wire()
    subprocess.run(["ip", "-n", wire.rx_ns, "link", "set", os.environ.get("VX_DEV", "vxlan01"),
                    "address", "02:00:00:00:00:02"], check=True)
    bursts = f.read_pcap(path)
    socks = []
    with inside(wire.rx_ns):
        for addr in ((IN4[1], LISTEN), (OUT4[1], LISTEN + 1)):
            sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            sock.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)     # SO_RCVBUFFORCE
            sock.bind(addr)
            sock.setblocking(False)
            socks.append(sock)
    wire.settle()
    counters, protocols = wire.ethtool.stats(), snmp(wire.rx_ns)
    marks = wire.marks
    packets = []
    for burst in bursts:
        # What GRO holds of the burst before is out with the second mark's poll. That
        # has just been when the mark is seen, and the next is 20 ms away.
        packets += wire.mark() + wire.mark()
        for frame in burst:
            wire.send(frame)
    packets += wire.settle()
    counters_after, protocols_after = wire.ethtool.stats(), snmp(wire.rx_ns)
    texts = []
    for sock in socks:
        while True:
            try:
                texts.append(hashlib.sha1(sock.recv(65536)).hexdigest())
            except BlockingIOError:
                break
    sent = sum(len(burst) for burst in bursts)
    with open(result, "w") as out:
        json.dump({
            "sent": sent, "marks": wire.marks - marks,
            "counters": {n: v - counters[n] for n, v in counters_after.items()},
            "protocols": {n: v - protocols[n] for n, v in protocols_after.items()},
            "packets": [[len(p.data), p.tci, p.csum_valid, hashlib.sha1(p.data).hexdigest(),
                         p.data[:64].hex()] for p in packets],
            "sockets": texts}, out)
    print(f"{sent} frames in {len(bursts)} bursts and {wire.marks - marks} marks sent, "
          f"{len(packets)} packets delivered, {len(texts)} datagrams read")


def compare(what, path_a, path_b):
    with open(path_a) as src:
        a = json.load(src)
    with open(path_b) as src:
        b = json.load(src)
    problems = []
    if what == "counters":
        ours = {n for n in b[what] if n.startswith("rx_") and "zcg_" in n}
        problems += [f"{n} is {b[what][n]}, should be 0" for n in ours if b[what][n]]
        problems += [f"{n} is missing in the fork" for n in a[what] if n not in b[what]]
        problems += [f"{n} is new in the fork" for n in b[what] if n not in a[what] and n not in ours]
        problems += [f"{n}: in-box {v}, fork {b[what][n]}" for n, v in a[what].items()
                     if n in b[what] and n not in BY_TIME and b[what][n] != v]
        moved = sum(1 for v in a[what].values() if v)
        print(f"{len(a[what])} in-box counters compared, {moved} of them moved; {len(ours)} of the fork")
        if not ours:
            problems.append("the second driver is not the fork")
        if a[what].get("rx_packets", 0) < a["sent"] // 2:
            problems.append(f"only {a[what].get('rx_packets')} of {a['sent']} frames were received")
    elif what == "protocols":
        # A counter per ICMP type is there from the first such message on.
        problems += [f"{n}: in-box {a[what].get(n, 0)}, fork {b[what].get(n, 0)}"
                     for n in sorted({*a[what], *b[what]}) if a[what].get(n, 0) != b[what].get(n, 0)]
        print(f"{len(a[what])} counters compared, {sum(1 for v in a[what].values() if v)} of them moved")
    else:
        print(f"{len(a[what])} in-box, {len(b[what])} fork")
        for i, (x, y) in enumerate(zip(a[what], b[what])):
            if x != y:
                problems.append(f"the first difference is number {i}: in-box {x}, fork {y}")
                break
        if problems and sorted(map(str, a[what])) == sorted(map(str, b[what])):
            problems.append("they are the same but for their order")
        if len(a[what]) != len(b[what]):
            problems.append("their number differs")
        if not a[what]:
            problems.append("nothing was delivered at all")
        if what == "packets":
            merged = sum(1 for p in a[what] if p[0] > 2000)
            print(f"{merged} of them merged by GRO")
            if not merged:
                problems.append("GRO merged nothing, so its merging was not compared")
    print(*problems[:20], sep="\n", end="\n" if problems else "")
    return 1 if problems else 0


def main():
    args = sys.argv[1:]
    if args[:1] == ["--help"]:
        print(__doc__)
        return 0
    if len(args) == 2 and args[0] == "record":
        return record(args[1])
    if len(args) == 3 and args[0] == "replay":
        return replay(*args[1:])
    if len(args) == 4 and args[0] == "compare" and args[1] in ("counters", "packets", "protocols", "sockets"):
        return compare(*args[1:])
    print(__doc__, file=sys.stderr)
    return 2


if __name__ == "__main__":
    sys.exit(main())

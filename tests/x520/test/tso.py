#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Large TCP frames that the port, or the kernel, must cut into segments.

usage: tso.py send LABEL PORT DEV
           sends every case through DEV (PORT itself or a device above it); a
           marker frame on PORT before and after says which LABEL they belong to
       tso.py udp LABEL PORT ADDR
           UDP_SEGMENT sends to ADDR, between the same markers
       tso.py judge FILE DIR LABEL...
           FILE is a capture of the peer's port; for each LABEL all checksums and
           lengths must be right, and "LABEL on" and "LABEL off" must have put the
           same frames on the wire; DIR/LABEL.verdict ends with "good" if so
       tso.py stream FILE
           a captured real TCP stream: checksums, lengths, sequence numbers
           without a gap, IPv4 ids
       tso.py --help

A large frame enters the kernel by a packet socket with a virtio_net_hdr, so
exactly the same one can be sent with the port's segmentation on and off.
"""

import socket
import struct
import sys
import time

import frames as f
import packet

MARK = b"x520 tso marker "
PORT = 7777
STAMP = b"\1\1\x08\x0a" + bytes(range(8))
ALL = f.ACK | f.PSH | f.FIN

# name, IP version, payload, MSS and what is special
CASES = [
    ("two whole segments", 4, 2896, 1448, {}),
    ("one byte over", 4, 2897, 1448, {}),
    ("one byte short", 4, 2895, 1448, {}),
    ("64 KiB", 4, 65000, 1448, {}),
    ("small odd MSS", 4, 3001, 87, {}),
    ("FIN and PSH", 4, 10000, 1448, dict(flags=ALL)),
    ("time stamps", 4, 20000, 1436, dict(options=STAMP)),
    ("sequence numbers wrap", 4, 9000, 1000, dict(seq=0xfffff000)),
    ("ids wrap", 4, 9000, 1000, dict(ident=0xfffc)),
    ("no DF", 4, 9000, 1448, dict(frag=0)),
    ("IP options", 4, 9000, 1400, dict(ip_options=b"\1\1\1\1")),
    ("type of service", 4, 5000, 1448, dict(tos=0xb8)),
    ("IPv6", 6, 20000, 1428, {}),
    ("IPv6, FIN and PSH", 6, 20001, 1416, dict(flags=ALL, options=STAMP)),
    ("IPv6, small MSS", 6, 1999, 100, dict(seq=0xffffff00)),
]


def build(number, case, dst, src):
    _, version, size, _, more = case
    more = dict(more)
    ip_args = {k: more.pop(k) for k in ("ident", "frag", "tos") if k in more}
    if "ip_options" in more:
        ip_args["options"] = more.pop("ip_options")
    more.setdefault("seq", 1000)
    a, b = (f.IP_A, f.IP_B) if version == 4 else (f.IP6_A, f.IP6_B)
    seg = f.tcp(f.filler(size, number), 1000 + number, PORT, a, b, **more)
    if version == 4:
        return f.eth(f.ipv4(seg, f.TCP, **ip_args), f.ETH_IP, dst, src)
    return f.eth(f.ipv6(seg, f.TCP), f.ETH_IP6, dst, src)


def marker(label, src):
    """An IPv4 frame: one of a type that nobody handles could be overtaken on its
    way to a packet socket, when the kernel delivers a list of frames."""
    return f.eth(f.ipv4(f.udp(MARK + label.encode(), 9, 9), f.UDP), f.ETH_IP, b"\xff" * 6, src)


def send(label, port, dev):
    marks = packet.raw_socket(port)
    sock = packet.raw_socket(dev, vnet=True)
    src = sock.getsockname()[4]
    mark = marker(label, src)
    marks.send(mark)
    for number, case in enumerate(CASES):
        frame = build(number, case, b"\x02\0\0\0\0\x42", src)
        sock.send(packet.offload(frame, case[3]))
    # A one-segment frame with nothing but its checksum left to the device.
    sock.send(packet.offload(f.eth(f.ipv4(f.tcp(b"x" * 100, 999, PORT), f.TCP), f.ETH_IP, b"\x02\0\0\0\0\x42", src)))
    time.sleep(0.05)
    marks.send(mark)


# Bytes and segment size of each UDP_SEGMENT send, from port 1100 on.
UDP_CASES = [(10000, 1000), (10001, 1000), (999, 333), (60000, 1452)]
SOL_UDP, UDP_SEGMENT = 17, 103


def udp(label, port, addr):
    marks = packet.raw_socket(port)
    mark = marker(label, marks.getsockname()[4])
    marks.send(mark)
    for number, (size, part) in enumerate(UDP_CASES):
        with socket.socket(socket.AF_INET6 if ":" in addr else socket.AF_INET,
                           socket.SOCK_DGRAM) as sock:
            sock.bind(("", 1100 + number))
            sock.connect((addr, PORT))
            sock.setsockopt(SOL_UDP, UDP_SEGMENT, part)
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
            sock.send(f.filler(size, number))
    time.sleep(0.05)
    marks.send(mark)


def transport(seen):
    """The innermost TCP or UDP header."""
    found = [v for n, v in seen.layers if n in ("tcp", "udp")]
    return found[-1] if found else None


def sections(path):
    """Frames with our port in them, by label."""
    out, label = {}, None
    for _, frame in f.read_pcap(path):
        if MARK in frame[:64]:
            name = frame[frame.index(MARK) + len(MARK):].rstrip(b"\0").decode()
            label = None if label == name else name
            out.setdefault(name, [])
        else:
            seen = f.parse(frame)
            head = transport(seen)
            if head and head["dport"] == PORT:
                # Between two sections there should be none.
                out.setdefault(label or "", []).append((frame, seen))
    return out


def without_ids(frame, seen):
    """The frame with every IPv4 id 0 and the header checksums to match, and
    those ids from the outside in. A NIC may repeat or count an inner id with DF
    (RFC 6864), so these are compared by rule and not by value."""
    ids, out, at = [], bytearray(frame), 0
    for name, fields in seen.layers:
        if name == "ipv4":
            at = frame.index(fields["head"], at)
            ids.append(fields["ident"])
            head = fields["head"][:4] + b"\0\0" + fields["head"][6:10] + b"\0\0" + fields["head"][12:]
            out[at:at + len(head)] = head
            out[at + 10:at + 12] = struct.pack("!H", f.inet_csum(head))
            at += len(head)
        elif name == "udp" and fields["check"] and seen.names().count("eth") > 1:
            # It covers the inner header: same sum, other id. It was verified.
            at = frame.index(struct.pack("!HH", fields["sport"], fields["dport"]), at)
            out[at + 6:at + 8] = b"\xff\xff"
    return bytes(out), ids


def consecutive(ids):
    return all((b - a) & 0xffff == 1 for a, b in zip(ids, ids[1:]))


def fixed(ids):
    """The port repeats the id; the kernel gives the rest after the last whole
    segment, which it sends apart, the id that it would have."""
    return all((x - ids[0]) & 0xffff in (0, n) for n, x in enumerate(ids))


def judge(path, where, *labels):
    found = sections(path)
    for label in labels:
        bad, text = [], []
        hard, soft = found.get(label + " on", []), found.get(label + " off", [])
        text.append("%d frames by hardware, %d by software" % (len(hard), len(soft)))
        if found.get(""):
            bad.append("%d frames outside of the markers" % len(found[""]))
        for how, frames in (("hardware", hard), ("software", soft)):
            for frame, seen in frames:
                bad += ["%s: %d bytes, %s: %s" % (how, len(frame), seen.names(), why)
                        for why in seen.problems]
        ports = sorted({transport(seen)["sport"] for _, seen in hard + soft})
        for sport in ports:
            bad += compare(sport - 1000, *([x for x in side if transport(x[1])["sport"] == sport]
                                           for side in (hard, soft)))
        if len(ports) not in (len(CASES) + 1, len(UDP_CASES)):
            bad.append("frames of only %d cases came" % len(ports))
        text += bad[:12] + (["... %d in all" % len(bad)] if len(bad) > 12 else [])
        with open("%s/%s.verdict" % (where, label), "w") as out:
            out.write("\n".join(text + ["bad" if bad else "good"]) + "\n")


def compare(number, hard, soft):
    """One case: (frame, headers) cut by hardware, and cut by software."""
    gso = 0 <= number < len(CASES)
    name = CASES[number][0] if gso else "port %d" % (1000 + number)
    if len(hard) != len(soft):
        return ["%s: %d frames by hardware, %d by software" % (name, len(hard), len(soft))]
    bad, hard_ids, soft_ids = [], [], []
    for n, (a, b) in enumerate(zip(hard, soft)):
        (bytes_a, ids_a), (bytes_b, ids_b) = without_ids(*a), without_ids(*b)
        hard_ids.append(ids_a)
        soft_ids.append(ids_b)
        if bytes_a != bytes_b:
            bad.append("%s, segment %d differs: %s" % (name, n, difference(bytes_a, bytes_b)))
    ips = [n for n, _ in hard[0][1].layers if n.startswith("ip")]
    no_df = gso and CASES[number][4].get("frag") == 0
    for level in range(len(hard_ids[0])):
        inner = len(ips) > 1 and ips[-1] == "ipv4" and level == len(hard_ids[0]) - 1
        for ids in ([i[level] for i in hard_ids], [i[level] for i in soft_ids]):
            if not consecutive(ids) and not (inner and not no_df and fixed(ids)):
                bad.append("%s: IPv4 ids %s" % (name, " ".join("%#x" % i for i in ids[:8])))
    if gso and len(ips) == 1:
        # And against our own idea of it, ids and all.
        link = hard[0][1].get("eth")
        want = f.segments(build(number, CASES[number], link["dst"], link["src"]), CASES[number][3])
        bare = [fr[:12] + fr[12 + 4 * len(link["tags"]):] for fr, _ in hard]
        bad += ["%s, segment %d is not as expected: %s" % (name, n, difference(a, b))
                for n, (a, b) in enumerate(zip(bare, want))
                if a[:len(b)] != b or len(a) > max(len(b), 60)]
        if len(bare) != len(want):
            bad.append("%s: %d segments, %d expected" % (name, len(bare), len(want)))
    return bad


def difference(a, b):
    if len(a) != len(b):
        return "%d and %d bytes" % (len(a), len(b))
    at = [i for i in range(len(a)) if a[i] != b[i]]
    return "%d bytes from offset %d, %s and %s" % (
        len(at), at[0], a[at[0]:at[0] + 8].hex(), b[at[0]:at[0] + 8].hex())


def stream(path):
    """All frames of the capture that carry TCP, by flow."""
    bad, flows, count, largest = [], {}, 0, 0
    for _, frame in f.read_pcap(path):
        seen = f.parse(frame)
        if not any(n == "tcp" for n, _ in seen.layers) and not seen.problems:
            continue
        count += 1
        largest = max(largest, len(frame))
        bad += ["frame %d, %d bytes, %s: %s" % (count, len(frame), seen.names(), p)
                for p in seen.problems]
        tcp = [v for n, v in seen.layers if n == "tcp"]
        if not tcp:
            continue
        tcp = tcp[-1]
        ip = [v for n, v in seen.layers if n in ("ipv4", "ipv6")][-1]
        flow = flows.setdefault((ip["src"], tcp["sport"], ip["dst"], tcp["dport"]), {})
        after = (tcp["seq"] + len(tcp["payload"]) + bool(tcp["flags"] & (f.SYN | f.FIN))) & 0xffffffff
        if "next" in flow and tcp["seq"] != flow["next"] and tcp["payload"]:
            behind = (flow["next"] - tcp["seq"]) & 0xffffffff
            flow["again"] = flow.get("again", 0) + 1
            if behind > 1 << 30:
                bad.append("frame %d: a gap of %d bytes" % (count, -behind & 0xffffffff))
        if (after - flow.get("next", after)) & 0xffffffff < 1 << 30:
            flow["next"] = after
        flow["bytes"] = flow.get("bytes", 0) + len(tcp["payload"])
    total = sum(v.get("bytes", 0) for v in flows.values())
    print("%d frames, the largest %d bytes, %d flows, %d bytes of payload, %d sent again" % (
        count, largest, len(flows), total, sum(v.get("again", 0) for v in flows.values())))
    if not total:
        bad.append("no TCP payload in the capture")
    finish(bad)


def finish(bad):
    for line in bad[:12]:
        print(line)
    if len(bad) > 12:
        print("... %d in all" % len(bad))
    sys.exit(bool(bad))


def main(args):
    if "--help" in args:
        print(__doc__.strip())
        return
    calls = {"send": (send, 4), "udp": (udp, 4), "judge": (judge, 4), "stream": (stream, 2)}
    call, count = calls.get(args[0] if args else None, (None, 0))
    if call is None or len(args) != count and not (call is judge and len(args) > count):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    try:
        call(*args[1:])
    except OSError as err:
        sys.exit("tso.py: %s: %s" % (" ".join(args), err))


if __name__ == "__main__":
    main(sys.argv[1:])

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Raw frames to and from a port of the X520 model under the in-box ixgbe.

usage: wire.py [--erratum always|sometimes|never] [--part NAME]... KERNEL
       wire.py --help

Boots KERNEL with both ports ending in sockets, injects frames and looks at what
the driver made of each of them, and catches what the guest sends. Without
--part, --erratum always (the default) runs all parts, the other two only
`zero` and `damage`. Parts: rx zero rss jumbo tx link damage. TAP on stdout.
"""

import os
import struct
import sys
import time
import zlib

import frames as f
import rxcases as rx
from guest import Guest, GuestError

PARTS = {"always": ["rx", "zero", "rss", "jumbo", "tx", "link"],
         "sometimes": ["zero"], "never": ["zero", "damage"]}
DAMAGE_AT = 3000


class Tap:
    def __init__(self):
        self.count = self.failed = 0

    def case(self, name, bad):
        """bad: what is wrong, one line each."""
        self.count += 1
        for line in bad:
            print("# " + line)
        self.failed += bool(bad)
        print("%sok %d %s" % ("not " if bad else "", self.count, name), flush=True)

    def note(self, text):
        for line in text.splitlines():
            print("# " + line, flush=True)


class Tests:
    def __init__(self, guest, tap, erratum):
        self.g, self.tap, self.erratum = guest, tap, erratum

    def to_guest(self, frame):
        return self.g.mac + frame[6:]

    def stat(self, *names):
        values = self.g.ask("stats")
        return [values.get(n, 0) for n in names]

    # --- receive -----------------------------------------------------------------------

    def receive(self, case):
        """Injects the frame of one case; everything that is wrong about it."""
        frame = self.to_guest(case.frame)
        before, = self.stat("rx_csum_offload_errors")
        result = self.g.feed([frame])
        counted = self.stat("rx_csum_offload_errors")[0] - before
        if not result["marker"]:
            return ["the frame after it did not arrive"]
        if not case.delivered:
            return ["it was delivered"] if result["frames"] else []
        if len(result["frames"]) != 1 or len(result["trace"]) != 1:
            return ["%d frames delivered, %d traced" % (len(result["frames"]), len(result["trace"]))]
        return self.verdict(case, frame, counted, result["frames"][0], result["trace"][0])

    def verdict(self, case, frame, counted, got, trace):
        bad = []
        want = frame.ljust(60, b"\0")
        if case.tci is not None:
            if got["tci"] != case.tci:
                bad.append("VLAN tag %s, expected %#x" % (got["tci"], case.tci))
            want = (frame[:12] + frame[16:]).ljust(60, b"\0")
        # Padding to 60 bytes may be anything; the frame's own bytes may not.
        if got["len"] != len(want) and not (len(frame) <= 64 and 56 <= got["len"] <= 64):
            bad.append("%d bytes delivered, expected %d" % (got["len"], len(want)))
        elif got["len"] == len(want) and got["crc"] != zlib.crc32(want) and len(frame) >= 60:
            bad.append("other bytes delivered: " + got["head"])
        claim = int(trace["ip_summed"])
        if claim not in (0, 1) or claim != case.claim:
            bad.append("ip_summed %d, expected %d" % (claim, case.claim))
        if counted != case.counted and not case.maybe:
            bad.append("rx_csum_offload_errors + %d, expected %d" % (counted, case.counted))
        if "status" in trace:
            status, info = int(trace["status"], 16) & 0xffffffff, int(trace["info"], 16) & 0xfff0
            if case.status is not None and status & case.MASK != case.status:
                bad.append("descriptor status %#010x, expected %#010x of %#010x" % (
                    status, case.status, case.MASK))
            if case.types is not None and info != case.types:
                bad.append("packet type %#06x, expected %#06x" % (info, case.types))
            if status & 3 != 3:
                bad.append("descriptor status %#x lacks DD or EOP" % status)
        elif self.g.info["probe"]:
            bad.append("no descriptor was seen")
        return bad

    def part_rx(self):
        self.g.sh("ip link add link %s name v100 type vlan id 100 && ip link set v100 up" %
                  self.g.info["dev"])
        for case in rx.ip_cases() + rx.edge_cases() + rx.vlan_cases():
            self.tap.case("receive: " + case.name, self.receive(case))
        self.oversize()
        self.burst()
        self.checksum_off()

    def oversize(self):
        bad = []
        before = self.stat("rx_long_length_errors", "rx_pkts_nic")
        frame = self.to_guest(rx.v4(f.udp(f.filler(1473)), f.UDP))
        result = self.g.feed([frame])
        after = self.stat("rx_long_length_errors", "rx_pkts_nic")
        if result["frames"]:
            bad.append("a frame of %d bytes was delivered with an MTU of 1500" % len(frame))
        if after[0] - before[0] != 1:
            bad.append("rx_long_length_errors + %d, expected 1" % (after[0] - before[0]))
        self.tap.case("receive: 1515 bytes are too long", bad)

    def burst(self):
        """300 frames of all lengths back to back: each once, in order, intact."""
        sent = [self.to_guest(rx.v4(f.udp(f.filler(n, n)), f.UDP)) for n in range(18, 1473, 5)]
        before = self.stat("rx_packets", "rx_csum_offload_errors")
        got = self.g.feed(sent)
        after = self.stat("rx_packets", "rx_csum_offload_errors")
        bad = []
        crcs = [x["crc"] for x in got["frames"]]
        if crcs != [zlib.crc32(x) for x in sent]:
            bad.append("%d sent, %d came, %d of them intact" % (
                len(sent), len(crcs), len(set(crcs) & set(zlib.crc32(x) for x in sent))))
        if [t["ip_summed"] for t in got["trace"]] != ["1"] * len(sent):
            bad.append("not all of them have a verified checksum")
        if after[0] - before[0] != len(sent) + 1 or after[1] != before[1]:     # and the marker
            bad.append("rx_packets + %d, checksum errors + %d" % (after[0] - before[0], after[1] - before[1]))
        self.tap.case("receive: a burst of %d frames" % len(sent), bad)

    def checksum_off(self):
        """Without rx-checksumming nothing is claimed and nothing is counted."""
        dev = self.g.info["dev"]
        self.g.sh("ethtool -K %s rx off" % dev)
        bad = []
        for case in rx.ip_cases()[:5]:
            case.claim = case.counted = 0
            bad += ["%s: %s" % (case.name, b) for b in self.receive(case)]
        self.g.sh("ethtool -K %s rx on" % dev)
        self.tap.case("receive: nothing claimed with rx-checksumming off", bad)

    # --- the erratum --------------------------------------------------------------------

    def part_zero(self):
        before, = self.stat("rx_csum_offload_errors")
        for name, frame in rx.zero_cases():
            got = self.g.feed([self.to_guest(frame)] * 40, want=40)
            bad = []
            if len(got["trace"]) != 40:
                bad.append("%d of 40 frames delivered" % len(got["trace"]))
            claims = sum(t["ip_summed"] != "0" for t in got["trace"])
            if claims:
                bad.append("%d frames were claimed to be verified" % claims)
            if not all("status" in t for t in got["trace"]):
                bad.append("the descriptors were not seen")
            else:
                bits = [int(t["status"], 16) & (rx.L4CS | rx.L4E) for t in got["trace"]]
                flagged = bits.count(rx.L4CS | rx.L4E)
                if set(bits) - {0, rx.L4CS | rx.L4E}:
                    bad.append("status bits %s" % ", ".join("%#x" % b for b in set(bits)))
                expected = {"always": flagged == 40, "never": flagged == 0,
                            "sometimes": 5 <= flagged <= 35}[self.erratum]
                if not expected:
                    bad.append("%d of 40 frames have an L4 error" % flagged)
            self.tap.case("zero checksum, erratum %s: %s" % (self.erratum, name), bad)
        after, = self.stat("rx_csum_offload_errors")
        self.tap.case("zero checksum, erratum %s: rx_csum_offload_errors is left alone" % self.erratum,
                      [] if after == before else ["+ %d" % (after - before)])
        frame = self.to_guest(rx.v4(f.udp(f.filler(99)), f.UDP))
        got = self.g.feed([frame] * 20, want=20)
        self.tap.case("other checksums, erratum %s: verified" % self.erratum,
                      [] if [t["ip_summed"] for t in got["trace"]] == ["1"] * 20 else
                      ["ip_summed " + " ".join(t["ip_summed"] for t in got["trace"])])

    # --- RSS ------------------------------------------------------------------------------

    def part_rss(self):
        dev = self.g.info["dev"]
        cpus = int(self.g.sh("nproc"))
        queues = 2 if cpus > 1 else 1
        self.g.sh("ethtool -L %s combined %d" % (dev, queues))
        self.wait_carrier()
        if queues > 1:  # a table that does not repeat itself
            self.g.sh("ethtool -X %s weight 1 3" % dev)
        table = self.g.sh("ethtool -x %s" % dev)
        key = bytes.fromhex(table.split("RSS hash key:")[1].split()[0].replace(":", ""))
        rows = [line.split(":")[1].split() for line in table.split("RSS hash key:")[0].splitlines()
                if line.split(":")[0].strip().isdigit()]
        reta = [int(x) for row in rows for x in row]
        for udp in ("off", "on"):
            # "sd" hashes addresses only, "sdfn" ports, too.
            for proto in ("udp4", "udp6"):
                self.g.sh("ethtool -N %s rx-flow-hash %s %s" % (dev, proto, "sdfn" if udp == "on" else "sd"))
            self.wait_carrier()
            self.hash_cases(key, reta, udp == "on")
        for proto in ("udp4", "udp6"):
            self.g.sh("ethtool -N %s rx-flow-hash %s sd" % (dev, proto))
        self.g.sh("ethtool -X %s default; ethtool -L %s combined 1" % (dev, dev))
        self.wait_carrier()

    def hash_cases(self, key, reta, udp_ports):
        bad, queues, count = [], set(), 0
        for n in range(24):
            sport, dport = 1000 + 37 * n, 80 + n
            src, dst = bytes([10, 0, n, 1]), bytes([10, 0, 2, n])
            ports = struct.pack("!HH", sport, dport)
            a6, b6 = f.IP6_A[:15] + bytes([n]), f.IP6_B
            for kind, frame, data, l4 in (
                    ("TCP/IPv4", rx.v4(f.tcp(b"x" * 99, sport, dport, src, dst), f.TCP, src=src, dst=dst),
                     src + dst + ports, True),
                    ("UDP/IPv4", rx.v4(f.udp(b"x" * 99, sport, dport, src, dst), f.UDP, src=src, dst=dst),
                     src + dst + (ports if udp_ports else b""), udp_ports),
                    ("TCP/IPv6", rx.v6(f.tcp(b"x" * 99, sport, dport, a6, b6), f.TCP, src=a6, dst=b6),
                     a6 + b6 + ports, True),
                    ("UDP/IPv6", rx.v6(f.udp(b"x" * 99, sport, dport, a6, b6), f.UDP, src=a6, dst=b6),
                     a6 + b6 + (ports if udp_ports else b""), udp_ports)):
                got = self.g.feed([self.to_guest(frame)], want=1)["trace"]
                if len(got) != 1:
                    bad.append("%s: %d frames traced" % (kind, len(got)))
                    continue
                count += 1
                want = f.toeplitz(key, data)
                have = int(got[0]["hash"], 16)
                queue = int(got[0]["queue_mapping"]) - 1
                queues.add(queue)
                if (have, int(got[0]["l4_hash"]), queue) != (want, int(l4), reta[want & 127]):
                    bad.append("%s: hash %#x, l4 %s, queue %d; expected %#x, %d, %d" % (
                        kind, have, got[0]["l4_hash"], queue, want, l4, reta[want & 127]))
        if len(queues) != len(set(reta)):
            bad.append("only queues %s were used" % sorted(queues))
        self.tap.case("RSS: hash and queue of %d flows, UDP ports %s" % (
            count, "hashed" if udp_ports else "ignored"), bad[:8])

    def wait_carrier(self):
        dev = self.g.info["dev"]
        self.g.sh("for i in $(seq 200); do grep -q 1 /sys/class/net/%s/carrier 2>/dev/null && exit 0; "
                  "sleep 0.05; done; exit 1" % dev)
        # Frames that were sent meanwhile are of no interest.
        self.g.feed([])

    # --- frames over several buffers ---------------------------------------------------------

    def part_jumbo(self):
        self.g.sh("ip link set %s mtu 9000" % self.g.info["dev"])
        self.wait_carrier()
        good4 = rx.IPCS | rx.L4CS
        for n in (1500, 2025, 2026, 2027, 3000, 4073, 4074, 6000, 8959, 8960):
            self.tap.case("jumbo: %d bytes of TCP" % n, self.receive(rx.Case(
                "", rx.v4(f.tcp(f.filler(n)), f.TCP), 1, 0, good4, rx.IPV4 | rx.P_TCP)))
        self.tap.case("jumbo: bad checksum", self.receive(rx.Case(
            "", rx.v4(f.tcp(f.filler(8000), bad=True), f.TCP), 0, 1, good4 | rx.L4E, rx.IPV4 | rx.P_TCP)))
        self.tap.case("jumbo: IPv6 UDP", self.receive(rx.Case(
            "", rx.v6(f.udp(f.filler(8000), src=f.IP6_A, dst=f.IP6_B), f.UDP), 1, 0, rx.L4CS,
            rx.IPV6 | rx.P_UDP)))
        before, = self.stat("rx_long_length_errors")
        result = self.g.feed([self.to_guest(rx.v4(f.tcp(f.filler(8961)), f.TCP))])
        after, = self.stat("rx_long_length_errors")
        self.tap.case("jumbo: one byte too long", ["delivered"] if result["frames"] else
                      [] if after == before + 1 else ["not counted in rx_long_length_errors"])
        self.g.sh("ip link set %s mtu 1500" % self.g.info["dev"])
        self.wait_carrier()

    # --- transmit ------------------------------------------------------------------------------

    def sent(self, frame, gso=None, dev=None):
        """What the port puts on the wire when the guest sends this."""
        self.g.drain()
        self.g.ask("send", dev=dev or self.g.info["dev"], frame=frame.hex(), gso=gso)
        return [x for x in self.g.received() if x[12:14] != b"\x86\xdd" or frame[12:14] == b"\x86\xdd"]

    @staticmethod
    def same(got, want):
        want = [x.ljust(60, b"\0") for x in want]
        if got == want:
            return []
        bad = ["%d frames sent, expected %d" % (len(got), len(want))] if len(got) != len(want) else []
        for n, (a, b) in enumerate(zip(got, want)):
            if a != b:
                bad.append("frame %d (%d bytes, expected %d): %s" % (
                    n, len(a), len(b), "; ".join(f.problems(a)) or "differs"))
        return bad

    def part_tx(self):
        a6, b6 = f.IP6_A, f.IP6_B
        t, u = f.filler(500), f.filler(777)
        checksum = [
            ("IPv4 TCP", rx.v4(f.tcp(t), f.TCP)),
            ("IPv4 TCP, odd length", rx.v4(f.tcp(t[:333]), f.TCP)),
            ("IPv4 TCP, IP and TCP options", rx.v4(f.tcp(t, options=b"\1" * 12), f.TCP, options=b"\1" * 8)),
            ("IPv4 UDP", rx.v4(f.udp(u), f.UDP)),
            ("IPv4 UDP, one byte", rx.v4(f.udp(b"x"), f.UDP)),
            ("IPv6 TCP", rx.v6(f.tcp(t, src=a6, dst=b6), f.TCP)),
            ("IPv6 UDP", rx.v6(f.udp(u, src=a6, dst=b6), f.UDP)),
            ("IPv4 TCP, 1514 bytes", rx.v4(f.tcp(f.filler(1460)), f.TCP)),
        ]
        for name, frame in checksum:
            self.tap.case("send, checksum by the port: " + name, self.same(self.sent(frame, 0), [frame]))
        for name, frame in (("untouched", rx.v4(f.udp(u, check="bad"), f.UDP, bad=True)),
                            ("padded to 60 bytes", f.eth(b"short", 0x88b7))):
            self.tap.case("send, nothing offloaded: " + name, self.same(self.sent(frame), [frame]))
        # A UDP sum that comes to zero must be sent as 0xffff.
        zero = rx.edge_cases()[0].frame
        self.tap.case("send, checksum by the port: UDP sum of zero", self.same(self.sent(zero, 0), [zero]))

        stamp = b"\1\1\x08\x0a" + bytes(8)
        large = [
            ("IPv4", 1448, rx.v4(f.tcp(f.filler(60000), options=stamp, flags=f.ACK | f.PSH | f.FIN,
                                       seq=0xffffff00), f.TCP, ident=0xfff0)),
            ("IPv4, small odd MSS", 61, rx.v4(f.tcp(f.filler(2000), flags=f.ACK | f.PSH), f.TCP)),
            ("IPv6", 1428, rx.v6(f.tcp(f.filler(30001), src=a6, dst=b6, flags=f.ACK | f.PSH), f.TCP)),
        ]
        for name, mss, frame in large:
            self.tap.case("send, segmented by the port: " + name,
                          self.same(self.sent(frame, mss), f.segments(frame, mss)))
        self.tx_vlan(large)
        self.tx_vxlan(large)

    def tx_vlan(self, large):
        dev = self.g.info["dev"]
        self.g.sh("ip link show v100 > /dev/null 2>&1 || "
                  "ip link add link %s name v100 type vlan id 100; ip link set v100 up" % dev)
        for insert in ("on", "off"):
            self.g.sh("ethtool -K %s txvlan %s" % (dev, insert))
            # A packet socket's large frame may not get past a VLAN device that
            # inserts the tag itself (5.10); traffic.sh has that as a stream.
            for name, mss, frame in large if insert == "on" else ():
                tagged = [x[:12] + b"\x81\0\0\x64" + x[12:] for x in f.segments(frame, mss)]
                self.tap.case("send, segmented and tagged by the port: " + name,
                              self.same(self.sent(frame, mss, "v100"), tagged))
            frame = rx.v4(f.udp(b"hello"), f.UDP)
            self.tap.case("send, checksum by the port, VLAN tag inserted by it %s" % insert,
                          self.same(self.sent(frame, 0, "v100"), [frame[:12] + b"\x81\0\0\x64" + frame[12:]]))
        self.g.sh("ethtool -K %s txvlan on" % dev)

    def tx_vxlan(self, large):
        """Inside VXLAN; the outer header's lengths and checksums are checked, and
        every inner segment against our own."""
        dev = self.g.info["dev"]
        self.g.sh("ip addr add 192.168.1.1/24 dev %s; ip link set %s mtu 1700 && "
                  "ip neigh replace 192.168.1.2 lladdr 02:00:00:00:00:02 dev %s nud permanent" % (dev, dev, dev))
        self.wait_carrier()
        for check, port in (("noudpcsum", 5766), ("udpcsum", 4789)):
            self.g.sh("ip link add vx0 type vxlan id 2 local 192.168.1.1 remote 192.168.1.2 "
                      "dstport %d dev %s %s && ip link set vx0 mtu 1500 up" % (port, dev, check))
            for name, mss, frame in large:
                got = [x for x in self.sent(frame, mss, "vx0") if f.parse(x).names().count("eth") == 2]
                self.tap.case("send, segmented by the port in VXLAN, %s: %s" % (check, name),
                              self.vxlan(got, f.segments(frame, mss), check == "udpcsum"))
            self.g.sh("ip link del vx0")
        self.g.sh("ip addr flush dev %s; ip link set %s mtu 1500" % (dev, dev))
        self.wait_carrier()

    @staticmethod
    def vxlan(got, want, check):
        bad = []
        if len(got) != len(want):
            return ["%d frames sent, expected %d" % (len(got), len(want))]
        ids = []
        for n, (a, b) in enumerate(zip(got, want)):
            seen = f.parse(a)
            bad += ["frame %d: %s" % (n, p) for p in seen.problems]
            udp = seen.get("udp")
            ids.append(seen.get("ipv4")["ident"])
            if bool(udp["check"]) != check:
                bad.append("frame %d: outer checksum %#x" % (n, udp["check"]))
            inner = bytearray(udp["payload"][8:])
            if inner[12:14] == b"\x08\0":   # the inner id may stay (RFC 6864)
                inner[18:20] = b[18:20]
                inner[24:26] = b[24:26]
            if bytes(inner) != b:
                bad.append("frame %d: other inner bytes" % n)
        if any((y - x) & 0xffff != 1 for x, y in zip(ids, ids[1:])):
            bad.append("outer ids %s" % ids[:8])
        return bad

    # --- link -------------------------------------------------------------------------------------

    def part_link(self):
        dev = self.g.info["dev"]
        before, = self.stat("lsc_int")
        bad = []
        for up in (False, True):
            self.g.qmp("set_link", name="wire0", up=up)
            out = self.g.sh("for i in $(seq 200); do [ $(cat /sys/class/net/%s/carrier) = %d ] && exit 0; "
                            "sleep 0.05; done; exit 1" % (dev, up), check=False)
            state = self.g.sh("cat /sys/class/net/%s/carrier" % dev).strip()
            if state != str(int(up)):
                bad.append("carrier %s after set_link %s %s" % (state, "up" if up else "down", out))
        # The driver masks the second one while it polls for the link and takes it
        # when it unmasks it again.
        deadline = time.monotonic() + 10
        while True:
            after, = self.stat("lsc_int")
            if after - before >= 2 or time.monotonic() > deadline:
                break
            time.sleep(0.1)
        # Masked from the first until the driver has looked, so not always two.
        if after - before < 1:
            bad.append("no link interrupt")
        frame = rx.v4(f.udp(b"after the link came back"), f.UDP)
        bad += self.same(self.sent(frame), [frame])
        self.tap.case("link down and up again", bad)

    # --- injected damage ----------------------------------------------------------------------------

    def part_damage(self):
        """corrupt-permille=500, corrupt-offset=DAMAGE_AT: of frames longer than
        that, half lose one bit there, and the hardware sees it."""
        self.g.sh("ip link set %s mtu 9000" % self.g.info["dev"])
        self.wait_carrier()
        frame = self.to_guest(rx.v4(f.tcp(f.filler(5000)), f.TCP))
        short = self.to_guest(rx.v4(f.tcp(f.filler(DAMAGE_AT - 60)), f.TCP))
        before, = self.stat("rx_csum_offload_errors")
        got = self.g.feed([frame, short] * 100, want=200)
        after, = self.stat("rx_csum_offload_errors")
        hit = [i for i, x in enumerate(got["frames"]) if x["crc"] != zlib.crc32((frame, short)[i % 2])]
        blamed = [i for i, t in enumerate(got["trace"]) if t["ip_summed"] == "0"]
        bad = []
        if len(got["frames"]) != 200:
            bad.append("%d of 200 frames came" % len(got["frames"]))
        if not 30 <= len(hit) <= 70 or [i for i in hit if i % 2]:
            bad.append("%d frames damaged, %d of them short" % (len(hit), sum(i % 2 for i in hit)))
        if hit != blamed:
            bad.append("%d frames damaged, %d have a wrong checksum by the port" % (len(hit), len(blamed)))
        if after - before != len(hit):
            bad.append("rx_csum_offload_errors + %d" % (after - before))
        if [x for x in got["frames"] if x["head"] not in (frame[:64].hex(), short[:64].hex())]:
            bad.append("damage before byte %d" % DAMAGE_AT)
        self.tap.case("damage on the wire is what it was asked to be (%d of 100)" % len(hit), bad)


def usage(why=None):
    if why:
        print("wire.py: " + why, file=sys.stderr)
    print(__doc__.strip(), file=sys.stderr if why else sys.stdout)
    sys.exit(2 if why else 0)


def main(args):
    erratum, parts = "always", []
    while args and args[0].startswith("-"):
        if args[0] == "--help":
            usage()
        if args[0] not in ("--erratum", "--part") or len(args) < 2:
            usage("unknown or incomplete option %s" % args[0])
        if args[0] == "--erratum":
            erratum = args[1]
        else:
            parts.append(args[1])
        args = args[2:]
    if len(args) != 1 or erratum not in PARTS:
        usage("one kernel is wanted, and an erratum of always, sometimes or never")
    parts = parts or PARTS[erratum]
    if [p for p in parts if not hasattr(Tests, "part_" + p)]:
        usage("no such part: " + " ".join(parts))
    props = "erratum=" + erratum
    if "damage" in parts:
        props += ",corrupt-permille=500,corrupt-seed=7,corrupt-offset=%d" % DAMAGE_AT
    print("TAP version 13")
    tap, guest, status = Tap(), None, 1
    try:
        guest = Guest(args[0], props, lab_args=os.environ.get("LAB_ARGS", "").split())
        tap.note("%s, %s, probe on the driver: %s" % (args[0], props, guest.info["probe"]))
        tests = Tests(guest, tap, erratum)
        for part in parts:
            getattr(tests, "part_" + part)()
        log = guest.sh("dmesg --level emerg,alert,crit,err,warn | grep -iE 'ixgbe|WARNING|BUG|Call Trace|"
                       "hw csum failure|Tx Unit Hang' | grep -viE 'Link is (Up|Down)|changing MTU|enabling UDP RSS' || true")
        tap.case("nothing of level warning in the log", log.splitlines())
        ended = guest.close()
        tap.case("the guest ended well", [] if ended else ["it did not"])
        print("1..%d" % tap.count)
        status = 1 if tap.failed else 0
    except (GuestError, OSError) as err:
        for line in str(err).splitlines()[-30:]:
            print("# " + line)
        print("Bail out! wire.py on %s did not get to its end" % args[0], flush=True)
    finally:
        if guest:
            guest.close()
    sys.exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])

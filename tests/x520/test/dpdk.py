#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The model under DPDK's net_ixgbe: Debian's testpmd has both ports of a guest.

usage: dpdk.py [KERNEL]     (debian13, whose root has testpmd)

    this program ==wire== port 0 [ testpmd in the guest ] port 1 ==wire== this program

Both ports are stopped and started for each of ten rounds, that forward frame
by frame (io) or with the card's checksums (csum), on two queues. What leaves
the other port, and what testpmd counts for ports and queues, is compared with
what was sent.
"""

import collections
import os
import queue
import re
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import frames as fr  # noqa: E402
from guest import TOP, Cables  # noqa: E402

ROUNDS, FRAMES, QUEUES = 10, 192, 2
PORTS = ("0000:01:00.0", "0000:01:00.1")
MACS = [bytes.fromhex("5254007a630%d" % n) for n in (0, 1)]
# What testpmd's csum engine sends to, unless told otherwise
PEERS = [bytes.fromhex("02000000000%d" % n) for n in (0, 1)]


def mode(number):
    return "csum" if number % 2 else "io"


# --- in the guest -----------------------------------------------------------------

class Testpmd:
    """testpmd behind pipes, one command after the other."""

    def __init__(self):
        self.text = ""
        self.proc = subprocess.Popen(
            ["stdbuf", "-oL", "dpdk-testpmd", "--lcores", "0@0,1@0", "-n", "1", "-m", "256",
             "-a", PORTS[0], "-a", PORTS[1], "--", "-i", "--nb-cores=1", "--rxq=%d" % QUEUES, "--txq=%d" % QUEUES,
             "--total-num-mbufs=8192", "--enable-rx-cksum", "--no-lsc-interrupt"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, bufsize=0)
        self.answer("start", 120)

    def answer(self, what, seconds=30):
        until, got = time.monotonic() + seconds, ""
        os.set_blocking(self.proc.stdout.fileno(), False)
        while not got.endswith("testpmd> "):
            data = self.proc.stdout.read(65536)
            if data == b"":
                raise SystemExit("testpmd ended (%s):\n%s" % (what, got))
            got += (data or b"").decode(errors="replace")
            if time.monotonic() > until:
                raise SystemExit("testpmd does not answer (%s):\n%s" % (what, got))
            time.sleep(0 if data else 0.02)
        return got.replace("\r", "")

    def do(self, command):
        self.proc.stdin.write(command.encode() + b"\n")
        return self.answer(command)

    def until(self, command, good, seconds):
        """Asks until the answer is good, or time is over; the last answer."""
        end = time.monotonic() + seconds
        while True:
            text = self.do(command)
            if good(text) or time.monotonic() > end:
                return text
            time.sleep(0.1)


def counters(text, name):
    """A counter of each port, from "show port stats all"."""
    return [int(n) for n in re.findall(name + r": +(\d+)", text)]


def bind():
    subprocess.run(["modprobe", "uio_pci_generic"], check=True)
    with open("/sys/bus/pci/drivers/uio_pci_generic/new_id", "w") as f:
        f.write("8086 10fb")
    with open("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "w") as f:
        f.write("200")
    os.makedirs("/dev/hugepages", exist_ok=True)
    subprocess.run(["mount", "-t", "hugetlbfs", "huge", "/dev/hugepages"], check=True)


def guest():
    bind()
    pmd = Testpmd()
    print(pmd.do("show port 0 rss-hash key"))
    for number in range(ROUNDS):
        pmd.do("port stop all")
        for port in (0, 1):
            for layer in ("ip", "udp", "tcp"):
                pmd.do("csum set %s %s %d" % (layer, "hw" if mode(number) == "csum" else "sw", port))
        pmd.do("port config all rss default")
        pmd.do("set fwd " + mode(number))
        print(pmd.do("port start all"))
        links = pmd.until("show port summary all", lambda t: len(re.findall(r"\bup\b", t)) == 2, 20)
        print(links)
        pmd.do("clear port stats all")
        pmd.do("start")
        print("\n@go %d" % number, flush=True)
        stats = pmd.until("show port stats all", lambda t: all(
            n >= FRAMES for n in counters(t, "RX-packets") + counters(t, "TX-packets")), 20)
        forwarded = pmd.do("stop")
        stats = pmd.do("show port stats all") or stats
        print(forwarded + stats)
        print("\n@end %d" % number, flush=True)
    pmd.do("port stop all")
    print(pmd.do("port close all"))
    pmd.proc.stdin.write(b"quit\n")
    pmd.proc.stdin.close()
    os.set_blocking(pmd.proc.stdout.fileno(), True)
    pmd.proc.stdout.read()
    print("\n@quit %d" % pmd.proc.wait(30), flush=True)


# --- on the host ------------------------------------------------------------------

class Frame:
    """A frame to send, what csum is to make of it, and its flow."""

    def __init__(self, port, number):
        six = number % 4 >= 2
        kind = fr.TCP if number % 2 else fr.UDP
        self.bad_ip = not six and number % 16 == 5
        self.bad_l4 = number % 16 in (2, 7, 8)
        # net_ixgbe says nothing of UDP on this card, for the erratum's sake
        self.told = self.bad_l4 and kind == fr.TCP
        sport, dport = 1000 + number, 2000 + port
        payload = struct.pack("!II", port, number) + fr.filler((number * 37) % 1400, number)
        src, dst = (fr.IP6_A, fr.IP6_B) if six else (fr.IP_A, fr.IP_B)
        made = []
        for wrong in (True, False):
            bad = wrong and self.bad_l4
            l4 = fr.tcp(payload, sport, dport, src, dst, bad=bad) if kind == fr.TCP else \
                fr.udp(payload, sport, dport, src, dst, check="bad" if bad else "good")
            made.append(fr.ipv6(l4, kind, src, dst) if six else
                        fr.ipv4(l4, kind, src, dst, bad=wrong and self.bad_ip))
        ethertype = 0x86dd if six else 0x0800
        self.sent = fr.eth(made[0], ethertype, dst=MACS[port]).ljust(60, b"\0")
        self.csum = fr.eth(made[1], ethertype, dst=PEERS[1 - port], src=MACS[1 - port]).ljust(60, b"\0")
        # net_ixgbe has the 4-tuple of TCP and UDP hashed when testpmd asks for both
        self.flow = src + dst + struct.pack("!HH", sport, dport)


class Guest(Cables):
    def __init__(self, kernel):
        super().__init__()
        self.proc = subprocess.Popen(
            [os.path.join(TOP, "tests/lab/lab"), "run", "--wire", "socket:" + self.dir, "--cpus", "1",
             "--timeout", "1800", kernel, "--", "tests/x520/test/dpdk.py", "--guest"],
            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.lines = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.proc.stdout:
            self.lines.put(line.decode(errors="replace").rstrip())
        self.lines.put(None)

    def until(self, mark):
        """What the guest says up to the line that begins with the mark."""
        out = []
        while True:
            line = self.lines.get(timeout=1800)
            if line is None or line.startswith(mark):
                return "\n".join(out), line
            out.append(line)

    def exchange(self, sent):
        """Sends a list of frames to each port; what each port sends, in a list."""
        for port in (0, 1):
            self.socks[port].settimeout(60)
            for frame in sent[port]:
                self.inject(frame, port)
        # and what is too much
        return [self.received(port, want=FRAMES, timeout=60) + self.received(port) for port in (0, 1)]

    def close(self):
        if self.proc.poll() is None:
            self.proc.terminate()
        self.proc.wait(20)
        self.remove()


def difference(want, got):
    """What is missing and what is too many, in short; empty if nothing."""
    want, got = collections.Counter(want), collections.Counter(got)
    missing, extra = want - got, got - want
    if not missing and not extra:
        return ""
    text = "%d missing, %d unexpected" % (sum(missing.values()), sum(extra.values()))
    for what, some in (("missing", missing), ("unexpected", extra)):
        for frame in list(some)[:1]:
            text += "; %s %s" % (what, frame[:80].hex())
    return text


def queues(text, port):
    """Frames that testpmd had from each of a port's queues."""
    out = [0] * QUEUES
    for p, q, n in re.findall(r"RX Port= *(\d+)/Queue= *(\d+) .*?RX-packets: *(\d+)", text, re.S):
        if int(p) == port:
            out[int(q)] += int(n)
    return out


def check_round(number, flows, got, text, key):
    """Complaints about a round."""
    out = []
    for port in (0, 1):
        mine = flows[port]
        want = [f.csum if mode(number) == "csum" else f.sent for f in mine]
        wrong = difference(want, got[1 - port])
        if wrong:
            out.append("port %d to port %d: %s" % (port, 1 - port, wrong))
        spread = [0] * QUEUES
        for f in mine:
            spread[fr.toeplitz(key, f.flow) & 127 & (QUEUES - 1)] += 1
        if queues(text, port) != spread or 0 in spread:
            out.append("port %d, frames of each queue: %s, by Toeplitz %s" % (
                port, queues(text, port), spread))
        octets = sum(len(f.sent) for f in mine)
        for name, value in (("RX-packets", FRAMES), ("RX-bytes", octets), ("RX-missed", 0),
                            ("RX-errors", 0), ("TX-packets", FRAMES),
                            ("TX-bytes", octets)):
            seen = counters(text[text.index("NIC statistics"):], name)[port]
            if seen != value:
                out.append("port %d: %s is %d, not %d" % (port, name, seen, value))
        if mode(number) == "csum":
            for name, value in (("Bad-ipcsum", sum(f.bad_ip for f in mine)),
                                ("Bad-l4csum", sum(f.told for f in mine))):
                sums = text[text.index("Forward statistics for port %d" % port):]
                seen = counters(sums, name)[:1]
                if seen != [value]:
                    out.append("port %d: %s is %s, not %d" % (port, name, seen, value))
    return out


def host(kernel):
    root = subprocess.run([os.path.join(TOP, "tests/lab/lab"), "root", kernel],
                          stdout=subprocess.PIPE, universal_newlines=True).stdout.strip() \
        if kernel == "debian13" else ""
    if not root or not os.path.exists(os.path.join(root, "usr/bin/dpdk-testpmd")):
        print("1..0 # SKIP only debian13's root has testpmd")
        return 4
    flows = [[Frame(port, n) for n in range(FRAMES)] for port in (0, 1)]
    print("TAP version 13\n1..%d" % (ROUNDS + 1), flush=True)
    passed, key, texts = 0, None, ""
    machine = Guest(kernel)
    try:
        for number in range(ROUNDS):
            text, line = machine.until("@go")
            texts = texts + text
            if line is None:
                break
            if key is None:
                found = re.search(r"\b[0-9A-Fa-f]{80}\b", text)
                if not found:
                    print("\n".join("# " + t for t in text.splitlines()))
                    raise SystemExit("dpdk.py: testpmd does not tell its RSS key")
                key = bytes.fromhex(found.group())
            for port in (0, 1):
                machine.drain(port)
            got = machine.exchange([[f.sent for f in flows[port]] for port in (0, 1)])
            text, line = machine.until("@end")
            if line is None:
                texts = text
                break
            wrong = check_round(number, flows, got, text, key)
            for w in wrong:
                print("# " + w)
            if os.environ.get("ZCG_VERBOSE"):
                print("\n".join("# " + t for t in text.splitlines()))
            passed += not wrong
            print("%sok %d - round %d: %s, %d frames each way, two queues" % (
                "not " if wrong else "", number + 1, number + 1, mode(number), FRAMES), flush=True)
            texts = ""
        text, line = machine.until("@quit")
        good = line == "@quit 0"
        if not good:
            print("\n".join("# " + t for t in (texts + text).splitlines()[-40:]))
        print("%sok %d - testpmd closes its ports and ends well" % ("" if good else "not ", ROUNDS + 1))
    finally:
        machine.close()
    return 0 if good and passed == ROUNDS else 1


def main(args):
    if args == ["--guest"]:
        return guest()
    if "--help" in args:
        print(__doc__.strip())
        return 0
    if len(args) > 1 or args and args[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return host(*args or ["debian13"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""top.py: what top.sh asks of scripts/zcg-top and bash can't.

usage: top.py exact           growth that --json reports = growth of ethtool -S, exactly
       top.py schema          JSON lines on stdin have the documented members
       top.py terminal HOW    the terminal is as before after HOW: INT, TERM, HUP,
                              suspend (and then q) or gone (the driver is unloaded)
       top.py send PORT       UDP without a checksum to the receiver's PORT, for ever
The port and the namespaces come from the environment, see lib.sh. Exit status: 0 as
it should be, 1 not (and why), 2 bad usage.
"""
import fcntl
import json
import os
import select
import signal
import socket
import subprocess
import sys
import termios
import time

from remote import far, far_socket
from wire import Ethtool, wait_for

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "../../scripts/zcg-top")
LEAVE, ENTER = b"\x1b[?1049l", b"\x1b[?1049h"
HIDE, SHOW = b"\x1b[?25l", b"\x1b[?25h"


def top(*args):
    return ["ip", "netns", "exec", os.environ["NS_RX"], TOP, *args, os.environ["NETIF"]]


# --- figures ------------------------------------------------------------------------

class Reports:
    """zcg-top --json while it runs."""

    def __init__(self, *args):
        self._run = subprocess.Popen(top("--json", *args), stdout=subprocess.PIPE, text=True)

    def take(self):
        line = self._run.stdout.readline()
        if not line:
            raise OSError(f"zcg-top ended with status {self._run.wait()}")
        return json.loads(line)

    def close(self):
        self._run.terminate()
        self._run.stdout.close()
        self._run.wait()


def traffic():
    """TCP in the tunnel, pings in the tunnel, and UDP that no tunnel takes."""
    subprocess.run([sys.executable, HERE + "/traffic.py", "tcp", "--mbytes", "2", "--flows", "4"],
                   check=True, stdout=subprocess.DEVNULL)
    subprocess.run(far("ping", "-q", "-f", "-c", "150", os.environ["INNER_RX"]), check=True,
                   stdout=subprocess.DEVNULL)
    send(5999, 130)


def measure(tool):
    """(growth of ethtool -S, reports over the same time); None if there was other traffic
    at the edges, so that nobody knows in which of the two it was counted."""
    start = tool.stats()
    reports = Reports("--interval", "0.5")
    try:
        got = [reports.take()]
        if tool.stats()["rx_packets"] != start["rx_packets"]:
            return None
        traffic()
        # Two in a row that began after it and have no frame: all was counted by then.
        ended, quiet = time.time(), 0
        while quiet < 2:
            rep = reports.take()
            got.append(rep)
            late = rep["time"] - rep["interval"] > ended
            quiet = quiet + 1 if late and not rep["frames"] else 0
        stop = tool.stats()
        got.append(reports.take())
        if got[-1]["frames"]:
            return None
    finally:
        reports.close()
    return {name: stop[name] - start[name] for name in stop}, got


def exact():
    tool = Ethtool(os.environ["NS_RX"], os.environ["NETIF"])
    for attempt in range(8):
        measured = measure(tool)
        if measured:
            break
        print(f"attempt {attempt + 1}: somebody else sent a frame")
    else:
        return ["the wire never was quiet"]
    grown, got = measured
    pairs = [("rx_packets", lambda r: r["frames"]), ("rx_bytes", lambda r: r["bytes"])]
    names = [n[len("rx_zcg_"):] for n in grown if n.startswith("rx_zcg_")]
    pairs += [("rx_zcg_" + n, lambda r, n=n: r["zcg"][n]) for n in names]
    for q in range(len(got[0]["queues"])):
        pairs += [(f"rx_queue_{q}_packets", lambda r, q=q: r["queues"][q]["frames"]),
                  (f"rx_queue_{q}_bytes", lambda r, q=q: r["queues"][q]["bytes"])]
        pairs += [(f"rx_queue_{q}_zcg_" + n, lambda r, q=q, n=n: r["queues"][q]["zcg"][n])
                  for n in names if f"rx_queue_{q}_zcg_{n}" in grown]
    problems = []
    for name, member in pairs:
        told = sum(map(member, got))
        print(f"{name}: ethtool -S {grown[name]}, zcg-top {told}")
        if told != grown[name]:
            problems.append(f"{name} grew by {grown[name]}, zcg-top says {told}")
    if grown["rx_packets"] < 1500 or grown["rx_zcg_verified"] < 1000:
        problems.append("there was too little traffic")
    return problems + [p for rep in got for p in arithmetic(rep)]


def arithmetic(rep):
    """Members that follow from other members."""
    def close(a, b):
        return abs(a - b) <= 1e-6 * max(1, abs(b))

    problems = []
    for part in [rep] + rep["queues"]:
        if not close(part["frames_per_s"] * rep["interval"], part["frames"]) or \
                not close(part["bits_per_s"] * rep["interval"], part["bytes"] * 8):
            problems.append("rates are not count / interval")
        zcg = part["zcg"]
        if zcg and zcg["seen"] != sum(n for name, n in zcg.items() if name != "seen"):
            problems.append("seen is not the sum of the others")
    if rep["zcg"] and rep["zcg"]["seen"] and \
            not close(rep["verified_share"], rep["zcg"]["verified"] / rep["zcg"]["seen"]):
        problems.append("verified_share is not verified / seen")
    into = sum(rep["tunnel_packets"].values())
    if rep["segments_per_skb"] is not None and \
            not close(rep["segments_per_skb"] * into, rep["tunnel_frames"]):
        problems.append("segments_per_skb is not tunnel_frames / tunnel_packets")
    return problems


# --- the JSON object -----------------------------------------------------------------

COUNT, NUMBER, TEXT, BOOL, NONE = "count", "number", "text", "bool", "null"
SCHEMA = {
    "time": [NUMBER], "interval": [NUMBER], "interface": [TEXT], "driver": [TEXT],
    "fork": [TEXT, NONE], "flags": {"*": [BOOL]}, "features": {"*": [BOOL]},
    "hash_has_ports": {"udp4": [BOOL], "udp6": [BOOL]},
    "frames": [COUNT], "bytes": [COUNT], "frames_per_s": [NUMBER], "bits_per_s": [NUMBER],
    "dropped": [COUNT], "zcg": {"*": [COUNT], "?": NONE}, "verified_share": [NUMBER, NONE],
    "tunnel_packets": {"*": [COUNT]}, "tunnel_frames": [COUNT], "tunnel_frames_are": [TEXT],
    "segments_per_skb": [NUMBER, NONE], "udp_datagrams": {"udp4": [COUNT], "udp6": [COUNT]},
    "softirq": {"*": [NUMBER]},
    "queues": [{"queue": [COUNT], "frames": [COUNT], "bytes": [COUNT],
                "frames_per_s": [NUMBER], "bits_per_s": [NUMBER],
                "zcg": {"*": [COUNT], "?": NONE}, "cpu": [COUNT, NONE], "softirq": [NUMBER, NONE]}],
    "advice": [{"key": [TEXT], "text": [TEXT]}],
}


def kind(value):
    if value is None:
        return {NONE}
    if isinstance(value, bool):
        return {BOOL}
    if isinstance(value, int):
        return {COUNT, NUMBER} if value >= 0 else {NUMBER}
    return {NUMBER} if isinstance(value, float) else {TEXT} if isinstance(value, str) else set()


def mismatches(value, shape, where):
    if isinstance(shape, dict):
        if value is None and "?" in shape:
            return []
        if not isinstance(value, dict):
            return [f"{where} is no object"]
        want = set(shape) - {"*", "?"}
        out = [f"{where} lacks {name}" for name in want - set(value)]
        for name, inner in value.items():
            if name in shape or "*" in shape:
                out += mismatches(inner, shape.get(name, shape.get("*")), f"{where}.{name}")
            else:
                out.append(f"{where}.{name} is not documented")
        return out
    if isinstance(shape[0], dict):
        if not isinstance(value, list):
            return [f"{where} is no list"]
        return [m for i, v in enumerate(value) for m in mismatches(v, shape[0], f"{where}[{i}]")]
    return [] if kind(value) & set(shape) else [f"{where} is {value!r}, not {' or '.join(shape)}"]


def schema():
    problems, number = [], 0
    for number, line in enumerate(sys.stdin, 1):
        rep = json.loads(line)
        problems += mismatches(rep, SCHEMA, "object") + arithmetic(rep)
    print(f"{number} objects")
    return problems or ([] if number else ["no object at all"])


# --- the terminal -----------------------------------------------------------------------

class Terminal:
    def __init__(self, *args):
        self.master, self.slave = os.openpty()
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, b"\x1e\0\x50\0\0\0\0\0")     # 30 x 80
        self.before = termios.tcgetattr(self.slave)
        self.output = b""
        self.run = subprocess.Popen(
            top(*args), stdin=self.slave, stdout=self.slave, stderr=self.slave,
            env=dict(os.environ, TERM="xterm"), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))

    def drain(self):
        while select.select([self.master], [], [], 0)[0]:
            self.output += os.read(self.master, 65536)
        return self.output

    def type(self, keys):
        os.write(self.master, keys)

    def echoes(self):
        return bool(termios.tcgetattr(self.slave)[3] & termios.ECHO)

    def reports(self):
        return self.drain().count(b"frames/s") > 0 and self.output.count(b"\x1b[H") >= 2

    def stopped(self):
        self.drain()
        with open(f"/proc/{self.run.pid}/stat") as src:
            return src.read().rsplit(")", 1)[1].split()[0] == "T"

    def ended(self):
        self.drain()
        return self.run.poll() is not None

    def restored(self):
        text = self.drain()
        problems = []
        if termios.tcgetattr(self.slave) != self.before:
            problems.append("the terminal's modes are not those of before")
        if not text.rfind(ENTER) < text.rfind(LEAVE):
            problems.append("the alternate screen was not left")
        if not text.rfind(HIDE) < text.rfind(SHOW):
            problems.append("the cursor was not shown again")
        return problems


def traces():
    """Files where a program might leave some."""
    found = set()
    for top_dir in ("/tmp", "/var/tmp", "/dev/shm", "/run", os.path.dirname(TOP), os.getcwd()):
        for where, dirs, files in os.walk(top_dir):
            found.update(os.path.join(where, name) for name in files + dirs)
    return found


def terminal(how):
    files = traces()
    term = Terminal("--interval", "0.2")
    problems = []
    try:
        wait_for("two reports on the terminal", 40, term.reports)
        if ENTER not in term.output or HIDE not in term.output or term.echoes():
            problems.append("the screen was not taken over")
        want = 0
        if how == "suspend":
            term.type(b"\x1a")
            wait_for("the process to stop", 15, term.stopped)
            problems += [f"while it is stopped: {p}" for p in term.restored()]
            count = term.output.count(ENTER)
            os.kill(term.run.pid, signal.SIGCONT)
            wait_for("the screen again", 15, lambda: term.drain().count(ENTER) > count)
            term.type(b"xq")
        elif how == "gone":
            subprocess.run(["rmmod", "ixgbe"], check=True)
            want = 1
        elif how == "INT":
            term.type(b"\x03")
            want = -signal.SIGINT
        else:
            number = getattr(signal, "SIG" + how)
            os.kill(term.run.pid, number)
            want = -number
        wait_for("the end of zcg-top", 15, term.ended)
        if term.run.returncode != want:
            problems.append(f"exit status {term.run.returncode}, not {want}")
    finally:
        if term.run.poll() is None:
            term.run.kill()
            term.run.wait()
    problems += term.restored()
    tail = term.output[term.output.rfind(LEAVE) + len(LEAVE):].decode()
    if tail.strip():
        print(f"afterwards on the terminal: {tail.strip()}")
    if bool(tail.strip()) != (how == "gone"):
        problems.append("it should say why it ended if and only if the port is gone")
    if traces() - files:
        problems.append("left behind: " + " ".join(sorted(traces() - files)))
    return problems


# --- traffic -------------------------------------------------------------------------------

def send(port, count=-1):
    sock = far_socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, 11, 1)       # SO_NO_CHECK
    sent = 0
    while sent != count:
        # Not connected, so that nobody is told that no socket takes them.
        sock.sendto(bytes(100), (os.environ["OUTER_RX"], int(port)))
        sent += 1
        time.sleep(0.0003)


def main():
    jobs = {"exact": (exact, 0), "schema": (schema, 0), "terminal": (terminal, 1), "send": (send, 1)}
    job, count = jobs.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if sys.argv[1:] == ["--help"]:
        print(__doc__)
        return 0
    if not job or len(sys.argv) != 2 + count:
        print(__doc__, file=sys.stderr)
        return 2
    problems = job(*sys.argv[2:])
    print(*problems, sep="\n", end="\n" if problems else "")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())

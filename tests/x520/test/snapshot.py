#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Snapshots of a machine with the X520 model: saved under traffic, loaded again.

usage: snapshot.py --qemu PROGRAM   registers and rings, without a guest
       snapshot.py [KERNEL]         a guest whose two ports exchange streams (debian13);
                                    it is migrated into a second process, too
"""

import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..")]
import fuzz  # noqa: E402
import qmp  # noqa: E402
import qtest  # noqa: E402

TOP = os.path.realpath(os.path.join(HERE, "../../.."))


class Monitor(qmp.Qmp):
    """Snapshots into an image of their own."""

    def __init__(self, path, directory):
        super().__init__(path)
        self.image = directory + "/snapshots.qcow2"
        self.jobs = 0

    def job(self, command, **args):
        self.jobs += 1
        name = "job%d" % self.jobs
        self.do(command, **dict(args, **{"job-id": name}))
        until = time.monotonic() + 300
        while True:
            state = [j for j in self.do("query-jobs") if j["id"] == name][0]
            if state["status"] == "concluded":
                break
            if time.monotonic() > until:
                raise qmp.QmpError("%s does not end" % command)
            time.sleep(0.02)
        self.do("job-dismiss", id=name)
        if "error" in state:
            raise qmp.QmpError("%s: %s" % (command, state["error"]))

    def prepare(self):
        options = {"driver": "file", "filename": self.image}
        self.job("blockdev-create", options=dict(options, size=0))
        self.do("blockdev-add", **dict(options, **{"node-name": "file"}))
        self.job("blockdev-create", options={"driver": "qcow2", "file": "file", "size": 65536})
        self.do("blockdev-add", **{"driver": "qcow2", "node-name": "snap", "file": "file"})

    def save(self, tag):
        self.job("snapshot-save", tag=tag, vmstate="snap", devices=["snap"])

    def load(self, tag):
        self.job("snapshot-load", tag=tag, vmstate="snap", devices=["snap"])
        # the state that was saved is that of a running machine, or it is not
        if self.do("query-status")["status"] != "running":
            self.do("cont")


# --- without a guest --------------------------------------------------------------------

class Saved(qtest.Card):
    def __init__(self, qemu, *props):
        self.dir = tempfile.mkdtemp(prefix="x520-snapshot.")
        super().__init__(qemu + ["-qmp", "unix:%s/qmp,server=on,wait=off" % self.dir], *props)
        self.monitor = Monitor(self.dir + "/qmp", self.dir)
        self.monitor.prepare()

    def save(self):
        self.monitor.save("a")

    def load(self):
        self.monitor.load("a")

    def __exit__(self, *_):
        super().__exit__()
        shutil.rmtree(self.dir, ignore_errors=True)


# Reading these does something, or says what time it is.
MOVING = {0x00048, 0x0004c, 0x00800, 0x05078, 0x08c0c, 0x08c10, 0x08c08, 0x051a4,
          0x10140}
STATISTICS = range(0x03f00, 0x04300), range(0x0ee50, 0x0ee5c), range(0x08780, 0x08800)


def steady(off):
    return off not in MOVING and not any(off in r for r in STATISTICS) and \
        not (0x1030 <= off < 0x1030 + 0x400 and off & 0x3f in (0x30, 0x34, 0x38))


def registers(card, fn):
    return {off: card.read(fn, off) for off in range(0, 0x14000, 4) if steady(off)}


def scribble(card, fn, rnd):
    """Values all over the register file, but nothing that starts or resets."""
    for off in range(0x01000, 0x11000, 4):
        if off in (0x04a80, 0x03000, 0x05240, 0x042a0, 0x04240) or not steady(off) or \
                0x6000 <= off < 0x8000 and off & 0x3f in (0x18, 0x28) or \
                off & 0x3f in (0x18, 0x28) and (0x1000 <= off < 0x2000 or 0xd000 <= off < 0xe000):
            continue
        card.write(fn, off, rnd.getrandbits(32))


def test_registers(qemu):
    """all registers of both ports are what they were, after a reset and a load"""
    with Saved(qemu) as card:
        rnd = random.Random(1)
        for fn in (0, 1):
            scribble(card, fn, rnd)
        before = [registers(card, fn) for fn in (0, 1)]
        card.save()
        for fn in (0, 1):
            card.write(fn, 0, 0x04000000)
        wiped = [registers(card, fn) for fn in (0, 1)]
        card.load()
        after = [registers(card, fn) for fn in (0, 1)]
    moved = sum(wiped[fn][off] != before[fn][off] for fn in (0, 1) for off in before[fn])
    wrong = ["%d:%#x: %#x, was %#x" % (fn, off, after[fn][off], before[fn][off])
             for fn in (0, 1) for off in before[fn] if after[fn][off] != before[fn][off]]
    print("# %d registers, the reset changed %d of them; differ: %s" % (
        2 * len(before[0]), moved, wrong[:8] or "none"))
    return moved > 1000 and not wrong


def test_statistics(qemu):
    """counters go on from where they were"""
    with Saved(qemu) as card:
        card.send(0, [qtest.frame(n) for n in range(7)])
        card.step(1000)
        card.save()
        card.send(0, [qtest.frame(n) for n in range(9)])
        card.step(1000)
        card.load()
        card.tail[0, 0] = 7
        card.send(0, [qtest.frame(n) for n in range(2)])
        card.step(1000)
        seen = card.read(0, 0x4080), card.read(1, 0x4074)
    print("# %s sent and received" % (seen,))
    return seen == (9, 9)


def test_rings(qemu):
    """frames that wait in the transmit ring leave after the load, once and in order"""
    with Saved(qemu) as card:
        card.send(0, [qtest.frame(n) for n in range(150)])
        card.step(5)
        early = len(card.numbers(1))
        card.save()
        card.step(1000)
        first = card.numbers(1)
        card.load()
        again = len(card.numbers(1))
        card.step(1000)
        second = card.numbers(1)
    print("# of 150 frames, %d when saved, %d after the load, then %d" % (early, again, len(second)))
    return 0 < early < 150 and again < 150 and first == second == list(range(150))


def test_waiting(qemu):
    """frames that wait for descriptors are not lost, nor delayed ones"""
    with Saved(qemu, "fault-delay=200", "fault-delay-us=3000", "fault-seed=2") as card:
        card.write(1, 0x1018, 20)                       # twenty descriptors
        card.send(0, [qtest.frame(n) for n in range(100)])
        card.step(500)
        card.save()
        card.step(5000)
        card.load()
        card.write(1, 0x1018, qtest.RING - 1)
        card.step(5000)
        got = card.numbers(1)
    print("# %d of 100 frames" % len(got))
    return sorted(got) == list(range(100))


def test_context(qemu):
    """a transmit context that was fetched before serves packets after"""
    import qtest_offload as q
    import frames as fr

    frame = q.eth(fr.ipv4(fr.udp(bytes(range(64))), fr.UDP))
    asked = frame[:40] + struct.pack("!H", q.seeded(fr.IP_A, fr.IP_B, fr.UDP, 72)) + frame[42:]

    class Bench(q.Bench, Saved):
        pass

    with Bench(qemu) as card:
        card.transmit(asked, [q.context(14, 20, q.IPV4)], opts=q.TXSM)
        card.save()
        card.write(0, 0x6028, 0)
        card.load()
        card.transmit(asked, opts=q.TXSM)
        got = card.arrived()
    return q.same(got, [frame, frame])


def test_interrupt(qemu):
    """a moderated interrupt comes when its interval ends, also after a load"""
    with Saved(qemu) as card:
        card.config_write(1, 0x70, 0x80000000)          # MSI-X
        for n, value in enumerate((0x200000, 0, 0x1234, 0)):
            card.do("writel %#x %#x" % (fuzz.MSIX[1] + 4 * n, value))
        card.write(1, 0x898, 0x80000011)                # GPIE: MSI-X
        card.write(1, 0x820, 2000 << 3)                 # EITR: 4 ms
        card.write(1, 0x880, 1)
        card.send(0, [qtest.frame(0)])
        card.step(100)
        first = card.memory(0x200000, 4)
        card.put(0x200000, bytes(4))
        card.send(0, [qtest.frame(1)])
        card.step(100)
        held = card.memory(0x200000, 4)
        card.save()
        card.load()
        card.step(100)
        still = card.memory(0x200000, 4)
        card.step(5000)
        then = card.memory(0x200000, 4)
    seen = [x.hex() for x in (first, held, still, then)]
    print("# message at once %s, held %s, after the load %s, in the end %s" % tuple(seen))
    return seen == ["34120000", "00000000", "00000000", "34120000"]


# --- with a guest -------------------------------------------------------------------------

class Streams:
    """A guest whose ports exchange streams, in QEMU of the lab, and what it says."""

    def __init__(self, kernel, directory):
        self.dir, self.lines, self.more = directory, [], threading.Condition()
        self.ended = False
        self.proc = subprocess.Popen(
            [os.path.join(TOP, "tests/lab/lab"), "run", "--icount", "--mem", "768", "--timeout", "3600",
             "--monitor", directory + "/qmp", "--qemu-arg", "-pidfile", "--qemu-arg", directory + "/pid",
             kernel, "--", "tests/x520/test/snapshot.sh"],
            stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, universal_newlines=True)
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        self.second = None

    def read(self):
        for line in self.proc.stdout:
            with self.more:
                self.lines.append(line.rstrip())
                self.more.notify_all()
        with self.more:
            self.ended = True
            self.more.notify_all()

    def wait(self, what, seconds=1200):
        """Until what() is true of the lines; fails if the guest ends before."""
        with self.more:
            if not self.more.wait_for(lambda: self.ended or what(), seconds) or not what():
                raise qmp.QmpError("the guest did not go on within %d s" % seconds)

    def goes_on(self):
        """Until the guest has finished or begun one more stream."""
        there = len(self.lines)
        self.wait(lambda: any(w.startswith("@") for w in self.lines[there:]))

    def resume(self, image):
        """The machine that was migrated to a file, in a second QEMU with the same
        devices, that speaks where the first one did."""
        with open(self.dir + "/pid") as pid, open("/proc/%d/cmdline" % int(pid.read()), "rb") as f:
            command = f.read().decode().split("\0")[:-1]
        other = {self.dir + "/pid": self.dir + "/pid2"}
        for n, arg in enumerate(command):
            command[n] = other.get(arg, arg.replace(self.dir + "/qmp,", self.dir + "/qmp2,"))
            if arg.startswith("file,id=console,"):
                command[n] = "file,id=console,path=" + self.dir + "/console2"
        self.second = subprocess.Popen(command + ["-incoming", "file:" + image], stdin=subprocess.DEVNULL)

    def close(self):
        for proc in (self.second, self.proc):
            if proc and proc.poll() is None:
                proc.terminate()
                proc.wait(60)


def migrate(streams, source):
    """To a file and from there into a second process, which must end the guest's work
    while the first one stands still; True if it did."""
    image = streams.dir + "/migration"
    # All that is dirty after the first pass may take as long as it wants.
    source.do("migrate-set-parameters", **{"downtime-limit": 2000000, "max-bandwidth": 1 << 40})
    source.do("migrate", uri="file:" + image)
    until = time.monotonic() + 600
    while True:
        state = source.do("query-migrate").get("status")
        if state == "completed":
            break
        if state == "failed" or time.monotonic() > until:
            raise qmp.QmpError("migration: %s" % state)
        time.sleep(0.1)
    before = len(streams.lines)
    streams.resume(image)
    status = streams.second.wait(3000)
    still = source.do("query-status")["status"]
    source.do("quit")
    streams.proc.wait(60)
    streams.reader.join(60)
    print("# %d MB; the second process ended with status %d, the first is in state %s" % (
        os.path.getsize(image) >> 20, status, still))
    return still == "postmigrate" and any(w.startswith("@same") for w in streams.lines[before:])


def guest(kernel):
    """Streams between the ports of a guest: saved and loaded twice, then migrated."""
    directory = tempfile.mkdtemp(prefix="x520-snapshot.")
    streams, good = Streams(kernel, directory), []
    print("TAP version 13\n1..4")

    def case(verdict, what):
        good.append(verdict)
        print("%sok %d - %s" % ("" if verdict else "not ", len(good), what), flush=True)

    try:
        streams.wait(lambda: "@stream 2" in streams.lines)
        monitor = Monitor(directory + "/qmp", directory)
        monitor.prepare()
        for turn in (1, 2):
            monitor.save("s%d" % turn)
            size = os.path.getsize(monitor.image) >> 20
            streams.goes_on()
            monitor.load("s%d" % turn)
            print("# snapshot %d: %d MB" % (turn, size), flush=True)
        case(True, "saved and loaded twice while streams run")
        case(migrate(streams, monitor), "migrated while streams run, into a second process that ends them")
        said = [w for w in streams.lines if w.startswith("@")]
        status = streams.proc.returncode
        case(status == 0 and not {"@same %d" % n for n in range(1, 7)} - set(said),
             "all six streams arrived unharmed, and the log is clean (status %d)" % status)
        case(len(said) >= len(set(said)) + 2, "some of it happened twice")
    except (qmp.QmpError, OSError, ValueError, subprocess.TimeoutExpired) as e:
        print("Bail out! %s" % e)
    finally:
        if good != [True] * 4:
            print("\n".join("# " + w for w in streams.lines[-30:]))
        streams.close()
        shutil.rmtree(directory, ignore_errors=True)
    return 0 if good == [True] * 4 else 1


def main(args):
    if "--help" in args:
        print(__doc__.strip())
        return 0
    if "--qemu" in args:
        return qtest.main(globals(), __doc__)
    if len(args) > 1 or args and args[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    return guest(*args or ["debian13"])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

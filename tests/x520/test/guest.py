# SPDX-License-Identifier: GPL-2.0
"""The host's half of the raw-frame tests: boots a guest whose two ports end in
sockets, and talks to tests/x520/test/agent.py in it through the second one."""

import json
import os
import select
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import time

from qmp import Qmp, QmpError

TOP = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../.."))
CONTROL, MARKER = 0x88b5, 0x88b6
PART = 1400
NOBODY = b"\x02\0\0\0\0\xfe"


class GuestError(Exception):
    pass


class Cables:
    """A directory with the sockets that a guest's two ports end in (--wire socket:DIR)."""

    def __init__(self):
        self.dir = tempfile.mkdtemp(prefix="x520-wire.")
        self.socks = [self.bind(n) for n in range(2)]

    def bind(self, n):
        sock = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 16 << 20)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        sock.bind("%s/port%d.host" % (self.dir, n))
        return sock

    def inject(self, frame, port=0):
        self.socks[port].sendto(frame, "%s/port%d.qemu" % (self.dir, port))

    def received(self, port=0, quiet=0.15, want=None, timeout=30):
        """Frames that the port sent, until it is quiet or `want` have come."""
        out, until = [], time.monotonic() + timeout
        while time.monotonic() < until and (want is None or len(out) < want):
            wait = quiet if want is None else until - time.monotonic()
            if not select.select([self.socks[port]], [], [], max(wait, 0))[0]:
                break
            out.append(self.socks[port].recv(65536))
        return out

    def drain(self, port=0):
        while select.select([self.socks[port]], [], [], 0)[0]:
            self.socks[port].recv(65536)

    def remove(self):
        for sock in self.socks:
            sock.close()
        shutil.rmtree(self.dir, ignore_errors=True)


class Guest(Cables):
    """A running guest. `props`: of the x520 devices."""

    def __init__(self, kernel, props="", timeout=1800, lab_args=()):
        super().__init__()
        self.number = self.marks = 0
        self.backlog = []
        self.monitor = None
        self.proc = None
        command = [os.path.join(TOP, "tests/lab/lab"), "run", "--wire", "socket:" + self.dir,
                   "--timeout", str(timeout), "--monitor", self.dir + "/qmp"]
        command += ["--x520", props] if props else []
        command += list(lab_args) + [kernel, "--", "tests/x520/test/agent.py"]
        self.proc = subprocess.Popen(command, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
        try:
            self.wait_ready(timeout)
            self.info = self.ask("hello")
        except GuestError:
            self.close()
            raise
        self.mac = bytes.fromhex(self.info["mac"].replace(":", ""))

    def wait_ready(self, timeout):
        until, text = time.monotonic() + timeout, b""
        out = self.proc.stdout.fileno()
        while time.monotonic() < until:
            # What the ports say by themselves must not fill the sockets.
            for sock in select.select([out] + self.socks, [], [], 1)[0]:
                if sock is not out:
                    sock.recv(65536)
                    continue
                data = os.read(out, 65536)
                if not data:
                    raise GuestError("the guest ended with status %d:\n%s" % (
                        self.proc.wait(), text.decode(errors="replace")))
                text += data
            if b"agent: ready" in text:
                return
        raise GuestError("the agent did not come up within %d s" % timeout)

    # --- requests -----------------------------------------------------------------------

    def ask(self, op, **args):
        """One request to the agent; its answer. Asks again when there is none."""
        self.number += 1
        text = json.dumps(dict(args, op=op)).encode()
        pieces = [text[i:i + PART] for i in range(0, len(text), PART)]
        head = b"\xff" * 6 + NOBODY + struct.pack("!H", CONTROL)
        frames = [(head + struct.pack("!IHHH", self.number, i, len(pieces), len(p)) + p).ljust(60, b"\0")
                  for i, p in enumerate(pieces)]
        for _ in range(12):
            for frame in frames:
                self.inject(frame, 1)
            if op == "exit":
                return None
            answer = self.answer(time.monotonic() + 10)
            if answer is not None:
                answer = json.loads(answer.decode())
                if isinstance(answer, dict) and "error" in answer:
                    raise GuestError("%s: %s" % (op, answer["error"]))
                return answer
            if self.proc.poll() is not None:
                break
        raise GuestError("the guest does not answer (%s)" % op)

    def answer(self, until):
        parts = {}
        while time.monotonic() < until:
            ready = select.select([self.socks[1], self.proc.stdout], [], [], 1)[0]
            if self.proc.stdout in ready:
                data = os.read(self.proc.stdout.fileno(), 65536)
                if not data:
                    return None
                sys.stderr.write(data.decode(errors="replace"))
            if self.socks[1] not in ready:
                continue
            data = self.socks[1].recv(65536)
            if len(data) < 24 or struct.unpack_from("!H", data, 12)[0] != CONTROL:
                continue
            number, part, total, length = struct.unpack_from("!IHHH", data, 14)
            if number != self.number:
                continue
            parts[part] = data[24:24 + length]
            if len(parts) == total:
                return b"".join(parts[i] for i in range(total))
        return None

    def sh(self, command, check=True):
        result = self.ask("sh", command=command)
        if check and result["rc"]:
            raise GuestError("%s: status %d: %s" % (command, result["rc"], result["out"]))
        return result["out"]

    def feed(self, frames, want=0, **args):
        """Injects frames into the first port; what became of them."""
        for frame in frames:
            self.inject(frame)
        self.marks += 1
        self.inject((b"\xff" * 6 + NOBODY + struct.pack("!HI", MARKER, self.marks)).ljust(60, b"\0"))
        return self.ask("take", marker=self.marks, want=want, **args)

    def qmp(self, command, **args):
        if self.monitor is None:
            self.monitor = Qmp(self.dir + "/qmp", 120)
        try:
            return self.monitor.do(command, **args)
        except QmpError as err:
            raise GuestError(str(err)) from None

    def close(self):
        """Ends the guest; True if it ended well."""
        if self.proc is None:
            return False
        if self.proc.poll() is None:
            try:
                self.ask("exit")
                self.proc.communicate(timeout=120)
            except (OSError, GuestError, subprocess.TimeoutExpired):
                self.proc.terminate()
                self.proc.wait(10)
        self.remove()
        return self.proc.returncode == 0

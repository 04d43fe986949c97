# SPDX-License-Identifier: GPL-2.0
"""The sending side from Python: in a namespace here, or on another host over ssh.

Where the sender is comes from the environment, as lib.sh exports it: NS_TX, and
ZCG_SSH, the ssh command of a remote one. FarSocket stands for a socket there; each
call on it is one question and one answer over ssh's own connection.
"""
import ctypes
import json
import os
import shlex
import socket
import subprocess
import threading
from contextlib import contextmanager

CLONE_NEWNET = 0x40000000
_libc = ctypes.CDLL(None, use_errno=True)
# What is asked of a socket there; everything else is a mistake here.
_CALLS = ("bind", "connect", "send", "sendall", "sendto", "shutdown", "settimeout", "setsockopt", "close")

_AGENT = r'''
import json, socket, sys
ask, answer = sys.stdin.buffer, sys.stdout.buffer
socks = []
while True:
    line = ask.readline()
    if not line:
        break
    number, call, args, length = json.loads(line)
    data = ask.read(length)
    try:
        if call == "socket":
            socks.append(socket.socket(*args))
            result = len(socks) - 1
        else:
            args = [tuple(a) if isinstance(a, list) else a for a in args]
            result = getattr(socks[number], call)(*([data] if length else []), *args)
        reply = [0, result]
    except OSError as err:
        reply = [err.errno or 110, str(err)]
    answer.write(json.dumps(reply).encode() + b"\n")
    answer.flush()
'''


@contextmanager
def inside(namespace):
    """Sockets made within belong to that network namespace, also afterwards."""
    with open("/proc/self/ns/net") as home, open(f"/run/netns/{namespace}") as there:
        _setns(there.fileno())
        try:
            yield
        finally:
            _setns(home.fileno())


def _setns(fd):
    if _libc.setns(fd, CLONE_NEWNET):
        err = ctypes.get_errno()
        raise OSError(err, f"setns: {os.strerror(err)}")


def far(*words):
    """The command line that runs words at the sender, as a list."""
    there = ["ip", "netns", "exec", os.environ["NS_TX"], *words]
    ssh = os.environ.get("ZCG_SSH")
    return [*shlex.split(ssh), shlex.join(there)] if ssh else there


class _Agent:
    """One process at the other end for all sockets of this one."""
    _one = None

    def __init__(self):
        loader = "import sys; exec(sys.stdin.buffer.read(int(sys.stdin.buffer.readline())))"
        self._run = subprocess.Popen(far("python3", "-u", "-c", loader), stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE)
        self._lock = threading.Lock()
        code = _AGENT.encode()
        self._run.stdin.write(b"%d\n" % len(code) + code)

    @classmethod
    def get(cls):
        if cls._one is None:
            cls._one = cls()
        return cls._one

    def call(self, number, name, args, data=b""):
        with self._lock:
            self._run.stdin.write(json.dumps([number, name, args, len(data)]).encode() + b"\n" + data)
            self._run.stdin.flush()
            line = self._run.stdout.readline()
        if not line:
            raise ConnectionError("the sender's agent has ended; is python3 there, does ssh work?")
        err, result = json.loads(line)
        if err:
            raise OSError(err, result)
        return result


class FarSocket:
    def __init__(self, family, kind, proto=0):
        self._agent = _Agent.get()
        self._number = self._agent.call(None, "socket", [int(family), int(kind), proto])

    def __getattr__(self, name):
        if name not in _CALLS:
            raise AttributeError(f"a far socket has no {name}()")

        def call(*args):
            data = b""
            if args and isinstance(args[0], (bytes, bytearray, memoryview)):
                data, args = bytes(args[0]), args[1:]
            return self._agent.call(self._number, name, list(args), data)
        return call


def far_socket(family, kind, proto=0):
    """A socket at the sender."""
    if os.environ.get("ZCG_SSH"):
        return FarSocket(family, kind, proto)
    with inside(os.environ["NS_TX"]):
        return socket.socket(family, kind, proto)

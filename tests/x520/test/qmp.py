# SPDX-License-Identifier: GPL-2.0
"""QEMU's monitor protocol, one command at a time."""

import json
import socket
import time


class QmpError(Exception):
    pass


class Qmp:
    """A monitor at a unix socket, which may still be about to come up."""

    def __init__(self, path, timeout=300):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(timeout)
        until = time.monotonic() + 60
        while True:
            try:
                self.sock.connect(path)
                break
            except OSError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.05)
        self.file = self.sock.makefile("rw")
        self.file.readline()
        self.do("qmp_capabilities")

    def do(self, command, **args):
        self.file.write(json.dumps({"execute": command, "arguments": args}) + "\n")
        self.file.flush()
        while True:
            answer = json.loads(self.file.readline())
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                raise QmpError("%s: %s" % (command, answer["error"]["desc"]))

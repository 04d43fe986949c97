#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""The guest's half of wire.py: does what the host asks.

usage: agent.py      (in a guest started with --wire socket:DIR; see wire.py)

Loads the in-box ixgbe, brings both ports up and serves requests that come in
frames of Ethernet type 0x88b5 on the second port. The first port is the one
that is tested. A request is JSON, at most one frame; so is each part of the
answer. What the driver made of a received frame is seen in three places: the
descriptor (a kprobe on the driver, its two quadwords), the sk_buff (the
tracepoint net:napi_gro_receive_entry) and a packet socket (the bytes).
"""

import array
import ctypes
import fcntl
import glob
import json
import os
import re
import select
import socket
import struct
import subprocess
import sys
import time
import zlib

import packet

CONTROL, MARKER = 0x88b5, 0x88b6
PART = 1400
TRACE = "/sys/kernel/tracing"
SIOCETHTOOL, GSTRINGS, GSTATS, GSSET_INFO = 0x8946, 0x1b, 0x1d, 0x37


def sh(command):
    run = subprocess.run(command, shell=True, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, universal_newlines=True)
    return dict(rc=run.returncode, out=run.stdout)


def wait_for(seconds, condition, what):
    until = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > until:
            sys.exit("agent.py: %s did not happen within %d s" % (what, seconds))
        time.sleep(0.02)


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


class Agent:
    def __init__(self):
        subprocess.run(["modprobe", "ixgbe"], check=True)
        wait_for(10, lambda: len(self.ports()) == 2, "the probe of two ports")
        self.dev, self.control_dev = self.ports()
        for dev in self.ports() + ["default"]:  # no frames of the kernel's own
            write("/proc/sys/net/ipv6/conf/%s/disable_ipv6" % dev, "1")
        for dev in self.ports():
            subprocess.run(["ethtool", "-L", dev, "combined", "1"], check=False)
            # Frames as they came: none held back, none joined.
            subprocess.run(["ethtool", "-K", dev, "gro", "off", "lro", "off"], check=True)
            subprocess.run(["ip", "link", "set", dev, "up"], check=True)
        wait_for(20, lambda: all(self.carrier(dev) for dev in self.ports()), "link")
        self.control = packet.raw_socket(self.control_dev, CONTROL)
        self.mac = self.control.getsockname()[4]
        self.sink = packet.raw_socket(self.dev, 3)
        self.sink.setsockopt(packet.SOL_PACKET, packet.PACKET_AUXDATA, 1)
        self.sink.setsockopt(socket.SOL_SOCKET, packet.SO_RCVBUFFORCE, 16 << 20)
        self.stat_names = self.ethtool_names()
        self.trace_on()

    @staticmethod
    def ports():
        return [os.path.basename(p) for p in
                sorted(glob.glob("/sys/bus/pci/drivers/ixgbe/*:*/net/*"))]

    @staticmethod
    def carrier(dev):
        try:
            with open("/sys/class/net/%s/carrier" % dev) as f:
                return f.read().strip() == "1"
        except OSError:
            return False

    # --- what the driver saw ------------------------------------------------------

    def trace_on(self):
        if not os.path.exists(TRACE + "/events"):
            subprocess.run(["mount", "-t", "tracefs", "tracefs", TRACE], check=True)
        write(TRACE + "/events/net/napi_gro_receive_entry/filter", 'name == "%s"' % self.dev)
        write(TRACE + "/events/net/napi_gro_receive_entry/enable", "1")
        # Called with (ring, descriptor, skb) before the frame goes to GRO; so the
        # event belongs to the GRO event that follows it on that CPU.
        try:
            write(TRACE + "/kprobe_events",
                  "p:x520/desc ixgbe:ixgbe_process_skb_fields info=+0(%si):x64 status=+8(%si):x64\n")
            write(TRACE + "/events/x520/desc/enable", "1")
            self.probe = True
        except OSError as err:
            self.probe = False
            print("agent: no probe on the driver: %s" % err)
        self.pipe = os.open(TRACE + "/trace_pipe", os.O_RDONLY | os.O_NONBLOCK)

    def traced(self):
        text = b""
        while True:
            try:
                more = os.read(self.pipe, 1 << 16)
            except BlockingIOError:
                break
            if not more:
                break
            text += more
        out, desc = [], {}
        for line in text.decode(errors="replace").splitlines():
            cpu = re.search(r"\[(\d+)\]", line)
            fields = dict(re.findall(r"(\w+)=(\S+)", line))
            if "napi_gro_receive_entry" in line:
                out.append(dict(desc.pop(cpu.group(1), {}), **{
                    k: fields[k] for k in ("ip_summed", "hash", "l4_hash", "len", "protocol",
                                           "vlan_tagged", "vlan_tci", "queue_mapping")}))
            elif "status" in fields:
                desc[cpu.group(1)] = dict(info=fields["info"], status=fields["status"])
        return out

    def take(self, marker, timeout=2.0, want=0, whole=False):
        """Frames of the sink up to the marker of that number (and at least
        `want` frames), and their traces. whole: all bytes of each frame."""
        until, frames, seen = time.monotonic() + timeout, [], False
        while not seen or len(frames) < want:
            left = until - time.monotonic()
            if left <= 0 or not select.select([self.sink], [], [], left)[0]:
                break
            data, aux, _, addr = self.sink.recvmsg(65536, 256)
            if addr[2] == socket.PACKET_OUTGOING:
                continue
            if data[12:14] == struct.pack("!H", MARKER):
                seen = seen or struct.unpack_from("!I", data, 14)[0] == marker
                continue
            if data[12:14] == struct.pack("!H", CONTROL):
                continue
            frames.append(dict(len=len(data), tci=packet.vlan_of(aux), crc=zlib.crc32(data),
                               head=(data if whole else data[:64]).hex()))
        return dict(frames=frames, marker=seen,
                    trace=[t for t in self.traced() if t["protocol"] != "0x88b6"])

    # --- ethtool -S without a process each time -----------------------------------

    def ethtool(self, buf):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
            addr = ctypes.addressof(buf)
            req = struct.pack("16sQ16x", self.dev.encode(), addr)
            fcntl.ioctl(sock, SIOCETHTOOL, req)

    def ethtool_names(self):
        buf = ctypes.create_string_buffer(struct.pack("=IIQI", GSSET_INFO, 0, 1 << 1, 0))
        self.ethtool(buf)
        count = struct.unpack_from("=I", buf.raw, 16)[0]
        buf = ctypes.create_string_buffer(12 + 32 * count)
        struct.pack_into("=III", buf, 0, GSTRINGS, 1, count)
        self.ethtool(buf)
        return [buf.raw[12 + 32 * i:44 + 32 * i].split(b"\0")[0].decode() for i in range(count)]

    def stats(self):
        count = len(self.stat_names)
        buf = ctypes.create_string_buffer(8 + 8 * count)
        struct.pack_into("=II", buf, 0, GSTATS, count)
        self.ethtool(buf)
        values = array.array("Q", buf.raw[8:8 + 8 * count])
        return {n: v for n, v in zip(self.stat_names, values) if v and n.strip()}

    # --- sending ------------------------------------------------------------------

    def send(self, dev, frame, gso=None):
        """gso: None to send the bytes as they are, 0 to leave the checksum to
        the device, or the segment size."""
        data = bytes.fromhex(frame)
        sock = packet.raw_socket(dev, vnet=gso is not None)
        try:
            sock.send(data if gso is None else packet.offload(data, gso))
        except OSError as err:
            return dict(error=str(err))
        finally:
            sock.close()
        return {}

    # --- requests -----------------------------------------------------------------

    def serve(self):
        ops = dict(sh=sh, take=self.take, stats=self.stats, send=self.send,
                   hello=lambda: dict(dev=self.dev, control=self.control_dev, probe=self.probe,
                                      mac=open("/sys/class/net/%s/address" % self.dev).read().strip()))
        parts, last, answer = {}, None, []
        print("agent: ready", flush=True)
        while True:
            data = self.control.recv(65536)
            number, part, total, length = struct.unpack_from("!IHHH", data, 14)
            if number != last:
                parts[part] = data[24:24 + length]
                if len(parts) < total:
                    continue
                last = number
                request = json.loads(b"".join(parts[i] for i in range(total)).decode())
                parts = {}
                if request["op"] == "exit":
                    return
                try:
                    result = ops[request.pop("op")](**request)
                except Exception as err:    # to be shown by the host
                    result = dict(error="%s: %s" % (type(err).__name__, err))
                answer = self.cut(number, json.dumps(result).encode())
            for frame in answer:    # again, if the host asks again
                self.control.send(frame)

    def cut(self, number, text):
        pieces = [text[i:i + PART] for i in range(0, len(text), PART)] or [b""]
        head = b"\xff" * 6 + self.mac + struct.pack("!H", CONTROL)
        return [head + struct.pack("!IHHH", number, i, len(pieces), len(p)) + p
                for i, p in enumerate(pieces)]


if __name__ == "__main__":
    if sys.argv[1:]:
        print(__doc__.strip(), file=sys.stdout if "--help" in sys.argv else sys.stderr)
        sys.exit(0 if "--help" in sys.argv else 2)
    Agent().serve()

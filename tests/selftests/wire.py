# SPDX-License-Identifier: GPL-2.0
"""The two ports from Python: frames in at PEER, what came out at NETIF.

PEER, NETIF and their namespaces come from the environment, as lib.sh exports
them. Everything waits for an event and never for an amount of time.
"""
import ctypes
import fcntl
import os
import socket
import struct
import subprocess
import time

from remote import far, far_socket, inside

ETH_P_ALL, ETH_MARK = 0x0003, 0x88b5        # 0x88b5: IEEE 802, for local experiments
SOL_PACKET, PACKET_AUXDATA = 263, 8
PACKET_OUTGOING = 4
SO_RCVBUFFORCE = 33
STATUS_VLAN, STATUS_CSUM_VALID = 1 << 4, 1 << 7
SIOCETHTOOL = 0x8946
GDRVINFO, GSTRINGS, GSTATS, GPFLAGS, SPFLAGS = 0x03, 0x1b, 0x1d, 0x27, 0x28
SS_STATS, SS_PRIV_FLAGS = 1, 2
COUNTERS = ("seen", "verified", "outer_proto", "outer_fragment", "outer_remcsum", "outer_gro_off",
            "inner_bad", "malformed", "unknown_port", "deferred")


def wait_for(what, seconds, condition):
    """Until condition() is true; says what was waited for if it never is."""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise TimeoutError(f"{what}: not within {seconds} s")
        time.sleep(0.002)


class Ethtool:
    """The ethtool ioctls of one device: no process to start for each question."""

    def __init__(self, namespace, device):
        with inside(namespace):
            self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._device = device.encode()
        self._names = None

    def call(self, buf):
        data = (ctypes.c_char * len(buf)).from_buffer(buf)
        fcntl.ioctl(self._sock, SIOCETHTOOL,
                    struct.pack("16sP16x", self._device, ctypes.addressof(data)))
        del data
        return buf

    def _counts(self):
        info = self.call(bytearray(struct.pack("I192x", GDRVINFO)))
        priv_flags, stats = struct.unpack_from("II", info, 176)
        return priv_flags, stats

    def strings(self, kind, number):
        buf = self.call(bytearray(struct.pack("III", GSTRINGS, kind, number)) +
                        bytearray(32 * number))
        return [bytes(buf[12 + 32 * i:44 + 32 * i]).split(b"\0")[0].decode()
                for i in range(number)]

    def stats(self):
        if self._names is None:
            self._names = self.strings(SS_STATS, self._counts()[1])
        number = len(self._names)
        buf = self.call(bytearray(struct.pack("II", GSTATS, number)) + bytearray(8 * number))
        return dict(zip(self._names, struct.unpack_from(f"{number}Q", buf, 8)))

    def zcg(self):
        """The fork's counters; all None with a driver that has none."""
        stats = self.stats()
        return {name: stats.get(f"rx_zcg_{name}") for name in COUNTERS}

    def sums(self):
        """What of the fork's counters does not add up, in words: seen is the sum of
        the reasons, for the port and for each queue, and the port is the sum of its
        queues."""
        stats = self.stats()
        queues = sorted({n.rsplit("_zcg_", 1)[0] for n in stats if n.startswith("rx_queue_") and "_zcg_" in n})
        table = {where: {n: stats[f"{where}_zcg_{n}"] for n in COUNTERS} for where in ["rx", *queues]}
        problems = [f"{where}: seen {c['seen']}, the others {sum(c.values()) - c['seen']}"
                    for where, c in table.items() if 2 * c["seen"] != sum(c.values())]
        problems += [f"{n}: the port {table['rx'][n]}, its queues {sum(table[q][n] for q in queues)}"
                     for n in COUNTERS if table["rx"][n] != sum(table[q][n] for q in queues)]
        return problems + ([] if queues else ["no queue has counters"])

    def flags(self):
        names = self.strings(SS_PRIV_FLAGS, self._counts()[0])
        bits = struct.unpack_from("I", self.call(bytearray(struct.pack("II", GPFLAGS, 0))), 4)[0]
        return {name: bool(bits >> i & 1) for i, name in enumerate(names)}

    def set_flag_bits(self, bits):
        self.call(bytearray(struct.pack("II", SPFLAGS, bits)))

    def set_flags(self, wanted):
        """Some of the flags, {name: on}, in one call."""
        flags = {**self.flags(), **wanted}
        self.set_flag_bits(sum(on << i for i, on in enumerate(flags.values())))

    def set_flag(self, name, on):
        self.set_flags({name: on})


class Delivered:
    """One packet as the device handed it to the stack, after GRO."""

    def __init__(self, data, status, tci):
        self.data, self.tci = data, tci if status & STATUS_VLAN else None
        self.csum_valid = bool(status & STATUS_CSUM_VALID)


class Wire:
    def __init__(self):
        self.rx_ns = os.environ["NS_RX"]
        self.peer, self.netif = os.environ["PEER"], os.environ["NETIF"]
        self.marks = 0
        self._tx = far_socket(socket.AF_PACKET, socket.SOCK_RAW)
        self._tx.bind((self.peer, 0))
        self.peer_mac = subprocess.run(far("cat", f"/sys/class/net/{self.peer}/address"), check=True,
                                       capture_output=True, text=True).stdout.strip()
        with inside(self.rx_ns):
            self._rx = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
            self._rx.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
            self._rx.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
            self._rx.bind((self.netif, ETH_P_ALL))
            self.netif_mac = self._address(self._rx, self.netif)
        self.ethtool = Ethtool(self.rx_ns, self.netif)
        # The link may have come up just now, and the stack then still drops what is
        # sent for a moment.
        wait_for(f"a frame from {self.peer} at {self.netif}", 10, self._probe)

    def _probe(self):
        try:
            self.mark(0.2)
        except (OSError, TimeoutError):
            return False
        return True

    @staticmethod
    def _address(sock, device):
        reply = fcntl.ioctl(sock, 0x8927, struct.pack("16s24x", device.encode()))  # SIOCGIFHWADDR
        return ":".join(f"{b:02x}" for b in reply[18:24])

    def stop_listening(self):
        """No more packets, and no mark() or settle(). What a socket listens to is cloned,
        and tunnel devices queue a clone apart from what GRO has merged, so that one
        overtakes the other."""
        self._rx.close()

    def send(self, frame):
        self._tx.send(frame)

    def _receive(self, seconds):
        self._rx.settimeout(seconds)
        data, controls, _, where = self._rx.recvmsg(1 << 17, 256)
        if where[2] == PACKET_OUTGOING:
            return None
        status = tci = 0
        for level, kind, value in controls:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                status, tci = struct.unpack_from("I", value)[0], struct.unpack_from("H", value, 16)[0]
        return Delivered(data, status, tci)

    def mark(self, patience=5):
        """Sends a frame of our own type and returns all that was received before it."""
        self.marks += 1
        want = struct.pack("!I", self.marks)
        self.send(bytes.fromhex((self.netif_mac + self.peer_mac).replace(":", "")) +
                  struct.pack("!H", ETH_MARK) + want + bytes(42))
        got = []
        while True:
            try:
                packet = self._receive(patience)
            except socket.timeout:
                raise TimeoutError(f"{self.netif} did not receive a frame that {self.peer} "
                                   f"sent {patience} s ago") from None
            if packet is None:
                continue
            if packet.data[12:14] != struct.pack("!H", ETH_MARK):
                got.append(packet)
            elif packet.data[14:18] == want:
                return got

    def settle(self):
        """All that was sent before is received, delivered and counted after this.

        Two marks: what GRO held back while the first went by is out by the second.
        The device counts a poll's packets when the poll ends, so its own count of the
        marks is waited for too.
        """
        before = self.ethtool.stats()["rx_packets"]
        got = self.mark() + self.mark()
        wait_for("the device to count two marks", 5,
                 lambda: self.ethtool.stats()["rx_packets"] >= before + 2)
        return got


class Trace:
    """What the driver wrote into the sk_buff, before GRO changes it."""
    ROOTS = ("/sys/kernel/tracing", "/sys/kernel/debug/tracing")

    def __init__(self, netif):
        if not os.path.exists(self.ROOTS[0] + "/trace"):
            os.system("mount -t tracefs tracefs /sys/kernel/tracing 2>/dev/null")
        self.root = next((r for r in self.ROOTS if os.path.exists(r + "/trace")), None)
        self._event = f"{self.root}/events/net/napi_gro_receive_entry"
        self.usable = bool(self.root) and os.path.exists(self._event)
        if self.usable:
            self._write("filter", f'name == "{netif}"')
            self._write("enable", "1")

    def _write(self, name, value):
        with open(f"{self._event}/{name}", "w") as out:
            out.write(value)

    def close(self):
        if self.usable:
            self._write("enable", "0")
            self._write("filter", "0")

    def take(self):
        """ip_summed of each frame since the last call, marks left out."""
        if not self.usable:
            return None
        with open(f"{self.root}/trace") as src:
            lines = [line for line in src if "napi_gro_receive_entry:" in line]
        with open(f"{self.root}/trace", "w"):
            pass
        fields = [dict(word.split("=", 1) for word in line.split() if "=" in word)
                  for line in lines]
        return [int(f["ip_summed"]) for f in fields if int(f["protocol"], 16) != ETH_MARK]


def snmp(namespace):
    """/proc/net/snmp and snmp6 of a namespace, as {"TcpInCsumErrors": 3, ...}."""
    values = {}
    with inside(namespace):
        with open("/proc/thread-self/net/snmp") as src:
            lines = src.read().splitlines()
        with open("/proc/thread-self/net/snmp6") as src:
            six = [line.split() for line in src]
    for names, numbers in zip(lines[::2], lines[1::2]):
        proto = names.split(":")[0]
        values.update((proto + n, int(v)) for n, v in
                      zip(names.split()[1:], numbers.split()[1:]))
    values.update((n, int(v)) for n, v in six)
    return values


class Ktap:
    def __init__(self, plan):
        self.number = self.failed = 0
        self.plan = plan
        print(f"TAP version 13\n1..{plan}", flush=True)

    def case(self, name, problems=()):
        self.number += 1
        for problem in problems:
            print(f"# {problem}")
        self.failed += bool(problems)
        print(f"{'not ok' if problems else 'ok'} {self.number} {name}", flush=True)

    def skip(self, name, reason):
        self.number += 1
        print(f"ok {self.number} {name} # SKIP {reason}", flush=True)

    def status(self):
        if self.number != self.plan:
            print(f"# planned {self.plan} cases, ran {self.number}")
            return 1
        return int(self.failed > 0)

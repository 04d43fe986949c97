#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Errors of the PCI Express link and a card that is pulled out, under the in-box
ixgbe: what its error handlers and its check for removal make of them.

usage: gone.py KERNEL
       gone.py --help

The first port is the one that it happens to.
"""

import os
import sys
import time

import frames as f
import rxcases as rx
from guest import Guest, GuestError
from wire import Tap

PORT = "/machine/peripheral/port0"
# Guests of the lab leave errors alone if not told otherwise. And with q35's ACPI
# hot-plug, root ports are not told what is plugged into them: the link of one
# would be inactive, and its reset of a slot fail.
ERRORS = ["--append", "pcie_ports=native", "--qemu-arg", "-global",
          "--qemu-arg", "ICH9-LPC.acpi-pci-hotplug-with-bridge-support=off"]


class Tests:
    def __init__(self, guest, tap):
        self.g, self.tap = guest, tap
        self.dev = guest.info["dev"]
        self.slot = guest.sh("basename $(readlink -f /sys/class/net/%s/device)" % self.dev).strip()

    def says(self, text, seconds=90):
        """Waits until the kernel has said that since the last mark."""
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            if self.g.sh("dmesg | sed -n '/gone.py mark %d/,$p' | grep -iF '%s' || true" % (self.mark, text)):
                return []
            time.sleep(0.5)
        log = self.g.sh("dmesg | sed -n '/gone.py mark %d/,$p' | tail -n 20" % self.mark)
        return ["the kernel did not say '%s' within %d s; it said:" % (text, seconds)] + log.splitlines()

    def begin(self):
        self.mark = int(time.monotonic() * 1000)
        self.g.sh("echo gone.py mark %d > /dev/kmsg" % self.mark)

    def carrier(self, want, seconds=90):
        out = self.g.sh("for i in $(seq %d); do [ \"$(cat /sys/class/net/%s/carrier 2> /dev/null)\" = %d ] && exit 0; "
                        "sleep 0.1; done; exit 1" % (10 * seconds, self.dev, want), check=False)
        state = self.g.sh("cat /sys/class/net/%s/carrier 2>&1 || true" % self.dev).strip()
        return [] if state == str(want) else ["carrier is %s %s" % (state, out)]

    def sends(self):
        """A frame from the port reaches the wire."""
        frame = rx.v4(f.udp(b"still here"), f.UDP)
        self.g.drain()
        self.g.ask("send", dev=self.dev, frame=frame.hex())
        got = self.g.received(want=1)
        return [] if got and got[0][:len(frame)] == frame else ["%d frames came, not the one that was sent" % len(got)]

    def inject(self, *error):
        return self.g.qmp("human-monitor-command", **{
            "command-line": "pcie_aer_inject_error " + " ".join(error)}).strip()

    def errors(self):
        # A replay timer's time-out; an unsupported request; a data link protocol
        # error, after which the slot is reset and both ports with it.
        for what, args, want in (("correctable", ("-c", "port0", "0x1000"), ("Correct",)),
                                 ("non-fatal", ("port0", "0x100000"), ("Non-Fatal",)),
                                 ("fatal", ("port0", "0x10"), ("(Fatal)", "device recovery successful"))):
            self.begin()
            answer = self.inject(*args)
            bad = sum((self.says(text) for text in want), [])
            bad += self.carrier(1) or self.sends()
            self.tap.case("AER, a %s error: told, and the port works again" % what, bad and [answer] + bad)

    def removal(self):
        self.begin()
        self.g.qmp("qom-set", path=PORT, property="removed", value=True)
        self.tap.case("pulled out: the driver finds out by itself", self.says("Adapter removed"))
        self.tap.case("its link is gone", self.carrier(0))
        bad = []
        for command in ("ethtool -S %s", "ethtool -d %s", "ip -s link show %s", "ip link set %s down"):
            run = self.g.ask("sh", command="timeout 60 " + command % self.dev)
            if run["rc"] == 124:
                bad.append(command % self.dev + " hangs")
        self.tap.case("nothing that is asked of it hangs", bad)
        self.g.sh("echo 1 > /sys/bus/pci/devices/%s/remove" % self.slot)
        bad = [] if self.g.ask("sh", command="[ ! -e /sys/class/net/%s ]" % self.dev)["rc"] == 0 else ["it is still there"]
        self.tap.case("the device can be removed", bad)
        self.g.qmp("qom-set", path=PORT, property="removed", value=False)
        self.g.sh("echo 1 > /sys/bus/pci/rescan; for i in $(seq 100); do [ -e /sys/class/net/%s ] && break; sleep 0.1; done; "
                  "ip link set %s up" % (self.dev, self.dev))
        self.tap.case("plugged in again: found, with a link, and sends", self.carrier(1) or self.sends())


def main(args):
    if args == ["--help"]:
        print(__doc__.strip())
        return 0
    if len(args) != 1 or args[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 2
    print("TAP version 13")
    tap, guest = Tap(), None
    try:
        guest = Guest(args[0], lab_args=ERRORS + os.environ.get("LAB_ARGS", "").split())
        tests = Tests(guest, tap)
        tests.errors()
        tests.removal()
        log = guest.sh("dmesg | grep -E 'WARNING|BUG|Oops|Call Trace|lockup|Tx Unit Hang|NETDEV WATCHDOG' || true")
        tap.case("nothing bad in the log", log.splitlines())
        tap.case("the guest ended well", [] if guest.close() else ["it did not"])
        print("1..%d" % tap.count)
        return 1 if tap.failed else 0
    except (GuestError, OSError) as err:
        for line in str(err).splitlines()[-30:]:
            print("# " + line)
        print("Bail out! gone.py on %s did not get to its end" % args[0], flush=True)
        return 1
    finally:
        if guest:
            guest.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

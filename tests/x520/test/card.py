#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""What a card says of itself, checked by the datasheet's rules.

usage: card.py eeprom DEV       checksum of the EEPROM as ethtool -e shows it
       card.py serial DEV       PCIe serial number against the MAC address
       card.py --help
"""

import os
import struct
import subprocess
import sys

CHECKSUM, CHECKSUM_WORD = 0xbaba, 0x3f      # 82599 datasheet, 6.4.5
FIRST_POINTER, LAST_POINTER = 3, 0x0e       # sections whose words count, too


def eeprom(dev):
    raw = subprocess.run(["ethtool", "-e", dev, "raw", "on"], check=True,
                         stdout=subprocess.PIPE).stdout
    words = struct.unpack("<%dH" % (len(raw) // 2), raw)
    total = sum(words[:CHECKSUM_WORD + 1])
    for at in words[FIRST_POINTER:LAST_POINTER + 1]:
        if at in (0, 0xffff) or at >= len(words):
            continue
        length = words[at]
        if length not in (0, 0xffff) and at + length < len(words):
            total += sum(words[at + 1:at + length + 1])
    print("%d words, sum %#x" % (len(words), total & 0xffff))
    if len(set(words)) < 8:
        sys.exit("the EEPROM is blank")
    if total & 0xffff != CHECKSUM:
        sys.exit("the sum should be %#x" % CHECKSUM)


def capability(config, wanted):
    at = 0x100
    while at and at + 4 <= len(config):
        head, = struct.unpack_from("<I", config, at)
        if head & 0xffff == wanted:
            return at
        at = head >> 20
    return None


def serial(dev):
    path = os.path.realpath("/sys/class/net/%s/device" % dev)
    with open(path + "/config", "rb") as f:
        config = f.read()
    with open("/sys/class/net/%s/address" % dev) as f:
        mac = bytes.fromhex(f.read().strip().replace(":", ""))
    at = capability(config, 3)
    if at is None:
        sys.exit("no device serial number capability")
    number = config[at + 4:at + 12][::-1]
    print("serial %s, MAC %s" % (number.hex("-"), mac.hex(":")))
    # An EUI-64 made of the first port's address; both functions show the same.
    if number[:3] != mac[:3] or number[3:5] != b"\xff\xff" or \
            abs(int.from_bytes(number[5:], "big") - int.from_bytes(mac[3:], "big")) > 1:
        sys.exit("the serial number is not made of the MAC address")


def main(args):
    if "--help" in args:
        print(__doc__.strip())
        return
    if len(args) != 2 or args[0] not in ("eeprom", "serial"):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(2)
    try:
        {"eeprom": eeprom, "serial": serial}[args[0]](args[1])
    except (OSError, subprocess.CalledProcessError) as err:
        sys.exit("card.py: %s" % err)


if __name__ == "__main__":
    main(sys.argv[1:])

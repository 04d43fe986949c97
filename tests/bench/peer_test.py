#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""peer_test.py: is the sender in the emulator one that can be measured with?

usage: peer_test.py      (in a guest: lab run --wire peer)

Reads from it over each tunnel, and over a wire that loses, delays and damages frames, and
compares every byte. Prints TAP.
"""
import os
import socket
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import receive  # noqa: E402
import rows as catalogue  # noqa: E402

LENGTH = 2 << 20
FIRST = 1               # where in the pattern a connection's first byte is

# what, the row, words for the sender, counters that must have grown
CASES = (
    ('TCP without a tunnel', {'tunnel': 'none'}, (), ()),
    ('VXLAN', {}, (), ()),
    ('VXLAN with outer checksums', {'outer_csum': 1}, (), ()),
    ('VXLAN with remote checksum offload', {'outer_csum': 1, 'rco': 1}, (), ()),
    ('Geneve', {'tunnel': 'geneve', 'port': 6081}, (), ()),
    ('Geneve with outer checksums', {'tunnel': 'geneve', 'port': 6081, 'outer_csum': 1}, (), ()),
    ('8 connections', {'flows': 8}, ('burst=3',), ()),
    ('segments of 500 bytes', {}, ('mss=500',), ()),
    ('1 % lost', {}, ('loss=10',), ('rexmits', 'TcpExtTCPOFOQueue')),
    ('2 % out of order', {}, ('reorder=20',), ('TcpExtTCPOFOQueue',)),
    ('1 % damaged', {}, ('corrupt=10',), ('rexmits', 'TcpInCsumErrors')),
)


def pattern():
    """What the sender repeats: a linear congruential generator's upper bytes."""
    x, found = 1, bytearray()
    for _ in range(65536):
        x = (x * 1664525 + 1013904223) & 0xffffffff
        found.append(x >> 24)
    return bytes(found)


def extended():
    """Counters of /proc/net/netstat."""
    lines = [line.split() for line in receive.read('/proc/net/netstat').splitlines()]
    return {head[0][:-1] + name: int(number) for head, data in zip(lines[::2], lines[1::2])
            for name, number in zip(head[1:], data[1:])}


def stream(address, want):
    """Reads from one connection; what was wrong."""
    with socket.create_connection((address, receive.TCP_PORT), timeout=20) as connection:
        data = bytearray()
        while len(data) < len(want):
            got = connection.recv(1 << 16)
            if not got:
                return 'the connection ended after %d bytes' % len(data)
            data += got
    for at in range(0, len(want), 4096):
        if data[at:at + 4096] != want[at:at + 4096]:
            return 'wrong bytes from %d on' % at
    return ''


def case(row, words, grown, want):
    """What is wrong, or nothing."""
    port = receive.setup(row)
    control = receive.Control()
    control('reset')
    before = control('csum=%d' % row['outer_csum'], 'rco=%d' % row['rco'], *words)
    before.update(receive.counters(port, row['tunnel'] != 'none'), **extended())
    address = receive.PEER if row['tunnel'] == 'none' else receive.INNER_PEER
    wrong = [stream(address, want) for _ in range(row['flows'])]
    after = control('mark')
    after.update(receive.counters(port, row['tunnel'] != 'none'), **extended())
    wrong += ['%s did not grow' % name for name in grown if after[name] <= before[name]]
    if 'rexmits' not in grown and after['timeouts'] != before['timeouts']:
        wrong.append('%d timeouts' % (after['timeouts'] - before['timeouts']))
    if row['tunnel'] != 'none':
        receive.run('ip', 'link', 'del', receive.TUNNEL)
    return [text for text in wrong if text]


def main():
    if len(sys.argv) > 1:
        print(__doc__.strip(), file=sys.stdout if sys.argv[1:] == ['--help'] else sys.stderr)
        return 0 if sys.argv[1:] == ['--help'] else 2
    once = pattern()
    want = (once * (LENGTH // len(once) + 1))[FIRST:FIRST + LENGTH]
    print('TAP version 13\n1..%d' % len(CASES), flush=True)
    failed = 0
    for number, (what, changes, words, grown) in enumerate(CASES, 1):
        wrong = case(catalogue.row(what, **changes), words, grown, want)
        for text in wrong:
            print('# ' + text)
        print('%sok %d - sender in the emulator: %s' % ('not ' if wrong else '', number, what),
              flush=True)
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""rows.py: the rows that the bench measures: how a receiver is set up, what it is sent.

usage: rows.py [--quick] KERNEL     prints the names of a kernel's rows
       rows.py --opened KERNEL      prints the kernel that is this one with its gate open

Seed S1's rows are for every kernel; what others pay and how cost grows, for the two in
FULL; the peer of a gated core is the same kernel with its gate open (OPENED).
"""
import sys

# What a row does not say.
PLAIN = {
    'driver': 'inbox',          # inbox or fork
    'flag': '',                 # private flag of the fork that is on
    'tunnel': 'vxlan',          # vxlan, geneve or none
    'port': 5766,               # of the tunnel; 5766 as in seed S3
    'outer_csum': 0,            # 1: the sender computes outer UDP checksums
    'rco': 0,                   # 1: remote checksum offload
    'gro_tunnel': 'on',         # GRO at the tunnel interface
    'mtu': 1500,                # of the port
    'flows': 1,
    'queues': 1,
    'ports': 1,                 # tunnel ports that the device knows
    'burst': 44,                # segments of a flow before the next one's turn: 64 KiB
    'mss': 0,                   # bytes of a segment at most; 0: what the receiver takes
    'gap': 0,                   # ns of silence after each of these bursts
    'inside': True,             # the flows are inside the tunnel
    'xdp': '',                  # drop: an XDP program at the port that drops all
    'udp_size': 0,              # bytes of UDP frames that come instead of TCP, with the FCS
    'udp_csum': 1,              # and whether they have a checksum
    'udp_flows': 16,
}


FULL = ('gated-5.10', 'debian13')
# What seed S1's patch was: the gate open, on the kernel that is otherwise the same.
OPENED = {'gated-5.10': 'open-5.10'}


def row(what, **changes):
    """A row and what it is called."""
    return dict(PLAIN, what=what, **changes)


FLAG = 'zero-csum-gro'
DEFER = 'zero-csum-gro-defer'


def s1(gated):
    """Seed S1's five rows, from the best to the worst, and the fork with its flag off.

    On a core that aggregates zero checksums by itself, only the fork's defer flag
    can leave the aggregation to the tunnel interface.
    """
    late = {} if gated else {'driver': 'fork', 'flag': DEFER}
    return {
        's1-rco': row('outer checksum + remote checksum offload', outer_csum=1, rco=1),
        's1-csum': row('outer checksum', outer_csum=1),
        's1-device': row('no outer checksum, GRO at the device', driver='fork', flag=FLAG),
        's1-tunnel': row('no outer checksum, GRO at the tunnel', **late),
        's1-none': row('no outer checksum, no GRO', gro_tunnel='off', **late),
        'inbox': row('no outer checksum, in-box driver as it comes'),
        'off': row('no outer checksum, fork, flag off', driver='fork'),
    }


# What others send through a port that knows a tunnel port: name, what, changes.
OTHERS = (
    ('udp64', '64-byte UDP', {'udp_size': 64}),
    ('udp1400', '1400-byte UDP, no checksum, not a tunnel', {'udp_size': 1400, 'udp_csum': 0}),
    ('tcp', 'TCP without a tunnel', {'inside': False}),
    ('outer', 'VXLAN with outer checksums', {'outer_csum': 1}),
    ('xdp', '64-byte UDP, XDP_DROP', {'udp_size': 64, 'xdp': 'drop'}),
)
# How a port receives them: the in-box driver, the fork, the fork with its flag on.
DRIVERS = {'inbox': {}, 'off': {'driver': 'fork'}, 'on': {'driver': 'fork', 'flag': FLAG}}


def others():
    """The rows about what the fork costs frames that are none of its business."""
    return {'%s-%s' % (name, driver): row(what, **dict(DRIVERS[driver], **changes))
            for name, what, changes in OTHERS for driver in DRIVERS}


# No queues: on the one processor of virtual time ixgbe has one.
# How cost grows: the chart's title, what is on its axis, which setting, its values.
GROWTH = (
    ('flows', 'connections', 'flows', (1, 8, 64)),
    ('mtu', 'MTU of the port', 'mtu', (1500, 4000, 9000)),
    ('ports', 'known tunnel ports', 'ports', (1, 4, 16)),
    ('burst', 'segments of a connection in a row, 16 connections', 'burst', (1, 8, 64)),
    ('poll', 'frames for each poll', 'burst', (1, 8, 64)),
    ('size', 'bytes of a segment', 'mss', (64, 512, 1398)),
)
# With gap, each burst is a poll of its own: the next comes when all is done.
MANY = {'burst': {'flows': 16}, 'poll': {'gap': 400000}}
# The drivers that are compared, and the row where nothing is set otherwise.
GROWN = {'inbox': 'inbox', 'on': 's1-device'}


def point(name, setting, value, driver):
    """What the row of a chart's point is called."""
    if value == PLAIN[setting] and name not in MANY:
        return GROWN[driver]
    return '%s-%d-%s' % (name, value, driver)


def growth():
    """The rows of the charts."""
    found = {}
    for name, what, setting, values in GROWTH:
        for value in values:
            for driver in GROWN:
                found.setdefault(point(name, setting, value, driver), row(
                    '%s: %d' % (what, value), **dict(DRIVERS[driver], **MANY.get(name, {}),
                                                     **{setting: value})))
    return found


# Mbit/s that the seed gives for its rows.
S1_SEED = {'s1-rco': 7527, 's1-csum': 6539, 's1-device': 6174, 's1-patch': 6174,
           's1-tunnel': 4393, 's1-none': 3613}


def rows(kernel, quick=False):
    """The rows of a kernel of the lab, by name."""
    if kernel in OPENED.values():
        return {'s1-patch': row("no outer checksum, seed S1's patch: the gate open, in-box driver",
                                kernel=kernel)}
    found = s1(kernel.startswith('gated'))
    if kernel in FULL:
        found.update(others())
        if not quick:
            found = dict(growth(), **found)
    return found


def main():
    if len(sys.argv) == 3 and sys.argv[1] == '--opened':
        print(OPENED.get(sys.argv[2], ''))
        return 0
    quick = '--quick' in sys.argv[1:]
    words = [word for word in sys.argv[1:] if word != '--quick']
    if len(words) != 1 or words[0].startswith('-'):
        print(__doc__.strip(), file=sys.stdout if words == ['--help'] else sys.stderr)
        return 0 if words == ['--help'] else 2
    print('\n'.join(rows(words[0], quick)))
    return 0


if __name__ == '__main__':
    sys.exit(main())

# SPDX-License-Identifier: GPL-2.0
"""The rows that the bench measures: what a receiver is set to, and what is sent to it."""

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
    'burst': 44,                # segments of a flow before the next one's turn: 64 KiB
}


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


# Mbit/s that the seed gives for its rows.
S1_SEED = {'s1-rco': 7527, 's1-csum': 6539, 's1-device': 6174, 's1-tunnel': 4393, 's1-none': 3613}


def rows(kernel):
    """All rows of a kernel of the lab, by name."""
    return s1(kernel.startswith('gated'))

#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""receive.py: one receiver, measured alone, row after row. Runs in a guest of the lab.

usage: receive.py [--seconds S] [--out DIR] ROW...

The sender is no program of this machine but part of the emulator (lab run --wire
peer), so that all instructions are the receiver's. ROW is a name in rows.py. Writes
DIR/ROW.json: the row, and how each figure grew while the transfer was in full swing.
Under --icount the emulator counts the instructions; without it they are 0.
"""
import argparse
import contextlib
import json
import os
import re
import socket
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import rows as catalogue  # noqa: E402

OWN, PEER = '192.168.1.2', '192.168.1.1'
OTHER_OWN, OTHER_PEER = '192.168.3.2', '192.168.3.1'
INNER_OWN, INNER_PEER = '10.0.2.2', '10.0.2.1'
TUNNEL = 'vxlan01'
CONTROL = 5520
TCP_PORT, UDP_PORT = 5001, 5002
FCS = 4
WARM_UP = 0.3


def run(*words):
    """A command's output; its failure ends the run."""
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode:
        sys.exit('receive.py: %s: %s' % (' '.join(words), done.stdout.strip()))
    return done.stdout


def wait_for(seconds, what, ready):
    """Waits for a state."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() > end:
            sys.exit('receive.py: after %s s still no %s' % (seconds, what))
        time.sleep(0.02)


def read(*path):
    with open(os.path.join(*path), encoding='ascii') as handle:
        return handle.read()


def load(driver):
    """Loads ixgbe, in-box or fork; the names of the ports that it drives."""
    if os.path.isdir('/sys/module/ixgbe'):
        run('rmmod', 'ixgbe')
    if driver == 'inbox':
        run('modprobe', 'ixgbe')
    else:
        module = os.environ.get('ZCG_MODULE')
        if not module:
            sys.exit('receive.py: no fork was built for this kernel: tests/lab/lab build %s'
                     % os.environ.get('ZCG_KERNEL', 'KERNEL'))
        for name in run('modinfo', '-F', 'depends', module).strip().split(','):
            if name:
                run('modprobe', name)
        run('insmod', module)
    base = '/sys/bus/pci/drivers/ixgbe'
    ports = []

    def both():
        ports[:] = [port for address in sorted(os.listdir(base)) if ':' in address
                    and os.path.isdir(os.path.join(base, address, 'net'))
                    for port in os.listdir(os.path.join(base, address, 'net'))]
        return len(ports) >= 2
    wait_for(10, 'ports of ixgbe', both)
    return ports


class Control:
    """What the sender is told, and its answer."""

    def __init__(self, address=PEER):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(0.5)
        self.socket.connect((address, CONTROL))

    def __call__(self, *words):
        for _ in range(10):
            self.socket.send(' '.join(words).encode())
            try:
                answer = self.socket.recv(2048).decode()
            except socket.timeout:
                continue
            return {name: int(value) for name, value in
                    (word.split('=') for word in answer.split())}
        sys.exit('receive.py: the sender does not answer: was this booted with --wire peer?')


def frames(port):
    """Frames that the driver took from its rings."""
    return int(read('/sys/class/net', port, 'statistics/rx_packets'))


def counters(port, tunnel):
    """Everything that is compared before and after."""
    value = {}
    for line in run('ethtool', '-S', port).splitlines():
        found = re.match(r' *(rx_[a-z_]+): (\d+)$', line)
        if found and 'queue' not in found.group(1):
            value[found.group(1)] = int(found.group(2))
    if tunnel:
        value['tunnel_skbs'] = frames(TUNNEL)
    lines = [line.split() for line in read('/proc/net/snmp').splitlines()]
    for head, data in zip(lines[::2], lines[1::2]):
        value.update((head[0][:-1] + name, int(number)) for name, number in zip(head[1:], data[1:]))
    cpu = [int(word) for word in read('/proc/stat').split('\n', 1)[0].split()[1:9]]
    value.update(zip(('user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal'), cpu))
    return value


def bring_up(port, address):
    """A port with an address and a link."""
    run('ip', 'addr', 'add', address + '/24', 'dev', port)
    run('ip', 'link', 'set', port, 'up')
    wait_for(20, 'link', lambda: read('/sys/class/net', port, 'carrier').strip() == '1')


def setup(row):
    """The port and the tunnel as the row has them; the port's name."""
    other, port = load(row['driver'])
    if row['xdp']:
        bring_up(other, OTHER_OWN)
    for name in ('all', 'default'):
        run('sysctl', '-qw', 'net.ipv6.conf.%s.disable_ipv6=1' % name)
    run('ethtool', '-L', port, 'combined', str(row['queues']))
    run('ip', 'link', 'set', port, 'mtu', str(row['mtu']))
    bring_up(port, OWN)
    if row['flag']:
        run('ethtool', '--set-priv-flags', port, row['flag'], 'on')
    if row['tunnel'] == 'none':
        return port
    words = ['ip', 'link', 'add', TUNNEL, 'address', '02:00:00:00:02:02', 'type', row['tunnel'],
             'id', '2', 'remote', PEER, 'dstport', str(row['port'])]
    words += ['udpcsum' if row['outer_csum'] else 'noudpcsum']
    if row['tunnel'] == 'vxlan':
        words += ['local', OWN, 'dev', port] + (['remcsumrx'] if row['rco'] else [])
    run(*words)
    for number in range(1, row['ports']):
        name = 'more%d' % number
        run('ip', 'link', 'add', name, 'type', 'vxlan', 'id', str(2 + number), 'remote', PEER,
            'dstport', str(row['port'] + number), 'noudpcsum', 'local', OWN, 'dev', port)
        run('ip', 'link', 'set', name, 'up')
    run('ethtool', '-K', TUNNEL, 'gro', row['gro_tunnel'])
    run('ip', 'addr', 'add', INNER_OWN + '/24', 'dev', TUNNEL)
    run('ip', 'link', 'set', TUNNEL, 'up')
    return port


@contextlib.contextmanager
def xdp(port, action):
    """An XDP program at the port, for as long as the one that attached it lives."""
    if not action:
        yield
        return
    program = [sys.executable, os.path.join(HERE, '..', 'selftests', 'xdp.py'), port, action]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        if holder.stdout.readline() != b'ready\n':
            sys.exit('receive.py: no XDP program could be attached to %s' % port)
        wait_for(20, 'link', lambda: read('/sys/class/net', port, 'carrier').strip() == '1')
        yield
        holder.stdin.close()


@contextlib.contextmanager
def tcp(row, sink, control):
    """Connections that are being read from."""
    control('csum=%d' % row['outer_csum'], 'rco=%d' % row['rco'], 'burst=%d' % row['burst'],
            'gap=%d' % row['gap'], 'mss=%d' % row['mss'])
    inside = row['inside'] and row['tunnel'] != 'none'
    with subprocess.Popen([sink, INNER_PEER if inside else PEER, str(TCP_PORT), str(row['flows'])],
                          stdout=subprocess.PIPE) as reader:
        try:
            if reader.stdout.readline() != b'connected\n':
                sys.exit('receive.py: the sink got no connection')
            yield
            if reader.poll() is not None:
                sys.exit('receive.py: the sink ended')
        finally:
            reader.kill()


@contextlib.contextmanager
def udp(row, control):
    """UDP frames at line rate to a socket that nobody reads, so that what is measured
    is the driver and the stack up to its full queue."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind((OWN, UDP_PORT))
        control('udp_frames=1000000000', 'udp_size=%d' % (row['udp_size'] - FCS),
                'udp_port=%d' % UDP_PORT, 'udp_csum=%d' % row['udp_csum'],
                'udp_flows=%d' % row['udp_flows'], 'udp')
        yield


def measure(row, sink, seconds, profile):
    """One row: how each figure grew."""
    port = setup(row)
    tunnel = row['tunnel'] != 'none'
    control = mark = Control()
    control('reset')
    # Who measures is never kept waiting, and its children run as everything else does.
    os.sched_setscheduler(0, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(1))
    if row['xdp']:
        # No answer passes; the clock is the same at the other port.
        mark = Control(OTHER_PEER)
        mark('mark')
    with contextlib.ExitStack() as stack:
        stack.enter_context(udp(row, control) if row['udp_size'] else tcp(row, sink, control))
        stack.enter_context(xdp(port, row['xdp']))
        time.sleep(WARM_UP)
        # The emulator's count of instructions and the sender's counters outside, which
        # under a flood are a while in coming; innermost the driver's count of frames,
        # each time with the clock at once behind it.
        before = counters(port, tunnel)
        begin = mark('mark')
        first, start = frames(port), time.monotonic_ns()
        if profile:
            run(profile)
        time.sleep(seconds)
        if profile:
            run(profile)
        last, stop = frames(port), time.monotonic_ns()
        end = mark('mark')
        after = counters(port, tunnel)
    control('reset')
    if tunnel:
        for name in [TUNNEL] + ['more%d' % number for number in range(1, row['ports'])]:
            run('ip', 'link', 'del', name)
    return {'row': row, 'module_bytes': int(read('/sys/module/ixgbe/coresize')),
            'frames': last - first, 'ns': stop - start,
            'sender': {name: end[name] - begin[name] for name in end},
            'counters': {name: after[name] - before[name] for name in after if name in before}}


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split('usage: ')[1].split('\n')[0],
                                     description=__doc__.split('\n')[0])
    parser.add_argument('--seconds', type=float, default=1)
    parser.add_argument('--out', default='/zcg-out')
    parser.add_argument('--profile', action='store_true',
                        help='mark the measured part for profile/count.c, keep /proc/kallsyms')
    parser.add_argument('row', nargs='+')
    args = parser.parse_args()
    known = catalogue.rows(os.environ.get('ZCG_KERNEL', ''))
    for name in args.row:
        if name not in known:
            parser.error('there is no row %s, only %s' % (name, ' '.join(known)))
    programs = os.path.join(HERE, '..', '..', 'build', 'bench')
    sink = os.path.join(programs, 'sink')
    profile = os.path.join(programs, 'mark') if args.profile else None
    if not os.access(sink, os.X_OK):
        sys.exit('receive.py: build/bench/sink is not there: tests/bench/bench makes it')
    with open(os.path.join(args.out, 'release'), 'w', encoding='ascii') as handle:
        handle.write(os.uname().release + '\n')
    if args.profile and len(args.row) != 1:
        parser.error('--profile takes one row')
    for name in args.row:
        result = measure(known[name], sink, args.seconds, profile)
        with open(os.path.join(args.out, name + '.json'), 'w', encoding='ascii') as handle:
            json.dump(result, handle, indent=1)
        if args.profile:
            with open(os.path.join(args.out, 'kallsyms'), 'w', encoding='ascii') as handle:
                handle.write(read('/proc/kallsyms'))
        print('row %s: %.0f Mbit/s at %.1f virtual s'
              % (name, result['sender']['acked'] * 8e3 / result['sender']['ns'],
                 time.clock_gettime(time.CLOCK_MONOTONIC)), flush=True)


if __name__ == '__main__':
    main()

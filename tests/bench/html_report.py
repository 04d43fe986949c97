# SPDX-License-Identifier: GPL-2.0
"""One page with all tables and charts, and nothing that it loads from elsewhere."""
import html
import os
import subprocess

import rows as catalogue

STYLE = '''body { font: 15px/1.5 sans-serif; max-width: 70em; margin: 2em auto; padding: 0 1em }
table { border-collapse: collapse; margin: 1em 0 } td, th { padding: .2em .7em; text-align: right;
border-bottom: 1px solid #ccc } td:first-child, th:first-child { text-align: left }
code { font-size: 85% } .bad { color: #b00 } svg { max-width: 100%; height: auto }'''


def gnuplot(script):
    """What gnuplot draws, as an SVG element."""
    done = subprocess.run(['gnuplot'], input='set terminal svg size 760,380 font "sans,13" '
                          'background "white"\n' + script, text=True, capture_output=True,
                          check=True)
    return done.stdout[done.stdout.index('<svg'):]


def bars(title, unit, lines):
    """A horizontal bar for each (name, figure)."""
    data = '\n'.join('%d %f "%s"' % (i, figure, name) for i, (name, figure) in enumerate(lines))
    most = max(figure for _, figure in lines)
    return gnuplot('''$data << END
%s
END
set title "%s"
set xlabel "%s"
set style fill solid
set yrange [%f:-0.6]
set xrange [0:%f]
set grid xtics
unset key
plot $data using ($2/2):1:($2/2):(0.4):ytic(3) with boxxyerror lc rgb "#4477aa", \\
     "" using 2:1:(sprintf(" %%.0f", $2)) with labels left
''' % (data, title, unit, len(lines) - 0.4, 1.2 * most))


def lines_chart(title, label, series):
    """A line for each name: [(x, y)]."""
    blocks = ''.join('$d%d << END\n%s\nEND\n' % (i, '\n'.join('%d %f' % point for point in points))
                     for i, (_, points) in enumerate(series))
    return blocks and gnuplot(blocks + '''set title "%s"
set xlabel "%s"
set ylabel "instructions per KiB"
set yrange [0:*]
set logscale x 2
set grid
set key outside
plot %s
''' % (title, label, ', '.join('$d%d with linespoints lw 2 pt 7 title "%s"' % (i, name)
                               for i, (name, _) in enumerate(series))))


def table(head, lines):
    def cells(kind, words):
        return '<tr>' + ''.join('<%s>%s</%s>' % (kind, html.escape(str(word)), kind)
                                for word in words) + '</tr>'
    return '<table>' + cells('th', head) + ''.join(cells('td', line) for line in lines) + '</table>'


def kernel_part(kernel, release, rows):
    """A kernel's tables and charts."""
    part = ['<h2>%s, Linux %s</h2>' % (html.escape(kernel), html.escape(release))]
    s1 = [name for name in list(catalogue.S1_SEED) + ['inbox', 'off'] if name in rows]
    last = rows['s1-none']['figures']['mbps']
    part.append(table(
        ['One TCP connection over VXLAN', 'driver', 'Mbit/s', 'instructions/KiB', 'RX softirq',
         'segments/skb device', 'tunnel', 'ratio', 'seed ratio'],
        [[rows[n]['row']['what'], rows[n]['row']['driver'] + ' ' + rows[n]['row']['flag'],
          '%.0f' % rows[n]['figures']['mbps'], '%.0f' % rows[n]['figures']['per_kib'],
          '%.0f %%' % (100 * rows[n]['figures']['softirq']),
          '%.1f' % rows[n]['figures']['segs_device'], '%.1f' % rows[n]['figures']['segs_tunnel'],
          '%.2f' % (rows[n]['figures']['mbps'] / last),
          '%.2f' % (catalogue.S1_SEED[n] / catalogue.S1_SEED['s1-none'])
          if n in catalogue.S1_SEED else '-'] for n in s1]))
    part.append(bars('One TCP connection over VXLAN', 'Mbit/s per virtual second, receiver alone',
                     [(rows[n]['row']['what'], rows[n]['figures']['mbps']) for n in s1]))
    if 'udp64-on' in rows:
        part.append(table(
            ['Instructions per frame', 'in-box', 'fork, off', 'fork, on'],
            [[what] + ['%.1f' % rows['%s-%s' % (name, kind)]['figures']['per_frame']
                       for kind in catalogue.DRIVERS] for name, what, _ in catalogue.OTHERS]))
    for name, label, setting, values in catalogue.GROWTH:
        series = []
        for kind in catalogue.GROWN:
            points = [(value, catalogue.point(name, setting, value, kind)) for value in values]
            series.append((kind, [(value, rows[key]['figures']['per_kib'])
                                  for value, key in points if key in rows]))
        if len(series[0][1]) == len(values):
            part.append(lines_chart('How cost grows: ' + name, label, series))
    part.append('<details><summary>Commands</summary><p>' + '<br>'.join(
        '%s: <code>%s</code>' % (html.escape(name), html.escape(row['command']))
        for name, row in rows.items()) + '</p></details>')
    return part


def write(folder, results, limits, memory):
    """The page's path."""
    kernels = {}
    for result in results:
        kernels.setdefault((result['kernel'], result['release']), {})[result['name']] = result
    page = ['<!DOCTYPE html><meta charset="utf-8"><title>ixgbe-zcg: what receiving costs</title>',
            '<style>%s</style><h1>What receiving costs</h1>' % STYLE,
            '<p>Virtual time: one nanosecond is one guest instruction. The sender is in the '
            'emulator, so all instructions are the receiver\'s. Ratios count; the figures are no '
            'claim about a particular machine.</p>']
    for (kernel, release), rows in kernels.items():
        page += kernel_part(kernel, release, rows)
    page.append('<h2>Memory</h2>' + table(
        ['kernel', 'module, bytes: in-box', 'fork', 'more', 'each port', 'each queue'], memory))
    page.append('<h2>Limits</h2>' + ''.join(
        '<div%s>%s</div>' % (' class="bad"' if line.startswith('not ok') else '', html.escape(line))
        for line in limits))
    path = os.path.join(folder, 'report.html')
    with open(path, 'w', encoding='utf-8') as handle:
        handle.write('\n'.join(page) + '\n')
    return path

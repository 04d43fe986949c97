#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Seed S3 in one guest, one row of the demo after the other: two ports, one queue
# each, VXLAN id 2 on UDP port 5766, one iperf3 TCP flow. Runs in virtual time:
# one nanosecond is one guest instruction, so time that the CPU was not idle is
# the number of instructions that it executed.
#
# For each row writes $OUT/ROW.json (what iperf3 says) and $OUT/ROW.tsv: one
# counter per line, its growth while iperf3 ran.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage()
{
	cat <<-END
	usage: s3.sh [--seconds N] [--out DIR] ROW...
	ROW is one of
	  a  in-box driver, no GRO at the VXLAN interface
	  b  in-box driver, GRO at the VXLAN interface
	  c  fork, zero-csum-gro off, GRO at the VXLAN interface
	  d  fork, zero-csum-gro on, GRO at the VXLAN interface
	  e  fork, zero-csum-gro on, no GRO at the VXLAN interface
	  f  in-box driver, outer UDP checksums sent, GRO at the VXLAN interface
	END
}

seconds=2
out=/zcg-out
rows=()
while [ $# -gt 0 ]; do
	case $1 in
	--help) usage; exit 0 ;;
	--seconds) seconds=${2:?--seconds wants a number}; shift ;;
	--out) out=${2:?--out wants a folder}; shift ;;
	[a-f]) rows+=("$1") ;;
	*) usage >&2; exit 2 ;;
	esac
	shift
done
[ ${#rows[@]} -gt 0 ] || { usage >&2; exit 2; }

# shellcheck source=tests/selftests/lib.sh
. "$here/../selftests/lib.sh"
mkdir -p "$out"

# The virtual clock, and how long of it the CPU was idle (which user space sees in
# units of 10 ms).
clocks()
{
	echo "virtual_ns ${EPOCHREALTIME/./}000"
	awk '$1 == "cpu" { print "idle_ns", ($5 + $6) * 10000000 }' /proc/stat
}

counters()
{
	local name
	for name in rx_packets rx_bytes rx_missed_errors rx_no_dma_resources \
		rx_zcg_seen rx_zcg_verified rx_zcg_outer_gro_off rx_zcg_inner_bad rx_zcg_malformed; do
		echo "$name $(rx_stat $name || echo -)"
	done
	echo "skbs $(link_rx_packets $NS_RX $VX_DEV)"
	rx nstat -asz IpInReceives TcpInSegs TcpInCsumErrors | awk '/^[A-Z]/ { print $1, $2 }'
	tx nstat -asz TcpRetransSegs | awk '/^[A-Z]/ { print $1, $2 }'
}

# Growth of every counter from one snapshot to the next; a counter that is not
# there is said to be so.
growth()  # before after
{
	paste "$1" "$2" | awk '{ print $1 "\t" ($2 == "-" || $4 == "-" ? "-" : sprintf("%.0f", $4 - $2)) }'
}

run_row()
{
	local row=$1 driver=inbox flag="" gro=on csum=noudpcsum
	case $row in
	a) gro=off ;;
	b) ;;
	c) driver=fork flag=off ;;
	d) driver=fork flag=on ;;
	e) driver=fork flag=on gro=off ;;
	f) csum=udpcsum ;;
	esac

	load $driver
	hosts_up 1
	if [ -n "$flag" ]; then
		tx ethtool --set-priv-flags "$PEER" $FLAG $flag
		rx ethtool --set-priv-flags "$NETIF" $FLAG $flag
	fi
	tunnel_up $csum
	tx ethtool -K $VX_DEV gro $gro
	rx ethtool -K $VX_DEV gro $gro

	# The receiver runs as soon as there is something to receive, as it would on a
	# host of its own. Left to the scheduler, the flow falls into one of two modes
	# that differ by 7 %, whatever the driver.
	rx chrt -f 1 iperf3 -s -1 > "$ZCG_TMP/server" 2>&1 &
	local server=$!
	wait_for 5 listening || die "iperf3 does not listen"
	# The clocks innermost, so that reading counters is not measured.
	{ counters; clocks; } > "$ZCG_TMP/before"
	tx iperf3 -c $INNER_RX -t "$seconds" -J > "$out/$row.json"
	clocks > "$ZCG_TMP/clocks"
	{ counters; cat "$ZCG_TMP/clocks"; } > "$ZCG_TMP/after"
	wait $server
	growth "$ZCG_TMP/before" "$ZCG_TMP/after" > "$out/$row.tsv"
	hosts_down
	echo "row $row done at $(cut -d' ' -f1 /proc/uptime) virtual s"
}

listening() { rx ss -Hltn 'sport = :5201' | grep -q .; }

uname -r > "$out/release"
for row in "${rows[@]}"; do
	run_row "$row"
done

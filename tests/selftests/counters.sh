#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The fork's counters in ethtool -S: which there are, that they are the port's and the
# queue's where the frame came in, that they add up, and that nothing resets them. What
# each of them counts is tested frame by frame in claims.sh.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

REASONS=(verified outer_proto outer_fragment outer_remcsum outer_gro_off inner_bad malformed
	unknown_port deferred)

names() { rx ethtool -S "$NETIF" | sed -n 's/^ *\([^:]*\): [0-9]*$/\1/p'; }

zcg() { rx ethtool -S "$NETIF" | sed -n 's/^ *\(rx_[a-z0-9_]*zcg_[a-z_]*: [0-9]*\)$/\1/p'; }

# rx_zcg_* for the port and rx_queue_N_zcg_* for each N of an rx_queue_N_packets.
all_names()
{
	local have want name queue
	have=$(names)
	want=$({
		for name in seen "${REASONS[@]}"; do
			echo "rx_zcg_$name"
		done
		while read -r queue; do
			for name in seen "${REASONS[@]}"; do
				echo "${queue}_zcg_$name"
			done
		done < <(sed -n 's/^\(rx_queue_[0-9]*\)_packets$/\1/p' <<< "$have")
	} | sort)
	[ "$(grep -c '^rx_queue_[0-9]*_packets$' <<< "$have")" -ge 2 ] || { echo "no queues"; return 1; }
	[ -z "$(sort <<< "$have" | uniq -d)" ] || { echo "a name is there twice"; return 1; }
	echo "$(wc -l <<< "$want") counters of $(wc -l <<< "$have")"
	same "$want" "$(grep zcg_ <<< "$have" | sort)"
}

# The in-box lines are those of the in-box driver, and in front of ours.
inbox_first()
{
	names | awk '/zcg_/ { ours = 1; next } ours { print "behind ours: " $0; wrong = 1 } END { exit wrong || !ours }' &&
		same "$inbox_names" "$(names | grep -v zcg_)"
}

# One value per name whatever the number of channels, up and down.
whole_table()
{
	local before
	before=$(names)
	rx ethtool -L "$NETIF" combined 2 && same "$before" "$(names)" || return 1
	ip -n $NS_RX link set "$NETIF" down
	same "$before" "$(names)" && rx ethtool -L "$NETIF" combined 1 && same "$before" "$(names)" || return 1
	ip -n $NS_RX link set "$NETIF" up
	link_again && same "$before" "$(names)"
}

link_again()
{
	wait_for 20 has_link $NS_RX "$NETIF" && wait_for 20 has_link $NS_TX "$PEER" &&
		wait_for 10 tx ping -c 1 -W 1 $INNER_RX
}

# Counts of a queue must be there before, and the same or more afterwards; nobody is
# quiet enough on a network to ask for the same.
keeps()
{
	local before after
	before=$(zcg)
	awk '$2 > 0 { n++ } END { exit n < 4 }' <<< "$before" || { echo "too little counted: $before"; return 1; }
	"$@" || { echo "failed: $*"; return 1; }
	after=$(zcg)
	paste <(echo "$before") <(echo "$after") | awk '$4 < $2 { print; fell = 1 } END { exit fell }' || return 1
	link_again && counters_add_up "$NETIF"
}

down_up()
{
	ip -n $NS_RX link set "$NETIF" down
	zcg | awk '$2 > 0 { n++ } END { exit n < 4 }' || { echo "gone while down"; return 1; }
	ip -n $NS_RX link set "$NETIF" up
}

mtu() { ip -n $NS_RX link set "$NETIF" mtu 9000 && link_again && ip -n $NS_RX link set "$NETIF" mtu 1500; }
one_and_two() { rx ethtool -L "$NETIF" combined 1 && link_again && rx ethtool -L "$NETIF" combined 2; }
self_test() { rx ethtool -t "$NETIF" offline > /dev/null; }

# Flows over two queues: each queue counts its own. The hash places each by its ports;
# with eight, one run in 128 had them all in one queue.
both_queues()
{
	local q before after
	before=$(zcg)
	traffic tcp --mbytes 1 --flows 32 || return 1
	after=$(zcg)
	for q in 0 1; do
		paste <(echo "$before") <(echo "$after") |
			awk -v name="rx_queue_${q}_zcg_verified:" '$1 == name { n = $4 - $2 } END { print name, n; exit !(n > 100) }' || return 1
	done
}

# A queue's count is at most its packets.
not_more_than_packets()
{
	rx ethtool -S "$NETIF" | awk '
		$1 ~ /^rx_queue_[0-9]+_packets:/ { packets[substr($1, 1, index($1, "_packets") - 1)] = $2 }
		$1 ~ /^rx_queue_[0-9]+_zcg_seen:/ { seen[substr($1, 1, index($1, "_zcg") - 1)] = $2 }
		END { for (q in seen) { if (seen[q] > packets[q]) { print q, seen[q], packets[q]; wrong = 1 } if (seen[q]) n++ }
			print n, "queues counted"; exit wrong || n < 2 }'
}

# In each of 20 readings under traffic all sums hold: they are made from one reading.
adds_up_under_traffic()
{
	local stop=$ZCG_TMP/stop ready=$ZCG_TMP/ready pid i rc=0 first last
	rm -f "$stop" "$ready"
	traffic tcp --flows 4 --until "$stop" --ready "$ready" > "$ZCG_TMP/tcp" 2>&1 &
	pid=$!
	wait_for 10 test -e "$ready" || rc=1
	first=$(rx_stat rx_zcg_seen)
	for i in $(seq 20); do
		counters_add_up "$NETIF" || { echo "reading $i"; rc=1; }
	done
	last=$(rx_stat rx_zcg_seen)
	touch "$stop"
	wait $pid || { cat "$ZCG_TMP/tcp"; rc=1; }
	echo "rx_zcg_seen went from $first to $last meanwhile"
	[ "$last" -gt "$first" ] && return $rc
}

# The other way round: a sum that is wrong is noticed.
notices()
{
	local real
	real=$(zcg)
	(
		rx() { awk '$1 == "rx_queue_1_zcg_verified:" { $2++ } { print }' <<< "$real"; }
		! counters_add_up "$NETIF"
	)
}

ktap_start 15
mark_log
load inbox
hosts_up 1
inbox_names=$(names)
hosts_down
load fork
hosts_up 1
tunnel_up noudpcsum
check "every reason has a counter for the port and for each queue" all_names
check "they follow the in-box driver's, which are all there" inbox_first
check "names and values are as many, up and down, with one channel and two" whole_table

set_flag on
rx ethtool -L "$NETIF" combined 2
rx ethtool -N "$NETIF" rx-flow-hash udp4 sdfn
link_again
check "each queue counts its own frames" both_queues
check "no queue counts more than it received" not_more_than_packets
check "the sums hold in every reading under traffic" adds_up_under_traffic
check "a wrong sum would be noticed" notices
check "kept over down and up, and readable while down" keeps down_up
check "kept over MTU 9000 and back" keeps mtu
check "kept over ethtool -L" keeps one_and_two
check "kept over ethtool -r" keeps rx ethtool -r "$NETIF"
check "kept over an offline self-test" keeps self_test
set_flag off
check "kept with the flag off" keeps true
check "the sums hold" counters_add_up "$NETIF"
check "kernel log clean" log_clean
ktap_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: moderation.sh    (tests/lab/lab run --icount KERNEL -- tests/x520/test/moderation.sh)
# Interrupt moderation (EITR) on the virtual clock: a frame arrives every 20 us
# and `ethtool -C rx-usecs` says how often the receiver may be interrupted.

set -euo pipefail
# shellcheck source=tests/x520/test/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

EVERY=20        # us between frames
FRAMES=4000

interrupts() { awk -v dev="$NETIF-TxRx" 'index($NF, dev) == 1 { for (i = 2; $i ~ /^[0-9]+$/; i++) n += $i }
	END { print n + 0 }' /proc/interrupts; }

# measure USECS: sets RATE, the receiver's interrupts per second.
measure()
{
	local before after
	rx ethtool -C "$NETIF" rx-usecs "$1" || return 1
	# 0 resets the port, since it does without RSC then.
	wait_for 20 tx ping -c 1 -W 1 "$OUTER_RX" || return 1
	before=$(interrupts)
	pktgen $FRAMES $((EVERY * 1000)) 200 || return 1
	after=$(interrupts)
	RATE=$(((after - before) * 1000000 / PG_USEC))
	echo "rx-usecs $1: $((after - before)) interrupts in $PG_USEC us, $RATE per second"
}

# between USECS LEAST MOST
between()
{
	measure "$1" && [ "$RATE" -ge "$2" ] && [ "$RATE" -le "$3" ]
}

ktap_start 9
mark
load inbox
hosts_up 1
silence
neighbours
began=$(rx cat "/sys/class/net/$NETIF/statistics/rx_packets")
# With an interval longer than the frames' distance the limit is reached, but
# for what a frame has to wait after the interval; with a shorter one, each
# frame brings its interrupt.
check "rx-usecs 200: at most 5000 per second" between 200 4300 5050
check "rx-usecs 100: at most 10,000 per second" between 100 8000 10100
check "rx-usecs 50: at most 20,000 per second" between 50 14000 20200
check "rx-usecs 10: one per frame" between 10 40000 51000
check "rx-usecs 0: one per frame" between 0 40000 51000
check "rx-usecs 100 again" between 100 8000 10100
all_arrived()
{
	local n
	n=$(($(rx cat "/sys/class/net/$NETIF/statistics/rx_packets") - began))
	echo "$n frames"
	[ $n -ge $((6 * FRAMES)) ]
}
check "no frame was lost meanwhile" all_arrived

# More than the receiver can take, since it is interrupted once per millisecond
# only. Pause frames hold the sender, and in virtual time none comes late.
paused()
{
	local got missed xoff
	rx ethtool -G "$NETIF" rx 64 && rx ethtool -C "$NETIF" rx-usecs 1000 || return 1
	wait_for 20 tx ping -c 1 -W 1 "$OUTER_RX" || return 1
	snapshot "$NS_RX" "$NETIF" "$ZCG_TMP/before"
	tx python3 "$HERE/packet.py" flood "$PEER" 50 "$(rx cat "/sys/class/net/$NETIF/address")" || return 1
	wait_for 5 came_to_rest || return 1
	got=$(grown rx_packets) missed=$(grown rx_missed_errors) xoff=$(grown tx_flow_control_xoff)
	echo "sent 2000, received $got, missed $missed, $xoff times XOFF"
	[ "$got" = 2000 ] && [ "$missed" = 0 ] && [ "$xoff" -gt 0 ]
}

came_to_rest()
{
	snapshot "$NS_RX" "$NETIF" "$ZCG_TMP/was" && sleep 0.05 &&
		snapshot "$NS_RX" "$NETIF" "$ZCG_TMP/after" && cmp "$ZCG_TMP/was" "$ZCG_TMP/after"
}

grown()
{
	awk -v want="$1" '$1 == want { v[FILENAME] = $2 } END { print v[ARGV[2]] - v[ARGV[1]] }' \
		"$ZCG_TMP/before" "$ZCG_TMP/after"
}

check "overload with flow control loses nothing" paused
check "nothing of level warning in the log" quiet_log
ktap_done

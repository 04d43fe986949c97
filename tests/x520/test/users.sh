#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: users.sh    (in a guest: tests/lab/lab run KERNEL -- tests/x520/test/users.sh)
# What users of the card do that no other test of the model does, under the
# in-box ixgbe: traffic classes, XDP, AF_XDP, legacy-rx, PTP, resets.

set -euo pipefail
# shellcheck source=tests/x520/test/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

both_up() { wait_for 60 has_link "$NS_TX" "$PEER" && wait_for 60 has_link "$NS_RX" "$NETIF"; }
answers() { wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX"; }
usable() { both_up && answers; }

# --- queues -------------------------------------------------------------------------

queue_packets() { nic_stat "$NS_RX" "$NETIF" "rx_queue_$1_packets"; }

# All of the table to one queue, to the other, and back to both. Without the filters
# that the driver makes for its own flows, which come before the table.
indirection()
{
	local q before other
	rx ethtool -K "$NETIF" ntuple on && usable || return 1
	for q in 0 1; do
		rx ethtool -X "$NETIF" weight $((1 - q)) $q || return 1
		before=$(queue_packets $q) other=$(queue_packets $((1 - q)))
		stream "$OUTER_RX" 500000 forth 4 || return 1
		echo "weight $((1 - q)) $q: $(($(queue_packets $q) - before)) frames there," \
			"$(($(queue_packets $((1 - q))) - other)) elsewhere"
		[ $(($(queue_packets $q) - before)) -gt 300 ] &&
			[ $(($(queue_packets $((1 - q))) - other)) -lt 50 ] || return 1
	done
	rx ethtool -X "$NETIF" default && rx ethtool -K "$NETIF" ntuple off && usable
}

# --- traffic classes -----------------------------------------------------------------

# classes 4|8: DCB with so many, two or one priorities in each. Frames tagged with
# a priority come to the queues of its class and to no other.
classes()
{
	local n=$1 p map='' q before after
	for p in 0 1 2 3 4 5 6 7; do map+=" $p:$((p * n / 8))"; done
	rx dcb dcbx set dev "$NETIF" host ieee || return 1
	# shellcheck disable=SC2086 # a list
	rx dcb ets set dev "$NETIF" willing off prio-tc $map || return 1
	usable || return 1
	for p in 0 1 3 4 7; do
		before=$(all_queues)
		tx python3 "$HERE/packet.py" groups "$PEER" 20 "$MAC_RX,$((p << 13))" || return 1
		wait_for 60 grew_by 20 "$before" || true
		after=$(all_queues)
		q=$(paste -d ' ' <(echo "$before") <(echo "$after") | awk '$4 - $2 >= 20 { print $1 }')
		echo "priority $p: queue ${q:-none}"
		[ -n "$q" ] && QUEUES_OF+=([$p]=$q) || return 1
	done
	stream "$OUTER_RX" 1000000 && stream "$OUTER_TX" 500000 reverse
}

all_queues()
{
	rx ethtool -S "$NETIF" | awk -F'[_: ]+' '/rx_queue_[0-9]+_packets/ { print $4, $6 }'
}

grew_by() { [ "$(all_queues | awk '{ n += $2 } END { print n }')" -ge $(($(awk '{ n += $2 } END { print n }' <<< "$2") + $1)) ]; }

# What they are is the driver's business; that they differ where the classes do, is
# the card's.
four()
{
	QUEUES_OF=()
	classes 4 && [ "${QUEUES_OF[0]}" = "${QUEUES_OF[1]}" ] && [ "${QUEUES_OF[1]}" != "${QUEUES_OF[3]}" ] &&
		[ "${QUEUES_OF[3]}" != "${QUEUES_OF[4]}" ] && [ "${QUEUES_OF[4]}" != "${QUEUES_OF[7]}" ]
}

eight()
{
	QUEUES_OF=()
	classes 8 && [ "$(printf '%s\n' "${QUEUES_OF[@]}" | sort -u | wc -l)" = 5 ]
}

one()
{
	rx dcb ets set dev "$NETIF" prio-tc all:0 && usable && stream "$OUTER_RX" 500000
}

dcb_check()
{
	if command -v dcb > /dev/null; then check "$@"; else skip "$1" "iproute2 without dcb"; fi
}

# --- XDP ------------------------------------------------------------------------------

xdp_pass()
{
	xdp_on rx "$NETIF" pass && both_up && answers && stream "$OUTER_RX" 1000000 && xdp_off
}

# Frames come to the card, and no further.
xdp_drop()
{
	local before
	xdp_on rx "$NETIF" drop && both_up || return 1
	before=$(rx_stat rx_pkts_nic)
	! tx ping -q -c 5 -i 0.1 -W 1 "$OUTER_RX" > /dev/null || { echo "ping is answered"; return 1; }
	wait_for 60 eval "[ \$(rx_stat rx_pkts_nic) -ge $((before + 5)) ]" && xdp_off && both_up && answers
}

peer_got() { [ "$(nic_stat "$NS_TX" "$PEER" rx_pkts_nic)" -ge $((PEER_BEFORE + $1)) ]; }

# back MODE [MORE]: 200 frames are sent back where they came from.
back()
{
	local rc=0
	xdp_on rx "$NETIF" "$@" && both_up || rc=1
	ip -n "$NS_TX" link set "$PEER" promisc on
	PEER_BEFORE=$(nic_stat "$NS_TX" "$PEER" rx_pkts_nic)
	[ $rc = 1 ] || tx python3 "$HERE/packet.py" send "$PEER" plain 200 "dst=$MAC_RX" || rc=1
	wait_for 60 peer_got 200 || rc=1
	echo "$(($(nic_stat "$NS_TX" "$PEER" rx_pkts_nic) - PEER_BEFORE)) of 200 came back"
	ip -n "$NS_TX" link set "$PEER" promisc off
	return $rc
}

send_back() { back "$@" && xdp_off && both_up && answers; }

# By a socket that gets them without a copy, and knows them.
af_xdp()
{
	local rc=0
	rx ethtool -L "$NETIF" combined 1 && usable || return 1
	if back echo "x520 test frame "; then
		echo >&"$xdp_stop"
		wait_for 60 grep -q received "$ZCG_TMP/xdp" || rc=1
	else
		rc=1
	fi
	cat "$ZCG_TMP/xdp"
	[ "$(sed -n 's/^received .*, \([0-9]*\) as expected$/\1/p' "$ZCG_TMP/xdp" | grep . || echo 0)" -ge 190 ] || rc=1
	xdp_off && [ "$xdp_status" = 0 ] || rc=1
	both_up && rx ethtool -L "$NETIF" combined 2 && usable && return $rc
}

# --- the rest ---------------------------------------------------------------------------

legacy_rx()
{
	rx ethtool --set-priv-flags "$NETIF" legacy-rx on && usable && stream "$OUTER_RX" 2000000 &&
		mtu 9000 && stream "$OUTER_RX" 2000000 && mtu 1500 &&
		rx ethtool --set-priv-flags "$NETIF" legacy-rx off && usable && stream "$OUTER_RX" 1000000
}

identify()
{
	timeout 60 ip netns exec "$NS_RX" ethtool -p "$NETIF" 1
}

online_test()
{
	rx ethtool -t "$NETIF" online | tee "$ZCG_TMP/online" | tail -n 6
	grep -q 'result is PASS' "$ZCG_TMP/online" && answers
}

# ptp4l at both ends: the slave's offset from its master.
ptp()
{
	local master slave n
	tx ptp4l -2 -m -i "$PEER" --priority1 10 > "$ZCG_TMP/master" 2>&1 &
	master=$!
	rx ptp4l -2 -m -s -i "$NETIF" > "$ZCG_TMP/slave" 2>&1 &
	slave=$!
	wait_for 300 eval "[ \$(grep -c ' s2 ' $ZCG_TMP/slave) -ge 5 ]" || true
	kill $master $slave 2> /dev/null || true
	wait $master $slave 2> /dev/null || true
	tail -n 8 "$ZCG_TMP/slave"
	n=$(awk '/ s2 / { for (i = 1; i < NF; i++) if ($i == "offset") v = $(i + 1) } END { print v }' "$ZCG_TMP/slave")
	[ -n "$n" ] && [ "${n#-}" -lt 20000 ]
}

device_of() { readlink -f "/sys/class/net/$1/device"; }

# Function-level reset under a driver that was told, and D3hot and back.
reset()
{
	echo 1 > "$PORT/reset" && ip -n "$NS_RX" link set "$NETIF" down && ip -n "$NS_RX" link set "$NETIF" up && usable &&
		stream "$OUTER_RX" 500000
}

suspend()
{
	grep -qw devices /sys/power/pm_test 2> /dev/null || { echo "no /sys/power/pm_test"; return 1; }
	echo devices > /sys/power/pm_test && echo freeze > /sys/power/state && usable && stream "$OUTER_RX" 500000
}

# Taken away under traffic, found again.
removed()
{
	local flood dev
	tx ping -q -f -w 5 "$OUTER_RX" > /dev/null 2>&1 &
	flood=$!
	echo 1 > "$PORT/remove" || return 1
	wait $flood || true
	[ ! -e "$PORT" ] && echo 1 > /sys/bus/pci/rescan || return 1
	wait_for 60 test -e "$PORT/net" || { echo "no interface below $PORT"; return 1; }
	dev=$(ls "$PORT/net")
	ip link set "$dev" name "$NETIF" 2> /dev/null || [ "$dev" = "$NETIF" ] || return 1
	dev=$NETIF
	ip link set "$dev" netns "$NS_RX" && ip -n "$NS_RX" addr add "$OUTER_RX/24" dev "$dev" &&
		ip -n "$NS_RX" link set "$dev" up && usable && stream "$OUTER_RX" 500000
}

ktap_start 17
mark
load inbox
find_ports
PORT=$(device_of "$NETIF")
hosts_up 2
MAC_RX=$(rx cat "/sys/class/net/$NETIF/address")
declare -A QUEUES_OF=()
check "ethtool -X: all to one queue, to the other" indirection
check "ethtool -p" identify
check "ethtool -t online" online_test
check "legacy-rx, MTU 1500 and 9000" legacy_rx
dcb_check "DCB, four classes" four
dcb_check "DCB, eight classes" eight
dcb_check "one class again" one
check "XDP_PASS" xdp_pass
check "XDP_DROP" xdp_drop
check "XDP_TX" send_back tx
check "XDP_REDIRECT" send_back redirect
check "AF_XDP, zero-copy, both ways" af_xdp
if command -v ptp4l > /dev/null; then check "ptp4l: the clocks of the ports agree" ptp; else
	skip "ptp4l: the clocks of the ports agree" "no ptp4l here"
fi
check "PCI reset" reset
check "suspend to D3 and back" suspend
check "removed under traffic, found again" removed
check "nothing bad in the log" log_clean
ktap_done

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the model's guest tests share beyond tests/selftests/lib.sh, whose
# picture of two ports in two namespaces they use. The driver is always the
# kernel's own ixgbe.

HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/selftests/lib.sh
. "$HERE/../../selftests/lib.sh"

case ${1:-} in
"") ;;
--help) sed -n '/^# usage:/,/^$/s/^# \{0,1\}//p' "$0"; exit 0 ;;
*) echo "${0##*/}: no argument is expected; see --help" >&2; exit 2 ;;
esac

TRACE=/sys/kernel/tracing
# shellcheck disable=SC2034 # for the tests
OUTER6_TX=fd00:1::1
# shellcheck disable=SC2034 # for the tests
OUTER6_RX=fd00:1::2

# --- traffic --------------------------------------------------------------------

# No IPv6 chatter of the kernel's own on a port, so that frames can be counted.
silence()
{
	tx sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	rx sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
}

# Neighbours by hand: no ARP.
neighbours()
{
	local mac_tx mac_rx
	mac_tx=$(tx cat "/sys/class/net/$PEER/address")
	mac_rx=$(rx cat "/sys/class/net/$NETIF/address")
	ip -n "$NS_TX" neigh replace "$OUTER_RX" lladdr "$mac_rx" dev "$PEER" nud permanent
	ip -n "$NS_RX" neigh replace "$OUTER_TX" lladdr "$mac_tx" dev "$NETIF" nud permanent
}

listens() { ip netns exec "$1" ss -Hltn "sport = :$2" | grep -q .; }

# stream ADDR BYTES [forth|reverse [FLOWS]]: TCP from tx to rx (or back) whose
# SHA-256 must agree at both ends.
stream()
{
	local addr=$1 bytes=$2 flows=${4:-1} from=$NS_TX to=$NS_RX got sent pid
	[ "${3:-}" != reverse ] || { from=$NS_RX; to=$NS_TX; }
	rm -f "$ZCG_TMP/recv"	# its "ready" must be this one's
	ip netns exec "$to" timeout 300 python3 "$HERE/stream.py" recv 5555 "$flows" > "$ZCG_TMP/recv" &
	pid=$!
	wait_for 60 grep -q ready "$ZCG_TMP/recv" || return 1
	sent=$(ip netns exec "$from" timeout 300 python3 "$HERE/stream.py" send "$addr" 5555 "$bytes" "$flows")
	wait $pid
	got=$(tail -n 1 "$ZCG_TMP/recv")
	if [ "$got" != "$sent" ] || [ -z "$sent" ]; then
		echo "sent $sent, received $got"
		return 1
	fi
}

# iperf ADDR [iperf3 options]: server on rx, client on tx, one second; prints
# Mbit/s (which without --icount says more about the host than about anything).
iperf()
{
	local out
	if ! listens "$NS_RX" 5201; then
		rx iperf3 -s -D > /dev/null
		wait_for 60 listens "$NS_RX" 5201 || return 1
	fi
	out=$(tx timeout 120 iperf3 -t 1 -J -c "$@") || { echo "$out" | tail -n 5; return 1; }
	python3 -c '
import json, sys
end = json.load(sys.stdin)["end"]
sent, got = end["sum_sent"], end["sum_received"]
print("%d bytes sent, %d received, %d Mbit/s, %d retransmits" % (sent["bytes"], got["bytes"],
      got["bits_per_second"] / 1e6, sent.get("retransmits", 0)))
sys.exit(got["bytes"] < 500000)' <<< "$out"
}

# The MTU of both ports, and back on speaking terms.
mtu()
{
	ip -n "$NS_TX" link set "$PEER" mtu "$1" && ip -n "$NS_RX" link set "$NETIF" mtu "$1" || return 1
	wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX"
}

# --- what the stack hands to a port -----------------------------------------------

# count_gso PORT COMMAND...: runs it, then prints how many segmented packets
# (gso_size > 0) the stack left to the device.
count_gso()
{
	local port=$1 rc=0 event=$TRACE/events/net/net_dev_start_xmit
	shift
	mountpoint -q $TRACE || mount -t tracefs tracefs $TRACE
	echo 8192 > $TRACE/buffer_size_kb
	echo > $TRACE/trace
	echo "name == \"$port\" && gso_size > 0" > $event/filter
	echo 1 > $event/enable
	"$@" || rc=$?
	echo 0 > $event/enable
	GSO=$(grep -c net_dev_start_xmit: $TRACE/trace || true)
	echo "$GSO packets for the device to segment"
	return $rc
}

# with_tso PORT COMMAND..., without_tso PORT COMMAND...: the command must work,
# and the device must (not) have been asked to segment.
with_tso() { count_gso "$@" && [ "$GSO" -gt 0 ]; }
without_tso() { count_gso "$@" && [ "$GSO" -eq 0 ]; }

# --- counters -------------------------------------------------------------------

# snapshot NAMESPACE DEV FILE: ethtool -S as "name value" lines.
snapshot()
{
	ip netns exec "$1" ethtool -S "$2" | awk -F: 'NF == 2 && $2 != "" {
		gsub(/[ \t]/, "", $1); print $1, $2 + 0 }' > "$3"
}

# The kernel said nothing of level warning or worse about our ports since mark.
quiet_log()
{
	local bad
	if ! log_clean; then
		dmesg | grep -B 20 -A 20 -m 1 'Tx Unit Hang' || true
		return 1
	fi
	bad=$(dmesg --level emerg,alert,crit,err,warn | tail -n +$(($(cat "$ZCG_TMP/warned") + 1)) |
		grep -iE 'ixgbe|0000:|eth[0-9]|enp' || true)
	[ -z "$bad" ] || { echo "$bad"; return 1; }
}

mark()
{
	mark_log
	dmesg --level emerg,alert,crit,err,warn | wc -l > "$ZCG_TMP/warned"
}

# --- pktgen: frames of one size at a given distance ---------------------------------

pg() { tx sh -c "echo '$2' > /proc/net/pktgen/$1"; }

# pktgen COUNT DELAY_NS SIZE: UDP frames of SIZE bytes from PEER to NETIF; sets
# PG_USEC, how long that took.
pktgen()
{
	local mac opt result
	mac=$(rx cat "/sys/class/net/$NETIF/address")
	[ -d /sys/module/pktgen ] || modprobe pktgen || return 1
	pg kpktgend_0 rem_device_all && pg kpktgend_0 "add_device $PEER" || return 1
	for opt in "count $1" "delay $2" "pkt_size $3" "clone_skb 0" "burst 1" "dst $OUTER_RX" \
		"dst_mac $mac" "udp_dst_min 9" "udp_dst_max 9" "flag UDPCSUM"; do
		pg "$PEER" "$opt" || return 1
	done
	pg pgctrl start
	result=$(tx grep -A 1 '^Result' "/proc/net/pktgen/$PEER")
	PG_USEC=$(sed -n 's/^Result: OK: \([0-9]*\).*/\1/p' <<< "$result")
	[ -n "$PG_USEC" ] || { echo "$result"; return 1; }
}

# 300 rules to look at for every packet.
slow_receiver()
{
	rx nft list table ip slow > /dev/null 2>&1 || {
		echo "table ip slow { chain c { type filter hook prerouting priority 0;"
		seq 20001 20300 | sed 's/.*/udp dport & counter/'
		printf '}\n}\n'
	} | rx nft -f -
}

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: lro.sh    (in a guest: tests/lab/lab run KERNEL -- tests/x520/test/lro.sh)
# Receive-side coalescing of the model, that the in-box ixgbe uses for LRO. GRO
# is off at the receiver, so that what IP gets is what the card has made of the
# frames. A stream's bytes must be the ones that were sent, whatever was merged.

set -euo pipefail
# shellcheck source=tests/x520/test/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

both_up() { wait_for 60 has_link "$NS_TX" "$PEER" && wait_for 60 has_link "$NS_RX" "$NETIF"; }

lro()  # on|off
{
	rx ethtool -K "$NETIF" lro "$1" && both_up || return 1
	rx ethtool -k "$NETIF" | grep -q "^large-receive-offload: $1" || { echo "lro is not $1"; return 1; }
	wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX"
}

# Packets that IP and IPv6 got, in the receiver's name space, and what it
# thought of their headers.
deliveries()
{
	rx nstat -asz IpInReceives Ip6InReceives | awk '/InReceives/ { n += $2 } END { print n }'
}

header_errors()
{
	rx nstat -asz IpInHdrErrors Ip6InHdrErrors IpInTruncatedPkts Ip6InTruncatedPkts TcpInErrs TcpInCsumErrors |
		awk '/In/ { n += $2 } END { print n }'
}

# measured COMMAND...: sets FRAMES that came in while it ran, PACKETS that IP
# got of them, and MERGED, what the driver says that the card has merged.
measured()
{
	local frames packets merged errors
	frames=$(rx_stat rx_pkts_nic) packets=$(deliveries) merged=$(rx_stat hw_rsc_aggregated)
	errors=$(header_errors)
	"$@" || return 1
	FRAMES=$(($(rx_stat rx_pkts_nic) - frames)) PACKETS=$(($(deliveries) - packets))
	MERGED=$(($(rx_stat hw_rsc_aggregated) - merged))
	echo "$FRAMES frames, $PACKETS packets for IP, hw_rsc_aggregated grew by $MERGED"
	[ "$(header_errors)" = "$errors" ] || { echo "IP or TCP counted errors in headers"; return 1; }
}

# How many segments share a packet depends on how busy the host is; a quarter of the
# frames is the least. What was not merged is there, and nothing is there twice.
merged()
{
	local rest
	measured "$@" || return 1
	rest=$((FRAMES - PACKETS - MERGED))
	[ $((MERGED * 4)) -ge "$FRAMES" ] && [ ${rest#-} -le $((FRAMES / 50 + 3)) ]
}

# Fewer packets than frames would be too few. (More is possible: fragments that
# are counted twice, and frames of other name spaces' making are none.)
single() { measured "$@" && [ "$MERGED" = 0 ] && [ "$PACKETS" -ge $((FRAMES * 9 / 10)) ]; }

flushed()
{
	echo "hw_rsc_flushed: $(rx_stat hw_rsc_flushed), of $(rx_stat hw_rsc_aggregated)"
	[ "$(rx_stat hw_rsc_flushed)" -gt 0 ]
}

# With tags of VLAN 0, which need no VLAN device at the receiver: one there would
# turn LRO of the port off.
tagged()
{
	local rc=0 strip
	tx ip link add link "$PEER" name v0 type vlan id 0 && tx ip link set v0 up && tx ip addr add 192.168.5.1/24 dev v0 &&
		tx ip neigh add 192.168.5.2 lladdr "$(rx cat "/sys/class/net/$NETIF/address")" dev v0 &&
		rx ip addr add 192.168.5.2/24 dev "$NETIF" &&
		rx ip neigh add 192.168.5.1 lladdr "$(tx cat "/sys/class/net/$PEER/address")" dev "$NETIF" || rc=1
	for strip in off on; do
		rx ethtool -K "$NETIF" rxvlan $strip && both_up && wait_for 60 tx ping -c 1 -W 1 192.168.5.2 &&
			echo "rxvlan $strip:" && merged stream 192.168.5.2 2000000 || rc=1
	done
	rx ip addr del 192.168.5.2/24 dev "$NETIF" || rc=1
	tx ip link del v0
	return $rc
}

no_timestamps()
{
	local rc=0
	tx sysctl -qw net.ipv4.tcp_timestamps=0
	merged stream "$OUTER_RX" 2000000 || rc=1
	tx sysctl -qw net.ipv4.tcp_timestamps=1
	return $rc
}

# Ping during a stream: nothing waits behind a flow that is being merged.
pings_meanwhile()
{
	local pid rc=0
	tx ping -q -i 0.05 -c 60 "$OUTER_RX" > "$ZCG_TMP/ping" &
	pid=$!
	merged stream "$OUTER_RX" 8000000 || rc=1
	wait $pid || rc=1
	grep transmitted "$ZCG_TMP/ping" && grep -q ' 0% packet loss' "$ZCG_TMP/ping" && return $rc
}

# The card merges until an interrupt is due; without moderation the driver has
# it merge nothing.
unmoderated()
{
	rx ethtool -C "$NETIF" rx-usecs 0 && both_up && wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX" &&
		single stream "$OUTER_RX" 1000000 && rx ethtool -C "$NETIF" rx-usecs 1 && both_up &&
		wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX" && merged stream "$OUTER_RX" 1000000
}

jumbo()
{
	mtu 9000 && both_up && wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX" && measured stream "$OUTER_RX" 8000000 &&
		[ "$MERGED" -gt 0 ] && tx ping -q -c 3 -i 0.1 -s 8972 "$OUTER_RX" && mtu 1500 && both_up
}

off_again() { lro off && single stream "$OUTER_RX" 1000000; }

ktap_start 14
mark
load inbox
find_ports
hosts_up 2
ip -n "$NS_TX" addr add $OUTER6_TX/64 dev "$PEER" nodad
ip -n "$NS_RX" addr add "$OUTER6_RX"/64 dev "$NETIF" nodad
tx sysctl -qw net.ipv6.conf.all.keep_addr_on_down=1
rx sysctl -qw net.ipv6.conf.all.keep_addr_on_down=1
rx ethtool -K "$NETIF" gro off
check "LRO off: a packet for each frame" single stream "$OUTER_RX" 1000000
check "ethtool -K lro on" lro on
check "a stream, its segments merged" merged stream "$OUTER_RX" 8000000
check "the driver counts what was flushed" flushed
check "IPv6" merged stream "$OUTER6_RX" 4000000
check "without TCP time stamps" no_timestamps
check "four flows at once" merged stream "$OUTER_RX" 1000000 forth 4
check "VLAN, stripped and not" tagged
check "what the port sends itself" stream "$OUTER_TX" 4000000 reverse
check "ping meanwhile" pings_meanwhile
check "MTU 9000" jumbo
check "rx-usecs 0: nothing is merged; rx-usecs 1: again" unmoderated
check "LRO off again" off_again
check "nothing bad in the log" log_clean
ktap_done

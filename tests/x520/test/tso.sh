#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: tso.sh    (in a guest: tests/lab/lab run KERNEL -- tests/x520/test/tso.sh)
# Segments cut by the port against segments cut by the kernel, byte by byte, on
# the peer's wire: plain, VLAN and inside tunnels; and real streams.

set -euo pipefail
# shellcheck source=tests/x520/test/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

PCAP=$ZCG_TMP/wire.pcap

capture()
{
	rm -f "$ZCG_TMP/tcpdump"
	ip netns exec "$NS_RX" tcpdump -i "$NETIF" -Z root -Q in -U --immediate-mode -s 0 -B 65536 -w "$PCAP" 2> "$ZCG_TMP/tcpdump" &
	TCPDUMP=$!
	wait_for 60 grep -q 'listening on' "$ZCG_TMP/tcpdump" || die "tcpdump does not start"
}

# Stops tcpdump when the file has not grown for a while.
capture_done()
{
	local size=-1 now=0 still=0
	while [ $still -lt 4 ]; do
		sleep 0.1
		now=$(stat -c %s "$PCAP")
		if [ "$now" = "$size" ]; then still=$((still + 1)); else still=0; fi
		size=$now
	done
	kill $TCPDUMP
	wait $TCPDUMP || true
	note "$(grep -E 'captured|dropped' "$ZCG_TMP/tcpdump")"
	grep -q '^0 packets dropped by kernel' "$ZCG_TMP/tcpdump" || die "the capture is not complete"
}

segmentation()  # on|off
{
	local f
	for f in tso tx-udp-segmentation tx-udp_tnl-segmentation tx-udp_tnl-csum-segmentation \
		tx-gre-segmentation tx-gre-csum-segmentation; do
		tx ethtool -K "$PEER" "$f" "$1"
	done
}

# sent LABEL on|off DEV: the cases through DEV, segmented by whom it says.
sent()
{
	if [ "$2" = on ]; then
		with_tso "$PEER" tx python3 "$HERE/tso.py" send "$1 on" "$PEER" "$3"
	else
		without_tso "$PEER" tx python3 "$HERE/tso.py" send "$1 off" "$PEER" "$3"
	fi
}

sent_udp()  # LABEL on|off ADDR
{
	if [ "$2" = on ]; then
		with_tso "$PEER" tx python3 "$HERE/tso.py" udp "$1 on" "$PEER" "$3"
	else
		without_tso "$PEER" tx python3 "$HERE/tso.py" udp "$1 off" "$PEER" "$3"
	fi
}

# judge LABEL...: one look at the capture for all of them, then a case for each.
judge()
{
	local label
	python3 "$HERE/tso.py" judge "$PCAP" "$ZCG_TMP" "$@" || true
	for label; do
		check "same frames from hardware and software: $label" verdict "$label"
	done
}

verdict() { cat "$ZCG_TMP/$1.verdict" && grep -qx good "$ZCG_TMP/$1.verdict"; }

ktap_start 32
mark
load inbox
hosts_up 1
rx ethtool -K "$NETIF" gro off lro off
ip -n "$NS_TX" addr add "$OUTER6_TX/64" dev "$PEER" nodad
ip -n "$NS_RX" addr add "$OUTER6_RX/64" dev "$NETIF" nodad
# A socket's flow label is random.
tx sysctl -qw net.ipv6.auto_flowlabels=0
ip -n "$NS_TX" link add link "$PEER" name vlan type vlan id 100
ip -n "$NS_TX" link set vlan up
tx ping -c 1 -W 2 "$OUTER6_RX" > "$ZCG_TMP/ping" || die "no IPv6 between the ports"

capture
for how in on off; do
	segmentation $how
	check "plain frames, segmentation $how" sent plain $how "$PEER"
	check "VLAN, segmentation $how" sent vlan $how vlan
	check "UDP segmentation $how, IPv4" sent_udp udp4 $how "$OUTER_RX"
	check "UDP segmentation $how, IPv6" sent_udp udp6 $how "$OUTER6_RX"
done
capture_done
judge plain vlan udp4 udp6

segmentation on
capture
check "a TCP stream" stream "$OUTER_RX" 1500000
capture_done
check "every segment of the stream is right" python3 "$HERE/tso.py" stream "$PCAP"

# Room for the headers of a tunnel on top of a whole inner frame.
ip -n "$NS_TX" link set "$PEER" mtu 1700
ip -n "$NS_RX" link set "$NETIF" mtu 1700
wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX" || die "no ping after the MTU was changed"
ip -n "$NS_TX" link add vxlan type vxlan id 2 local "$OUTER_TX" remote "$OUTER_RX" dstport "$VX_PORT" \
	dev "$PEER" noudpcsum
ip -n "$NS_TX" link add vxcsum type vxlan id 3 local "$OUTER_TX" remote "$OUTER_RX" dstport 4789 \
	dev "$PEER" udpcsum
ip -n "$NS_TX" link add vxlan6 type vxlan id 4 local "$OUTER6_TX" remote "$OUTER6_RX" dstport 8472 \
	dev "$PEER" udp6zerocsumtx
ip -n "$NS_TX" link add geneve type geneve id 5 remote "$OUTER_RX"
ip -n "$NS_TX" link add gretap type gretap local "$OUTER_TX" remote "$OUTER_RX"
for dev in vxlan vxcsum vxlan6 geneve gretap; do
	tx sysctl -qw "net.ipv6.conf.$dev.disable_ipv6=1"
	ip -n "$NS_TX" link set $dev mtu 1500 up
done
capture
for how in on off; do
	segmentation $how
	for dev in vxlan vxcsum vxlan6 geneve gretap; do
		check "$dev, segmentation $how" sent $dev $how $dev
	done
done
capture_done
judge vxlan vxcsum vxlan6 geneve gretap

segmentation on
for dev in vxlan vxcsum vxlan6 geneve gretap; do
	ip -n "$NS_TX" link del $dev
done
tunnel_up noudpcsum
capture
check "a TCP stream through VXLAN" stream "$INNER_RX" 1000000
capture_done
check "every segment inside VXLAN is right" python3 "$HERE/tso.py" stream "$PCAP"
check "nothing of level warning in the log" quiet_log
ktap_done

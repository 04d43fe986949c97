#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Every way a frame can take through the driver: a TCP stream arrives intact; with
# zero-csum-gro its frames are verified and aggregated at the device, with
# zero-csum-gro-defer they are deferred and reach the tunnel one by one.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MBYTES=${MBYTES:-4}
DEFER=$FLAG-defer

each() { tx "${@//DEV/$PEER}" && rx "${@//DEV/$NETIF}"; }
links_back() { wait_for 20 has_link $NS_RX "$NETIF" && wait_for 20 has_link $NS_TX "$PEER"; }

# --- tunnels --------------------------------------------------------------------------

over_vlan()
{
	ip -n $NS_TX link add link "$PEER" name zcg.100 type vlan id 100 &&
		ip -n $NS_RX link add link "$NETIF" name zcg.100 type vlan id 100 &&
		ip -n $NS_TX addr add 192.168.100.1/24 dev zcg.100 &&
		ip -n $NS_RX addr add 192.168.100.2/24 dev zcg.100 &&
		each ip link set zcg.100 up &&
		tunnel vxlan 192.168.100.1 192.168.100.2 dstport "$VX_PORT" noudpcsum
}

over_ipv6()
{
	ip -n $NS_TX addr add fd01::1/64 dev "$PEER" nodad
	ip -n $NS_RX addr add fd01::2/64 dev "$NETIF" nodad
	tunnel vxlan fd01::1 fd01::2 dstport "$VX_PORT" udp6zerocsumtx udp6zerocsumrx
}

geneve() { tunnel geneve $OUTER_TX $OUTER_RX dstport 6081 noudpcsum; }
vxlan() { tunnel vxlan $OUTER_TX $OUTER_RX dstport "$VX_PORT" noudpcsum; }

# tunnel KIND TX-ADDRESS RX-ADDRESS OPTIONS...
tunnel()
{
	local kind=$1 a=$2 b=$3
	shift 3
	if [ "$kind" = vxlan ]; then
		ip -n $NS_TX link add $VX_DEV type vxlan id 2 local "$a" remote "$b" "$@" &&
			ip -n $NS_RX link add $VX_DEV type vxlan id 2 local "$b" remote "$a" "$@"
	else
		ip -n $NS_TX link add $VX_DEV type "$kind" id 2 remote "$b" "$@" &&
			ip -n $NS_RX link add $VX_DEV type "$kind" id 2 remote "$a" "$@"
	fi || return 1
	ip -n $NS_TX addr add $INNER_TX/24 dev $VX_DEV
	ip -n $NS_RX addr add $INNER_RX/24 dev $VX_DEV
	ip -n $NS_TX addr add fd00::1/64 dev $VX_DEV nodad
	ip -n $NS_RX addr add fd00::2/64 dev $VX_DEV nodad
	# A tunnel without a lower device does not follow its MTU.
	each ip link set $VX_DEV mtu $(($(rx cat "/sys/class/net/$NETIF/mtu") - 100)) up
}

# A macvlan with rings of its own has the outer address.
over_macvlan()
{
	local mac
	ip -n $NS_RX addr add 192.168.50.2/24 dev zcg-mv
	mac=$(rx cat /sys/class/net/zcg-mv/address)
	ip -n $NS_TX addr replace 192.168.50.1/24 dev "$PEER"
	ip -n $NS_TX neigh replace 192.168.50.2 lladdr "$mac" dev "$PEER"
	tunnel vxlan 192.168.50.1 192.168.50.2 dstport "$VX_PORT" noudpcsum
}

# --- one path ---------------------------------------------------------------------------

# measure [traffic options]: a stream; sets rc, frames, skbs (packets at the tunnel
# device), verified, deferred.
measure()
{
	local f0 s0 v0 d0 said
	rc=0
	f0=$(rx_stat rx_packets) s0=$(link_rx_packets $NS_RX $VX_DEV)
	v0=$(rx_stat rx_zcg_verified) d0=$(rx_stat rx_zcg_deferred)
	said=$(traffic tcp --mbytes "$MBYTES" "$@" 2>&1) || rc=$?
	frames=$(($(rx_stat rx_packets) - f0))
	skbs=$(($(link_rx_packets $NS_RX $VX_DEV) - s0))
	verified=$(($(rx_stat rx_zcg_verified) - v0))
	deferred=$(($(rx_stat rx_zcg_deferred) - d0))
	note "$name: $said; $frames frames, $skbs packets at $VX_DEV, $verified verified, $deferred deferred"
}

flags() { rx ethtool --set-priv-flags "$NETIF" "$@"; }
most() { [ "$1" -ge $((frames * 95 / 100)) ] && [ "$1" -gt $((MBYTES * 100)) ]; }
merged() { [ $((skbs * 2)) -lt "$frames" ]; }
single() { [ $((skbs * 12)) -gt $((frames * 10)) ]; }

# path NAME TUNNEL [traffic options]
PATH_CASES=6
path()
{
	local name=$1 kind=$2 said
	shift 2
	if ! said=$($kind 2>&1); then
		note "$said"
		not_ok "$name: the tunnel can be made"
		return
	fi
	wait_for 10 tx ping -c 1 -W 1 $INNER_RX || note "$name: no ping through the tunnel"
	measure "$@"
	check "$name: the stream arrives intact" [ $rc -eq 0 ]
	check "$name: verified" most $verified
	check "$name: aggregated at the device" merged
	flags $FLAG off $DEFER on
	measure "$@"
	check "$name, deferred: the stream arrives intact" [ $rc -eq 0 ]
	check "$name, deferred: all but the odd frame is deferred" most $deferred
	check "$name, deferred: none is aggregated at the device" single
	flags $DEFER off $FLAG on
	tunnel_down
}

# --- XDP and AF_XDP -----------------------------------------------------------------------

xdp_is_on()
{
	cat "$ZCG_TMP/xdp"
	grep -qx ready "$ZCG_TMP/xdp" && rx ip link show "$NETIF" | grep prog/xdp
}
xdp_is_off()
{
	cat "$ZCG_TMP/xdp"
	[ "$xdp_status" -eq 0 ] && ! rx ip link show "$NETIF" | grep prog/xdp
}

# Datagrams to the program's port are the socket's, and no tunnel's.
to_the_socket()
{
	local seen
	seen=$(rx_stat rx_zcg_seen)
	tx python3 -c "
import socket
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(50):
    s.sendto(b'zcg', ('$OUTER_RX', 9999))"
	wait_for 10 socket_has 50 || { cat "$ZCG_TMP/xdp"; return 1; }
	same "$seen" "$(rx_stat rx_zcg_seen)"
}
socket_has()
{
	echo >&"$xdp_stop"
	wait_for 1 grep -qx "received $1" "$ZCG_TMP/xdp"
}

# Of the tunnel frames those that are not in queue 0.
other_queues() { rx ethtool -S "$NETIF" | awk '$1 ~ /^rx_queue_[1-9][0-9]*_zcg_seen:$/ { sum += $2 } END { print sum + 0 }'; }
by_own_rings()
{
	local all own
	all=$(($(rx_stat rx_zcg_seen) - seen)) own=$(($(other_queues) - others))
	echo "$own of $all frames"
	[ $all -gt 1000 ] && [ $own -ge $((all * 95 / 100)) ]
}
offload_macvlan()
{
	rx ethtool -K "$NETIF" l2-fwd-offload on || return 1
	ip -n $NS_RX link add link "$NETIF" name zcg-mv type macvlan mode bridge || return 1
	ip -n $NS_RX link set zcg-mv up || return 1
	links_back
}

mark_log
load fork
hosts_up 1
macvlan=$((PATH_CASES + 2)) why=
modprobe macvlan 2> /dev/null || why="this kernel has no macvlan"
! rx ethtool -k "$NETIF" | grep -q '^l2-fwd-offload:.*\[fixed\]' || why="not in this driver"
[ -z "$why" ] || macvlan=1
ktap_start $((13 * PATH_CASES + macvlan + 11))
by_timer
set_flag on

path "build_skb" vxlan
path "inner IPv6" vxlan --to fd00::2
path "outer IPv6" over_ipv6
path "Geneve" geneve
path "VLAN below the tunnel" over_vlan
each ip link del zcg.100

rx ethtool -K "$NETIF" rxvlan off
links_back
path "VLAN below the tunnel, rxvlan off" over_vlan
each ip link del zcg.100
rx ethtool -K "$NETIF" rxvlan on

rx ethtool --set-priv-flags "$NETIF" legacy-rx on
links_back
path "legacy-rx" vxlan

# A frame of 9000 bytes takes several buffers; 64 KB take seven frames.
each ip link set DEV mtu 9000
links_back
path "legacy-rx, MTU 9000" vxlan
check "legacy-rx, MTU 9000: frames were long" [ "$frames" -lt $((MBYTES * 150)) ]
rx ethtool --set-priv-flags "$NETIF" legacy-rx off
links_back
path "MTU 9000" vxlan
check "MTU 9000: frames were long" [ "$frames" -lt $((MBYTES * 150)) ]
each ip link set DEV mtu 1500
links_back

for mode in pass copy zero-copy; do
	name="AF_XDP, $mode"
	[ $mode != pass ] || name=XDP
	xdp_on rx "$NETIF" $mode
	links_back
	check "$name: a program is attached" xdp_is_on
	path "$name: XDP_PASS" vxlan
	[ $mode = pass ] || check "$name: the socket gets its frames, which are not counted" to_the_socket
	xdp_off
	links_back
	check "$name: the program goes with what brought it" xdp_is_off
done

if [ -z "$why" ]; then
	check "macvlan offload: a macvlan is made" offload_macvlan
	seen=$(rx_stat rx_zcg_seen) others=$(other_queues)
	path "macvlan offload" over_macvlan
	check "macvlan offload: the frames came by rings of its own" by_own_rings
	ip -n $NS_RX link del zcg-mv
	rx ethtool -K "$NETIF" l2-fwd-offload off
	ip -n $NS_TX addr del 192.168.50.1/24 dev "$PEER"
	links_back
else
	skip "macvlan offload" "$why"
fi

rx ethtool -L "$NETIF" combined 2
rx ethtool -N "$NETIF" rx-flow-hash udp4 sdfn
links_back
path "two queues, eight flows" vxlan --flows 8 --mbytes 1
note "$(rx ethtool -S "$NETIF" | grep -E 'rx_queue_[01]_packets')"

check "kernel log clean" log_clean
ktap_done

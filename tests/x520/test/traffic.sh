#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: traffic.sh    (in a guest: tests/lab/lab run KERNEL -- tests/x520/test/traffic.sh)
# Traffic between the two ports under the in-box ixgbe: plain, jumbo, VLAN and
# tunnels, with and without offloads, payloads compared; and the L2 filters.

set -euo pipefail
# shellcheck source=tests/x520/test/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

pings()  # ADDR SIZE...
{
	local addr=$1 size
	shift
	for size in "$@"; do
		three "$addr" "$size" || three "$addr" "$size" ||
			{ echo "$size bytes: not all 3 answered, twice"; return 1; }
	done
}

# That nothing is lost is for counters.sh to see; here a host that is busy elsewhere
# may hold the emulator up once.
three() { tx ping -q -M "do" -c 3 -i 0.01 -W 2 -s "$2" "$1" | grep -q ' 3 received'; }

features()  # FEATURE VALUE ... on both ports
{
	tx ethtool -K "$PEER" "$@" && rx ethtool -K "$NETIF" "$@"
}

both_ways()
{
	iperf "$1" && iperf "$1" -R
}

# tunnel KIND [options]: devices t0 with 10.0.3.1 and .2.
tunnel()
{
	local kind=$1
	shift
	ip -n "$NS_TX" link add t0 type "$kind" "${TUNNEL_TX[@]}" "$@" &&
		ip -n "$NS_RX" link add t0 type "$kind" "${TUNNEL_RX[@]}" "$@" &&
		ip -n "$NS_TX" addr add 10.0.3.1/24 dev t0 && ip -n "$NS_RX" addr add 10.0.3.2/24 dev t0 &&
		ip -n "$NS_TX" link set t0 up && ip -n "$NS_RX" link set t0 up &&
		wait_for 60 tx ping -c 1 -W 1 10.0.3.2
}

no_tunnel()
{
	ip -n "$NS_TX" link del t0 2> /dev/null || true
	ip -n "$NS_RX" link del t0 2> /dev/null || true
}

# through KIND FAMILY [options]: a stream each with the port's tunnel TSO on,
# off, and back; the device must have segmented exactly when it was on.
through()
{
	local kind=$1 family=$2 rc=0
	shift 2
	tunnel "$kind" "$@" && pings 10.0.3.2 56 1372 &&
		tunnel_tso "$family" on && with_tso "$PEER" stream 10.0.3.2 1500000 &&
		with_tso "$NETIF" stream 10.0.3.1 500000 reverse &&
		tunnel_tso "$family" off && without_tso "$PEER" stream 10.0.3.2 500000 || rc=1
	tunnel_tso "$family" on || rc=1
	no_tunnel
	return $rc
}

tunnel_tso()  # udp_tnl|gre on|off: without and with an outer checksum
{
	features "tx-$1-segmentation" "$2" "tx-$1-csum-segmentation" "$2"
}

vxlan()  # [options]
{
	TUNNEL_TX=(id 2 local "$OUTER_TX" remote "$OUTER_RX" dev "$PEER")
	TUNNEL_RX=(id 2 local "$OUTER_RX" remote "$OUTER_TX" dev "$NETIF")
	through vxlan udp_tnl dstport "$VX_PORT" "$@"
}

vxlan6()
{
	TUNNEL_TX=(id 2 local "$OUTER6_TX" remote "$OUTER6_RX" dev "$PEER")
	TUNNEL_RX=(id 2 local "$OUTER6_RX" remote "$OUTER6_TX" dev "$NETIF")
	through vxlan udp_tnl dstport "$VX_PORT" udp6zerocsumtx udp6zerocsumrx
}

geneve()
{
	TUNNEL_TX=(id 5 remote "$OUTER_RX")
	TUNNEL_RX=(id 5 remote "$OUTER_TX")
	through geneve udp_tnl
}

gretap()
{
	TUNNEL_TX=(local "$OUTER_TX" remote "$OUTER_RX")
	TUNNEL_RX=(local "$OUTER_RX" remote "$OUTER_TX")
	through gretap gre
}

vlan_up()
{
	ip -n "$NS_TX" link add link "$PEER" name v100 type vlan id 100 &&
		ip -n "$NS_RX" link add link "$NETIF" name v100 type vlan id 100 &&
		ip -n "$NS_TX" addr add 10.0.4.1/24 dev v100 && ip -n "$NS_RX" addr add 10.0.4.2/24 dev v100 &&
		ip -n "$NS_TX" link set v100 up && ip -n "$NS_RX" link set v100 up
}

# All four combinations of tag insertion by the sender, stripping by the receiver.
vlan_offloads()
{
	local insert strip
	for insert in off on; do
		for strip in off on; do
			tx ethtool -K "$PEER" txvlan $insert && rx ethtool -K "$NETIF" rxvlan $strip || return 1
			wait_for 60 tx ping -c 1 -W 1 10.0.4.2
			echo "txvlan $insert, rxvlan $strip"
			pings 10.0.4.2 56 1472 && stream 10.0.4.2 500000 || return 1
		done
	done
	tx ethtool -K "$PEER" txvlan on && rx ethtool -K "$NETIF" rxvlan on
	wait_for 60 tx ping -c 1 -W 1 10.0.4.2
}

# arrive WANT:DST[,TCI] ...: of 20 frames to each DST, how many reach NETIF's stack.
arrive()
{
	local got want pid dev=${ON:-$NETIF}
	rm -f "$ZCG_TMP/count"	# its "ready" must be this one's
	rx python3 "$HERE/packet.py" count "$dev" > "$ZCG_TMP/count" &
	pid=$!
	wait_for 60 grep -q ready "$ZCG_TMP/count" || return 1
	tx python3 "$HERE/packet.py" groups "$PEER" 20 "${@#*:}" || return 1
	wait $pid || return 1
	got=$(tail -n 1 "$ZCG_TMP/count")
	echo "$* : $got of 20 each"
	want=${*%%:*}
	[ "$got" = "$want" ]
}

vlan_filter()
{
	arrive "20:$MAC_RX,100" "0:$MAC_RX,200" "20:$MAC_RX,0" "20:$MAC_RX" || return 1
	ip -n "$NS_RX" link add link "$NETIF" name v200 type vlan id 200 &&
		arrive "20:$MAC_RX,200" "20:$MAC_RX,100" && ip -n "$NS_RX" link del v200 &&
		arrive "0:$MAC_RX,200" "20:$MAC_RX,100"
}

GROUP=01:00:5e:01:02:03
OTHER=02:00:00:00:00:99

mac_filter()
{
	arrive "20:$MAC_RX" 20:ff:ff:ff:ff:ff:ff 0:$OTHER 0:$GROUP || return 1
	rx ip maddr add $GROUP dev "$NETIF" && arrive 20:$GROUP 0:01:00:5e:01:aa:bb &&
		rx ip maddr del $GROUP dev "$NETIF" || return 1
	ip -n "$NS_RX" link set "$NETIF" allmulticast on && arrive 20:$GROUP 0:$OTHER &&
		ip -n "$NS_RX" link set "$NETIF" allmulticast off && arrive 0:$GROUP "20:$MAC_RX" || return 1
	ip -n "$NS_RX" link set "$NETIF" promisc on && arrive 20:$OTHER 20:$GROUP "20:$MAC_RX,200" &&
		ip -n "$NS_RX" link set "$NETIF" promisc off && arrive 0:$OTHER 0:$GROUP "0:$MAC_RX,200"
}

# A second unicast address on the port, by a macvlan above it.
second_mac()
{
	ip -n "$NS_RX" link add link "$NETIF" name mv0 address 02:00:00:00:00:77 type macvlan &&
		ip -n "$NS_RX" link set mv0 up && ON=mv0 arrive 20:02:00:00:00:00:77 &&
		arrive "20:$MAC_RX" && ip -n "$NS_RX" link del mv0 && arrive 0:02:00:00:00:00:77
}

changed_mac()
{
	local old=$MAC_RX
	ip -n "$NS_RX" link set "$NETIF" down && ip -n "$NS_RX" link set "$NETIF" address 02:00:00:00:00:55 &&
		ip -n "$NS_RX" link set "$NETIF" up || return 1
	wait_for 60 has_link "$NS_TX" "$PEER" && wait_for 60 has_link "$NS_RX" "$NETIF" || return 1
	arrive 20:02:00:00:00:00:55 "0:$old" || return 1
	ip -n "$NS_RX" link set "$NETIF" down && ip -n "$NS_RX" link set "$NETIF" address "$old" &&
		ip -n "$NS_RX" link set "$NETIF" up || return 1
	wait_for 60 has_link "$NS_TX" "$PEER" && wait_for 60 has_link "$NS_RX" "$NETIF" && arrive "20:$old"
}

jumbo()
{
	pings "$OUTER_RX" 1473 4000 8972 && ! tx ping -q -M "do" -c 1 -W 1 -s 8973 "$OUTER_RX" &&
		pings "$OUTER6_RX" 8952 && with_tso "$PEER" stream "$OUTER_RX" 4000000 &&
		stream "$OUTER_TX" 4000000 reverse && features tso off &&
		without_tso "$PEER" stream "$OUTER_RX" 1000000 && features tso on
}

ktap_start 24
mark
load inbox
hosts_up 2
tx sysctl -qw net.ipv6.conf.all.keep_addr_on_down=1
rx sysctl -qw net.ipv6.conf.all.keep_addr_on_down=1
ip -n "$NS_TX" addr add $OUTER6_TX/64 dev "$PEER" nodad
ip -n "$NS_RX" addr add "$OUTER6_RX"/64 dev "$NETIF" nodad
MAC_RX=$(rx cat "/sys/class/net/$NETIF/address")
snapshot "$NS_RX" "$NETIF" "$ZCG_TMP/before"

check "ping, IPv4, every size up to the MTU's" pings "$OUTER_RX" 0 1 17 18 19 56 255 1471 1472
check "ping, IPv6" pings "$OUTER6_RX" 0 1 56 1000 1452
check "iperf3 both ways, TSO on" with_tso "$PEER" both_ways "$OUTER_RX"
check "iperf3 over IPv6, TSO on" with_tso "$PEER" iperf "$OUTER6_RX"
check "payload intact, TSO on" stream "$OUTER_RX" 8000000
check "payload intact the other way" stream "$OUTER_TX" 8000000 reverse
check "TSO off" features tso off
check "iperf3 both ways, TSO off" without_tso "$PEER" both_ways "$OUTER_RX"
check "payload intact, TSO and scatter-gather off" without_tso "$PEER" stream "$OUTER_RX" 2000000
check "all checksum offloads off" features tx off rx off
check "payload intact without any offload" without_tso "$PEER" stream "$OUTER_RX" 1000000
check "offloads on again" features tx on rx on tso on
check "VLAN devices" vlan_up
check "VLAN with insertion and stripping on and off" vlan_offloads
check "VLAN filter" vlan_filter
check "unicast, multicast and promiscuous filters" mac_filter
check "a second unicast address" second_mac
check "a changed address" changed_mac
check "VXLAN, tunnel TSO on and off" vxlan noudpcsum
check "VXLAN with outer checksums, tunnel TSO on and off" vxlan udpcsum
check "VXLAN over IPv6, tunnel TSO on and off" vxlan6
check "Geneve, tunnel TSO on and off" geneve
check "GRE tap, tunnel TSO on and off" gretap
check "MTU 9000: ping and streams" eval 'mtu 9000 && jumbo && mtu 1500'
ktap_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Tunnels as people set them up: other ports, kinds and outer protocols, with VLANs
# below and inside.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/selftests/setups.sh
. "$ZCG_TOP/tests/selftests/setups.sh"

# flannel's vxlan backend: VNI 1, port 8472, no learning, the neighbours told.
flannel()
{
	local ns dev
	for ns in $NS_TX $NS_RX; do
		dev=$PEER
		[ "$ns" = $NS_TX ] || dev=$NETIF
		ip -n "$ns" link add $VX_DEV address "$(flannel_mac "$ns")" type vxlan id 1 \
			local "$(flannel_outer "$ns")" dev "$dev" dstport 8472 \
			nolearning noudpcsum
	done
	addresses $VX_DEV
	flannel_peer $NS_TX $NS_RX "$INNER_RX"
	flannel_peer $NS_RX $NS_TX "$INNER_TX"
}
flannel_mac() { if [ "$1" = $NS_TX ]; then echo 02:00:00:00:01:01; else echo 02:00:00:00:01:02; fi; }
flannel_outer() { if [ "$1" = $NS_TX ]; then echo $OUTER_TX; else echo $OUTER_RX; fi; }
flannel_peer()  # namespace, the other one, its inner address
{
	ip -n "$1" neigh replace "$3" lladdr "$(flannel_mac "$2")" dev $VX_DEV nud permanent
	bridge -n "$1" fdb append "$(flannel_mac "$2")" dev $VX_DEV dst "$(flannel_outer "$2")"
}

outer_ipv6()
{
	ip -n $NS_TX addr add fd01::1/64 dev "$PEER" nodad
	ip -n $NS_RX addr add fd01::2/64 dev "$NETIF" nodad
	vxlan_pair fd01::1 fd01::2 udp6zerocsumtx udp6zerocsumrx
	addresses $VX_DEV
}

vlan_below()
{
	ip -n $NS_TX link add link "$PEER" name zcg.100 type vlan id 100
	ip -n $NS_RX link add link "$NETIF" name zcg.100 type vlan id 100
	ip -n $NS_TX addr add 192.168.100.1/24 dev zcg.100
	ip -n $NS_RX addr add 192.168.100.2/24 dev zcg.100
	each ip link set zcg.100 up
	vxlan_pair 192.168.100.1 192.168.100.2 dev zcg.100
	addresses $VX_DEV
}

vlan_inside()
{
	vxlan_pair $OUTER_TX $OUTER_RX
	each ip link set $VX_DEV mtu 1400 up
	each ip link add link $VX_DEV name zcg.7 type vlan id 7
	addresses zcg.7
}

# Two tags inside, as a provider's customer has them.
qinq_inside()
{
	vxlan_pair $OUTER_TX $OUTER_RX
	each ip link set $VX_DEV mtu 1400 up
	each ip link add link $VX_DEV name zcg.8 type vlan id 8 protocol 802.1ad
	each ip link set zcg.8 mtu 1400 up
	each ip link add link zcg.8 name zcg.9 type vlan id 9
	addresses zcg.9
}

geneve()
{
	ip -n $NS_TX link add $VX_DEV type geneve id 2 remote $OUTER_RX dstport 6081 noudpcsum
	ip -n $NS_RX link add $VX_DEV type geneve id 2 remote $OUTER_TX dstport 6081 noudpcsum
	addresses $VX_DEV
}

ktap_start $((6 * SETUP_CASES + 1))
mark_log
load fork
hosts_up 1
by_timer
setup "flannel, port 8472" flannel 2
setup "outer IPv6" outer_ipv6 2
setup "VLAN below the tunnel" vlan_below 2
setup "VLAN inside the tunnel" vlan_inside 2
setup "two VLANs inside the tunnel" qinq_inside 2
setup "Geneve, port 6081" geneve 2
check "kernel log clean" log_clean
ktap_done

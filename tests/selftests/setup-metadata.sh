#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Tunnel devices in metadata mode ("external"): one device for all VNIs and all peers,
# and each packet is told where it goes. Cilium and Open vSwitch use VXLAN and Geneve so.
# Here tc's tunnel_key tells it, a bridge with "vlan_tunnel", and a route.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/selftests/setups.sh
. "$ZCG_TOP/tests/selftests/setups.sh"

# towards PORT [OPTIONS OF tunnel_key...]: what leaves by the tunnel device goes to the
# other host.
towards()
{
	local port=$1
	shift
	each tc qdisc add dev $VX_DEV clsact
	tc -n "$NS_TX" filter add dev $VX_DEV egress matchall action tunnel_key set id 2 \
		src_ip $OUTER_TX dst_ip $OUTER_RX dst_port "$port" nocsum "$@"
	tc -n "$NS_RX" filter add dev $VX_DEV egress matchall action tunnel_key set id 2 \
		src_ip $OUTER_RX dst_ip $OUTER_TX dst_port "$port" nocsum "$@"
}

vxlan_external()
{
	each ip link add $VX_DEV type vxlan dstport 8472 external
	addresses $VX_DEV
	towards 8472
}

# Two options of 4 and 8 bytes; Open vSwitch and OVN send such ones with every packet.
geneve_options()
{
	each ip link add $VX_DEV type geneve dstport 6081 external
	addresses $VX_DEV
	towards 6081 geneve_opts 0102:01:00880022,0102:02:1122334455667788
}

# Some kernels warn, once, about their own copying of Geneve options (6.12 does). They
# have said so before the fork is loaded, over a pair of veth devices.
warn_beforehand()
{
	local NS_TX=zcg-a NS_RX=zcg-b IN_RX=zcg-b PEER=zcg-w NETIF=zcg-w
	add_ns zcg-a zcg-b
	ip -n zcg-a link add zcg-w type veth peer name zcg-w netns zcg-b
	ip -n zcg-a addr add $OUTER_TX/24 dev zcg-w
	ip -n zcg-b addr add $OUTER_RX/24 dev zcg-w
	each ip link set zcg-w up
	geneve_options
	wait_for 10 tx ping -c 1 -W 1 "$INNER_RX" || die "Geneve over veth does not pass a ping"
	ip netns del zcg-a
	ip netns del zcg-b
	MORE_NS=
}

# Without Ethernet; IP right behind the VXLAN-GPE header.
vxlan_gpe()
{
	each ip link add $VX_DEV type vxlan dstport 4790 external gpe
	addresses $VX_DEV
	towards 4790
}

by_route()
{
	each ip link add $VX_DEV type vxlan dstport 4789 external
	addresses $VX_DEV
	each ip link set $VX_DEV address 02:00:00:00:04:01
	ip -n $NS_RX link set $VX_DEV address 02:00:00:00:04:02
	ip -n $NS_TX neigh replace "$INNER_RX" lladdr 02:00:00:00:04:02 dev $VX_DEV
	ip -n $NS_RX neigh replace "$INNER_TX" lladdr 02:00:00:00:04:01 dev $VX_DEV
	ip -n $NS_TX route add "$INNER_RX/32" encap ip id 2 src $OUTER_TX dst $OUTER_RX dev $VX_DEV
	ip -n $NS_RX route add "$INNER_TX/32" encap ip id 2 src $OUTER_RX dst $OUTER_TX dev $VX_DEV
}

# Each VLAN of a bridge becomes a VNI: VLAN 10 is VNI 10010.
vlan_tunnel()
{
	local ns remote
	each ip link add zcg-br type bridge vlan_filtering 1 vlan_default_pvid 0
	each ip link add $VX_DEV type vxlan dstport 4789 external noudpcsum
	each ip link set $VX_DEV master zcg-br up
	each bridge link set dev $VX_DEV vlan_tunnel on
	each bridge vlan add dev $VX_DEV vid 10
	each bridge vlan add dev $VX_DEV vid 10 tunnel_info id 10010
	each bridge vlan add dev zcg-br vid 10 self
	each ip link set zcg-br up
	each ip link add link zcg-br name zcg.10 type vlan id 10
	for ns in $NS_TX $NS_RX; do
		remote=$OUTER_RX
		[ "$ns" = $NS_TX ] || remote=$OUTER_TX
		bridge -n "$ns" fdb append 00:00:00:00:00:00 dev $VX_DEV dst $remote src_vni 10010
	done
	addresses zcg.10
}

least_gpe()
{
	if kernel_has vxlan_gpe_gro_receive; then echo 2; else echo 0; fi
}

modprobe vxlan
routed=1
! kernel_has lwtunnel_build_state || routed=$SETUP_CASES
ktap_start $((4 * SETUP_CASES + routed + 1))
warn_beforehand
mark_log
load fork
hosts_up 1
by_timer
setup "VXLAN, tunnel_key" vxlan_external 2
setup "Geneve with options, tunnel_key" geneve_options 2
setup "VXLAN-GPE, tunnel_key" vxlan_gpe "$(least_gpe)"
setup "VXLAN, VLANs of a bridge" vlan_tunnel 2
if [ $routed -gt 1 ]; then
	setup "VXLAN, by route" by_route 2
else
	skip "VXLAN, by route" "this kernel has no CONFIG_LWTUNNEL"
fi
check "kernel log clean" log_clean
ktap_done

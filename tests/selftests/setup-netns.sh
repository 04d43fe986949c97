#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The port in one network namespace, the tunnel device in another, as containers have
# it. The tunnel's UDP socket stays with the port, and so the driver learns its number.
#
#    namespace zcg-rx              namespace zcg-in
#   +---------------------+       +------------------------+
#   | NETIF 192.168.1.2   |. . . .| vxlan01  10.0.2.2/24   |
#   | the tunnel's socket |       |                        |
#   +---------------------+       +------------------------+
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/selftests/setups.sh
. "$ZCG_TOP/tests/selftests/setups.sh"

far_end()
{
	ip -n $NS_TX link add $VX_DEV type vxlan id 2 remote $OUTER_RX local $OUTER_TX \
		dstport "$VX_PORT" dev "$PEER" noudpcsum
}

made_then_moved()
{
	far_end
	ip -n $NS_RX link add $VX_DEV type vxlan id 2 remote $OUTER_TX local $OUTER_RX \
		dstport "$VX_PORT" dev "$NETIF" noudpcsum
	ip -n $NS_RX link set $VX_DEV netns zcg-in
	addresses $VX_DEV
}

link_netns()
{
	far_end
	ip -n zcg-in link add $VX_DEV link-netns $NS_RX type vxlan id 2 remote $OUTER_TX \
		local $OUTER_RX dstport "$VX_PORT" noudpcsum
	addresses $VX_DEV
}

geneve_moved()
{
	ip -n $NS_TX link add $VX_DEV type geneve id 2 remote $OUTER_RX dstport 6081 noudpcsum
	ip -n $NS_RX link add $VX_DEV type geneve id 2 remote $OUTER_TX dstport 6081 noudpcsum
	ip -n $NS_RX link set $VX_DEV netns zcg-in
	addresses $VX_DEV
}

ktap_start $((3 * SETUP_CASES + 1))
mark_log
load fork
hosts_up 1
by_timer
add_ns zcg-in
# shellcheck disable=SC2034 # for setups.sh
IN_RX=zcg-in TUNNEL_NS=zcg-in
setup "VXLAN, made beside the port and moved" made_then_moved 2
setup "VXLAN, made with link-netns" link_netns 2
setup "Geneve, made beside the port and moved" geneve_moved 2
check "kernel log clean" log_clean
ktap_done

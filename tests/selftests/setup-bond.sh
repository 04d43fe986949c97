#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# A bond of the receiver's ports with the tunnel on top, and one at the sender. The stack
# announces tunnel ports to every device of the namespace, so slaves learn them, whether
# they were enslaved before the tunnel was made or after. With one cable each bond has one
# slave, and what takes two is skipped.
#
#    zcg-tx                                    zcg-rx
#   +----------------------------+           +----------------------------+
#   | vxlan01                    |           |                    vxlan01 |
#   | zcg-bond 192.168.1.1  PEER |===========| NETIF 192.168.1.2 zcg-bond |
#   |                      PEER2 |===========| NETIF2                     |
#   +----------------------------+           +----------------------------+
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/selftests/setups.sh
. "$ZCG_TOP/tests/selftests/setups.sh"

# bonds OPTIONS...: one at each end, of all ports there are, with the outer addresses.
bonds()
{
	local dev
	ip -n $NS_TX addr flush dev "$PEER"
	ip -n $NS_RX addr flush dev "$NETIF"
	each ip link add zcg-bond type bond miimon 100 "$@"
	for dev in $PEER $PEER2; do enslave $NS_TX "$dev"; done
	for dev in $NETIF $NETIF2; do enslave $NS_RX "$dev"; done
	each ip link set zcg-bond up
	ip -n $NS_TX addr add $OUTER_TX/24 dev zcg-bond
	ip -n $NS_RX addr add $OUTER_RX/24 dev zcg-bond
	wait_for 20 has_link $NS_RX zcg-bond
	wait_for 20 has_link $NS_TX zcg-bond
	wait_for 20 tx ping -c 1 -W 1 $OUTER_RX
}

enslave()  # namespace, port
{
	ip -n "$1" link set "$2" down
	ip -n "$1" link set "$2" master zcg-bond
}

tunnel() { vxlan_pair $OUTER_TX $OUTER_RX && addresses $VX_DEV; }

active_backup() { bonds mode active-backup && tunnel; }
tunnel_first() { tunnel && bonds mode active-backup; }
# Sixteen flows, spread by the outer ports.
lacp() { bonds mode 802.3ad xmit_hash_policy layer3+4 lacp_rate fast && tunnel; }

# Every slave knows the port by itself.
slaves_know()
{
	local dev rc=0
	for dev in $(rx_ports); do
		rx ethtool --show-tunnels "$dev" | grep "port $VX_PORT, vxlan" || { echo "$dev does not know it"; rc=1; }
	done
	return $rc
}

# The active slave changes while a stream runs.
failover()
{
	local pid i rc=0
	traffic tcp --until "$ZCG_TMP/stop" --ready "$ZCG_TMP/ready" > "$ZCG_TMP/tcp" 2>&1 &
	pid=$!
	wait_for 20 test -e "$ZCG_TMP/ready" || { cat "$ZCG_TMP/tcp"; return 1; }
	for ((i = 0; i < 3; i++)); do
		if ! carries "$NETIF2" "$PEER2" || ! carries "$NETIF" "$PEER"; then
			rc=1
			break
		fi
	done
	touch "$ZCG_TMP/stop"
	wait $pid || rc=1
	cat "$ZCG_TMP/tcp"
	adds_up || rc=1
	return $rc
}

# Both ends turn to one cable, and frames are verified there.
carries()  # receiver's port, sender's
{
	local before
	before=$(nic_stat $NS_RX "$1" rx_zcg_verified)
	ip -n $NS_RX link set zcg-bond type bond active_slave "$1"
	ip -n $NS_TX link set zcg-bond type bond active_slave "$2"
	wait_for 20 verified_at "$1" $((before + 100)) || { echo "$1 verifies nothing"; return 1; }
	echo "$1: $(($(nic_stat $NS_RX "$1" rx_zcg_verified) - before)) more frames verified"
}

verified_each()
{
	echo "$(nic_stat $NS_RX "$NETIF" rx_zcg_verified) $(nic_stat $NS_RX "$NETIF2" rx_zcg_verified)"
}

both_verified()
{
	local after
	read -r -a after < <(verified_each)
	echo "$NETIF: $((after[0] - before[0])), $NETIF2: $((after[1] - before[1])) more frames verified"
	[ $((after[0] - before[0])) -gt 100 ] && [ $((after[1] - before[1])) -gt 100 ]
}

verified_at() { [ "$(nic_stat $NS_RX "$1" rx_zcg_verified)" -ge "$2" ]; }

load fork
two='' cases=$((2 * SETUP_CASES + 4))
if second_cable; then two=1 cases=$((cases + SETUP_CASES + 1)); fi
ktap_start $cases
mark_log
hosts_up 1
if [ -n "$two" ]; then
	ip link set "$NETIF2" netns $NS_RX
	ip link set "$PEER2" netns $NS_TX
fi
RX_PORTS="$NETIF $NETIF2"
by_timer

setup "active-backup, then the tunnel" active_backup 2
setup "the tunnel, then active-backup" tunnel_first 2
make_it active_backup
check "active-backup again" made_it
if rx ethtool --show-tunnels "$NETIF" > /dev/null 2>&1; then
	check "every slave knows the tunnel's port" slaves_know
else
	skip "every slave knows the tunnel's port" "this ethtool has no --show-tunnels"
fi
set_flags on
if [ -n "$two" ]; then
	check "verified at whichever slave is active" failover
	sweep
	MBYTES=1
	read -r -a before < <(verified_each)
	setup "802.3ad, sixteen flows" lacp 2 --flows 16
	check "802.3ad, sixteen flows: verified at both slaves" both_verified
else
	skip "verified at whichever slave is active" "no second cable"
fi
check "kernel log clean" log_clean
ktap_done

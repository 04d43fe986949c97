#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: setup-forward.sh [--spoil]
#
# The port's host passes on what it receives. What GRO merged is segmented again at the
# exit, and must leave as it came, byte for byte. The exit is a pair of veth devices
# (segmentation and checksums in software) and, with a second cable, a port of the card
# (TSO). --spoil expects other bytes, so that the comparisons fail.
#
#    zcg-tx                zcg-rx                              zcg-far
#   +------+         +-----------------------------+          +----------+
#   | PEER |=========| NETIF  vxlan01  bridge, or  | zcg-v0---| zcg-v1   |
#   |      |         |                 router      | NETIF2===| PEER2    |
#   +------+         +-----------------------------+          +----------+
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/selftests/setups.sh
. "$ZCG_TOP/tests/selftests/setups.sh"

spoil=()
case ${1:-} in
"") ;;
--spoil) spoil=(--spoil) ;;
*) sed -n '4s/^# //p' "$0" >&2; exit 2 ;;
esac

behind() { ip netns exec zcg-far "$@"; }
mac() { ip netns exec "$1" cat "/sys/class/net/$2/address"; }

# --- exits ------------------------------------------------------------------------------

veth()
{
	ip -n $NS_RX link add zcg-v0 type veth peer name zcg-v1 netns zcg-far
	ip -n $NS_RX link set zcg-v0 up
	ip -n zcg-far link set zcg-v1 up
}

# exit_at NEAR FAR: where it goes on; the far device shows each frame as it is on a wire.
exit_at()
{
	near=$1 beyond=$2
	behind ethtool -K "$beyond" gro off lro off rxvlan off > /dev/null 2>&1 || true
}

exit_veth()
{
	veth
	rx ethtool -K zcg-v0 tx off tso off > /dev/null
	exit_at zcg-v0 zcg-v1
}

exit_card()
{
	# Two queues of one port may overtake each other.
	rx ethtool -L "$NETIF2" combined 1
	ip -n $NS_RX link set "$NETIF2" up
	ip -n zcg-far link set "$PEER2" up
	exit_at "$NETIF2" "$PEER2"
	wait_for 20 has_link $NS_RX "$NETIF2" && wait_for 20 has_link zcg-far "$PEER2"
}

# --- what is passed on --------------------------------------------------------------------

# At NETIF's host only.
half_tunnel()
{
	ip -n $NS_RX link add $VX_DEV type vxlan id 2 local $OUTER_RX remote $OUTER_TX \
		dstport "$VX_PORT" noudpcsum
	ip -n $NS_RX link set $VX_DEV up
}

bridge_all()  # exit device
{
	ip -n $NS_RX link add zcg-br type bridge mcast_snooping 0
	ip -n $NS_RX link set $VX_DEV master zcg-br
	ip -n $NS_RX link set "$1" master zcg-br
	ip -n $NS_RX link set zcg-br up
}

# The far side of a router has 10.0.3.0/24, fd03::/64 and 192.168.3.0/24.
route_all()  # exit device, its address at the far side
{
	rx sysctl -qw net.ipv4.ip_forward=1 net.ipv6.conf.all.forwarding=1
	ip -n $NS_RX addr add 10.0.3.1/24 dev "$1"
	ip -n $NS_RX addr add fd03::1/64 dev "$1" nodad
	ip -n $NS_RX addr add 192.168.3.1/24 dev "$1"
	ip -n $NS_RX neigh replace 10.0.3.2 lladdr "$2" dev "$1"
	ip -n $NS_RX neigh replace fd03::2 lladdr "$2" dev "$1"
	ip -n $NS_RX neigh replace 192.168.3.2 lladdr "$2" dev "$1"
}

# bytes NAME MODE: without the flags, and with each of them.
bytes()
{
	local name=$1 mode=$2 flag
	local -A made=([off]=merged [on]=merged [defer]=single)
	! core_is_gated || made[off]=single
	for flag in off on defer; do
		set_flags $flag
		check "$name: flag $flag: leaves as it came" python3 "$ZCG_TOP/tests/selftests/forwarded.py" \
			"$mode" "$beyond" --expect "${made[$flag]}" --exit-mac "$(mac $NS_RX "$near")" \
			--router "$router" "${spoil[@]}"
	done
	check "$name: each frame counted once" counted_bytes
}

counted_bytes() { [ "$(rx_stat rx_zcg_verified)" -gt 0 ] && [ "$(rx_stat rx_zcg_deferred)" -gt 0 ] && adds_up; }

compare_all()  # exit
{
	local kind=${1#exit_}
	router=02:00:00:00:00:fe
	half_tunnel
	"$1"
	hold_polls
	bridge_all "$near"
	bytes "bridge to a $kind" bridge
	ip -n $NS_RX link del zcg-br

	route_all "$near" "$(mac zcg-far "$beyond")"
	ip -n $NS_RX link set $VX_DEV address $router
	ip -n $NS_RX addr add 10.0.2.254/24 dev $VX_DEV
	ip -n $NS_RX addr add fd00::254/64 dev $VX_DEV nodad
	bytes "router to a $kind" route
	# The same port is a tunnel's here, and the frames go on to another host's.
	bytes "tunnel frames routed to a $kind" outer
	ip -n $NS_RX addr flush dev "$near"
	ip -n $NS_RX link set "$near" down
	check "$kind: nothing is left of it" sweep
	by_timer
}

# --- the same with the stacks of three hosts ----------------------------------------------

bridged()
{
	tunnel_pair
	veth
	bridge_all zcg-v0
	ip -n zcg-far addr add "$INNER_RX/24" dev zcg-v1
	ip -n zcg-far link set zcg-v1 mtu 1400
}

tunnel_pair()
{
	half_tunnel
	ip -n $NS_TX link add $VX_DEV type vxlan id 2 local $OUTER_TX remote $OUTER_RX \
		dstport "$VX_PORT" noudpcsum
	ip -n $NS_TX addr add "$INNER_TX/24" dev $VX_DEV
	ip -n $NS_TX link set $VX_DEV mtu 1400 up
}

routed()
{
	tunnel_pair
	veth
	ip -n $NS_RX addr add 10.0.2.254/24 dev $VX_DEV
	route_all zcg-v0 "$(mac zcg-far zcg-v1)"
	ip -n $NS_TX route add 10.0.3.0/24 via 10.0.2.254
	ip -n zcg-far addr add 10.0.3.2/24 dev zcg-v1
	ip -n zcg-far route add default via 10.0.3.1
}

# The tunnel ends at zcg-far; zcg-rx routes its frames.
passing()
{
	veth
	route_all zcg-v0 "$(mac zcg-far zcg-v1)"
	ip -n zcg-far addr add 192.168.3.2/24 dev zcg-v1
	ip -n zcg-far route add default via 192.168.3.1
	ip -n $NS_TX route replace 192.168.3.0/24 via $OUTER_RX
	ip -n $NS_TX link add $VX_DEV type vxlan id 3 local $OUTER_TX remote 192.168.3.2 \
		dstport "$VX_PORT" noudpcsum
	ip -n zcg-far link add $VX_DEV type vxlan id 3 local 192.168.3.2 remote $OUTER_TX \
		dstport "$VX_PORT" noudpcsum
	addresses $VX_DEV
}

passing_known() { passing && half_tunnel; }

# Nobody here has a tunnel at that port: nothing is claimed, and no core merges what it has
# no tunnel's socket for.
as_unknown()
{
	echo "$unknown frames to an unknown port"
	[ "$verified" -eq 0 ] && [ "$unknown" -ge $((frames * 95 / 100)) ] && adds_up && single
}

far_port_unknown()
{
	local name="tunnel frames passing a host without that tunnel"
	make_it passing
	check "$name: can be set up and passes a ping" made_it
	set_flags on
	unknown=$(rx_stat rx_zcg_unknown_port)
	measure
	unknown=$(($(rx_stat rx_zcg_unknown_port) - unknown))
	check "$name: flag on: intact both ways" with_datagrams
	check "$name: flag on: as the in-box driver" as_unknown
	check "$name: nothing is left of it" sweep
}

exits=1
load fork
! second_cable || exits=2
ktap_start $((exits * 13 + 3 * SETUP_CASES + 4 + 1))
mark_log
hosts_up 1
by_timer
add_ns zcg-far
if [ $exits -eq 2 ]; then
	ip link set "$NETIF2" netns $NS_RX
	ip link set "$PEER2" netns zcg-far
fi

compare_all exit_veth
[ $exits -eq 1 ] || compare_all exit_card

# shellcheck disable=SC2034 # for setups.sh
IN_RX=zcg-far
setup "bridge" bridged 2
INNER_RX=10.0.3.2
setup "router" routed 2
INNER_RX=10.0.2.2
# shellcheck disable=SC2034 # for setups.sh
TUNNEL_NS=zcg-far
setup "tunnel frames passing a host with such a tunnel" passing_known 2
far_port_unknown
check "kernel log clean" log_clean
ktap_done

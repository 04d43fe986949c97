#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Tunnel ports are learned from the stack and forgotten again. For each port both
# are asked: the stack's table (ethtool --show-tunnels) and the receive path (a frame
# to the port, and how the driver counted it).
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

added=0
# add NAME KIND PORT: a tunnel device on the receiver, up.
add()
{
	local name=$1 kind=$2 port=$3
	added=$((added + 1))	# no VNI twice
	case $kind in
	vxlan) ip -n $NS_RX link add "$name" type vxlan id "$((port + added))" local $OUTER_RX dstport "$port" ;;
	vxlan-gpe) ip -n $NS_RX link add "$name" type vxlan dstport "$port" external gpe ;;
	geneve) ip -n $NS_RX link add "$name" type geneve id "$port" remote $OUTER_TX dstport "$port" ;;
	esac
	ip -n $NS_RX link set "$name" up
}

del()
{
	local name
	for name in "$@"; do ip -n $NS_RX link del "$name"; done
}

# The stack programs ports from a work queue.
shown() { rx ethtool --show-tunnels "$NETIF" | grep -qE "port $1, $2\$"; }
not_shown() { ! rx ethtool --show-tunnels "$NETIF" | grep -qE "port $1,"; }

probe() { python3 "$ZCG_TOP/tests/selftests/probe.py" "$@"; }

# all_are VERDICT SHOWN PORT/KIND...: SHOWN PORT KIND succeeds for every port, and the
# driver counts a frame to it as VERDICT.
all_are()
{
	local verdict=$1 shown=$2 word rc=0
	shift 2
	for word in "$@"; do
		[ -z "$can_show" ] || wait_for 5 "$shown" "${word%/*}" "${word#*/}" ||
			{ echo "ethtool --show-tunnels: port ${word/\//, }: not $shown"; rc=1; }
	done
	probe "$@" > "$ZCG_TMP/probe" || rc=1
	tr '\n' ';' < "$ZCG_TMP/probe"
	[ "$(grep -c " $verdict\$" "$ZCG_TMP/probe")" -eq $# ] || rc=1
	return $rc
}

known() { all_are verified shown "$@"; }
forgotten() { all_are unknown not_shown "$@"; }

learned() { add t1 vxlan 5766 && known 5766/vxlan; }
shown_as_table() { rx ethtool --show-tunnels "$NETIF"; shown 5766 vxlan; }
another_port_is_not() { probe 5767/vxlan | tee /dev/stderr | grep -q unknown; }
deleted() { del t1 && forgotten 5766/vxlan; }

ten=(4789/vxlan 8472/vxlan 5766/vxlan 6081/geneve 6082/geneve 4790/vxlan-gpe 10001/vxlan 10002/vxlan 65535/vxlan 1025/vxlan)
add_ten()
{
	local word
	for word in "${ten[@]}"; do add "p${word%/*}" "${word#*/}" "${word%/*}" || return 1; done
	known "${ten[@]}"
}
del_ten()
{
	local word
	for word in "${ten[@]}"; do del "p${word%/*}" || return 1; done
	forgotten "${ten[@]}"
}

# What is sent the moment that both ports report a carrier may still be lost.
frames_pass() { [[ $(probe 5799/vxlan) == *unknown ]]; }
link_back()
{
	wait_for 20 has_link $NS_RX "$NETIF" && wait_for 20 has_link $NS_TX "$PEER" &&
		wait_for 10 frames_pass
}

learned_while_down()
{
	ip -n $NS_RX link set "$NETIF" down
	add t1 vxlan 5770 || return 1
	ip -n $NS_RX link set "$NETIF" up
	link_back && known 5770/vxlan
}

forgotten_while_down()
{
	ip -n $NS_RX link set "$NETIF" down
	del t1 || return 1
	ip -n $NS_RX link set "$NETIF" up
	link_back && forgotten 5770/vxlan
}

kept_over()
{
	"$@" && link_back && known 5771/vxlan 6081/geneve
}
down_up() { ip -n $NS_RX link set "$NETIF" down && ip -n $NS_RX link set "$NETIF" up; }
reset() { rx ethtool -r "$NETIF"; }

feature_off() { rx ethtool -K "$NETIF" rx-udp_tunnel-port-offload off && forgotten 5771/vxlan; }
feature_on() { rx ethtool -K "$NETIF" rx-udp_tunnel-port-offload on && known 5771/vxlan; }

# Two devices that share a socket; and one that has a socket for each of IPv4 and
# IPv6, so that the stack announces the port twice.
two_on_one_port()
{
	add t3 vxlan 5772 && add t4 vxlan 5772 && known 5772/vxlan || return 1
	del t3
	known 5772/vxlan || { echo "forgotten with the first of two"; return 1; }
	del t4 && forgotten 5772/vxlan
}

two_sockets()
{
	ip -n $NS_RX link add t5 type vxlan dstport 5773 external && ip -n $NS_RX link set t5 up &&
		known 5773/vxlan || return 1
	del t5 && forgotten 5773/vxlan
}

# More ports than the table holds: those that fit work, and room is used again.
crowd=()
sixteen_known() { [ "$(probe "${crowd[@]}" | grep -c ' verified$')" -eq 16 ]; }
too_many()
{
	local i
	for i in $(seq 20); do
		add "m$i" vxlan $((20000 + i)) || return 1
		crowd+=("$((20000 + i))/vxlan")
	done
	if ! wait_for 5 sixteen_known; then
		probe "${crowd[@]}" | tr '\n' ';'
		echo "not 16 ports are known"
		return 1
	fi
	for i in $(seq 18); do del "m$i" || return 1; done
	if ! known 20019/vxlan 20020/vxlan; then
		echo "a port that did not fit is not learned once there is room"
		return 1
	fi
	del m19 m20
	forgotten 20019/vxlan 20020/vxlan
}

# A tunnel that is there before the driver is, so in the first namespace.
before_the_driver()
{
	ip link add early type vxlan id 9 dstport 5774 local 127.0.0.1 && ip link set early up || return 1
	load fork
	ln -s /proc/1/ns/net /run/netns/zcg-first
	ip netns add $NS_TX && far ip link set "$PEER" netns $NS_TX || return 1
	ip -n $NS_TX link set "$PEER" up && ip link set "$NETIF" up || return 1
	NS_RX=zcg-first
	set_flag on && link_back && known 5774/vxlan && forgotten 5775/vxlan
}

after_that()
{
	ip link del early
	rm /run/netns/zcg-first
}

ktap_start 17
mark_log
load fork
hosts_up 1
set_flag on
can_show=yes
rx ethtool --show-tunnels "$NETIF" > /dev/null 2>&1 || can_show=

check "vxlan dstport 5766 is learned" learned
if [ -n "$can_show" ]; then
	check "ethtool --show-tunnels shows it" shown_as_table
else
	skip "ethtool --show-tunnels shows it" "this ethtool has no --show-tunnels"
fi
check "a port without a tunnel is not known" another_port_is_not
check "deleting the tunnel forgets the port" deleted
check "ten ports at once, of three kinds" add_ten
check "all ten are forgotten" del_ten
check "learned with the interface down" learned_while_down
check "forgotten with the interface down" forgotten_while_down
add t1 vxlan 5771
add t2 geneve 6081
check "kept over down and up" kept_over down_up
check "kept over ethtool -r" kept_over reset
check "rx-udp_tunnel-port-offload off forgets" feature_off
check "rx-udp_tunnel-port-offload on learns again" feature_on
del t1 t2
check "a port goes with the last of two tunnels" two_on_one_port
check "a port that is announced twice goes when it has to" two_sockets
check "20 tunnels on a table of 16" too_many
hosts_down
check "a tunnel from before the driver was loaded" before_the_driver
after_that
check "kernel log clean" log_clean
ktap_done

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the set-up tests (setup-*.sh) share. A set-up is what somebody builds upon the
# port: another tunnel, a VLAN, a bond, a bridge. Each goes through the same cases:
# flag off, it is the in-box driver; flag on, its frames are verified inside and
# aggregated at the port; with the other flag they are deferred and leave the port one by
# one; always what is sent arrives as it was sent, in both directions; and nothing of it
# is left behind.
#
# To be sourced after lib.sh.

[ -z "${ZCG_SSH:-}" ] || skip_all "the hosts of a set-up are namespaces of one machine, and PEER is in another"

MBYTES=${MBYTES:-3}
# Cases that setup() runs, whatever happens.
# shellcheck disable=SC2034 # for the tests
SETUP_CASES=9
DEFER=$FLAG-defer

# Where the inside of the tunnel ends and where the tunnel does, if not on the port's
# host; the tunnel's devices; the receiver's ports.
IN_RX=$NS_RX
TUNNEL_NS=$NS_RX
TUNNELS=$VX_DEV
RX_PORTS=
MORE_NS=
PEER2=${PEER2:-} NETIF2=${NETIF2:-}

# The same command on both hosts; DEV is that host's port.
each() { tx "${@//DEV/$PEER}" && rx "${@//DEV/$NETIF}"; }

links_back() { wait_for 20 has_link $NS_RX "$NETIF" && wait_for 20 has_link $NS_TX "$PEER"; }

# add_ns NAMESPACE...: more hosts, gone at the end.
add_ns()
{
	local ns
	for ns in "$@"; do
		MORE_NS+=" $ns"
		ip netns add "$ns"
		ip -n "$ns" link set lo up
		ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.accept_dad=0 \
			net.ipv6.conf.default.accept_dad=0
	done
}

setups_cleanup()
{
	local ns
	for ns in $MORE_NS; do ip netns del "$ns" 2> /dev/null || true; done
	cleanup
}
trap setups_cleanup EXIT

# The second cable, if there is one: PEER2 on the sender, NETIF2 on the receiver. Who
# names NETIF and PEER names these, too, or has none: no other port is touched. In the lab
# they are the third and fourth port that ixgbe drives. To be asked before hosts_up.
second_cable()
{
	local list
	if [ -z "$NETIF2" ] && [ -z "$chosen_netif" ]; then
		mapfile -t list < <(ports)
		PEER2=${list[2]:-} NETIF2=${list[3]:-}
	fi
	[ -n "$PEER2" ] && [ -n "$NETIF2" ]
}

# Functions are the kernel's word for what it can do.
kernel_has() { grep -qw "$1" /proc/kallsyms; }

# --- the counters ---------------------------------------------------------------------

rx_ports() { echo "${RX_PORTS:-$NETIF}"; }

# port_stats COUNTER...: sums over the receiver's ports, on one line. What does not exist
# is a word that no arithmetic takes.
port_stats()
{
	local dev
	for dev in $(rx_ports); do rx ethtool -S "$dev"; done | awk -v names="$*" '
		{ sum[$1] += $2 }
		END { n = split(names, name, " "); for (i = 1; i <= n; i++)
			printf "%s ", (name[i] ":") in sum ? sum[name[i] ":"] : "there_is_no_" name[i]; print "" }'
}

set_flags()  # off|on|defer, at each of the receiver's ports
{
	local dev on=off defer=off
	[ "$1" != on ] || on=on
	[ "$1" != defer ] || defer=on
	for dev in $(rx_ports); do rx ethtool --set-priv-flags "$dev" $FLAG $on $DEFER $defer; done
}

# Every frame has one verdict, at each port.
adds_up()
{
	local dev
	for dev in $(rx_ports); do counters_add_up "$dev" || return 1; done
}

# --- traffic --------------------------------------------------------------------------

# A stream to where the inside ends, and one back.
traffic_there() { NS_RX=$IN_RX traffic "$@"; }
traffic_back()
{
	local to=$NS_TX
	NS_TX=$IN_RX NS_RX=$to traffic "$@"
}

# What measure() sends; a test may have another.
stream() { traffic_there tcp --to "$INNER_RX" --mbytes "$MBYTES" "$@"; }

# measure [OPTIONS OF traffic.py...]: one stream to the receiver. Sets rc and said, and
# what it took: frames at the port, packets at the tunnel device, frames seen, verified,
# deferred.
measure()
{
	local before after s0
	rc=0
	s0=$(tunnel_packets)
	read -r -a before < <(port_stats rx_packets rx_zcg_seen rx_zcg_verified rx_zcg_deferred)
	said=$(stream "$@" 2>&1) || rc=$?
	read -r -a after < <(port_stats rx_packets rx_zcg_seen rx_zcg_verified rx_zcg_deferred)
	frames=$((after[0] - before[0]))
	skbs=$(($(tunnel_packets) - s0))
	seen=$((after[1] - before[1]))
	verified=$((after[2] - before[2]))
	deferred=$((after[3] - before[3]))
	note "$said"
	note "$frames frames, $skbs packets at the tunnel, $seen seen, $verified verified, $deferred deferred"
}

tunnel_packets()
{
	local dev sum=0
	for dev in $TUNNELS; do sum=$((sum + $(link_rx_packets "$TUNNEL_NS" "$dev"))); done
	echo $sum
}

# After measure: the stream was intact, and so is one back; and datagrams.
intact_both_ways() { [ $rc -eq 0 ] && traffic_back tcp --to "$INNER_TX" --mbytes 1; }
with_datagrams()
{
	intact_both_ways && traffic_there udp --to "$INNER_RX" --count 200 --size 900
}

# One packet for each frame; one for many.
single() { [ "$frames" -gt $((MBYTES * 100)) ] && [ $((skbs * 12)) -gt $((frames * 10)) ]; }
merged() { [ "$skbs" -gt 0 ] && [ $((skbs * least)) -lt "$frames" ]; }
# LEAST 0: this core merges none of these, whatever the driver says.
as_it_should() { if [ "$least" -eq 0 ]; then single; else merged; fi; }
as_the_core() { if core_is_gated; then single; else as_it_should; fi; }
as_inbox() { [ $((seen + verified + deferred)) -eq 0 ] && as_the_core; }
# All but the odd ARP request or neighbour discovery.
most() { [ "$1" -ge $((frames * 95 / 100)) ] && [ "$1" -gt $((MBYTES * 100)) ] && adds_up; }
mostly_verified() { [ "$deferred" -eq 0 ] && most "$verified"; }
deferred_singly() { [ "$verified" -eq 0 ] && most "$deferred" && single; }

# --- one set-up -----------------------------------------------------------------------

# setup NAME MAKE LEAST [OPTIONS OF traffic.py...]: MAKE builds it, in a subshell;
# afterwards INNER_TX and INNER_RX reach each other through it. LEAST is the least number
# of frames for each packet that reaches the tunnel, 0 if this kernel has no GRO for it.
# What was made is found and removed by sweep().
setup()
{
	local name=$1 make=$2 merges="aggregated at the port" began
	least=$3
	shift 3
	began=$(date +%s%3N)
	[ "$least" -gt 0 ] || merges="not aggregated, since this kernel has no GRO for it"
	make_it "$make"
	check "$name: can be set up and passes a ping" made_it
	set_flags off
	measure "$@"
	check "$name: flag off: intact both ways" intact_both_ways
	check "$name: flag off: as the in-box driver" as_inbox
	set_flags on
	measure "$@"
	check "$name: flag on: intact both ways" with_datagrams
	check "$name: flag on: verified, each frame counted once" mostly_verified
	check "$name: flag on: $merges" as_it_should
	set_flags defer
	measure "$@"
	check "$name: deferred: intact both ways" with_datagrams
	check "$name: deferred: one by one, each frame counted once" deferred_singly
	check "$name: nothing is left of it" sweep
	note "$name took $(($(date +%s%3N) - began)) ms"
}

# make_it MAKE: sets made and said, for made_it(). Not to be called by check, in which -e
# does not hold; here it ends MAKE with the first command that fails.
make_it()
{
	set +e
	said=$(set -e; "$1" 2>&1)
	made=$?
	set -e
}

made_it()
{
	[ -z "$said" ] || echo "$said"
	[ $made -eq 0 ] && wait_for 10 tx ping -c 1 -W 1 "$INNER_RX"
}

# Removes every device but the ports (and what belongs to a namespace), and waits until
# the driver has forgotten the tunnel ports.
sweep()
{
	local ns dev left
	for ns in $NS_TX $NS_RX $MORE_NS; do
		for dev in $(made_in "$ns"); do
			ip -n "$ns" link del "$dev" 2> /dev/null || true	# went with another
		done
		left=$(made_in "$ns")
		[ -z "$left" ] || { echo "$ns still has $left"; return 1; }
		ip netns exec "$ns" sysctl -qw net.ipv4.ip_forward=0 net.ipv6.conf.all.forwarding=0
	done
	wait_for 10 no_ports || { rx ethtool --show-tunnels "$NETIF"; return 1; }
}

# Devices of a namespace that a test has made.
made_in()
{
	ip -n "$1" -o link show | awk -F ': ' '{ sub(/@.*/, "", $2); print $2 }' |
		grep -vxE "lo|$PEER|$NETIF|${PEER2:-lo}|${NETIF2:-lo}|(gre|gretap|erspan|sit|tunl|ip6tnl|ip6gre|ip6_vti|ip_vti)0" || true
}

# An ethtool without --show-tunnels knows no port anyway.
no_ports()
{
	! rx ethtool --show-tunnels "$NETIF" 2> /dev/null | grep -q 'port [0-9]'
}

# vxlan_pair TX-ADDRESS RX-ADDRESS OPTIONS...: vxlan01 at both ends. Without "dev", since a
# tunnel that is linked to the port keeps LRO off there.
vxlan_pair()
{
	local a=$1 b=$2
	shift 2
	ip -n $NS_TX link add $VX_DEV type vxlan id 2 local "$a" remote "$b" noudpcsum \
		dstport "$VX_PORT" "$@"
	ip -n $NS_RX link add $VX_DEV type vxlan id 2 local "$b" remote "$a" noudpcsum \
		dstport "$VX_PORT" "$@"
}

# addresses DEV: those of the inside, on the devices of that name at both ends.
addresses()
{
	local mtu
	ip -n $NS_TX addr add "$INNER_TX/24" dev "$1"
	ip -n "$IN_RX" addr add "$INNER_RX/24" dev "$1"
	# A tunnel without a lower device does not follow its MTU.
	mtu=$(($(rx cat "/sys/class/net/$NETIF/mtu") - ${OVERHEAD:-100}))
	ip -n $NS_TX link set "$1" mtu $mtu up
	ip -n "$IN_RX" link set "$1" mtu $mtu up
}

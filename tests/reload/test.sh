#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/reload in a guest: what it keeps, what it refuses, and that it goes back.
# What is kept is shown by ip, bridge and ethtool, and compared as text.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../selftests/lib.sh"

broken=$ZCG_TOP/build/reload/$(uname -r)
reload=$ZCG_TOP/scripts/reload
A=wan0 B=far0	# the two ports, B in a namespace of its own
AWAY=zcg-away

away() { ip netns exec $AWAY "$@"; }
quiet() { "$@" > /dev/null 2>&1; }
fork_is_loaded() { [ "$(cat /sys/module/ixgbe/srcversion)" = "$(modinfo -F srcversion "$ZCG_MODULE")" ]; }
inbox_is_loaded() { [ -d /sys/module/ixgbe ] && ! ethtool --show-priv-flags $A | grep zero-csum-gro; }

# --- what there is to keep ----------------------------------------------------------

prepare()
{
	load "$1"
	ip link set "$NETIF" name $A
	ip netns add $AWAY
	ip link set "$PEER" netns $AWAY name $B
	away ip link set lo up
	away ip addr add 192.168.1.1/24 dev $B
	away ip link set $B mtu 9000 up
	away ip route add 172.20.0.0/16 via 192.168.1.2

	ethtool -L $A combined 2
	ethtool -G $A rx 1024 tx 256
	ethtool -C $A rx-usecs 77
	ethtool -A $A rx off tx off 2> /dev/null || true
	ethtool -K $A tso off rxvlan off ntuple on
	ethtool --set-priv-flags $A legacy-rx on
	ethtool -N $A rx-flow-hash udp4 sdfn
	ethtool -N $A flow-type tcp4 dst-port 5001 action 1
	ethtool -s $A msglvl 0x17
	ip link set $A address 02:00:00:00:0a:01 txqueuelen 500 alias "the uplink"
	ip link set $A mtu 9000
	ip link set $A promisc on allmulticast on
	sysctl -qw net.ipv4.conf.$A.rp_filter=2 net.ipv6.conf.$A.accept_ra=0 net.ipv4.neigh.$A.gc_stale_time=77
	ip link set $A up
	ip addr add 192.168.1.2/24 dev $A
	ip addr add 192.168.1.22/24 dev $A
	ip addr add 10.7.0.1 peer 10.7.0.2/32 dev $A
	ip addr add 192.168.77.1/24 dev $A label $A:x valid_lft 3000 preferred_lft 2000
	ip addr add fd01::2/64 dev $A nodad
	ip addr add fd02::2/64 dev $A nodad noprefixroute
	wait_for 20 has_carrier $A || die "no link on $A"
	ip route add 172.16.0.0/16 via 192.168.1.1 metric 77 mtu 1400
	ip route add 172.17.0.0/16 via 172.16.0.9 onlink dev $A table 100
	ip route add 172.18.0.0/16 nexthop via 192.168.1.1 weight 2 nexthop via 10.7.0.2
	ip -6 route add fd99::/64 via fd01::1 metric 50
	ip -6 route add fd98::/64 nexthop via fd01::1 nexthop via fd01::3
	ip neigh add 192.168.1.9 lladdr 02:00:00:00:00:09 dev $A

	ip link add link $A name $A.100 type vlan id 100 egress-qos-map 2:3
	ip link set $A.100 up
	ip addr add 192.168.100.2/24 dev $A.100
	ip route add 172.19.0.0/16 via 192.168.100.1
	ip link add link $A.100 name inner.7 type vlan proto 802.1ad id 7
	ip link add link $A name mv0 address 02:00:00:00:0a:02 type macvlan mode private
	ip link set mv0 up
	ip addr add 192.168.50.1/24 dev mv0
	ip link add vx0 address 02:00:00:00:0a:03 type vxlan id 2 remote 192.168.1.1 local 192.168.1.2 dstport 5766 dev $A noudpcsum
	ip link set vx0 up
	ip addr add 10.0.2.2/24 dev vx0
	bridge fdb append 00:00:00:00:00:00 dev vx0 dst 192.168.1.3
	bridge fdb add 02:00:00:00:00:33 dev vx0 dst 192.168.1.4
	ip link add br0 type bridge vlan_filtering 1
	ip link set br0 up
	ip link add link $A name $A.200 type vlan id 200
	ip link set $A.200 master br0 up
	bridge link set dev $A.200 cost 55 hairpin on
	bridge vlan add dev $A.200 vid 5 pvid untagged
	bridge vlan add dev $A.200 vid 10-12
	bridge vlan del dev $A.200 vid 1
	bridge fdb add 02:00:00:00:00:44 dev $A.200 master static vlan 10
	ip addr add 10.9.0.1/24 dev br0
	wait_for 10 quiet ping -c 1 -W 1 192.168.1.1 || die "$A can't reach $B"
	wait_for 10 settled || die "IPv6 addresses stay tentative"
}

settled() { [ -z "$(ip -6 addr show tentative; away ip -6 addr show tentative)" ]; }

has_carrier() { [ "$(cat "/sys/class/net/$1/carrier" 2> /dev/null)" = 1 ]; }

unprepare()
{
	ip link del br0 2> /dev/null || true
	ip link del bnd1 2> /dev/null || true
	unload
	ip netns del $AWAY 2> /dev/null || true
	rm -rf /run/zcg-reload
}

# Without what may change: numbers of devices, seconds, counters, ports that are only
# learned, and what only one of the two drivers has.
plain()
{
	sed -E 's/^[0-9]+: //; s/(valid_lft|preferred_lft) [0-9]+sec/\1 some/g; s/ (tentative|dadfailed)//g
		s/ @if[0-9]+//g; s/expires [0-9]+sec/expires/; s/ proto kernel_ll//
		s/ (numtxqueues|numrxqueues|gso_max_size|gso_max_segs|gso_ipv4_max_size|gro_ipv4_max_size|gro_max_size|tso_max_size|tso_max_segs|minmtu|maxmtu) [0-9]+//g
		s/portid [0-9a-f]+ *//; s/ (hello|message_age|forward_delay|gc|tcn|topology_change|hold)[a-z_]*timer +[0-9.]+//g
		s/parentbus pci parentdev [0-9a-f:.]+ *//; s/bridge_id [0-9a-f.:]+|designated_(root|bridge) [0-9a-f.:]+|root_id [0-9a-f.:]+//g
		/zero-csum-gro|rx-udp_tunnel-port-offload|^ *(RX|TX): |maximums/d'
}

show_in()
{
	local run=("$@") dev
	echo "== links"; "${run[@]}" ip -o -d link | grep -v loopback | plain | sort
	echo "== addresses"; "${run[@]}" ip -o addr | plain | sort
	echo "== routes"; "${run[@]}" ip -d route show table all | sed 's/ *$//' | sort
	"${run[@]}" ip -6 -d route show table all | grep -v '^multicast ff00' | sort
	echo "== neighbours"; "${run[@]}" ip neigh show nud permanent
	"${run[@]}" bridge fdb | grep -E 'permanent|static' | sort
	"${run[@]}" bridge vlan
	for dev in $("${run[@]}" ls /sys/class/net); do
		[ -e "/sys/class/net/$dev/device" ] || "${run[@]}" test -e "/sys/class/net/$dev/device" || continue
		for what in -k -g -l -c -a -x -n --show-priv-flags; do
			# Its columns are as wide as the longest name needs.
			echo "== ethtool $what $dev"; "${run[@]}" ethtool "$what" "$dev" 2>&1 | sed -E 's, +:,:,; s, +, ,g'
		done
		echo "== udp4 $dev"; "${run[@]}" ethtool -n "$dev" rx-flow-hash udp4 2>&1
		"${run[@]}" ethtool "$dev" | grep -E 'Current message|Advertised link|Auto-neg'
	done
}

show() # FILE
{
	{
		show_in env
		echo "=== away"
		show_in ip netns exec $AWAY
		sysctl -a 2> /dev/null | grep -E "^net\.ipv[46]\.(conf|neigh)\.(wan0|mv0|vx0)" | grep -v stable_secret
	} | plain > "$1"
}

# The state is as in file $1, but for nothing.
kept()
{
	wait_for 10 settled || return 1
	show "$ZCG_TMP/now"
	diff "$1" "$ZCG_TMP/now"
}

swaps() # STATUS ARGUMENT...
{
	local want=$1 rc=0
	shift
	"$reload" "$@" || rc=$?
	[ $rc -eq "$want" ] || { echo "exit status $rc, not $want"; return 1; }
}

traffic_passes()
{
	wait_for 10 quiet ping -c 1 -W 1 192.168.1.1 && wait_for 10 quiet away ping -c 1 -W 1 192.168.1.2
}

goes_back() # KIND
{
	swaps 3 --timeout 10 --to "$broken/$1/ixgbe.ko" && fork_is_loaded &&
		ethtool --show-priv-flags $A | grep -E 'zero-csum-gro *: on'
}

# Stopped when the driver is gone and the new one not yet there, and killed.
killed_halfway()
{
	local worker
	"$reload" --to inbox > "$ZCG_TMP/killed" 2>&1 &
	wait_for 60 not test -d /sys/module/ixgbe || { cat "$ZCG_TMP/killed"; return 1; }
	worker=$(pgrep -f "$reload --to inbox" | tail -1)
	kill -KILL "$worker"
	wait $! || echo "it ended with status $?"
	pgrep -f insmod || true
	wait_for 10 not pgrep insmod
	cat "$ZCG_TMP/killed"
	[ -s /run/zcg-reload/state.json ] || return 1
	"$reload" --to ours 2>&1 | tee "$ZCG_TMP/again"
	grep -qE 'no ixgbe is loaded|--restore' "$ZCG_TMP/again"
}

not() { ! "$@"; }

# refused NAME PATTERN [COMMAND...]: after the command it refuses, says PATTERN, and the
# driver stays.
refused()
{
	local name=$1 pattern=$2 out rc=0
	shift 2
	[ $# -eq 0 ] || "$@"
	out=$("$reload" --to ours 2>&1) || rc=$?
	note "$out"
	if [ $rc -eq 1 ] && grep -qE "$pattern" <<< "$out" && grep -q 'nothing was changed' <<< "$out" &&
		inbox_is_loaded; then
		ok "$name is refused"
	else
		not_ok "$name is refused (exit status $rc)"
	fi
}

check_only()
{
	"$reload" --check && inbox_is_loaded && [ ! -e /run/zcg-reload/state.json ]
}

# The fork with another kernel's name in its vermagic, a string of the same length.
other_kernel()
{
	python3 - "$ZCG_MODULE" "$ZCG_TMP/other.ko" <<-'END'
		import os, sys
		data = open(sys.argv[1], "rb").read()
		magic = ("vermagic=" + os.uname().release + " ").encode()
		assert data.count(magic) == 1
		new = b"vermagic=1.2.3 ".ljust(len(magic), b"x")
		open(sys.argv[2], "wb").write(data.replace(magic, new))
	END
	"$reload" --to "$ZCG_TMP/other.ko"
}

# --- cases -------------------------------------------------------------------------------

ktap_start 39
mark_log

# Both ways, and back from three modules that don't work.
prepare fork
ethtool --set-priv-flags $A zero-csum-gro on
show "$ZCG_TMP/before"
note "$(wc -l < "$ZCG_TMP/before") lines of state"
check "from the fork to in-box" swaps 0 --to inbox
check "in-box is in use" inbox_is_loaded
check "everything is as it was" kept "$ZCG_TMP/before"
check "traffic passes" traffic_passes
check "from in-box to the fork" swaps 0 --to ours
check "the fork is in use" fork_is_loaded
check "everything is as it was" kept "$ZCG_TMP/before"
check "traffic passes" traffic_passes
ethtool --set-priv-flags $A zero-csum-gro on
for kind in init probe link; do
	case $kind in
	init) what="can't be loaded" ;;
	probe) what="fails at probe" ;;
	link) what="gets no link" ;;
	esac
	check "a module that $what: back to the fork, with its flag" goes_back $kind
	check "a module that $what: everything is as it was" kept "$ZCG_TMP/before"
done
check "killed after the ports are gone: what was kept is in the file" killed_halfway
check "--restore brings it back" swaps 0 --restore
check "everything is as it was" kept "$ZCG_TMP/before"
unprepare

# What it refuses; nothing may change.
load inbox
ip link set "$NETIF" name $A
ip netns add $AWAY
ip link set "$PEER" netns $AWAY name $B
ip link set $A up
away ip link set $B up
ip addr add 192.168.1.2/24 dev $A
away ip addr add 192.168.1.1/24 dev $B
wait_for 20 has_carrier $A || die "no link on $A"
check "--check tells and changes nothing" check_only
ip route add default via 192.168.1.1
refused "a default route" "$A carries the IPv4 default route"
ip route del default
ip -6 addr add fd01::2/64 dev $A nodad
ip -6 route add default via fd01::1
refused "an IPv6 default route" "$A carries the IPv6 default route"
ip -6 route del default
xdp_on env $A pass
refused "an XDP program" "$A: an XDP program is attached"
xdp_off
nft add table netdev zcg
nft add chain netdev zcg zcg-in "{ type filter hook ingress device \"$A\" priority 0; }"
refused "an nftables chain at a port's ingress" "$A: an nftables chain or flowtable is hooked to it"
nft delete table netdev zcg
nft add table netdev zcg
nft add chain netdev zcg zcg-in "{ type filter hook ingress devices = { $A, lo } priority 0; }"
refused "an nftables chain at several devices' ingress" "$A: an nftables chain or flowtable is hooked to it"
nft delete table netdev zcg
away nft add table inet zcg
if away nft add flowtable inet zcg zcg-flows "{ hook ingress priority 0; devices = { $B }; }"; then
	refused "an nftables flowtable" "$B: an nftables chain or flowtable is hooked to it .in .*$AWAY"
else
	skip "an nftables flowtable is refused" "nft can't make one on this kernel"
fi
away nft delete table inet zcg
nft add table inet zcg
nft add chain inet zcg zcg-forward "{ type filter hook forward priority 0; }"
nft add rule inet zcg zcg-forward iif "{ \"$A\", \"lo\" }" accept
refused "an nftables rule that means a port by number" "$A: an nftables rule names it by iif"
nft delete table inet zcg
vfs=/sys/class/net/$A/device/sriov_numvfs
if [ "$(cat "${vfs%numvfs}totalvfs" 2> /dev/null || echo 0)" -gt 0 ]; then
	echo 0 > "${vfs%numvfs}drivers_autoprobe"
	echo 2 > "$vfs"
	refused "a port with virtual functions" "$A: virtual functions are enabled .2."
	echo 0 > "$vfs"
else
	skip "a port with virtual functions is refused" "the card has none"
fi
ip link set $A down
if ip link add team1 type team 2> /dev/null; then
	ip link set $A master team1
	refused "a port of a team" "$A: it belongs to team1 .team."
	ip link del team1
else
	skip "a port of a team is refused" "this kernel has no team"
fi
if command -v ovs-dpctl > /dev/null && modprobe openvswitch 2> /dev/null; then
	ovs-dpctl add-dp zcg-ovs
	ovs-dpctl add-if zcg-ovs $A
	refused "a port of Open vSwitch" "$A: it belongs to zcg-ovs .openvswitch."
	ovs-dpctl del-dp zcg-ovs
else
	skip "a port of Open vSwitch is refused" "no openvswitch here"
fi
ip link add bnd1 type bond mode active-backup
ip link set $A down
ip addr flush dev $A
ip link set $A master bnd1
ip link set bnd1 up
ip link add link bnd1 name bnd1.5 type vlan id 5
ip link set bnd1.5 up
ip addr add 192.168.1.2/24 dev bnd1
ip addr add 192.168.5.2/24 dev bnd1.5
ip link add br0 type bridge
ip link add vx5 type vxlan id 5 remote 192.168.5.1 dstport 4789
ip link set vx5 master br0 up
ip link set br0 up
ip addr add 10.5.0.2/24 dev br0
ip route add default via 10.5.0.1
refused "a default route through a bridge, a vxlan, a VLAN and a bond" "$A carries the IPv4 default route .through br0."
ip route del default
refused "a default route in the port's namespace" "$B carries .*$AWAY" away ip route add default via 192.168.1.2
away ip route del default
ssh_over() { SSH_CONNECTION="192.168.1.1 4000 192.168.1.2 22" sh -c "unset SSH_CONNECTION; $reload --to ours"; }
refuses "the ssh session it is called from, though sudo hides the variable" \
	"$A carries the ssh session from 192.168.1.1 \\(through bnd1\\)" ssh_over
tc qdisc replace dev $A root handle 1: prio
refused "a qdisc" "$A: qdisc prio"
tc qdisc del dev $A root
ip link add link bnd1 name mt0 type macvtap 2> /dev/null || true
away ip link add link $B name mt1 type macvtap
refused "a macvtap on a port" "$B: macvtap mt1"
away ip link del mt1
ip link del mt0 2> /dev/null || true
refuses "a module for another kernel" "is for kernel 1.2.3, this is" other_kernel
refuses "a file that is not ixgbe" "not a module called ixgbe" "$reload" --to "$(modinfo -n vxlan)"
refuses "a file that is not there" "no such file" "$reload" --to /nowhere/ixgbe.ko

# A bond's port; with --force though it carries the default route.
ip route add default via 192.168.1.1 dev bnd1
show "$ZCG_TMP/before"
check "--force swaps the port of a bond that carries the default route" swaps 0 --to ours --force
check "everything is as it was" kept "$ZCG_TMP/before"
ip link del bnd1
unprepare
check "kernel log clean" log_clean
ktap_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: sriov.sh    (in a guest: tests/lab/lab run KERNEL -- tests/x520/test/sriov.sh)
# Virtual functions of the model under the in-box ixgbe and ixgbevf:
#
#   zcg-tx                       zcg-rx                vf0             vf1
#   PEER 192.168.1.1 ==wire== NETIF 192.168.1.2   V0 192.168.1.10  V1 192.168.1.11
#                               (the port)         \________ its functions _____/

set -euo pipefail
# shellcheck source=tests/x520/test/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

modinfo ixgbevf > /dev/null 2>&1 || skip_all "this kernel has no ixgbevf"
trap 'vf_hosts_down; cleanup' EXIT

MAC0=52:54:00:7a:64:00 MAC1=52:54:00:7a:64:01

pf() { rx "$@"; }

# A function waits for its port, and its driver for the next look at the link:
# seconds, that cost nothing in virtual time unless they are spent on looking.
export WAIT_STEP=0.5

vf_hosts_down()
{
	local ns
	for ns in vf0 vf1; do
		[ ! -e /run/netns/$ns ] || ip netns del $ns
	done
}

# --- a function's way from nothing to an address ------------------------------------

vf_device() { readlink -f "$PORT/virtfn$1"; }

vf_netdev()  # N: name of its interface, wherever that is now
{
	local ns
	for ns in vf0 vf1; do
		[ ! -e /run/netns/$ns ] ||
			! ip netns exec $ns sh -c "ls $(vf_device "$1")/net 2> /dev/null | grep ." || return 0
	done
	ls "$(vf_device "$1")/net"
}

numvfs() { echo "$1" > "$PORT/sriov_numvfs"; }

port_is_back()
{
	wait_for 20 has_link "$NS_TX" "$PEER" && wait_for 20 has_link "$NS_RX" "$NETIF"
}

total()
{
	echo "$(cat "$PORT/sriov_totalvfs") functions"
	[ "$(cat "$PORT/sriov_totalvfs")" = 63 ]	# the driver's limit; the card has 64
}

create()
{
	numvfs 2 && pf ip link set "$NETIF" vf 0 mac $MAC0 && pf ip link set "$NETIF" vf 1 mac $MAC1 || return 1
	local n dir
	for n in 0 1; do
		dir=$(vf_device $n)
		echo "$(basename "$dir"): $(cat "$dir/vendor") $(cat "$dir/device")"
		[ "$(cat "$dir/vendor") $(cat "$dir/device")" = "0x8086 0x10ed" ] || return 1
	done
	port_is_back
}

all_of_them()
{
	local list
	numvfs 63 || return 1
	list=("$PORT"/virtfn*)
	echo "${#list[@]} functions, the last at $(basename "$(vf_device 62)")"
	[ ${#list[@]} = 63 ] && [ "$(cat "$(vf_device 62)/device")" = 0x10ed ] && numvfs 0
}

vf_up()  # N
{
	local name
	wait_for 10 vf_netdev "$1" || { echo "VF $1 has no interface"; return 1; }
	name=$(vf_netdev "$1")
	[ -e "/run/netns/vf$1" ] || ip netns add "vf$1"
	[ ! -e "/sys/class/net/$name" ] || ip link set "$name" netns "vf$1"
	ip -n "vf$1" addr replace "192.168.1.1$1/24" dev "$name"
	ip -n "vf$1" link set "$name" up
	wait_for 20 has_link "vf$1" "$name" || { echo "VF $1 ($name) has no link"; return 1; }
}

# A check of functions that are up: V0 and V1 are the names of their interfaces.
vf_check()
{
	V0=$(vf_netdev 0 || true)
	V1=$(vf_netdev 1 || true)
	check "$@"
}

driven()
{
	modprobe ixgbevf && vf_up 0 && vf_up 1 || return 1
	local n mac
	for n in 0 1; do
		mac=$(ip netns exec vf$n cat "/sys/class/net/$(vf_netdev $n)/address")
		ip netns exec vf$n ethtool "$(vf_netdev $n)" | grep -E 'Speed|Link'
		echo "VF $n: $mac, $(basename "$(readlink "$(vf_device $n)/driver")")"
		[ "$mac" = 52:54:00:7a:64:0$n ] &&
			ip netns exec vf$n ethtool "$(vf_netdev $n)" | grep -q 'Speed: 10000Mb/s' || return 1
	done
}

# --- traffic ------------------------------------------------------------------------

# between FROM TO ADDR: pings, short and long, and a stream whose SHA-256 agrees.
between()
{
	local from=$1 to=$2 addr=$3 pid sent
	wait_for 30 ip netns exec "$from" ping -c 1 -W 1 "$addr" || { echo "$from does not reach $addr"; return 1; }
	wait_for 10 ip netns exec "$from" ping -q -M "do" -c 1 -W 1 -s 1472 "$addr" ||
		{ echo "1472 bytes: no answer from $addr"; return 1; }
	rm -f "$ZCG_TMP/recv"
	ip netns exec "$to" timeout 60 python3 "$HERE/stream.py" recv 5555 1 > "$ZCG_TMP/recv" &
	pid=$!
	wait_for 20 grep -q ready "$ZCG_TMP/recv" || return 1
	sent=$(ip netns exec "$from" timeout 60 python3 "$HERE/stream.py" send "$addr" 5555 "${4:-200000}" 1)
	wait $pid
	if [ -z "$sent" ] || [ "$(tail -n 1 "$ZCG_TMP/recv")" != "$sent" ]; then
		echo "sent $sent, received $(tail -n 1 "$ZCG_TMP/recv")"
		return 1
	fi
}

both_ways() { between "$1" "$2" "$3" && between "$2" "$1" "$4"; }

no_way()  # FROM ADDR
{
	! ip netns exec "$1" ping -q -c 3 -i 0.2 -W 1 "$2" > /dev/null ||
		{ echo "$1 reaches $2"; return 1; }
}

everyone()
{
	both_ways vf0 "$NS_RX" "$OUTER_RX" 192.168.1.10 && both_ways vf0 vf1 192.168.1.11 192.168.1.10 &&
		both_ways vf1 "$NS_TX" "$OUTER_TX" 192.168.1.11 && both_ways "$NS_TX" "$NS_RX" "$OUTER_RX" "$OUTER_TX"
}

# What functions say to each other is not the wire's business: the port's own
# counter of sent frames hardly moves.
not_on_the_wire()
{
	local before after
	before=$(nic_stat "$NS_RX" "$NETIF" tx_pkts_nic)
	between vf0 vf1 192.168.1.11 1000000 || return 1
	after=$(nic_stat "$NS_RX" "$NETIF" tx_pkts_nic)
	echo "$((after - before)) frames left the port"
	[ $((after - before)) -lt 100 ]
}

multicast()
{
	local n addr
	for n in 0 1; do
		eval "addr=fe80::5054:ff:fe7a:64$(printf %02x $n)%\$V$((1 - n))"
		wait_for 15 ip netns exec vf$((1 - n)) ping -q -6 -c 1 -W 1 "$addr" ||
			{ echo "vf$((1 - n)) does not reach $addr"; return 1; }
	done
}

counted()
{
	local packets
	packets=$(nic_stat vf0 "$V0" rx_packets)
	echo "VF 0: $packets received, $(nic_stat vf0 "$V0" tx_packets) sent"
	[ "$packets" -gt 100 ]
}

# --- what ip link set ... vf can do -------------------------------------------------

set_vf() { pf ip link set "$NETIF" vf "$@"; }

# VF 0 is put into VLAN 100 by the port and does not know; VF 1 is not in it.
port_vlan()
{
	local rc=0
	ip -n "$NS_TX" link add link "$PEER" name v100 type vlan id 100 && ip -n "$NS_TX" link set v100 up &&
		ip -n "$NS_TX" addr add 192.168.100.1/24 dev v100 || return 1
	set_vf 0 vlan 100 && ip -n vf0 addr add 192.168.100.10/24 dev "$V0" &&
		both_ways vf0 "$NS_TX" 192.168.100.1 192.168.100.10 &&
		ip -n vf1 addr add 192.168.100.11/24 dev "$V1" &&
		no_way vf1 192.168.100.10 && no_way vf1 192.168.100.1 || rc=1
	set_vf 0 vlan 0 || rc=1
	ip -n vf0 addr del 192.168.100.10/24 dev "$V0" || rc=1
	ip -n vf1 addr del 192.168.100.11/24 dev "$V1" || rc=1
	ip -n "$NS_TX" link del v100
	between vf0 vf1 192.168.1.11 || rc=1
	return $rc
}

# A VLAN of the function's own choice.
own_vlan()
{
	local rc=0
	ip -n "$NS_TX" link add link "$PEER" name v200 type vlan id 200 && ip -n "$NS_TX" link set v200 up &&
		ip -n "$NS_TX" addr add 192.168.200.1/24 dev v200 &&
		ip -n vf1 link add link "$V1" name v200 type vlan id 200 && ip -n vf1 link set v200 up &&
		ip -n vf1 addr add 192.168.200.11/24 dev v200 &&
		both_ways vf1 "$NS_TX" 192.168.200.1 192.168.200.11 || rc=1
	ip -n vf1 link del v200
	ip -n "$NS_TX" link del v200
	return $rc
}

seen_all() { [ "$(grep -c 0x88b5 "$ZCG_TMP/seen")" -ge "$1" ]; }

# inject COUNT SOURCE-ADDRESS: broadcasts of type 0x88b5 from VF 0. Prints how
# many of them the wire's other end saw.
inject()
{
	ip netns exec "$NS_TX" timeout 60 tcpdump -i "$PEER" -nn -e -l -c "$1" ether proto 0x88b5 \
		> "$ZCG_TMP/seen" 2> "$ZCG_TMP/dump" &
	local pid=$!
	wait_for 20 grep -q 'listening on' "$ZCG_TMP/dump"
	ip netns exec vf0 python3 - "$V0" "$1" "$2" <<-'END'
		import socket, sys
		dev, count, source = sys.argv[1:]
		s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
		s.bind((dev, 0))
		for i in range(int(count)):
		    s.send(b"\xff" * 6 + bytes.fromhex(source.replace(":", "")) + b"\x88\xb5" + bytes(60))
	END
	# all of them, or what comes within two seconds
	wait_for 2 seen_all "$1" || true
	kill $pid 2> /dev/null || true
	wait $pid 2> /dev/null || true
	grep -c 0x88b5 "$ZCG_TMP/seen" || true
}

spoofed()
{
	local n since
	since=$(log_mark)
	n=$(inject 7 02:ba:d0:00:00:01)
	echo "spoofchk on: $n of 7 spoofed frames passed"
	[ "$n" = 0 ] || return 1
	n=$(inject 7 $MAC0)
	echo "spoofchk on: $n of 7 honest frames passed"
	[ "$n" = 7 ] || return 1
	# the driver looks at the counter every two seconds
	wait_for 10 eval "log_since '$since' | grep -q '7 Spoofed packets detected'" ||
		{ echo "the driver does not speak of 7 spoofed packets"; log_since "$since"; return 1; }
	set_vf 0 spoofchk off || return 1
	n=$(inject 7 02:ba:d0:00:00:01)
	echo "spoofchk off: $n of 7 spoofed frames passed"
	set_vf 0 spoofchk on && [ "$n" = 7 ]
}

new_address() { ip -n vf0 link set "$V0" address 52:54:00:7a:65:aa; }

trusted()
{
	! new_address 2> /dev/null || { echo "a function without trust changed its address"; return 1; }
	set_vf 0 trust on && wait_for 20 has_link vf0 "$V0" && wait_for 10 new_address || return 1
	between vf0 vf1 192.168.1.11 && ip -n vf0 link set "$V0" address $MAC0 && set_vf 0 trust off &&
		wait_for 20 has_link vf0 "$V0" && between vf0 vf1 192.168.1.11
}

# 20 Mbit/s: the wire's pace is the clock's, so 1 MB cannot take less than 400 ms.
limited()
{
	local began took
	set_vf 0 max_tx_rate 20 || return 1
	began=$(date +%s%N)
	between vf0 "$NS_TX" "$OUTER_TX" 1000000 || return 1
	took=$((($(date +%s%N) - began) / 1000000))
	echo "1 MB at 20 Mbit/s: $took ms"
	set_vf 0 max_tx_rate 0 || return 1
	[ $took -ge 400 ]
}

cut_off()
{
	set_vf 0 state disable && no_way vf0 "$OUTER_RX" || return 1
	set_vf 0 state auto && wait_for 20 has_link vf0 "$V0" && between vf0 "$NS_RX" "$OUTER_RX"
}

# --- resets ---------------------------------------------------------------------------

vf_down_up()
{
	local n
	for n in 1 2 3; do
		ip -n vf0 link set "$V0" down && ip -n vf0 link set "$V0" up &&
			wait_for 20 has_link vf0 "$V0" || return 1
	done
	between vf0 vf1 192.168.1.11
}

vf_self_test()
{
	local out
	out=$(ip netns exec vf1 ethtool -t "$V1" offline) || { echo "$out"; return 1; }
	grep -q 'result is PASS' <<< "$out" && wait_for 20 has_link vf1 "$V1" && between vf0 vf1 192.168.1.11
}

# The driver is not told, and its queues are gone, until it sets them up again.
vf_flr()
{
	echo 1 > "$(vf_device 0)/reset" && no_way vf0 192.168.1.11 &&
		ip -n vf0 link set "$V0" down && ip -n vf0 link set "$V0" up &&
		wait_for 20 has_link vf0 "$V0" && between vf0 vf1 192.168.1.11
}

port_down_up()
{
	ip -n "$NS_RX" link set "$NETIF" down && ip -n "$NS_RX" link set "$NETIF" up && port_is_back &&
		wait_for 30 has_link vf0 "$V0" && wait_for 30 has_link vf1 "$V1" && everyone
}

rebind()
{
	local dev
	dev=$(basename "$(vf_device 1)")
	echo "$dev" > /sys/bus/pci/drivers/ixgbevf/unbind && echo "$dev" > /sys/bus/pci/drivers/ixgbevf/bind &&
		vf_up 1 && between vf0 vf1 192.168.1.11
}

vfs_gone()
{
	numvfs 0 || return 1
	[ ! -e "$PORT/virtfn0" ] && ! ls /sys/bus/pci/drivers/ixgbevf/*:* 2> /dev/null &&
		port_is_back && both_ways "$NS_TX" "$NS_RX" "$OUTER_RX" "$OUTER_TX"
}

# The driver after the addresses: one that is there already makes up its own.
again()
{
	modprobe -r ixgbevf && create && driven && both_ways vf0 vf1 192.168.1.11 192.168.1.10 &&
		modprobe -r ixgbevf && vfs_gone
}

ktap_start 22
mark
load inbox
find_ports
PORT=$(readlink -f "/sys/class/net/$NETIF/device")
hosts_up 1
check "a port offers 63 virtual functions" total
check "63 of them appear, and go" all_of_them
check "sriov_numvfs 2: two 8086:10ed" create
check "ixgbevf drives both, with the addresses that ip link set" driven
check "port, functions and wire: each reaches each" everyone
vf_check "function to function stays inside" not_on_the_wire
vf_check "IPv6 between functions: multicast" multicast
vf_check "ethtool -S of a function counts" counted
vf_check "ip link set vf vlan: in the VLAN, and nobody else" port_vlan
vf_check "a VLAN device on a function" own_vlan
vf_check "ip link set vf spoofchk: dropped and counted, or not" spoofed
vf_check "ip link set vf trust: may change its address" trusted
vf_check "ip link set vf max_tx_rate" limited
if set_vf 0 state auto 2> /dev/null; then
	vf_check "ip link set vf state" cut_off
else
	skip "ip link set vf state" "not in this driver"
fi
vf_check "a function down and up" vf_down_up
vf_check "ethtool -t offline of a function" vf_self_test
vf_check "function level reset of a function" vf_flr
vf_check "its driver unbound and bound" rebind
vf_check "the port down and up, with functions in use" port_down_up
check "sriov_numvfs 0: they are gone, the port works" vfs_gone
check "and again" again
check "nothing bad in the log" log_clean
ktap_done

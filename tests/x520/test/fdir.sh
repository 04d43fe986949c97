#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: fdir.sh    (in a guest: tests/lab/lab run KERNEL -- tests/x520/test/fdir.sh)
# Flow Director of the model under the in-box ixgbe: perfect filters that ethtool
# -N sets, and the signature filters that the driver makes for its own flows.
# The driver computes each filter's hash, the model each frame's: they must agree.

set -euo pipefail
# shellcheck source=tests/x520/test/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

[ "$(nproc)" -ge 2 ] || skip_all "one processor, so one queue"

COUNT=20

filter() { rx ethtool -N "$NETIF" "$@" > /dev/null; }

no_filters()
{
	local loc
	for loc in $(rx ethtool -n "$NETIF" | awk '$1 == "Filter:" { print $2 }'); do
		filter delete "$loc" || return 1
	done
}

queue() { rx_stat "rx_queue_$1_packets"; }

# datagrams PORT: COUNT of them to NETIF; sets GOT, how many a socket there saw,
# and Q0 and Q1, how many frames came to either queue meanwhile. The socket is
# read until all are there, or nothing came for three seconds after the last was sent.
datagrams()
{
	local q0 q1
	q0=$(queue 0) q1=$(queue 1)
	rm -f "$ZCG_TMP/udp" "$ZCG_TMP/sent"
	rx timeout 300 python3 - "$1" "$COUNT" "$ZCG_TMP/sent" > "$ZCG_TMP/udp" <<-'END' &
		import os, socket, sys
		s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
		s.bind(("", int(sys.argv[1])))
		s.settimeout(3)
		print("ready", flush=True)
		n = 0
		while n < int(sys.argv[2]):
		    sent = os.path.exists(sys.argv[3])
		    try:
		        n += s.recv(100) == b"zcg"
		    except socket.timeout:
		        if sent:
		            break
		print(n)
	END
	wait_for 60 grep -q ready "$ZCG_TMP/udp"
	tx python3 -c 'import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 7000))
for n in range(int(sys.argv[3])):
    s.sendto(b"zcg", (sys.argv[1], int(sys.argv[2])))' "$OUTER_RX" "$1" "$COUNT"
	touch "$ZCG_TMP/sent"
	wait $!
	GOT=$(tail -n 1 "$ZCG_TMP/udp")
	Q0=$(($(queue 0) - q0)) Q1=$(($(queue 1) - q1))
	echo "port $1: $GOT received, $Q0 frames on queue 0, $Q1 on queue 1"
}

# lands PORT QUEUE: they come, and on that queue.
lands()
{
	datagrams "$1" && [ "$GOT" = $COUNT ] || return 1
	if [ "$2" = 0 ]; then
		[ $Q0 -ge $COUNT ] && [ $Q1 -lt $COUNT ]
	else
		[ $Q1 -ge $COUNT ] && [ $Q0 -lt $COUNT ]
	fi
}

by_port()
{
	filter flow-type udp4 dst-port 7001 action 1 && filter flow-type udp4 dst-port 7002 action 0 &&
		lands 7001 1 && lands 7002 0 && no_filters &&
		filter flow-type udp4 dst-port 7001 action 0 && filter flow-type udp4 dst-port 7002 action 1 &&
		lands 7001 0 && lands 7002 1
}

counted()
{
	local before after
	filter flow-type udp4 dst-port 7002 action 1 && before=$(rx_stat fdir_match) &&
		lands 7002 1 || return 1
	after=$(rx_stat fdir_match)
	echo "fdir_match: $before, then $after"
	[ $((after - before)) -ge $COUNT ]
}

forgotten()
{
	local before after
	filter flow-type udp4 dst-port 7001 action 1 && no_filters && before=$(rx_stat fdir_match) &&
		datagrams 7001 || return 1
	after=$(rx_stat fdir_match)
	[ "$GOT" = $COUNT ] && [ "$before" = "$after" ]
}

addresses()
{
	local q
	for q in 1 0; do
		filter flow-type udp4 src-ip "$OUTER_TX" dst-ip "$OUTER_RX" src-port 7000 dst-port 7003 action $q &&
			lands 7003 $q && no_filters &&
			filter flow-type ip4 src-ip "$OUTER_TX" action $q && lands 7004 $q && no_filters || return 1
	done
}

# Part of the address, and part of the port: the last bits may be anything.
masks()
{
	local q
	for q in 1 0; do
		filter flow-type udp4 src-ip 192.168.1.99 m 0.0.0.255 dst-port 7000 m 0x000f action $q &&
			lands 7006 $q && no_filters || return 1
	done
	filter flow-type udp4 src-ip 192.168.2.1 m 0.0.0.255 action 1 && q=$(rx_stat fdir_match) &&
		datagrams 7006 && [ "$(rx_stat fdir_match)" = "$q" ] && no_filters
}

dropped()
{
	filter flow-type udp4 dst-port 7001 action -1 && datagrams 7001 && [ "$GOT" = 0 ] &&
		datagrams 7002 && [ "$GOT" = $COUNT ] && no_filters
}

tagged()
{
	local rc=0 q
	tx ip link add link "$PEER" name v5 type vlan id 5 && tx ip link set v5 up && tx ip addr add 192.168.5.1/24 dev v5 &&
		rx ip link add link "$NETIF" name v5 type vlan id 5 && rx ip link set v5 up &&
		rx ip addr add 192.168.5.2/24 dev v5 && wait_for 60 tx ping -c 1 -W 1 192.168.5.2 || rc=1
	for q in 1 0; do
		filter flow-type udp4 vlan 5 m 0xf000 dst-port 7001 action $q &&
			OUTER_RX=192.168.5.2 lands 7001 $q || rc=1
		OUTER_RX=192.168.1.2 datagrams 7001 && [ "$GOT" = $COUNT ] && no_filters || rc=1
	done
	tx ip link del v5
	rx ip link del v5
	return $rc
}

# The driver samples what it sends over TCP and has the answers come to the queue
# that sent: filters whose hash is all that is compared.
signatures()
{
	local before after
	rx ethtool -K "$NETIF" ntuple off && wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX" || return 1
	before=$(rx_stat fdir_match)
	stream "$OUTER_RX" 500000 forth 4 || return 1
	after=$(rx_stat fdir_match)
	echo "fdir_match: $before, then $after"
	[ "$after" -gt $((before + 20)) ]
}

# A check that starts without filters, whatever the one before left.
fdir_check() { no_filters && check "$@"; }

ktap_start 11
mark
load inbox
find_ports
hosts_up 2
silence
neighbours
check "ethtool -K ntuple on" rx ethtool -K "$NETIF" ntuple on
wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX" || true
fdir_check "a port to each queue, and the other way round" by_port
fdir_check "matches are counted" counted
fdir_check "filters removed: no match" forgotten
fdir_check "addresses, with ports and without" addresses
fdir_check "masks of address and port" masks
fdir_check "action -1: dropped, and only those" dropped
fdir_check "a VLAN" tagged
check "signature filters: answers of sampled flows match" signatures
check "ethtool -K ntuple on again" rx ethtool -K "$NETIF" ntuple on
check "nothing bad in the log" log_clean
ktap_done

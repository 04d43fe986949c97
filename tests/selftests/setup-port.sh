#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Other states of the port below an ordinary tunnel: MTU 9000; somebody captures on it;
# several tunnels at once over two queues.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/selftests/setups.sh
. "$ZCG_TOP/tests/selftests/setups.sh"

tunnel() { vxlan_pair $OUTER_TX $OUTER_RX && addresses $VX_DEV; }

jumbo()
{
	each ip link set DEV mtu 9000
	links_back
	tunnel
}
frames_were_long() { echo "$frames frames"; [ "$frames" -lt $((MBYTES * 150)) ]; }

# Promiscuous at the port; the tunnel's own as well.
captured()
{
	tunnel
	rx tcpdump -i "$NETIF" -s 128 -w "$ZCG_TMP/port.pcap" udp > "$ZCG_TMP/port.log" 2>&1 &
	echo $! > "$ZCG_TMP/port.pid"
	rx tcpdump -p -i $VX_DEV -s 128 -w "$ZCG_TMP/tunnel.pcap" tcp > "$ZCG_TMP/tunnel.log" 2>&1 &
	wait_for 10 grep -q listening "$ZCG_TMP/port.log"
	wait_for 10 grep -q listening "$ZCG_TMP/tunnel.log"
}

# Both saw the single frames of the other direction and the merged ones of this; the
# tunnel's ends by itself when its device goes.
captures_hold_it()
{
	kill "$(cat "$ZCG_TMP/port.pid")"
	wait_for 10 grep 'packets captured' "$ZCG_TMP/port.log"
	wait_for 10 grep 'packets captured' "$ZCG_TMP/tunnel.log"
	python3 - "$ZCG_TMP/port.pcap" "$ZCG_TMP/tunnel.pcap" $((MBYTES << 20)) <<-'END'
		import struct, sys
		for path in sys.argv[1:3]:
		    data, at, count, long, total = open(path, "rb").read(), 24, 0, 0, 0
		    while at + 16 <= len(data):
		        caplen, length = struct.unpack_from("<II", data, at + 8)
		        at += 16 + caplen
		        count, long, total = count + 1, long + (length > 1600), total + length
		    print(f"{path.split('/')[-1]}: {count} packets, {long} longer than a frame, {total} bytes")
		    if not long or total < 2 * int(sys.argv[3]):
		        sys.exit(1)
	END
}

# Three tunnels, three inner networks.
several()
{
	ip -n $NS_TX link add zcg-t1 type vxlan id 1 remote $OUTER_RX local $OUTER_TX dstport 4789 noudpcsum
	ip -n $NS_RX link add zcg-t1 type vxlan id 1 remote $OUTER_TX local $OUTER_RX dstport 4789 noudpcsum
	ip -n $NS_TX link add zcg-t2 type vxlan id 2 remote $OUTER_RX local $OUTER_TX dstport 8472 noudpcsum
	ip -n $NS_RX link add zcg-t2 type vxlan id 2 remote $OUTER_TX local $OUTER_RX dstport 8472 noudpcsum
	ip -n $NS_TX link add zcg-t3 type geneve id 3 remote $OUTER_RX dstport 6081 noudpcsum
	ip -n $NS_RX link add zcg-t3 type geneve id 3 remote $OUTER_TX dstport 6081 noudpcsum
	addresses zcg-t1
	INNER_TX=10.0.22.1 INNER_RX=10.0.22.2 addresses zcg-t2
	INNER_TX=10.0.23.1 INNER_RX=10.0.23.2 addresses zcg-t3
}

three_streams()
{
	local to pids=() pid rc=0
	for to in "$INNER_RX" 10.0.22.2 10.0.23.2; do
		traffic_there tcp --to $to --flows 8 --mbytes 1 &
		pids+=($!)
	done
	for pid in "${pids[@]}"; do wait "$pid" || rc=1; done
	return $rc
}

both_queues()
{
	local n rc=0 grown
	for n in 0 1; do
		grown=$(($(rx_stat rx_queue_${n}_packets) - queue[n]))
		echo "queue $n: $grown packets"
		[ $grown -gt 1000 ] || rc=1
	done
	return $rc
}

ktap_start $((3 * SETUP_CASES + 4))
mark_log
load fork
hosts_up 1
by_timer
MBYTES=6
setup "MTU 9000" jumbo 2
check "MTU 9000: frames were long" frames_were_long
each ip link set DEV mtu 1500
links_back
MBYTES=3
setup "tcpdump on the port" captured 2
check "tcpdump on the port: the captures hold all of it" captures_hold_it

each ethtool -L DEV combined 2
each ethtool -N DEV rx-flow-hash udp4 sdfn
links_back
by_timer
queue=("$(rx_stat rx_queue_0_packets)" "$(rx_stat rx_queue_1_packets)")
stream() { three_streams; }
# shellcheck disable=SC2034 # for setups.sh
TUNNELS="zcg-t1 zcg-t2 zcg-t3"
setup "three tunnels, 24 flows, two queues" several 2
check "three tunnels, 24 flows: both queues are used" both_queues
check "kernel log clean" log_clean
ktap_done

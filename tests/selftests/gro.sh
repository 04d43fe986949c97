#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: gro.sh [MODULE]
#
# Aggregation happens at the device exactly when it should. One TCP flow through the
# tunnel; frames on the wire (the device's rx_packets) for each packet that climbs to
# the VXLAN device. MODULE is a module file to test instead of the fork.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

module=${1:-fork}

# Sets frames, skbs, ratio (in thousandths) and verified, outer for one flow.
flow()
{
	local f0 s0 v0 o0
	f0=$(rx_stat rx_packets) s0=$(link_rx_packets $NS_RX $VX_DEV)
	v0=$(rx_stat rx_zcg_verified) o0=$(rx_stat rx_zcg_outer_gro_off)
	rx iperf3 -s -1 > "$ZCG_TMP/server" 2>&1 &
	wait_for 10 listening || die "iperf3 does not listen"
	if ! tx iperf3 -c $INNER_RX -t 1 > "$ZCG_TMP/client" 2>&1; then
		note "$(cat "$ZCG_TMP/client")"
		die "iperf3 failed"
	fi
	wait $! || true
	frames=$(($(rx_stat rx_packets) - f0))
	skbs=$(($(link_rx_packets $NS_RX $VX_DEV) - s0))
	verified=$(($(rx_stat rx_zcg_verified) - v0))
	outer=$(($(rx_stat rx_zcg_outer_gro_off) - o0))
	ratio=$((frames * 1000 / skbs))
	note "$frames frames, $skbs packets at $VX_DEV, $ratio frames for 1000 packets; $verified verified, $outer with GRO off; $(grep receiver "$ZCG_TMP/client")"
}

listening() { rx ss -Hltn 'sport = :5201' | grep -q .; }

enough() { [ "$frames" -ge 500 ] || { echo "only $frames frames were sent"; return 1; }; }
merged() { enough && [ $ratio -gt 4000 ]; }
single() { enough && [ $ratio -lt 1200 ]; }
# A few frames (ARP, neighbour discovery) are not TCP.
all_verified() { enough && [ $verified -ge $((frames * 99 / 100)) ] && [ $verified -le "$frames" ]; }
none_verified() { enough && [ $verified -eq 0 ]; }
all_outer() { none_verified && [ $outer -ge $((frames * 99 / 100)) ]; }
none_counted() { none_verified && [ $outer -eq 0 ]; }

# What a core does by itself with CHECKSUM_NONE.
as_the_core() { if core_is_gated; then single; else merged; fi; }

ktap_start 11
mark_log
load "$module"
hosts_up 1
tunnel_up noudpcsum
if core_is_gated; then without="not aggregated"; else without="aggregated by the open core"; fi

flow
check "flag off: $without" as_the_core
check "flag off: nothing is verified or counted" none_counted

set_flag on
flow
check "flag on: aggregated at the device" merged
check "flag on: every frame was verified" all_verified

rx ethtool -K "$NETIF" gro off
flow
check "flag on, GRO off on the device: not aggregated" single
check "flag on, GRO off on the device: the inside is not looked at" all_outer
rx ethtool -K "$NETIF" gro on

rx ethtool -K "$NETIF" rx off
flow
check "flag on, rx checksums off: $without" as_the_core
check "flag on, rx checksums off: nothing is verified or counted" none_counted
rx ethtool -K "$NETIF" rx on

set_flag off
flow
check "flag off again: $without" as_the_core
check "flag off again: nothing is verified or counted" none_counted
check "kernel log clean" log_clean
ktap_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# ethtool -K of gro, rx, lro and rxvlan in all 16 combinations, set while a stream and
# datagrams run through the tunnel. Some of them reset the port; the streams go on. The
# inside is verified exactly as long as receive checksums and GRO are on; with the other
# flag, which asks for neither, frames are deferred whatever these two are.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
# shellcheck source=tests/selftests/setups.sh
. "$ZCG_TOP/tests/selftests/setups.sh"

STEPS=16 DEFER_STEPS=4
FEATURES=(gro rx lro rxvlan)
declare -A LONG=([gro]=generic-receive-offload [rx]=rx-checksumming
	[lro]=large-receive-offload [rxvlan]=rx-vlan-offload)

feature() { rx ethtool -k "$NETIF" | awk -v want="${LONG[$1]}:" '$1 == want { print $2 }'; }
on_off() { if [ "$1" -ne 0 ]; then echo on; else echo off; fi; }

more_frames() { [ "$(rx_stat rx_packets)" -ge "$1" ]; }

# One combination: bits of FEATURES. LRO goes off with receive checksums, in the in-box
# driver as here.
combination()
{
	local bits=$1 i args=() want name before after frames seen verified unread deferred
	declare -A set=()
	for i in "${!FEATURES[@]}"; do
		name=${FEATURES[i]}
		set[$name]=$(on_off $((bits >> i & 1)))
		args+=("$name" "${set[$name]}")
	done
	# What can't be had together is an error to ethtool.
	rx ethtool -K "$NETIF" "${args[@]}" > "$ZCG_TMP/ethtool" 2>&1 ||
		{ [ "${set[rx]}${set[lro]}" = offon ] || { cat "$ZCG_TMP/ethtool"; return 1; }; }
	for name in "${FEATURES[@]}"; do
		want=${set[$name]}
		[ "$name" != lro ] || [ "${set[rx]}" = on ] || want=off
		[ "$(feature "$name")" = "$want" ] || { echo "$name is not $want"; return 1; }
	done
	links_back
	# A reset empties the rings; then frames come again.
	wait_for 30 more_frames $(($(rx_stat rx_packets) + 50)) || { echo "no frames come"; return 1; }
	read -r -a before < <(port_stats rx_packets rx_zcg_seen rx_zcg_verified rx_zcg_outer_gro_off rx_zcg_deferred)
	wait_for 30 more_frames $((before[0] + 200)) || { echo "frames come no more"; return 1; }
	read -r -a after < <(port_stats rx_packets rx_zcg_seen rx_zcg_verified rx_zcg_outer_gro_off rx_zcg_deferred)
	frames=$((after[0] - before[0])) seen=$((after[1] - before[1])) verified=$((after[2] - before[2]))
	unread=$((after[3] - before[3])) deferred=$((after[4] - before[4]))
	echo "${args[*]}: $frames frames, $seen seen, $verified verified, $unread not looked into, $deferred deferred"
	adds_up || return 1
	if [ $mode = defer ]; then
		[ $seen -ge $((frames / 2)) ] && [ $deferred -ge $((seen * 95 / 100)) ] && [ $verified -eq 0 ]
		return
	fi
	case ${set[rx]}${set[gro]} in
	onon) [ $seen -ge $((frames / 2)) ] && [ $verified -ge $((seen * 95 / 100)) ] ;;
	onoff) [ $seen -ge $((frames / 2)) ] && [ $unread -eq $seen ] ;;
	*) [ $seen -eq 0 ] && [ $verified -eq 0 ] ;;
	esac
}

tcp_intact() { cat "$ZCG_TMP/tcp"; return $tcp_rc; }
udp_intact() { cat "$ZCG_TMP/udp"; return $udp_rc; }
as_before() { rx ethtool -k "$NETIF" | grep -v fixed > "$ZCG_TMP/after"; diff "$ZCG_TMP/before" "$ZCG_TMP/after"; }

ktap_start $((STEPS + DEFER_STEPS + 5))
mark_log
load fork
hosts_up 1
vxlan_pair $OUTER_TX $OUTER_RX
addresses $VX_DEV
wait_for 10 tx ping -c 1 -W 1 "$INNER_RX" || die "the tunnel does not pass a ping"
rx ethtool -k "$NETIF" | grep -v fixed > "$ZCG_TMP/before"
was=()
for name in "${FEATURES[@]}"; do was+=("$name" "$(feature "$name")"); done
mode=on
set_flags $mode

stop=$ZCG_TMP/stop
nice python3 "$ZCG_TOP/tests/selftests/traffic.py" tcp --until "$stop" --ready "$ZCG_TMP/tcp-ready" > "$ZCG_TMP/tcp" 2>&1 &
tcp=$!
# A port that is reset loses what is in its rings.
nice python3 "$ZCG_TOP/tests/selftests/traffic.py" udp --lossy --until "$stop" --ready "$ZCG_TMP/udp-ready" > "$ZCG_TMP/udp" 2>&1 &
udp=$!
wait_for 20 test -e "$ZCG_TMP/tcp-ready" -a -e "$ZCG_TMP/udp-ready" ||
	die "traffic did not start: $(cat "$ZCG_TMP/tcp" "$ZCG_TMP/udp")"
# One feature at a time, as a Gray code has it.
for ((step = 0; step < STEPS; step++)); do
	bits=$(((step ^ step >> 1) & 15))
	check "combination $bits" combination $bits
done
mode=defer
set_flags $mode
for ((step = 0; step < DEFER_STEPS; step++)); do
	bits=$(((step ^ step >> 1) & 15))
	check "deferred: combination $bits" combination $bits
done
rx ethtool -K "$NETIF" "${was[@]}" > /dev/null
links_back
running=yes
kill -0 $tcp $udp || running=
touch "$stop"
tcp_rc=0 udp_rc=0
wait $tcp || tcp_rc=$?
wait $udp || udp_rc=$?
check "traffic ran all the time" [ -n "$running" ]
check "the TCP stream is complete and intact" tcp_intact
check "each datagram that arrived is intact" udp_intact
check "all features are as they were" as_before
check "kernel log clean" log_clean
ktap_done

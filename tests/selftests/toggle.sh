#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The flag is turned over many times while a TCP stream and a sequence of datagrams
# run through the tunnel: nothing is lost, nothing is reset, nothing is corrupted.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

TOGGLES=${TOGGLES:-1000}

# One ethtool for each toggle, all in one shell of the receiver's namespace.
toggle()
{
	# shellcheck disable=SC2016 # for the inner shell
	rx bash -c '
		for ((i = 1; i <= $1; i++)); do
			if ((i % 2)); then to=on; else to=off; fi
			ethtool --set-priv-flags "$2" "$3" $to || { echo "toggle $i failed"; exit 1; }
		done
		echo "toggled $((i - 1)) times"' toggle "$TOGGLES" "$NETIF" $FLAG
}

under_traffic()
{
	local tcp udp
	# Traffic gets what time ethtool leaves.
	nice python3 "$ZCG_TOP/tests/selftests/traffic.py" tcp --until "$stop" --ready "$ZCG_TMP/tcp-ready" > "$ZCG_TMP/tcp" 2>&1 &
	tcp=$!
	nice python3 "$ZCG_TOP/tests/selftests/traffic.py" udp --until "$stop" --ready "$ZCG_TMP/udp-ready" > "$ZCG_TMP/udp" 2>&1 &
	udp=$!
	wait_for 20 test -e "$ZCG_TMP/tcp-ready" -a -e "$ZCG_TMP/udp-ready" ||
		die "traffic did not start: $(cat "$ZCG_TMP/tcp" "$ZCG_TMP/udp")"
	toggled=0
	toggle > "$ZCG_TMP/toggle" || toggled=1
	# Both ran all the time and not only at the beginning.
	kill -0 $tcp $udp || toggled=1
	touch "$stop"
	tcp_rc=0 udp_rc=0
	wait $tcp || tcp_rc=$?
	wait $udp || udp_rc=$?
}

toggled_all() { cat "$ZCG_TMP/toggle"; return $toggled; }
tcp_intact() { cat "$ZCG_TMP/tcp"; return $tcp_rc; }
udp_lossless() { cat "$ZCG_TMP/udp"; return $udp_rc; }
both_ways()
{
	verified=$(($(rx_stat rx_zcg_verified) - verified0))
	frames=$(($(rx_stat rx_packets) - frames0))
	echo "$verified of $frames frames were verified"
	[ $verified -gt 0 ] && [ $verified -lt $frames ]
}
nothing_missed()
{
	local name value rc=0
	for name in rx_missed_errors rx_no_dma_resources rx_crc_errors rx_dropped; do
		value=$(rx_stat $name)
		echo "$name $value"
	done
	# TCP may overrun the ring with any driver; the port itself must not err.
	[ "$(rx_stat rx_crc_errors)" -eq 0 ] || rc=1
	return $rc
}

ktap_start 7
mark_log
load fork
hosts_up 1
tunnel_up noudpcsum
mark_log
stop=$ZCG_TMP/stop
before=$(port_state)
verified0=$(rx_stat rx_zcg_verified) frames0=$(rx_stat rx_packets)
under_traffic
after=$(port_state)
check "the flag was set $TOGGLES times while traffic ran" toggled_all
check "frames were verified with it on, not with it off" both_ways
check "the TCP stream is complete and intact" tcp_intact
check "no datagram of the sequence was lost" udp_lossless
check "no reset, no change of link or interrupts" same "$before" "$after"
check "no receive errors" nothing_missed
check "kernel log clean" log_clean
ktap_done

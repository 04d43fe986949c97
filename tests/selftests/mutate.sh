#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Frames of any content must do no harm: more than 10,000 damaged tunnel frames from
# the wire, with the flag on, then off. Tunnel devices and sockets are there, so that
# what the driver lets pass goes as deep into the stack as it can.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

COUNT=${COUNT:-12000}
SEED=${SEED:-5766}
here=$ZCG_TOP/tests/selftests

inject() { python3 "$here/inject.py" "$ZCG_TMP/frames.pcap"; }

inject_on()
{
	inject | tee "$ZCG_TMP/said"
	[ "${PIPESTATUS[0]}" -eq 0 ]
}

# It would be no test if the driver had looked at few of them.
enough_of_each()
{
	local name value rc=0
	for name in verified outer_proto outer_fragment inner_bad malformed unknown_port; do
		value=$(rx_stat rx_zcg_$name)
		echo "rx_zcg_$name $value"
		[ "$value" -ge $((COUNT / 200)) ] || rc=1
	done
	return $rc
}

nothing_counted()
{
	local before after
	before=$(rx ethtool -S "$NETIF" | grep rx_zcg_)
	inject || return 1
	after=$(rx ethtool -S "$NETIF" | grep rx_zcg_)
	same "$before" "$after"
}

# Damaged frames teach the stack wrong neighbours, as anybody on the wire could, so
# the tunnel is made anew.
tunnel_anew()
{
	tunnel_down
	rx ip neigh flush all
	tx ip neigh flush all
	tunnel_up noudpcsum
	ip -n $NS_RX link set $VX_DEV address 02:00:00:00:00:02
	tx ip neigh flush dev $VX_DEV
	ip -n $NS_RX addr add fd00::2/64 dev $VX_DEV nodad
}

passes() { tunnel_anew && traffic tcp --mbytes 2; }

ktap_start 7
mark_log
load fork
hosts_up 1
tunnel_anew
ip -n $NS_RX addr add fd01::2/64 dev "$NETIF" nodad
ip -n $NS_RX link add vx6 type vxlan id 6 local fd01::2 remote fd01::1 dstport "$VX_PORT" \
	dev "$NETIF" udp6zerocsumrx
ip -n $NS_RX link add gnv0 type geneve id 2 remote $OUTER_TX dstport 6081
ip -n $NS_RX link add gpe0 type vxlan dstport 4790 external gpe
for dev in vx6 gnv0 gpe0; do ip -n $NS_RX link set $dev up; done
# inject.py puts NETIF's address in the place of 02:00:00:00:00:aa.
python3 "$ZCG_TOP/tests/frames/mutate.py" --count "$COUNT" --seed "$SEED" --port "$VX_PORT" \
	--dst-mac 02:00:00:00:00:aa --dst-ip $OUTER_RX --src-ip $OUTER_TX \
	--inner-mac 02:00:00:00:00:02 --inner-src $INNER_TX --inner-dst $INNER_RX \
	-o "$ZCG_TMP/frames.pcap"

set_flag on
check "flag on: $COUNT damaged frames are taken, the counters add up" inject_on
check "flag on: each verdict was reached often" enough_of_each
check "flag on: traffic passes afterwards" passes
check "flag on: kernel log clean" log_clean
set_flag off
check "flag off: the same frames, nothing is counted" nothing_counted
check "flag off: traffic passes afterwards" passes
check "flag off: kernel log clean" log_clean
ktap_done

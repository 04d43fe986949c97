#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# zero-csum-gro-defer: tunnel frames stay out of the port's GRO and are aggregated at
# the tunnel interface, everything else is aggregated as before, and the two flags can
# be turned over under traffic without a frame out of order.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

DEFER=$FLAG-defer

flags() { rx ethtool --set-priv-flags "$NETIF" "$@"; }
are()  # FLAG STATE, DEFER STATE
{
	if ! flag_is $NS_RX "$NETIF" $FLAG "$1" || ! flag_is $NS_RX "$NETIF" $DEFER "$2"; then
		rx ethtool --show-priv-flags "$NETIF"
		return 1
	fi
}
sets() { flags "${@:3}" && are "$1" "$2"; }

link_again()
{
	wait_for 20 has_link $NS_RX "$NETIF" && wait_for 20 has_link $NS_TX "$PEER" &&
		wait_for 10 tx ping -c 1 -W 1 $INNER_RX
}

# Bytes per packet as the stack gets them, by nftables, where GRO is done already.
count_packets()
{
	rx nft -f - <<-END
		table inet zcg {
			chain zcg_in {
				type filter hook prerouting priority 0
				iifname "$NETIF" udp dport $VX_PORT counter comment "zcg_tunnel"
				iifname "$NETIF" ip protocol tcp counter comment "zcg_plain"
				iifname "$VX_DEV" ip protocol tcp counter comment "zcg_inner"
			}
		}
	END
}
uncount_packets() { rx nft delete table inet zcg 2>/dev/null || true; }
mean()  # tunnel|plain|inner: bytes per packet
{
	rx nft list table inet zcg |
		awk -v which="zcg_$1" '/packets/ && index($0, which) { for (i = 1; i < NF; i++) { if ($i == "packets") p = $(i + 1); if ($i == "bytes") b = $(i + 1) } }
			END { print p ? int(b / p) : 0 }'
}

# Both kinds of traffic at once; sets tunnel, plain, inner and what was counted.
mix()
{
	local d0 f0
	count_packets
	d0=$(rx_stat rx_zcg_deferred) f0=$(rx_stat rx_packets)
	traffic tcp --mbytes 4 > "$ZCG_TMP/inside" 2>&1 &
	rc=0
	traffic tcp --mbytes 8 --to $OUTER_RX > "$ZCG_TMP/outside" 2>&1 || rc=1
	wait $! || rc=1
	deferred=$(($(rx_stat rx_zcg_deferred) - d0)) frames=$(($(rx_stat rx_packets) - f0))
	tunnel=$(mean tunnel) plain=$(mean plain) inner=$(mean inner)
	uncount_packets
	note "bytes per packet: tunnel $tunnel at $NETIF and $inner at $VX_DEV, plain TCP $plain; $deferred of $frames frames deferred"
	note "$(cat "$ZCG_TMP/inside" "$ZCG_TMP/outside")"
}

intact() { [ $rc -eq 0 ]; }
not_aggregated() { [ "$tunnel" -gt 500 ] && [ "$tunnel" -le 1600 ] && [ "$deferred" -gt 2000 ]; }
tunnel_aggregates() { [ "$inner" -gt 2500 ]; }
others_aggregated() { [ "$plain" -gt 4000 ]; }
tunnel_at_port() { [ "$tunnel" -gt 2500 ] && [ "$deferred" -eq 0 ]; }

# All six ways from one mode to another, many times, while streams run whose window
# fits into the ring: a segment that comes out of order was put there by the driver.
turn_over()  # ROUNDS
{
	PYTHONPATH=$ZCG_TOP/tests/selftests python3 - "$1" $FLAG $DEFER <<-END
		import os, sys, time
		from wire import Ethtool
		tool = Ethtool(os.environ["NS_RX"], os.environ["NETIF"])
		rounds, names = int(sys.argv[1]), sys.argv[2:]
		for _ in range(rounds):
		    for mode in (None, names[1], names[0], None, names[0], names[1]):
		        wanted = {name: name == mode for name in names}
		        tool.set_flags(wanted)
		        assert {name: tool.flags()[name] for name in names} == wanted
		        time.sleep(0.01)
		print(6 * rounds, "changes")
	END
}

in_order()  # ROUNDS
{
	local stop=$ZCG_TMP/stop ready=$ZCG_TMP/ready pids=() failed=0 pid before after
	rm -f "$stop" "$ready".*
	before=$(disorder)
	traffic tcp --flows 4 --until "$stop" --ready "$ready.tcp" > "$ZCG_TMP/tcp" 2>&1 &
	pids+=($!)
	traffic udp --until "$stop" --ready "$ready.udp" > "$ZCG_TMP/udp" 2>&1 &
	pids+=($!)
	wait_for 20 test -e "$ready.tcp" -a -e "$ready.udp" || failed=1
	turn_over "$1" || failed=1
	touch "$stop"
	for pid in "${pids[@]}"; do wait "$pid" || failed=1; done
	cat "$ZCG_TMP/tcp" "$ZCG_TMP/udp"
	after=$(disorder)
	echo "out of order, missed, no buffer: before $before, after $after; $(tx nstat -asz TcpRetransSegs | awk '/^Tcp/ { print $2 }') retransmitted"
	[ "$before" = "$after" ] || failed=1
	return $failed
}

disorder()
{
	echo "$(rx nstat -asz TcpExtTCPOFOQueue | awk '/^Tcp/ { print $2 }')" \
		"$(rx_stat rx_missed_errors) $(rx_stat rx_no_dma_resources)"
}

each_was_used()
{
	local name value
	for name in verified deferred; do
		value=$(rx_stat rx_zcg_$name)
		echo "rx_zcg_$name $value"
		[ "$value" -gt 500 ] || return 1
	done
}

hold()  # defer_hard_irqs, gro_flush_timeout in ns, gro_normal_batch
{
	rx sh -c "echo $1 > /sys/class/net/$NETIF/napi_defer_hard_irqs && echo $2 > /sys/class/net/$NETIF/gro_flush_timeout"
	[ ! -e /proc/sys/net/core/gro_normal_batch ] || sysctl -qw net.core.gro_normal_batch="$3"
}

# Frames that the other CPU took over by RPS; field 10 of softnet_stat, a line per CPU.
rps_packets() { echo $(($(awk '{ printf "%s0x%s", (NR > 1 ? "+" : ""), $10 }' /proc/net/softnet_stat))); }
by_rps()
{
	local before after
	[ "$(nproc)" -ge 2 ] || { echo "one CPU only"; return 1; }
	rx sh -c "for q in /sys/class/net/$NETIF/queues/rx-*/rps_cpus; do echo 3 > \$q; done"
	before=$(rps_packets)
	traffic tcp --mbytes 4 --flows 8 || return 1
	after=$(rps_packets)
	rx sh -c "for q in /sys/class/net/$NETIF/queues/rx-*/rps_cpus; do echo 0 > \$q; done"
	echo "$((after - before)) packets went to another CPU"
	[ $((after - before)) -gt 100 ]
}

survives()
{
	local before
	"$@" && are off on && link_again || return 1
	before=$(rx_stat rx_zcg_deferred)
	traffic udp --count 200 || return 1
	[ $(($(rx_stat rx_zcg_deferred) - before)) -ge 200 ]
}
down_up() { ip -n $NS_RX link set "$NETIF" down && are off on && ip -n $NS_RX link set "$NETIF" up; }
channels() { rx ethtool -L "$NETIF" combined 2 && link_again && rx ethtool -L "$NETIF" combined 1; }
jumbo() { ip -n $NS_RX link set "$NETIF" mtu 9000 && link_again && ip -n $NS_RX link set "$NETIF" mtu 1500; }

# It needs neither; what receive checksum offload adds is the report on the outer one.
without() { rx ethtool -K "$NETIF" "$1" off && survives true && rx ethtool -K "$NETIF" "$1" on; }

ktap_start 25
mark_log
load fork
hosts_up 1
tunnel_up noudpcsum
# No more on their way than the ring and every queue can take.
rx sysctl -qw net.ipv4.tcp_rmem="4096 65536 65536"
link_again

check "off after load" are off off
before=$(port_state)
check "it can be set" sets off on $DEFER on
refuses "both at once are refused, with what to do" "$FLAG off $DEFER on" flags $FLAG on
check "and nothing changed" are off on
check "one command goes from one to the other" sets on off $FLAG on $DEFER off
check "and back" sets off on $FLAG off $DEFER on
check "no reset, no change of link or interrupts" same "$before" "$(port_state)"

mix
check "deferred: streams arrive intact" intact
check "deferred: the port aggregates no tunnel frame" not_aggregated
check "deferred: the tunnel interface aggregates them" tunnel_aggregates
check "deferred: other traffic is aggregated at the port" others_aggregated
flags $DEFER off $FLAG on
mix
check "with $FLAG instead they are aggregated at the port" tunnel_at_port
flags $DEFER on $FLAG off

if ! rx sh -c "ls /sys/class/net/$NETIF/queues/rx-0/rps_cpus" > /dev/null 2>&1; then
	skip "RPS spreads deferred frames" "this kernel has no RPS"
else
	check "RPS spreads deferred frames" by_rps
fi
check "kept over down and up" survives down_up
check "kept over ethtool -L" survives channels
check "kept over MTU 9000 and back" survives jumbo
check "kept over ethtool -r" survives rx ethtool -r "$NETIF"
check "works with rx checksums off" without rx
check "works with GRO off" without gro

check "in order, whatever flag is set under traffic" in_order 10
hold 2 200000 8
check "in order, with a flush timeout and deferred interrupts" in_order 10
hold 2 200000 1
check "in order, with gro_normal_batch 1, too" in_order 4
hold 0 0 64
check "in order, with gro_normal_batch 64" in_order 4
hold 0 0 8
check "both modes were in use meanwhile" each_was_used
check "kernel log clean" log_clean
ktap_done

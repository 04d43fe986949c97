#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/zcg-top: its figures are those of the counters, its advice comes in each
# situation and only there, and it leaves the terminal and the machine as they were.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
export OUTER_RX

top() { rx "$ZCG_TOP/scripts/zcg-top" "$@"; }
top_py() { python3 "$ZCG_TOP/tests/selftests/top.py" "$@"; }
stat_is_there() { rx ethtool -S "$NETIF" | grep -q "^ *$1:"; }

# usage_of ARGUMENTS...: refused with words and exit status 2.
usage_of()
{
	local rc=0 out
	out=$(top "$@" 2>&1) || rc=$?
	if [ $rc -ne 2 ] || ! grep -q '^usage: .*zcg-top' <<< "$out"; then
		echo "$*: status $rc: $out"
		return 1
	fi
}

bad_usage()
{
	usage_of && usage_of --no-such "$NETIF" && usage_of --interval 0 "$NETIF" &&
		usage_of --interval nan "$NETIF" && usage_of --count 0 "$NETIF" &&
		usage_of --count x "$NETIF" && usage_of "$NETIF" another && usage_of an-interface-with-a-long-name
}

not_ixgbe()
{
	local dev out rc
	for dev in lo nope $VX_DEV; do
		rc=0
		out=$(top "$dev" 2>&1) || rc=$?
		echo "status $rc: $out"
		[ $rc -eq 1 ] && [ "$(wc -l <<< "$out")" -eq 1 ] || return 1
	done
}

# --- advice ---------------------------------------------------------------------------

# under COMMAND... -- COMMAND...: the second while the first, traffic without end, runs.
under()
{
	local load=() pid rc=0
	while [ "$1" != -- ]; do load+=("$1"); shift; done
	shift
	"${load[@]}" > "$ZCG_TMP/load" 2>&1 &
	pid=$!
	"$@" || rc=$?
	if ! kill $pid 2>/dev/null; then
		sed 's/^/the traffic ended: /' "$ZCG_TMP/load"
		rc=1
	fi
	wait $pid 2>/dev/null || true
	return $rc
}

# Programs of their own, so that kill finds them.
stream() { exec python3 "$ZCG_TOP/tests/selftests/traffic.py" tcp --until /nonexistent --flows "${1:-4}"; }
plain() { exec python3 "$ZCG_TOP/tests/selftests/traffic.py" tcp --until /nonexistent --to $OUTER_RX; }
datagrams() { exec python3 "$ZCG_TOP/tests/selftests/top.py" send "$1"; }

# says KEYS [who...]: exactly these pieces of advice are given, in one of a few reports
# that have traffic in them; the first ones may lie before it.
says()
{
	local want=$1 got='no traffic' tries=10 frames keys
	shift
	while [ "$got" != "$want" ] && [ $tries -gt 0 ]; do
		tries=$((tries - 1))
		rx "$@" "$ZCG_TOP/scripts/zcg-top" --json --interval 0.5 --count 1 "$NETIF" > "$ZCG_TMP/report" || return 1
		IFS='|' read -r frames keys < <(jq -r '[.frames, ([.advice[].key] | sort | join(" "))] | join("|")' "$ZCG_TMP/report")
		[ "$frames" -lt 150 ] || got=$keys
	done
	jq -r '.advice[].text' "$ZCG_TMP/report"
	[ "$got" = "$want" ] || { jq -c . "$ZCG_TMP/report"; echo "says: '$got', should say: '$want'"; return 1; }
}

# A member of the last report.
told() { jq -e "$1" "$ZCG_TMP/report" > /dev/null || { jq -c . "$ZCG_TMP/report"; echo "not so: $1"; return 1; }; }

in_box()
{
	under stream -- says inbox && told '.zcg == null and .fork == null and .verified_share == null' &&
		told '.frames > 100 and .tunnel_frames_are == "at most"'
}

flag_off() { under stream -- says flag && told '.fork != null and .zcg.seen == 0'; }

flag_on()
{
	under stream -- says "" &&
		told '.verified_share > 0.99 and .tunnel_frames_are == "counted"' &&
		told ".tunnel_packets.$VX_DEV > 0 and .segments_per_skb > 2"
}

rx_off()
{
	rx ethtool -K "$NETIF" rx off
	under stream -- says rxcsum
	rx ethtool -K "$NETIF" rx on
}

gro_off()
{
	rx ethtool -K "$NETIF" gro off
	under stream -- says gro && told '.verified_share == 0 and .segments_per_skb < 1.2'
	rx ethtool -K "$NETIF" gro on
}

defer_on()
{
	set_flag off
	rx ethtool --set-priv-flags "$NETIF" zero-csum-gro-defer on || return 1
	under stream -- says defer && told '.zcg.deferred > 100 and .segments_per_skb < 1.2'
	rx ethtool --set-priv-flags "$NETIF" zero-csum-gro-defer off
	set_flag on
}

ports_off()
{
	rx ethtool -K "$NETIF" rx-udp_tunnel-port-offload off
	under stream -- says ports-off
	rx ethtool -K "$NETIF" rx-udp_tunnel-port-offload on
}

no_port()
{
	under plain -- says no-port && told '.verified_share == null' &&
		under plain -- says no-port setpriv --reuid=65534 --regid=65534 --clear-groups
}

with_udpcsum()
{
	tunnel_up udpcsum
	under stream -- says udpcsum
	tunnel_down
}

unknown_port() { under datagrams 5999 -- says unknown_port && told '.zcg.unknown_port > 100'; }

# Same addresses, so one queue, until ports are hashed as well.
one_queue()
{
	under stream 8 -- says hash && told '.advice[0].text | test("ethtool -N '"$NETIF"' rx-flow-hash udp4 sdfn$")'
}

hashed()
{
	rx ethtool -N "$NETIF" rx-flow-hash udp4 sdfn
	under stream 8 -- says "" && told '[.queues[] | select(.frames > 0)] | length == 2'
}

# One queue gets all, but other traffic than a tunnel's.
other_traffic()
{
	rx ethtool -N "$NETIF" rx-flow-hash udp4 sd
	under plain -- says ""
}

# --- form -----------------------------------------------------------------------------

objects() { top --json --interval 0.3 --count 4 "$NETIF" | top_py schema; }

lines()
{
	top --interval 0.2 --count 3 "$NETIF" | tee "$ZCG_TMP/lines"
	[ "$(grep -c 'frames/s=.*verified_share=.*segments/skb.*softirq=' "$ZCG_TMP/lines")" -eq 3 ] &&
		! grep -q $'\e' "$ZCG_TMP/lines"
}

once()
{
	top --once "$NETIF" | tee "$ZCG_TMP/once"
	grep -q '^received .* frames/s' "$ZCG_TMP/once" && ! grep -q $'\e' "$ZCG_TMP/once"
}

# A reader that goes away ends it, without a word.
pipe_closed()
{
	local status
	timeout 10 ip netns exec $NS_RX "$ZCG_TOP/scripts/zcg-top" --json --interval 0.2 "$NETIF" \
		2> "$ZCG_TMP/said" | head -n 1 > /dev/null
	status=${PIPESTATUS[0]}
	echo "status $status"
	[ "$status" -eq 141 ] && [ ! -s "$ZCG_TMP/said" ]
}

ktap_start 27
mark_log
load inbox
hosts_up 1
tunnel_up noudpcsum
check "bad usage: exit status 2 and the usage" bad_usage
check "an interface that is not ixgbe's: exit status 1 and one line" not_ixgbe
check "in-box driver: says that it has no counters" in_box
hosts_down

load fork
hosts_up 1
tunnel_up noudpcsum
check "flag off: says so" flag_off
set_flag on
check "flag on: nothing to say; share and segments are told" flag_on
check "rx-checksumming off: says so" rx_off
check "GRO off: says so" gro_off
if stat_is_there rx_zcg_deferred; then
	check "defer flag: says so" defer_on
else
	skip "defer flag: says so" "this driver has no such flag"
fi
check "tunnel port offload off: says so" ports_off
if stat_is_there rx_zcg_unknown_port; then
	check "frames to unknown ports: says so" unknown_port
else
	skip "frames to unknown ports: says so" "this driver does not count them"
fi
tunnel_down
check "no tunnel: says so, to an unprivileged user as well" no_port
check "outer checksums: says so" with_udpcsum

rx ethtool -L "$NETIF" combined 2
wait_for 20 has_link $NS_RX "$NETIF"
tunnel_up noudpcsum
check "one queue of two: names the command" one_queue
check "after that command: both queues, nothing to say" hashed
check "the counters' growth, exactly" top_py exact
check "other traffic in one queue: nothing to say" other_traffic
check "--json: the documented members" objects
check "no terminal: one line a report" lines
check "--once: a report in full" once
check "a closed pipe ends it" pipe_closed
for how in q INT TERM HUP suspend gone; do
	check "terminal as before after: $how" top_py terminal $how
done
check "kernel log clean" log_clean
ktap_done

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
# Not grep -q, which closes the pipe under ethtool.
has_stat() { rx ethtool -S "$NETIF" | grep "^ *$1:" > /dev/null; }
has_flag() { rx ethtool --show-priv-flags "$NETIF" | grep "^$1 *:" > /dev/null; }

# --- advice ---------------------------------------------------------------------------

# One zcg-top and one kind of traffic run while many cases are looked at: starting a
# program takes longer in an emulator than all else here.
watch_start()
{
	# Not by rx(), so that it is this process that is ended.
	ip netns exec $NS_RX "$ZCG_TOP/scripts/zcg-top" --json --interval 0.5 "$NETIF" > "$ZCG_TMP/watch" 2>&1 &
	watcher=$!
}

watch_stop()
{
	stop $watcher
	grep '}$' "$ZCG_TMP/watch" >> "$ZCG_TMP/objects"
}

# traffic_start tcp|plain|udp: through the tunnel, beside it, or to UDP port 5999.
traffic_start()
{
	case $1 in
	tcp) set -- traffic.py tcp --until /nonexistent --flows 8 ;;
	plain) set -- traffic.py tcp --until /nonexistent --to $OUTER_RX ;;
	udp) set -- top.py send 5999 ;;
	esac
	python3 "$ZCG_TOP/tests/selftests/$1" "${@:2}" > "$ZCG_TMP/traffic" 2>&1 &
	sender=$!
}

stop()
{
	kill "$1" 2> /dev/null || true
	wait "$1" 2> /dev/null || true
}

# Reports since $seen with traffic in them, with the advice $1, no more and no less,
# and of which the condition $2 is true. The first one may have begun before what is
# being tested. The last line may not be complete yet.
reports()
{
	tail -n +$((seen + 2)) "$ZCG_TMP/watch" | grep '}$' |
		jq -c --arg want "$1" "select(.frames >= 100 and ([.advice[].key] | sort | join(\" \")) == \$want and ($2))"
}
some() { [ -n "$(reports "$@")" ]; }

# says KEYS [JQ-CONDITION]: such a report comes.
says()
{
	local want=$1 condition=${2:-true}
	seen=$(wc -l < "$ZCG_TMP/watch")
	if ! wait_for 60 some "$want" "$condition"; then
		tail -n 2 "$ZCG_TMP/watch"
		cat "$ZCG_TMP/traffic"
		echo "no report says just '$want' and has $condition"
		return 1
	fi
	reports "$want" "$condition" | sed -n 1p | jq -r '.advice[].text'
}

in_box() { says inbox '.zcg == null and .fork == null and .verified_share == null and .tunnel_frames_are == "at most"'; }
flag_off() { says flag '.fork != null and .zcg.seen == 0 and .tunnel_frames_are == "at most"'; }

flag_on()
{
	says "" ".verified_share > 0.99 and .tunnel_frames_are == \"counted\" and
		.tunnel_packets.$VX_DEV > 0 and .segments_per_skb > 2"
}

# without FEATURE KEYS [JQ-CONDITION]: says so while that offload is off.
without()
{
	local feature=$1 rc=0
	shift
	rx ethtool -K "$NETIF" "$feature" off || return 1
	says "$@" || rc=1
	rx ethtool -K "$NETIF" "$feature" on || rc=1
	return $rc
}

defer_on()
{
	local rc=0
	set_flag off
	rx ethtool --set-priv-flags "$NETIF" zero-csum-gro-defer on || return 1
	says defer '.zcg.deferred > 100 and .segments_per_skb < 1.2' || rc=1
	rx ethtool --set-priv-flags "$NETIF" zero-csum-gro-defer off || rc=1
	set_flag on || rc=1
	return $rc
}

# The tunnel is there, but this goes elsewhere.
unknown_port()
{
	says unknown_port '.zcg.unknown_port > 100'
}

unprivileged()
{
	rx setpriv --reuid=65534 --regid=65534 --clear-groups "$ZCG_TOP/scripts/zcg-top" --once "$NETIF" |
		tee "$ZCG_TMP/once"
	grep -q '^received .* frames/s' "$ZCG_TMP/once" &&
		grep -q '^\* the driver knows no tunnel port' "$ZCG_TMP/once" &&
		! grep -q $'\e' "$ZCG_TMP/once"
}

# Same addresses, so one queue, until ports are hashed as well.
one_queue() { says hash '.advice[0].text | test("ethtool -N '"$NETIF"' rx-flow-hash udp4 sdfn$")'; }

hashed()
{
	rx ethtool -N "$NETIF" rx-flow-hash udp4 sdfn || return 1
	says "" '[.queues[] | select(.frames > 0)] | length == 2'
}

# One queue gets all, but other traffic than a tunnel's.
other_traffic()
{
	rx ethtool -N "$NETIF" rx-flow-hash udp4 sd || return 1
	says ""
}

# --- form -----------------------------------------------------------------------------

# All that was said so far, in all these situations.
objects() { top_py schema < "$ZCG_TMP/objects"; }

lines()
{
	top --interval 0.2 --count 3 "$NETIF" | tee "$ZCG_TMP/lines"
	[ "$(grep -c 'frames/s=.*verified_share=.*segments/skb.*softirq=' "$ZCG_TMP/lines")" -eq 3 ] &&
		! grep -q $'\e' "$ZCG_TMP/lines"
}

# A reader that goes away ends it, without a word.
pipe_closed()
{
	local status
	timeout 40 ip netns exec $NS_RX "$ZCG_TOP/scripts/zcg-top" --json --interval 0.2 "$NETIF" \
		2> "$ZCG_TMP/said" | head -n 1 > /dev/null
	status=${PIPESTATUS[0]}
	echo "status $status"
	[ "$status" -eq 141 ] && [ ! -s "$ZCG_TMP/said" ]
}

both_have_link() { wait_for 20 has_link $NS_RX "$NETIF" && wait_for 20 has_link $NS_TX "$PEER"; }

ktap_start 23
mark_log
load inbox
hosts_up 1
tunnel_up noudpcsum
watch_start
traffic_start tcp
check "in-box driver: says that it has no counters" in_box
stop $sender
watch_stop
hosts_down

load fork
hosts_up 1
tunnel_up noudpcsum
watch_start
traffic_start tcp
check "flag off: says so" flag_off
set_flag on
check "flag on: nothing to say; share and segments are told" flag_on
check "rx-checksumming off: says so" without rx rxcsum
check "GRO off: says so" without gro gro '.verified_share == 0 and .segments_per_skb < 1.2'
if has_flag zero-csum-gro-defer; then
	check "defer flag: says so" defer_on
else
	skip "defer flag: says so" "this driver has no such flag"
fi
check "tunnel port offload off: says so" without rx-udp_tunnel-port-offload ports-off
stop $sender
if has_stat rx_zcg_unknown_port; then
	traffic_start udp
	check "frames to unknown ports: says so" unknown_port
	stop $sender
else
	skip "frames to unknown ports: says so" "this driver does not count them"
fi
tunnel_down
traffic_start plain
check "no tunnel: says so" says no-port '.verified_share == null'
check "--once: a report in full, to an unprivileged user as well" unprivileged
stop $sender
tunnel_up udpcsum
traffic_start tcp
check "outer checksums: says so" says udpcsum
stop $sender
tunnel_down
watch_stop

rx ethtool -L "$NETIF" combined 2
both_have_link || die "no link after ethtool -L"
tunnel_up noudpcsum
watch_start
traffic_start tcp
check "one queue of two: names the command" one_queue
check "after that command: both queues, nothing to say" hashed
stop $sender
traffic_start plain
check "other traffic in one queue: nothing to say" other_traffic
stop $sender
watch_stop
rx ethtool -N "$NETIF" rx-flow-hash udp4 sdfn
check "the counters' growth, exactly" top_py exact
check "--json: the documented members" objects
check "no terminal: one line a report" lines
check "a closed pipe ends it" pipe_closed
for how in INT TERM suspend gone; do
	check "terminal as before after: $how" top_py terminal $how
done
check "kernel log clean" log_clean
ktap_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# usage: parity.sh [--keep DIR]
#
# Flag off is the in-box driver: one recorded mix of traffic is replayed to the in-box
# module and to the fork; counters must grow alike and the stack must be handed the
# same packets in the same order, GRO's merging included. With the flag on, or frames
# deferred, what sockets read must still be the same. --keep DIR keeps the recording and the results.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

keep=$ZCG_TMP/parity
[ "${1:-}" != --keep ] || keep=${2:?--keep wants a folder}
mkdir -p "$keep"
py=$ZCG_TOP/tests/selftests/parity.py

# play NAME MODULE [FLAG]: everything alike but the module.
play()
{
	load "$2"
	hosts_up 1
	tunnel_up noudpcsum
	silence
	# Only the device's GRO counts here; the tunnel's has a NAPI of its own.
	rx ethtool -K $VX_DEV gro off
	# ICMP errors not limited by the clock.
	rx sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv4.icmp_ratemask=0
	ip -n $NS_RX link add link "$NETIF" name zcg.9 type vlan id 9
	ip -n $NS_RX link set zcg.9 up
	[ -z "${3:-}" ] || rx ethtool --set-priv-flags "$NETIF" "$3" on
	hold_polls
	[ -e "$keep/mix.pcap" ] || python3 "$py" record "$keep/mix.pcap" | sed 's/^/# /'
	python3 "$py" replay "$keep/mix.pcap" "$keep/$1.json" | sed 's/^/# /'
	hosts_down
}

same_of() { python3 "$py" compare "$1" "$keep/inbox.json" "$keep/$2.json"; }

ktap_start 7
mark_log
play inbox inbox
play off fork
play on fork $FLAG
play deferred fork $FLAG-defer
check "flag off: ethtool -S grows as in-box" same_of counters off
check "flag off: the same packets reach the stack, in order, as GRO merged them" same_of packets off
check "flag off: protocol counters of the stack grow as in-box" same_of protocols off
check "flag off: sockets read the same" same_of sockets off
check "flag on: sockets read the same" same_of sockets on
check "deferred: sockets read the same" same_of sockets deferred
check "kernel log clean" log_clean
ktap_done

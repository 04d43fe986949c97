#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# About 1 % of the frames are corrupted behind the outer headers while they are on
# the wire. A stream must arrive complete and intact all the same, with the flag on
# as with it off: a wrong inner checksum is never claimed to be right.
#
# The corruption is the wire's if it does that (x520,corrupt-permille=10,
# corrupt-offset=150 in the lab), or netem's at the sender. ZCG_CORRUPT=wire or
# ZCG_CORRUPT=netem insists on one.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MBYTES=${MBYTES:-8}
how=${ZCG_CORRUPT:-}

# netem flips bits in the linear part only, so the sender has to send linear and
# unsegmented frames.
netem_on()
{
	tx ethtool -K "$PEER" tso off gso off sg off tx-udp_tnl-segmentation off tx-udp_tnl-csum-segmentation off || return 1
	tx ethtool -K $VX_DEV tso off gso off sg off || return 1
	tx tc qdisc replace dev "$PEER" root netem corrupt 1%
}

csum_errors() { rx nstat -asz TcpInCsumErrors | awk '/^Tcp/ { print $2 }'; }

# Sets bad, errors and log of one stream.
stream()
{
	local b0 e0
	b0=$(rx_stat rx_zcg_inner_bad) e0=$(csum_errors)
	rc=0
	said=$(traffic tcp --mbytes "$MBYTES" 2>&1) || rc=$?
	bad=$(($(rx_stat rx_zcg_inner_bad) - b0))
	errors=$(($(csum_errors) - e0))
	note "$said"
	note "rx_zcg_inner_bad +$bad, TcpInCsumErrors +$errors"
}

intact() { [ $rc -eq 0 ]; }
noticed() { [ "$bad" -gt 0 ]; }
stack_noticed() { [ "$errors" -gt 0 ]; }
all_dropped_by_stack() { [ "$errors" -ge "$bad" ]; }
untouched() { [ "$bad" -eq 0 ]; }

datagrams() { traffic udp --lossy --count 3000 --size 1200; }

mark_log
load fork
hosts_up 1
tunnel_up noudpcsum
set_flag on
if [ -z "$how" ]; then
	traffic udp --lossy --count 2000 --size 1200 > "$ZCG_TMP/probe" || true
	how=netem
	[ "$(rx_stat rx_zcg_inner_bad)" -eq 0 ] || how=wire
fi
if [ "$how" = wire ]; then ktap_start 9; else ktap_start 8; fi
note "corrupted by: $how"
[ "$how" = wire ] || netem_on || die "netem cannot be set up on $PEER"

stream
check "flag on: the stream arrives complete and intact" intact
check "flag on: rx_zcg_inner_bad counts" noticed
check "flag on: the stack sees wrong checksums" stack_noticed
# netem also corrupts inner headers, and IP drops those before TCP looks.
[ "$how" = netem ] ||
	check "flag on: the stack saw every frame that the driver found bad" all_dropped_by_stack
check "flag on: no corrupted datagram is delivered" datagrams
set_flag off
stream
check "flag off: the stream arrives complete and intact" intact
check "flag off: the stack sees wrong checksums" stack_noticed
check "flag off: nothing is counted" untouched
check "kernel log clean" log_clean
ktap_done

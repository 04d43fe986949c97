#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The private flag as an administrator meets it: it can be set at any time without
# a reset or a lost frame, stays set, and what makes no sense is refused with words.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

is() { flag_is $NS_RX "$NETIF" $FLAG "$1" || { echo "$FLAG is not $1"; return 1; }; }

sets() { set_flag "$1" && is "$1"; }

quiet_toggle()
{
	local before i
	before=$(port_state)
	for i in 1 2 3; do
		sets on && sets off || return 1
	done
	same "$before" "$(port_state)"
}

# Datagrams in sequence and a ping flood while the flag goes to and fro.
lossless_toggle()
{
	local before stop=$ZCG_TMP/stop ready=$ZCG_TMP/ready sequence flood i rc=0
	rm -f "$stop" "$ready"
	before=$(port_state)
	traffic udp --until "$stop" --ready "$ready" > "$ZCG_TMP/sequence" 2>&1 &
	sequence=$!
	tx ping -q -f -c 2000 $INNER_RX > "$ZCG_TMP/flood" 2>&1 &
	flood=$!
	wait_for 10 test -e "$ready" || { echo "the sequence did not start"; rc=1; }
	for i in $(seq 25); do
		set_flag on && set_flag off || rc=1
	done
	wait $flood || rc=1
	touch "$stop"
	wait $sequence || rc=1
	cat "$ZCG_TMP/sequence"
	grep 'packet loss' "$ZCG_TMP/flood"
	grep -q ' 0% packet loss' "$ZCG_TMP/flood" || rc=1
	same "$before" "$(port_state)" || rc=1
	echo "$i times on and off"
	return $rc
}

link_again() { wait_for 20 has_link $NS_RX "$NETIF" && wait_for 20 has_link $NS_TX "$PEER" && wait_for 10 tx ping -c 1 -W 1 $INNER_RX; }

while_down()
{
	ip -n $NS_RX link set "$NETIF" down
	sets on && sets off && sets on || return 1
	ip -n $NS_RX link set "$NETIF" up
	is on && link_again
}

# survives COMMAND...: flag and counters are as before and the receive path is
# still told of the flag: frames are verified again.
survives()
{
	local before verified after
	sets on
	traffic udp --count 200 > /dev/null || return 1
	before=$(rx_stat rx_zcg_verified)
	[ "$before" -gt 0 ] || { echo "nothing was verified to begin with"; return 1; }
	"$@" || { echo "failed: $*"; return 1; }
	is on || return 1
	link_again || { echo "no traffic after: $*"; return 1; }
	after=$(rx_stat rx_zcg_verified)
	[ "$after" -ge "$before" ] || { echo "rx_zcg_verified fell from $before to $after"; return 1; }
	traffic udp --count 200 || return 1
	verified=$(($(rx_stat rx_zcg_verified) - after))
	echo "rx_zcg_verified $before before, $after after, then $verified of 200 datagrams"
	[ $verified -ge 200 ]
}

down_up()
{
	ip -n $NS_RX link set "$NETIF" down
	ip -n $NS_RX link set "$NETIF" up
}

mtu() { ip -n $NS_RX link set "$NETIF" mtu 9000 && is on && link_again && ip -n $NS_RX link set "$NETIF" mtu 1500; }

channels() { rx ethtool -L "$NETIF" combined 2 && is on && link_again && rx ethtool -L "$NETIF" combined 1; }

ring_size() { rx ethtool -G "$NETIF" rx 256 && is on && link_again && rx ethtool -G "$NETIF" rx 512; }

ntuple() { rx ethtool -K "$NETIF" ntuple on && is on && rx ethtool -K "$NETIF" ntuple off; }

legacy()
{
	rx ethtool --set-priv-flags "$NETIF" legacy-rx on && flag_is $NS_RX "$NETIF" legacy-rx on &&
		is on && link_again &&
		rx ethtool --set-priv-flags "$NETIF" legacy-rx off && flag_is $NS_RX "$NETIF" legacy-rx off
}

# Bit 31 is no flag of any driver.
unknown_bit()
{
	PYTHONPATH=$ZCG_TOP/tests/selftests python3 - <<-END
		import os, sys
		from wire import Ethtool
		tool = Ethtool(os.environ["NS_RX"], os.environ["NETIF"])
		before = tool.flags()
		try:
		    tool.set_flag_bits(1 << 31)
		except OSError as err:
		    print("ETHTOOL_SPFLAGS:", err)
		    sys.exit(1 if tool.flags() == before else "and the flags changed")
	END
}

in_box_flags()
{
	local flag others
	others=$(rx ethtool --show-priv-flags "$NETIF" | awk -F ' *:' -v ours=$FLAG 'NR > 1 && $1 != ours { print $1 }')
	echo "in-box flags: ${others//$'\n'/ }"
	grep -q legacy-rx <<< "$others" || return 1
	for flag in $others; do
		rx ethtool --set-priv-flags "$NETIF" "$flag" on || { echo "$flag cannot be set"; continue; }
		flag_is $NS_RX "$NETIF" "$flag" on && is on || return 1
		rx ethtool --set-priv-flags "$NETIF" "$flag" off
		flag_is $NS_RX "$NETIF" "$flag" off && is on || return 1
	done
	link_again
}

off_again()
{
	rx ethtool -K "$NETIF" rx on
	sets on && sets off
}

ktap_start 18
mark_log
load fork
hosts_up 1
tunnel_up noudpcsum
check "setting it leaves link, interrupts and log alone" quiet_toggle
check "setting it under traffic loses nothing" lossless_toggle
check "works with the interface down" while_down
check "survives down and up" survives down_up
check "survives MTU 9000 and back" survives mtu
check "survives ethtool -L" survives channels
check "survives ethtool -G" survives ring_size
check "survives ethtool -r" survives rx ethtool -r "$NETIF"
check "survives the reset that ntuple makes" survives ntuple
check "survives a change of legacy-rx" survives legacy
check "in-box flags still work" in_box_flags
refuses "an unknown flag is refused" 'no-such-flag|[Ii]nvalid|[Bb]ad|not found' \
	rx ethtool --set-priv-flags "$NETIF" no-such-flag on
refuses "an unknown flag bit is refused with a message in the log" \
	'(ixgbe|'"$NETIF"').*flag' unknown_bit
check "the flag is as it was after the refusals" is on
set_flag off
rx ethtool -K "$NETIF" rx off
refuses "on is refused while rx checksums are off; the message says what to do" \
	'ethtool -K .*rx on' set_flag on
check "and the flag stayed off" is off
check "with rx checksums on again it can be set" off_again
check "kernel log clean" log_clean
ktap_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# devlink: what the card says of itself, and zero_csum_gro as a second handle of the
# private flag; all of it while ports come and go under the eyes of a reader.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

BINDS=${BINDS:-25}
DEFER=$FLAG-defer
PARAM=zero_csum_gro

command -v devlink > /dev/null || skip_all "no devlink command (iproute2)"

info() { devlink -j dev info "$DL"; }
# field PATH...: a string of the port's info; fails if it is not there
field()
{
	info | python3 -c '
import json, sys
value = json.load(sys.stdin)["info"][sys.argv[1]]
for name in sys.argv[2:]:
    value = value[name]
print(value)' "$DL" "$@"
}

# The capability's 8 bytes, the most significant first: as lspci shows them.
serial_from_config()
{
	python3 - "/sys/bus/pci/devices/$PCI/config" <<-'END'
		import struct, sys
		space = open(sys.argv[1], "rb").read()
		at = 0x100
		while at:
		    head, = struct.unpack_from("<I", space, at)
		    if head & 0xffff == 3:      # PCI Express: device serial number
		        low, high = struct.unpack_from("<II", space, at + 4)
		        print("-".join(f"{b:02x}" for b in struct.pack(">II", high, low)))
		    at = head >> 20
	END
}

# ixgbe prints the PBA when it takes a port, in front of its name or before it has one.
board_from_log() { dmesg | sed -n "s/.*ixgbe ${PCI}[: ].*PBA No: *//p" | tail -n 1; }

# ... and ethtool -i has the eetrack id and the option ROM's version, in that order.
firmware() { rx ethtool -i "$NETIF" | sed -n 's/^firmware-version: *//p'; }

whole_info()
{
	local version
	info || return 1
	[ "$(field driver)" = ixgbe ] || { echo "no driver"; return 1; }
	[ "$(field serial_number)" = "$(serial_from_config)" ] || { echo "serial: want $(serial_from_config)"; return 1; }
	[ "$(field versions fixed board.id)" = "$(board_from_log)" ] || { echo "board: want $(board_from_log)"; return 1; }
	echo "firmware-version: $(firmware)"
	[ "$(field versions running fw.bundle_id)" = "$(firmware | cut -d, -f 1 | cut -d ' ' -f 1)" ] || return 1
	version=$(field versions running ixgbe-zcg) || return 1
	modinfo -F fork "$MODULE_FILE" | grep -qF "ixgbe-zcg $version:" || { echo "version $version"; return 1; }
}

same_on_both()
{
	local other
	other=$(devlink -j dev info "pci/$PCI_PEER" | python3 -c '
import json, sys
print(list(json.load(sys.stdin)["info"].values())[0]["versions"]["running"]["ixgbe-zcg"])')
	same "$other" "$(field versions running ixgbe-zcg)"
}

value() { devlink -j dev param show "$DL" name $PARAM | grep -oE '"value": ?(true|false)' | grep -oE 'true|false'; }
set_param() { devlink dev param set "$DL" name $PARAM value "$1" cmode runtime; }
both_are()  # on|off
{
	local want=true
	[ "$1" = on ] || want=false
	if [ "$(value)" != $want ] || ! flag_is $NS_RX "$NETIF" $FLAG "$1"; then
		echo "parameter $(value)"
		rx ethtool --show-priv-flags "$NETIF"
		return 1
	fi
}
from_devlink() { set_param true && both_are on && set_param true && both_are on && set_param false && both_are off; }
from_ethtool() { set_flag on && both_are on && set_flag off && both_are off; }

verifies()
{
	local before
	set_param true
	before=$(rx_stat rx_zcg_verified)
	traffic udp --count 200 || return 1
	set_param false
	[ $(($(rx_stat rx_zcg_verified) - before)) -ge 200 ]
}

# What devlink mon says while a command runs: changes of the parameter, by value.
told()  # VALUE COMMAND...
{
	local want=$1 pid rc=0
	shift
	stdbuf -oL devlink mon all > "$ZCG_TMP/mon" 2>&1 &
	pid=$!
	# It listens when it shows something that is done for the purpose.
	wait_for 10 heard "pci/$PCI_PEER" peer_turns ||
		{ echo "devlink mon hears nothing"; rc=1; }
	"$@" || rc=1
	wait_for 10 grep -A 4 "param,new.*$DL\|param new.*$DL" "$ZCG_TMP/mon" || rc=1
	kill $pid
	wait $pid 2>/dev/null || true
	cat "$ZCG_TMP/mon"
	grep -A 4 "$DL" "$ZCG_TMP/mon" | grep -q "value $want" || rc=1
	return $rc
}
# devlink does not ask for what is set already.
peer_turns()
{
	devlink dev param set "pci/$PCI_PEER" name $PARAM value true cmode runtime
	devlink dev param set "pci/$PCI_PEER" name $PARAM value false cmode runtime
}
heard() { local what=$1; shift; "$@"; grep -q "$what" "$ZCG_TMP/mon"; }

# ethtool --monitor hears of what devlink does.
ethtool_told()
{
	local pid rc=0
	rx stdbuf -oL ethtool --monitor > "$ZCG_TMP/emon" 2>&1 &
	pid=$!
	wait_for 10 eheard || { echo "ethtool --monitor hears nothing"; rc=1; }
	: > "$ZCG_TMP/emon"
	set_param true
	wait_for 10 grep -q "$FLAG *: on" "$ZCG_TMP/emon" || rc=1
	set_param false
	kill $pid
	wait $pid 2>/dev/null || true
	cat "$ZCG_TMP/emon"
	return $rc
}
eheard() { set_flag on; set_flag off; grep -q "$FLAG" "$ZCG_TMP/emon"; }

no_rxcsum() { rx ethtool -K "$NETIF" rx off; set_param true; }
with_defer() { rx ethtool --set-priv-flags "$NETIF" $DEFER on; set_param true; }
off_keeps_defer() { set_param false && flag_is $NS_RX "$NETIF" $DEFER on; }

while_down()
{
	ip -n $NS_RX link set "$NETIF" down
	set_param true && both_are on && whole_info && set_param false && both_are off &&
		ip -n $NS_RX link set "$NETIF" up
}

in_other_namespaces()
{
	ip netns add zcg-third
	ip -n $NS_RX link set "$NETIF" netns zcg-third
	set_param true && [ "$(value)" = true ] && field driver &&
		ip netns exec zcg-third ethtool --set-priv-flags "$NETIF" $FLAG off && [ "$(value)" = false ] &&
		ip -n zcg-third link set "$NETIF" netns $NS_RX && ip netns del zcg-third && both_are off
}

# Resets while it is read and set.
under_resets()
{
	local i pid rc=0
	(while [ ! -e "$ZCG_TMP/done" ]; do info; set_param true; set_param false; done) > "$ZCG_TMP/log" 2>&1 &
	pid=$!
	for i in $(seq 8); do
		rx ethtool -r "$NETIF"
		rx ethtool -K "$NETIF" ntuple on
		rx ethtool -K "$NETIF" ntuple off
	done
	touch "$ZCG_TMP/done"
	wait $pid
	grep -q "$DL" "$ZCG_TMP/log" || rc=1
	! grep -i error "$ZCG_TMP/log" || rc=1
	echo "$i rounds, $(grep -c '"info"' "$ZCG_TMP/log") answers"
	return $rc
}

# A port that comes and goes. What the reader is told in between is "no such device".
binds()
{
	local i pid rc=0 began=$SECONDS
	rm -f "$ZCG_TMP/done"
	(while [ ! -e "$ZCG_TMP/done" ]; do
		devlink dev info
		devlink dev param show
		devlink dev info "$DL"
		devlink dev param set "$DL" name $PARAM value true cmode runtime
		ethtool --show-priv-flags "$NETIF"
		ethtool --set-priv-flags "$NETIF" $FLAG off
	done) > "$ZCG_TMP/log" 2>&1 &
	pid=$!
	for ((i = 0; i < BINDS; i++)); do
		echo "$PCI" > /sys/bus/pci/drivers/ixgbe/unbind || { rc=1; break; }
		echo "$PCI" > /sys/bus/pci/drivers/ixgbe/bind || { rc=1; break; }
	done
	touch "$ZCG_TMP/done"
	wait $pid || true
	echo "$i times in $((SECONDS - began)) s, $(grep -c ixgbe-zcg "$ZCG_TMP/log") answers of info, $(grep -c $PARAM "$ZCG_TMP/log") of param"
	wait_for 20 test -e "/sys/bus/pci/devices/$PCI/net" || rc=1
	# The reader got its turn in between, not each time.
	[ "$(grep -c ixgbe-zcg "$ZCG_TMP/log")" -ge $((BINDS / 4)) ] && devlink dev info "$DL" > /dev/null && return $rc
}

unload_read()
{
	local pid
	rm -f "$ZCG_TMP/done"
	(while [ ! -e "$ZCG_TMP/done" ]; do devlink dev info; devlink dev param show; done) > "$ZCG_TMP/log" 2>&1 &
	pid=$!
	wait_for 10 grep -q ixgbe-zcg "$ZCG_TMP/log"
	rmmod ixgbe || return 1
	touch "$ZCG_TMP/done"
	wait $pid || true
	[ -z "$(devlink dev show | grep "$DL" || true)" ]
}

ktap_start 19
mark_log
load fork
MODULE_FILE=$ZCG_MODULE
PCI=$(basename "$(readlink -f "/sys/class/net/$NETIF/device")")
PCI_PEER=$(basename "$(readlink -f "/sys/class/net/$PEER/device")")
DL=pci/$PCI
hosts_up 1
tunnel_up noudpcsum

check "info: driver, serial number, board, versions" whole_info
check "info: both ports say the same version of the fork" same_on_both
check "the parameter and the flag are off after load" both_are off
check "the flag follows the parameter" from_devlink
check "the parameter follows the flag" from_ethtool
check "on by the parameter, frames are verified" verifies
check "devlink mon shows a change by devlink" told true set_param true
check "devlink mon shows a change by ethtool" told false set_flag off
check "ethtool --monitor shows a change by devlink" ethtool_told
refuses "true is refused while rx checksums are off, and the answer says what to do" \
	'ethtool -K .*rx on' no_rxcsum
rx ethtool -K "$NETIF" rx on
refuses "true is refused while $DEFER is on, and the answer says what to do" \
	"$DEFER off" with_defer
check "false leaves $DEFER alone" off_keeps_defer
rx ethtool --set-priv-flags "$NETIF" $DEFER off
check "works while the port is down" while_down
check "works with the port in another namespace" in_other_namespaces
check "read and set during resets" under_resets
hosts_down
check "$BINDS times bound and unbound with a reader" binds
check "unloaded with a reader" unload_read
check "loaded again it is there" load fork
check "kernel log clean" log_clean
ktap_done

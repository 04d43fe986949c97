#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The fork takes the in-box module's place: same name, parameters and devices,
# its version told, link up, nothing switched on, and it can be taken out again.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

RELOADS=${RELOADS:-20}
fork=${ZCG_MODULE:?no fork was built for this kernel: make}
# Bits of /proc/sys/kernel/tainted.
TAINT_OUT_OF_TREE=$((1 << 12))
TAINT_UNSIGNED=$((1 << 13))

info() { modinfo -F "$2" "$1" | LC_ALL=C sort; }

same_info()  # field
{
	diff <(info "$(reference)" "$1") <(info "$fork" "$1") && info "$fork" "$1" | wc -l
}

named()
{
	[ "$(modinfo -F name "$fork")" = ixgbe ] && [ -d /sys/module/ixgbe ]
}

tells_version()
{
	modinfo "$fork" | grep -E '^(fork|version):'
	[[ $(modinfo -F fork "$fork") == ixgbe-zcg\ [0-9]*$FLAG* ]] || return 1
	# A driver with a version of its own keeps it.
	[[ $(modinfo -F version "$fork") == [0-9]*.[0-9]*zcg* ]] ||
		same "$(modinfo -F version "$(reference)")" "$(modinfo -F version "$fork")"
}

# The kind of core that it was built for; the lab knows what is right.
tells_core()
{
	local kind
	kind=$(modinfo -F core "$fork")
	echo "core: $kind"
	log_since "$_log_mark" | grep -q "this is the fork ixgbe-zcg .* for a core of kind $kind, " ||
		{ echo "not in the kernel log"; return 1; }
	case ${ZCG_KERNEL:-} in
	'') [[ " gated open unknown " == *" $kind "* ]] ;;
	gated-*) [ "$kind" = gated ] ;;
	*) [ "$kind" = open ] ;;
	esac
}

# The module that is loaded is the one of the file, not the in-box one.
loaded_is_fork()
{
	local dev
	for dev in ${peer_is_ours:+"$PEER"} "$NETIF"; do
		ethtool -i "$dev"
		ethtool -i "$dev" | grep -qx 'driver: ixgbe' || return 1
		ethtool --show-priv-flags "$dev" | grep -E "^$FLAG *: " || return 1
	done
	same "$(modinfo -F srcversion "$fork")" "$(cat /sys/module/ixgbe/srcversion)"
}

# A module that the distribution has not built taints the kernel, and the kernel says
# so; it has nothing else to say. The host may take time from a virtual machine's
# timers, which is not the driver's doing.
quiet_load()
{
	local said after
	said=$(log_since "$_log_mark" --decode | grep -E '^[a-z0-9]+ *:(emerg|alert|crit|err|warn) *:' |
		grep -vE 'ixgbe: (loading out-of-tree module taints kernel|module verification failed: )|hrtimer: interrupt took' || true)
	[ -z "$said" ] || { echo "$said"; return 1; }
	after=$(cat /proc/sys/kernel/tainted)
	echo "tainted: $tainted before, $after now"
	[ $((after & ~tainted & ~(TAINT_OUT_OF_TREE | TAINT_UNSIGNED))) -eq 0 ]
}

off_by_default()
{
	flag_is $NS_RX "$NETIF" $FLAG off && { [ -z "$peer_is_ours" ] || flag_is $NS_TX "$PEER" $FLAG off; }
}

link_at_10000()
{
	same 10000 "$(rx cat "/sys/class/net/$NETIF/speed")" &&
		{ [ -z "$peer_is_ours" ] || same 10000 "$(tx cat "/sys/class/net/$PEER/speed")"; }
}

reload()
{
	local i
	for i in $(seq "$RELOADS"); do
		load fork
		unload
		[ ! -d /sys/module/ixgbe ] || { echo "still loaded after rmmod $i"; return 1; }
	done
	echo "$i times"
}

after_reloads()
{
	load fork
	hosts_up 1
	traffic tcp --to $OUTER_RX --mbytes 1
}

ktap_start 12
tainted=$(cat /proc/sys/kernel/tainted)
mark_log
load fork
check "the module is called ixgbe" named
check "same parameters as the in-box module" same_info parm
check "same device aliases as the in-box module" same_info alias
check "modinfo says that it is the fork, and which version" tells_version
check "modinfo and the kernel log say whether the core is gated or open" tells_core
check "the loaded module is the fork" loaded_is_fork
hosts_up 1
check "both ports have link at 10000 Mb/s" link_at_10000
check "the flag is off by default" off_by_default
check "no warning and no taint but out-of-tree and unsigned" quiet_load
hosts_down
check "unloads and loads again $RELOADS times" reload
check "passes traffic after that" after_reloads
check "kernel log clean" log_clean
ktap_done

#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Runs at the end of a boot; tells, a line each, which ixgbe the boot has loaded
# and how its ports stand.

echo "kernel $(uname -r)"
echo "up $(cut -d ' ' -f 1 /proc/uptime)"
# Only modules with a version, as ours, have a srcversion in Debian's kernels.
loaded=nothing
[ ! -d /sys/module/ixgbe ] || loaded=$(cat /sys/module/ixgbe/srcversion 2>/dev/null || echo none)
echo "loaded $loaded"
echo "file $(modinfo -n ixgbe)"
srcversion=$(modinfo -F srcversion ixgbe)
echo "file-srcversion ${srcversion:-none}"
echo "fork $(modinfo -F fork ixgbe)"
for dir in /sys/class/net/*; do
	port=${dir##*/}
	[[ $(readlink "$dir/device/driver") == */ixgbe ]] || continue
	ip link set "$port" up
	for _ in {1..100}; do
		[ "$(cat "$dir/carrier" 2>/dev/null)" != 1 ] || break
		sleep 0.1
	done
	flag=$(ethtool --show-priv-flags "$port" | sed -nE 's/^zero-csum-gro *: *//p')
	echo "port $port $(basename "$(readlink "$dir/device")") carrier $(cat "$dir/carrier") flag ${flag:-none}" \
		"version $(ethtool -i "$port" | sed -n 's/^version: *//p')"
done
echo "failed $(systemctl --failed --plain --no-legend | awk '{ print $1 }' | xargs)"
dmesg | grep -E 'ixgbe.*(fork|error)|WARNING|BUG:|Call Trace' | sed 's/^/log /'
echo end

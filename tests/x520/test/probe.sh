#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: probe.sh    (in a guest: tests/lab/lab run KERNEL -- tests/x520/test/probe.sh)
# The in-box ixgbe finds an X520-DA2 and believes what it reads there. RELOADS
# says how often the module is unloaded and loaded again (20).

set -euo pipefail
# shellcheck source=tests/x520/test/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

RELOADS=${RELOADS:-20}

both()  # COMMAND...: with each port as the last argument
{
	"$@" "$PEER" && "$@" "$NETIF"
}

is_x520()
{
	local dir=/sys/class/net/$1/device
	echo "$1: $(cat "$dir/vendor") $(cat "$dir/device"), $(basename "$(readlink -f "$dir")")"
	[ "$(cat "$dir/vendor") $(cat "$dir/device")" = "0x8086 0x10fb" ]
}

two_functions()
{
	local a b
	a=$(basename "$(readlink -f "/sys/class/net/$PEER/device")")
	b=$(basename "$(readlink -f "/sys/class/net/$NETIF/device")")
	[ "${a%.*}" = "${b%.*}" ] && [ "${a##*.} ${b##*.}" = "0 1" ]
}

link_10g()
{
	local out
	ip link set "$1" up
	wait_for 60 grep -q 1 "/sys/class/net/$1/carrier" || { echo "$1: no carrier"; return 1; }
	out=$(ethtool "$1")
	grep -E 'Speed|Duplex|Port|Link detected' <<< "$out"
	grep -q 'Speed: 10000Mb/s' <<< "$out" && grep -q 'Duplex: Full' <<< "$out" &&
		grep -q 'Link detected: yes' <<< "$out"
}

identity()
{
	local out
	out=$(ethtool -i "$1")
	echo "$out" | grep -E '^(driver|firmware-version|bus-info)'
	grep -q '^driver: ixgbe$' <<< "$out" && grep -qE '^firmware-version: 0x[0-9a-f]{8}' <<< "$out" &&
		! grep -q 'version: 0xffffffff\|version: 0x00000000$' <<< "$out"
}

module_eeprom()
{
	local out
	out=$(ethtool -m "$1")
	echo "$out" | grep -E 'Identifier|Transceiver type|Vendor|Connector' | head -n 8
	grep -q '0x03 (SFP)' <<< "$out" && grep -qiE '10G|copper|Infiniband' <<< "$out" &&
		[ "$(ethtool -m "$1" raw on | wc -c)" -ge 256 ]
}

registers()
{
	local out
	out=$(ethtool -d "$1")
	echo "$out" | grep -E 'Link Status|Link Speed' | head -n 2
	[ "$(wc -l <<< "$out")" -gt 500 ] && grep -qE 'Link Status: +up' <<< "$out" &&
		grep -qE 'Link Speed: +10G' <<< "$out"
}

# What was set is in force once the link is back.
pause_is()
{
	ethtool -a "$1" | awk -v want="$2" '/^[RT]X:/ { n += $2 == want } END { exit n != 2 }'
}

pause_set()
{
	local want
	for want in off on; do
		ethtool -A "$1" rx $want tx $want || return 1
		wait_for 60 pause_is "$1" $want || { ethtool -a "$1"; return 1; }
	done
	wait_for 60 grep -q 1 "/sys/class/net/$1/carrier"
}

rings()
{
	local n most
	most=$(ethtool -g "$1" | awk '/^RX:/ { print $2; exit }')
	for n in 64 "$most" 512; do
		ethtool -G "$1" rx "$n" tx "$n" || return 1
		[ "$(ethtool -g "$1" | awk '/^[RT]X:/ { v = v " " $2 } END { print v }')" = \
			" $most $most $n $n" ] || { ethtool -g "$1"; return 1; }
	done
	wait_for 60 grep -q 1 "/sys/class/net/$1/carrier"
}

coalescing()
{
	local usecs
	for usecs in 0 10 100 1; do
		ethtool -C "$1" rx-usecs $usecs || return 1
		ethtool -c "$1" | grep -qE "^rx-usecs:[[:space:]]*$usecs\$" || { ethtool -c "$1"; return 1; }
	done
}

channels()
{
	local n
	for n in 1 2; do
		ethtool -L "$1" combined $n 2> /dev/null || [ "$(nproc)" = 1 ]
	done
	ethtool -l "$1" | tail -n 1
	wait_for 60 grep -q 1 "/sys/class/net/$1/carrier"
}

features()
{
	local out f
	out=$(ethtool -k "$1")
	for f in rx-checksumming tx-checksumming tcp-segmentation-offload rx-vlan-offload \
		tx-vlan-offload receive-hashing tx-udp_tnl-segmentation tx-gre-segmentation; do
		grep -qE "^[[:space:]]*$f: on" <<< "$out" || { echo "$f is not on"; return 1; }
	done
}

msix_vectors()
{
	local n
	n=$(find "/sys/class/net/$1/device/msi_irqs" -type f | wc -l)
	echo "$1: $n vectors"
	[ "$n" -ge 2 ]
}

self_test()
{
	local out
	out=$(ethtool -t "$1" offline) || { echo "$out"; return 1; }
	echo "$out" | tail -n 7
	wait_for 60 grep -q 1 "/sys/class/net/$1/carrier"
}

# The module RELOADS times, each time with a link on both ports.
reload()
{
	local n began=$SECONDS
	for n in $(seq "$RELOADS"); do
		load inbox
		ip link set "$PEER" up && ip link set "$NETIF" up || return 1
		if ! wait_for 60 grep -q 1 "/sys/class/net/$PEER/carrier" ||
			! wait_for 60 grep -q 1 "/sys/class/net/$NETIF/carrier"; then
			echo "no link after load $n"
			return 1
		fi
	done
	echo "$RELOADS times in $((SECONDS - began)) s"
}

ktap_start 19
mark
check "the in-box ixgbe loads and finds two ports" load inbox
find_ports
note "$(uname -r): $(modinfo -F filename ixgbe)"
check "both are 8086:10fb" both is_x520
check "they are functions 0 and 1 of one device" two_functions
check "link at 10000 Mb/s, full duplex" both link_10g
check "nothing of level warning in the log so far" quiet_log
check "ethtool -i: driver and firmware version" both identity
check "ethtool -m: an SFP+ module" both module_eeprom
check "ethtool -e: the EEPROM's checksum is right" both python3 "$HERE/card.py" eeprom
check "PCIe serial number made of the MAC address" python3 "$HERE/card.py" serial "$PEER"
check "ethtool -d: registers say link up at 10G" both registers
check "ethtool -k: offloads" both features
check "MSI-X vectors" both msix_vectors
check "ethtool -a, -A: flow control" both pause_set
check "ethtool -g, -G: ring sizes" both rings
check "ethtool -c, -C: coalescing" both coalescing
check "ethtool -l, -L: channels" both channels
check "ethtool -t offline" both self_test
check "reload of the module, $RELOADS times" reload
check "nothing of level warning in the log" quiet_log
ktap_done

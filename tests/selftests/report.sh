#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/report gathers what it should into one file, and neither an address nor a
# name of the host nor a serial number, in whatever spelling.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

file=$ZCG_TMP/report.txt

# Under a name that nothing else in a report looks like.
HOST=secret-host-77
# shellcheck disable=SC2016 # for the inner shell
report() { unshare --uts sh -c 'hostname "$1" && shift && exec "$@"' sh $HOST.example.org "$ZCG_TOP/scripts/report" "$@"; }

# The secrets of this machine, one a line, found without scripts/report's help. That an
# address is printed in lower case or with colons is not relied on.
secrets()
{
	local ns mac
	echo $HOST
	echo example.org
	for ns in $NS_TX $NS_RX; do
		echo "$ns"
		ip netns exec "$ns" sh -c 'cat /sys/class/net/*/address'
		ip -n "$ns" -d link | sed -nE 's/.*permaddr ([0-9a-f:]+).*/\1/p'
		ip -n "$ns" -o addr | awk '{ print $4 }' | cut -d / -f 1
	done | sort -u | while read -r mac; do
		case $mac in
		00:00:00:00:00:00 | 127.0.0.1 | ::1) ;;
		??:??:??:??:??:??)
			echo "$mac"
			tr : - <<< "$mac"
			tr -d : <<< "$mac"
			# As the card's serial number, as devlink and as lspci -vv print it.
			sed -E 's/^(..):(..):(..):/\1:\2:\3:ff:ff:/' <<< "$mac"
			sed -E 's/^(..):(..):(..):/\1:\2:\3:ff:ff:/; s/:/-/g' <<< "$mac"
			sed -E 's/^(..):(..):(..):/\1:\2:\3:ff:ff:/; s/://g' <<< "$mac"
			# The half of a link-local address that is unmistakable.
			sed -E 's/^..:..:(..):(..):(..):(..)/\1ff:fe\2:\3\4/' <<< "$mac"
			;;
		*) echo "$mac" ;;
		esac
	done
}

nothing_secret() # FILE
{
	echo "$(wc -l < "$ZCG_TMP/secrets") values looked for"
	[ -s "$1" ] && [ "$(wc -l < "$ZCG_TMP/secrets")" -ge 20 ] &&
		! LC_ALL=C grep -nwiFf "$ZCG_TMP/secrets" "$1"
}

# Nothing of that shape at all, known or not; PCI addresses and times look different.
no_address_at_all()
{
	[ -s "$file" ] && ! grep -nE '(^|[^0-9a-f:])([0-9a-f]{2}:){5}[0-9a-f]{2}([^0-9a-f:]|$)' "$file" &&
		! grep -nE '(^|[^0-9.])([0-9]{1,3}\.){3}[0-9]{1,3}([^0-9.]|$)' "$file" &&
		! grep -niE '(^|[^0-9a-f])f[ed][0-9a-f]{2}::?[0-9a-f]' "$file"
}

written()
{
	report --output "$file" | tee "$ZCG_TMP/said" &&
		grep -qF "$file" "$ZCG_TMP/said" && grep -q 'Read it' "$ZCG_TMP/said" &&
		[ "$(stat -c %a "$file")" = 600 ]
}

complete()
{
	local word rc=0
	for word in "$(uname -r)" 'fork: *ixgbe-zcg' 'driver: ixgbe' "zero-csum-gro *: on" 'rx_zcg_seen: [0-9]' \
		'rx-checksumming: on' 'RX:' 'Combined:' 'port 5766, vxlan' 'vxlan id 2' "NIC Link is Up" 'PRETTY_NAME=' \
		'0x10fb\|10fb'; do
		[ -n "$can_show" ] || [ "$word" != 'port 5766, vxlan' ] || continue
		grep -q -- "$word" "$file" || { echo "'$word' is not in it"; rc=1; }
	done
	wc -l < "$file"
	return $rc
}

# What other tools print, or print elsewhere, with this machine's own values.
scrubbed()
{
	local mac dashes
	mac=$(rx cat "/sys/class/net/$NETIF/address")
	dashes=$(sed -E 's/^(..):(..):(..):/\1:\2:\3:ff:ff:/; s/:/-/g' <<< "$mac")
	cat > "$ZCG_TMP/text" <<-END
		Capabilities: [140 v1] Device Serial Number $dashes
		  serial_number ${dashes^^}
		        [SN] Serial number: XQ7731KZ
		        [V1] Vendor specific: $OUTER_RX
		Vendor SN                                 : XQ7731KZ
		enx$(tr -d : <<< "$mac") ${mac^^} $(tr : - <<< "$mac") at $HOST: kernel log of ${HOST^^}.example.org
		fe80::$(sed -E 's/^(..):(..):(..):(..):(..):(..)/0\1\2:\3ff:fe\4:\5\6/' <<< "$mac")%eth0 2001:db8::77 203.0.113.9/24
		/home/alice/zcg 0123.4567.89ab
		kept: 0000:01:00.0 12:30:45 6.1.0-57-amd64 rx_zcg_seen 5.10.223 1.2.3
	END
	report --scrub < "$ZCG_TMP/text" | tee "$ZCG_TMP/scrubbed"
	nothing_secret "$ZCG_TMP/scrubbed" || return 1
	! grep -E 'XQ7731KZ|alice|2001:db8|203\.0|4567' "$ZCG_TMP/scrubbed" &&
		grep -qF 'kept: 0000:01:00.0 12:30:45 6.1.0-57-amd64 rx_zcg_seen 5.10.223 1.2.3' "$ZCG_TMP/scrubbed"
}

bad_usage() { report --nonsense; }
no_folder() { report --output /nowhere/at/all; }

ktap_start 8
mark_log
load fork
hosts_up 1
tunnel_up noudpcsum
set_flag on
can_show=yes
rx ethtool --show-tunnels "$NETIF" > /dev/null 2>&1 || can_show=
traffic udp --count 100 > /dev/null
secrets > "$ZCG_TMP/secrets"
check "a file is written, and the user is asked to read it" written
check "it holds what a report needs" complete
check "it holds no address or name of this machine" nothing_secret "$file"
check "it holds nothing that looks like an address" no_address_at_all
check "other text is scrubbed alike" scrubbed
refuses "a bad command line" 'usage: ' bad_usage
refuses "a file that can't be written" 'No such file' no_folder
check "kernel log clean" log_clean
ktap_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: counters.sh    (in a guest: tests/lab/lab run KERNEL -- tests/x520/test/counters.sh)
# What ethtool -S of the in-box ixgbe says on both ports, after known traffic:
# what one sent is what the other received, and nothing is counted twice, lost
# or invented.

set -euo pipefail
# shellcheck source=tests/x520/test/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

A=$ZCG_TMP/tx B=$ZCG_TMP/rx     # snapshots: $A.0 $A.1 $B.0 $B.1

# Counters that no traffic of ours may move.
ERRORS="rx_errors tx_errors rx_dropped tx_dropped collisions rx_over_errors rx_crc_errors
	rx_frame_errors rx_fifo_errors rx_missed_errors tx_aborted_errors tx_carrier_errors
	tx_fifo_errors tx_heartbeat_errors tx_timeout_count rx_length_errors
	rx_long_length_errors rx_short_length_errors rx_no_buffer_count
	rx_csum_offload_errors alloc_rx_page_failed alloc_rx_buff_failed rx_no_dma_resources"

declare -A GROWN_A GROWN_B

begin() { quiet 0; }

end()
{
	local name value
	quiet 1 || return 1
	GROWN_A=() GROWN_B=()
	while read -r name value; do GROWN_A[$name]=$value; done < <(differences "$A.0" "$A.1")
	while read -r name value; do GROWN_B[$name]=$value; done < <(differences "$B.0" "$B.1")
}

differences() { awk 'NR == FNR { v[$1] = $2; next } { printf "%s %d\n", $1, $2 - v[$1] }' "$1" "$2"; }

# quiet N: snapshots $A.N and $B.N, once nothing changes any more.
quiet()
{
	wait_for 60 still "$1" || { echo "the counters do not come to rest"; return 1; }
}

still()
{
	snapshot "$NS_TX" "$PEER" "$A.was" && snapshot "$NS_RX" "$NETIF" "$B.was" && sleep 0.1 &&
		snapshot "$NS_TX" "$PEER" "$A.$1" && snapshot "$NS_RX" "$NETIF" "$B.$1" &&
		cmp "$A.was" "$A.$1" && cmp "$B.was" "$B.$1"
}

# The sender's and the receiver's counter NAME, by how much it has grown.
a() { echo "${GROWN_A[$1]}"; }
b() { echo "${GROWN_B[$1]}"; }

equal()  # WHAT VALUE VALUE
{
	[ "$2" = "$3" ] || { echo "$1: $2, expected $3"; return 1; }
}

no_errors()
{
	local e
	for e in $ERRORS; do
		equal "sender $e" "${GROWN_A[$e]}" 0 && equal "receiver $e" "${GROWN_B[$e]}" 0 || return 1
	done
}

# queues FILE.0 FILE.1 rx|tx: the queues' sums are the totals.
queues()
{
	awk -v way="$3" '
		{ sign = FILENAME == ARGV[1] ? -1 : 1 }
		$1 == way "_packets" { p += sign * $2 }
		$1 == way "_bytes" { b += sign * $2 }
		$1 ~ "^" way "_queue_[0-9]+_packets$" { qp += sign * $2; n++ }
		$1 ~ "^" way "_queue_[0-9]+_bytes$" { qb += sign * $2 }
		END {
			printf "%s: %d packets, %d bytes in %d queues\n", way, qp, qb, n / 2
			exit !(n && p == qp && b == qb)
		}' "$1" "$2"
}

add_up()
{
	end || return 1
	echo "forth $(a tx_packets) packets, $(a tx_bytes) bytes; back $(b tx_packets), $(b tx_bytes)"
	equal "packets forth" "$(b rx_packets)" "$(a tx_packets)" &&
		equal "packets back" "$(a rx_packets)" "$(b tx_packets)" &&
		equal "bytes forth" "$(b rx_bytes)" "$(a tx_bytes)" &&
		equal "bytes back" "$(a rx_bytes)" "$(b tx_bytes)" &&
		equal "sent, by the MAC" "$(a tx_pkts_nic)" "$(a tx_packets)" &&
		equal "received, by the MAC" "$(b rx_pkts_nic)" "$(b rx_packets)" &&
		equal "bytes sent and FCS" "$(a tx_bytes_nic)" $(($(a tx_bytes) + 4 * $(a tx_packets))) &&
		equal "bytes received and FCS" "$(b rx_bytes_nic)" $(($(b rx_bytes) + 4 * $(b rx_packets))) &&
		queues "$A.0" "$A.1" tx && queues "$B.0" "$B.1" rx && no_errors
}

after_streams()
{
	begin || return 1
	stream "$OUTER_RX" 6000000 && stream "$OUTER_TX" 3000000 reverse && add_up &&
		[ "$(a tx_bytes)" -gt 6000000 ] && [ "$(b tx_bytes)" -gt 3000000 ]
}

# So many that the hash leaves neither queue out.
after_many_flows()
{
	begin || return 1
	stream "$OUTER_RX" 125000 forth 32 && add_up || return 1
	awk '$1 ~ /^rx_queue_[0-9]+_packets$/ && $2 > 100 { n++ } END { exit n < 2 }' "$B.1"
}

exact()  # COUNT SIZE: pktgen's count must be everyone's
{
	begin || return 1
	pktgen "$1" 0 "$2" && add_up && equal "packets" "$(a tx_packets)" "$1" &&
		equal "bytes" "$(a tx_bytes)" $(($1 * $2))
}

# Frames of 42 bytes: the sender's rings count 42, the wire 64 with FCS, the
# receiver's rings 60.
runts()
{
	begin || return 1
	tx python3 "$HERE/packet.py" send "$PEER" udp 20 dst="$MAC_RX" size=42
	end || return 1
	equal "received" "$(b rx_packets)" 20 && equal "tx_bytes" "$(a tx_bytes)" 840 &&
		equal "tx_bytes_nic" "$(a tx_bytes_nic)" 1280 && equal "rx_bytes_nic" "$(b rx_bytes_nic)" 1280 &&
		equal "rx_bytes" "$(b rx_bytes)" 1200 && no_errors
}

casts()
{
	local group=01:00:5e:01:02:03
	rx ip maddr add $group dev "$NETIF"
	begin || return 1
	tx python3 "$HERE/packet.py" send "$PEER" udp 100 &&
		tx python3 "$HERE/packet.py" send "$PEER" udp 50 dst=$group &&
		tx python3 "$HERE/packet.py" send "$PEER" udp 30 dst="$MAC_RX" || return 1
	end || return 1
	rx ip maddr del $group dev "$NETIF"
	equal "packets" "$(b rx_packets)" 180 && equal "broadcast" "$(b broadcast)" 100 &&
		equal "multicast" "$(b multicast)" 50 && no_errors
}

# What was filtered is not received, and is no error.
filtered()
{
	begin || return 1
	tx python3 "$HERE/packet.py" send "$PEER" plain 40 dst=02:00:00:00:00:99
	end || return 1
	equal "sent" "$(a tx_packets)" 40 && equal "received" "$(b rx_packets)" 0 &&
		equal "received, by the MAC" "$(b rx_pkts_nic)" 0 && no_errors
}

snmp()  # FILE PROTOCOL FIELD
{
	# shellcheck disable=SC2016 # for awk
	rx awk -v p="$2:" -v want="$3" '$1 == p && !n { n = split($0, name); next }
		$1 == p { split($0, v); for (i in name) if (name[i] == want) print v[i] }' "/proc/net/$1"
}

# csum KIND COUNT COUNTED PROTOCOL-FILE PROTOCOL FIELD: COUNT bad frames; the
# driver counts so many, and the stack, which checks again, all of them.
csum()
{
	local kind=$1 count=$2 counted=$3 before=0
	begin || return 1
	[ $# -lt 6 ] || before=$(snmp "$4" "$5" "$6")
	tx python3 "$HERE/packet.py" send "$PEER" "$kind" "$count" dst="$MAC_RX" size=200
	end || return 1
	equal "received" "$(b rx_packets)" "$count" &&
		equal "rx_csum_offload_errors" "$(b rx_csum_offload_errors)" "$counted" || return 1
	[ $# -lt 6 ] || equal "$5 $6" $(($(snmp "$4" "$5" "$6") - before)) "$count"
}

bad_checksums()
{
	csum tcp 20 0 && csum udp 20 0 &&
		csum tcp-bad 30 30 snmp Tcp InCsumErrors &&
		csum ip-bad 10 10 netstat IpExt InCsumErrors &&
		csum udp-bad 25 0 snmp Udp InCsumErrors &&  # 82599: see the erratum
		csum udp-zero 25 0
}

# More than the receiver can take, without flow control: what is not received
# must be counted as lost. With several queues the driver has full rings drop at
# once (rx_no_dma_resources); with one, the packet buffer fills first
# (rx_missed_errors).
overload()  # channels, the counter that must move
{
	local lost
	slow_receiver || return 1
	tx ethtool -A "$PEER" rx off tx off && rx ethtool -A "$NETIF" rx off tx off || return 1
	[ "$1" = 2 ] || rx ethtool -L "$NETIF" combined "$1" || return 1
	rx ethtool -G "$NETIF" rx 64 || true	# it may have so many already
	wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX" || return 1
	begin && pktgen "$OVERLOAD" 0 300 && end || return 1
	lost=$(($(b rx_missed_errors) + $(b rx_no_dma_resources)))
	echo "sent $(a tx_packets), received $(b rx_packets), missed $(b rx_missed_errors)," \
		"no descriptor $(b rx_no_dma_resources)"
	equal "sent" "$(a tx_packets)" "$OVERLOAD" &&
		equal "received and lost" $(($(b rx_packets) + lost)) "$(a tx_packets)" &&
		equal "past the MAC" "$(b rx_pkts_nic)" $(($(b rx_packets) + $(b rx_no_dma_resources))) &&
		[ "$(b "$2")" -gt 0 ] && equal "lost" "$(b "$2")" "$lost"
}

# The same with flow control: pause frames hold the sender. On a busy host the
# emulator's timers may come so late that a pause runs out, so a few frames may be
# missed here; moderation.sh sees in virtual time that none is.
paused()
{
	tx ethtool -A "$PEER" rx on tx on && rx ethtool -A "$NETIF" rx on tx on &&
		wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX" || return 1
	begin && pktgen "$OVERLOAD" 0 300 && end || return 1
	echo "sent $(a tx_packets), received $(b rx_packets), missed $(b rx_missed_errors)," \
		"XOFF sent $(b tx_flow_control_xoff), received $(a rx_flow_control_xoff)"
	equal "sent" "$(a tx_packets)" "$OVERLOAD" &&
		equal "received and missed" $(($(b rx_packets) + $(b rx_missed_errors))) "$OVERLOAD" &&
		equal "XOFF frames" "$(a rx_flow_control_xoff)" "$(b tx_flow_control_xoff)" &&
		[ "$(b tx_flow_control_xoff)" -gt 0 ] && [ "$(b rx_missed_errors)" -le $((OVERLOAD / 20)) ]
}

normal()
{
	rx nft delete table ip slow && rx ethtool -G "$NETIF" rx 512 &&
		wait_for 60 tx ping -c 1 -W 1 "$OUTER_RX"
}

# Down and up keeps what the driver counted; the rings start anew.
kept()
{
	local before after
	before=$(nic_stat "$NS_RX" "$NETIF" rx_pkts_nic)
	ip -n "$NS_RX" link set "$NETIF" down && ip -n "$NS_RX" link set "$NETIF" up || return 1
	wait_for 60 has_link "$NS_RX" "$NETIF" || return 1
	after=$(nic_stat "$NS_RX" "$NETIF" rx_pkts_nic)
	echo "rx_pkts_nic $before, then $after; lsc_int $(nic_stat "$NS_RX" "$NETIF" lsc_int)"
	[ "$after" -ge "$before" ] && [ "$after" -lt $((before + 50)) ] &&
		[ "$(nic_stat "$NS_RX" "$NETIF" lsc_int)" -ge 1 ]
}

OVERLOAD=${OVERLOAD:-6000}
ktap_start 14
mark
load inbox
hosts_up 2
silence
neighbours
MAC_RX=$(rx cat "/sys/class/net/$NETIF/address")
check "after TCP streams both ways" after_streams
check "after 32 flows, over both queues" after_many_flows
check "2000 frames of 60 bytes" exact 2000 60
check "2000 frames of 1514 bytes" exact 2000 1514
check "frames shorter than Ethernet's minimum" runts
check "broadcast and multicast" casts
check "filtered frames" filtered
check "bad checksums: rx_csum_offload_errors" bad_checksums
check "overload of two queues: what is not received is counted" overload 2 rx_no_dma_resources
check "overload of one queue: what is not received is counted" overload 1 rx_missed_errors
check "overload with flow control: pause frames" paused
check "back to normal" normal
check "down and up" kept
check "nothing of level warning in the log" quiet_log
ktap_done

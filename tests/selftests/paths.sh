#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Every way a frame can take through the driver, flag on: a TCP stream arrives intact,
# its frames are verified, and they are aggregated at the device.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

MBYTES=${MBYTES:-8}

each() { tx "${@//DEV/$PEER}" && rx "${@//DEV/$NETIF}"; }
links_back() { wait_for 20 has_link $NS_RX "$NETIF" && wait_for 20 has_link $NS_TX "$PEER"; }

# --- tunnels --------------------------------------------------------------------------

over_vlan()
{
	ip -n $NS_TX link add link "$PEER" name zcg.100 type vlan id 100 &&
		ip -n $NS_RX link add link "$NETIF" name zcg.100 type vlan id 100 &&
		ip -n $NS_TX addr add 192.168.100.1/24 dev zcg.100 &&
		ip -n $NS_RX addr add 192.168.100.2/24 dev zcg.100 &&
		each ip link set zcg.100 up &&
		tunnel vxlan 192.168.100.1 192.168.100.2 dstport "$VX_PORT" noudpcsum
}

over_ipv6()
{
	ip -n $NS_TX addr add fd01::1/64 dev "$PEER" nodad
	ip -n $NS_RX addr add fd01::2/64 dev "$NETIF" nodad
	tunnel vxlan fd01::1 fd01::2 dstport "$VX_PORT" udp6zerocsumtx udp6zerocsumrx
}

geneve() { tunnel geneve $OUTER_TX $OUTER_RX dstport 6081 noudpcsum; }
vxlan() { tunnel vxlan $OUTER_TX $OUTER_RX dstport "$VX_PORT" noudpcsum; }

# tunnel KIND TX-ADDRESS RX-ADDRESS OPTIONS...
tunnel()
{
	local kind=$1 a=$2 b=$3
	shift 3
	if [ "$kind" = vxlan ]; then
		ip -n $NS_TX link add $VX_DEV type vxlan id 2 local "$a" remote "$b" "$@" &&
			ip -n $NS_RX link add $VX_DEV type vxlan id 2 local "$b" remote "$a" "$@"
	else
		ip -n $NS_TX link add $VX_DEV type "$kind" id 2 remote "$b" "$@" &&
			ip -n $NS_RX link add $VX_DEV type "$kind" id 2 remote "$a" "$@"
	fi || return 1
	ip -n $NS_TX addr add $INNER_TX/24 dev $VX_DEV
	ip -n $NS_RX addr add $INNER_RX/24 dev $VX_DEV
	ip -n $NS_TX addr add fd00::1/64 dev $VX_DEV nodad
	ip -n $NS_RX addr add fd00::2/64 dev $VX_DEV nodad
	# A tunnel without a lower device does not follow its MTU.
	each ip link set $VX_DEV mtu $(($(rx cat "/sys/class/net/$NETIF/mtu") - 100)) up
}

# --- one path ---------------------------------------------------------------------------

# path NAME RATIO TUNNEL [traffic options]: RATIO is the least number of frames for
# each packet at the tunnel device.
path()
{
	local name=$1 least=$2 kind=$3 f0 s0 v0
	shift 3
	rc=0 said=""
	if ! said=$($kind 2>&1); then
		note "$said"
		not_ok "$name: the stream arrives intact # the tunnel can't be made"
		not_ok "$name: verified"
		not_ok "$name: aggregated at the device"
		return
	fi
	wait_for 10 tx ping -c 1 -W 1 $INNER_RX || note "$name: no ping through the tunnel"
	f0=$(rx_stat rx_packets) s0=$(link_rx_packets $NS_RX $VX_DEV) v0=$(rx_stat rx_zcg_verified)
	said=$(traffic tcp --mbytes "$MBYTES" "$@" 2>&1) || rc=$?
	frames=$(($(rx_stat rx_packets) - f0))
	skbs=$(($(link_rx_packets $NS_RX $VX_DEV) - s0))
	verified=$(($(rx_stat rx_zcg_verified) - v0))
	note "$name: $said; $frames frames, $skbs packets at $VX_DEV, $verified verified"
	check "$name: the stream arrives intact" [ $rc -eq 0 ]
	check "$name: verified" [ $verified -ge $((frames * 95 / 100)) -a $verified -gt $((MBYTES * 100)) ]
	check "$name: aggregated at the device" [ $((skbs * least)) -lt "$frames" ]
	tunnel_down
}

# A program of two instructions, r0 = XDP_PASS; exit, pinned for ip link.
xdp_pass()
{
	local dir=$ZCG_TMP/bpf rc=0
	# Not in /sys/fs/bpf: ip -n has a /sys of its own.
	mkdir "$dir" && mount -t bpf bpf "$dir" || return 1
	python3 - "$dir/pass" <<-END
		import ctypes, os, struct, sys
		libc = ctypes.CDLL(None, use_errno=True)
		def bpf(cmd, attr):
		    buf = ctypes.create_string_buffer(attr, 128)
		    ret = libc.syscall(321, cmd, buf, 128)
		    if ret < 0:
		        raise OSError(ctypes.get_errno(), "bpf() command %d" % cmd)
		    return ret
		code = ctypes.create_string_buffer(struct.pack("<BBhiBBhi", 0xb7, 0, 0, 2, 0x95, 0, 0, 0))
		gpl = ctypes.create_string_buffer(b"GPL")
		prog = bpf(5, struct.pack("<IIQQ", 6, 2, ctypes.addressof(code), ctypes.addressof(gpl)))
		name = ctypes.create_string_buffer(sys.argv[1].encode())
		bpf(6, struct.pack("<QI", ctypes.addressof(name), prog))
	END
	ip -n $NS_RX link set "$NETIF" xdpdrv pinned "$dir/pass" || rc=1
	umount "$dir"
	ip -n $NS_RX link show "$NETIF" | grep prog/xdp || rc=1
	return $rc
}

ktap_start 37
mark_log
load fork
hosts_up 1
set_flag on

path "build_skb" 4 vxlan
path "inner IPv6" 4 vxlan --to fd00::2
path "outer IPv6" 4 over_ipv6
path "Geneve" 4 geneve
path "VLAN below the tunnel" 4 over_vlan
each ip link del zcg.100

rx ethtool -K "$NETIF" rxvlan off
links_back
path "VLAN below the tunnel, rxvlan off" 4 over_vlan
each ip link del zcg.100
rx ethtool -K "$NETIF" rxvlan on

rx ethtool --set-priv-flags "$NETIF" legacy-rx on
links_back
path "legacy-rx" 4 vxlan

# A frame of 9000 bytes takes several buffers; 64 KB take seven frames.
each ip link set DEV mtu 9000
links_back
path "legacy-rx, MTU 9000" 2 vxlan
check "legacy-rx, MTU 9000: frames were long" [ "$frames" -lt $((MBYTES * 150)) ]
rx ethtool --set-priv-flags "$NETIF" legacy-rx off
links_back
path "MTU 9000" 2 vxlan
check "MTU 9000: frames were long" [ "$frames" -lt $((MBYTES * 150)) ]
each ip link set DEV mtu 1500
links_back

check "XDP: a program that passes all is attached" xdp_pass
links_back
path "XDP_PASS" 4 vxlan
ip -n $NS_RX link set "$NETIF" xdp off

rx ethtool -L "$NETIF" combined 2
rx ethtool -N "$NETIF" rx-flow-hash udp4 sdfn
links_back
path "two queues, eight flows" 2 vxlan --flows 8
note "$(rx ethtool -S "$NETIF" | grep -E 'rx_queue_[01]_packets')"

check "kernel log clean" log_clean
ktap_done

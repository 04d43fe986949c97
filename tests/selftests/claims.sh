#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Frame by frame: what the driver counts, claims and delivers for each row of the
# policy's table, in each of several set-ups of the device. The frames and what is
# expected of them are in claims.py.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

load fork
hosts_up 1
tunnel_up noudpcsum
silence
ip -n $NS_RX addr add fd00::2/64 dev $VX_DEV nodad
ip -n $NS_RX addr add fd01::2/64 dev "$NETIF" nodad
# Both families at the outer port; a second VXLAN with RCO; Geneve; VXLAN-GPE.
ip -n $NS_RX link add vx6 type vxlan id 6 local fd01::2 remote fd01::1 dstport "$VX_PORT" \
	dev "$NETIF" udp6zerocsumrx udp6zerocsumtx
ip -n $NS_RX link add gnv0 type geneve id 2 remote $OUTER_TX dstport 6081
ip -n $NS_RX link add gpe0 type vxlan dstport 4790 external gpe
# The port drops tags of VLANs that nobody has.
ip -n $NS_RX link add link "$NETIF" name zcg.5 type vlan id 5
for dev in zcg.5 vx6 gnv0 gpe0; do ip -n $NS_RX link set $dev up; done

status=0
python3 "$ZCG_TOP/tests/selftests/claims.py" "$@" || status=$?
exit $status

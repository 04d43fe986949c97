#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest of the lab: tests/hw/run as on real ports, with the card of another host as the
# peer. The "host" is a namespace with an e1000e, an ssh server and a /run/netns of its
# own, which only ssh leads to.
#
# usage: guest.sh ssh|local [TEST...]
set -euo pipefail
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
how=${1:?ssh or local}
shift

modprobe ixgbe
modprobe e1000e 2> /dev/null || true
# By address: the first port of the card, and the e1000e.
port() { grep -l "$1" /sys/class/net/*/address | cut -d / -f 5; }
NETIF=$(port 52:54:00:7a:63:01)
PEER=$(port 52:54:00:7a:63:00)
if [ "$how" = ssh ]; then
	PEER=$(port 52:54:00:7a:63:77)
	ip netns add far
	ip link add mgmt0 type veth peer name mgmt1 netns far
	ip addr add 10.99.0.1/24 dev mgmt0
	ip link set mgmt0 up
	ip -n far addr add 10.99.0.2/24 dev mgmt1
	ip -n far link set mgmt1 up
	ip -n far link set lo up
	ip link set "$PEER" netns far
	mkdir -p /root/.ssh /run/sshd
	ssh-keygen -q -t ed25519 -N '' -f /root/.ssh/id_ed25519
	cp /root/.ssh/id_ed25519.pub /root/.ssh/authorized_keys
	ssh-keygen -A > /dev/null
	printf 'StrictHostKeyChecking no\nUserKnownHostsFile /dev/null\nLogLevel ERROR\n' > /root/.ssh/config
	ip netns exec far unshare --mount sh -c 'mount -t tmpfs far /run/netns && exec /usr/sbin/sshd -o UsePAM=no'
	export REMOTE_TYPE=ssh REMOTE_ARGS=root@10.99.0.2
	until ssh -o BatchMode=yes "$REMOTE_ARGS" true; do sleep 0.5; done
fi
export NETIF PEER
ip link set "$NETIF" up
ip addr add 192.0.2.7/24 dev "$NETIF"
status=0
"$top/tests/hw/run" "$@" || status=$?
echo "# the driver afterwards: $(cat /sys/module/ixgbe/version 2> /dev/null || echo in-box), $NETIF: $(ip -br addr show "$NETIF")"
ip -br addr show "$NETIF" | grep -q 192.0.2.7/24 || status=1
[ ! -e /run/zcg-reload/state.json ] || status=1
exit $status

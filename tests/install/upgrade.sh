#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A user's way, all of it inside the booted machine, a stage per boot: installs the
# package; upgrades the kernel; tells what that left.

stage=$(cat /zcg/stage 2>/dev/null || echo 1)
echo $((stage + 1)) >/zcg/stage
export HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin
case $stage in
1) dpkg -i /zcg/deb/*.deb ;;
2)
	/zcg/guest.sh | grep -v '^end'
	apt-get -y --no-download --no-install-recommends -o Dpkg::Use-Pty=0 install \
		linux-image-amd64 linux-headers-amd64 linux-source
	;;
*) /zcg/guest.sh | grep -v '^end' ;;
esac
echo "status $?"
echo end

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# Tunnel ports as kernels before 5.9 announce them, which cannot be booted here: 5.10
# still has that interface, so its ixgbe is taken back to it, the fork made from that
# is built as if the kernel had no udp_tunnel_nic, and learns ports in the guest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
driver=drivers/net/ethernet/intel/ixgbe

root=$(tests/lab/lab root debian11)
tar -xf "$root/usr/src/linux-source-5.10.tar.xz" -C "$tmp" --strip-components=1 --wildcards "*/$driver"
sed -i -f tests/hooks/ndo.sed "$tmp/$driver/ixgbe_main.c"
tests/lab/lab build debian11 ZCG_TEST_WITHOUT=UDP_TUNNEL_NIC "KSRC=$tmp/$driver" BUILD=build/older 2>&1 |
	sed 's/^/# /'
exec tests/lab/lab run --timeout 900 debian11 -- env ZCG_MODULE=/zcg/build/older/ixgbe.ko \
	tests/selftests/run --timeout 600 ports

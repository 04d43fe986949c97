#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# The man page documents what the driver exports, and nothing else: private flags,
# counters, devlink parameters and info keys. What the in-box driver exports as well
# need not be there.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

names() { python3 "$ZCG_TOP/tests/selftests/names.py" "$@"; }

# What the driver shows of NETIF, in namespaces, with two queues and with one.
exported()  # inbox|fork
{
	load "$1"
	NETIF_PCI=pci/$(basename "$(readlink "/sys/class/net/$NETIF/device")")
	export NETIF_PCI
	hosts_up 2
	names driver > "$ZCG_TMP/$1"
	rx ethtool -L "$NETIF" combined 1
	names driver > "$ZCG_TMP/$1.one-queue"
	hosts_down
}

ktap_start 3
mark_log
names page > "$ZCG_TMP/page" || die "ixgbe/ixgbe-zcg.7 can't be understood"
exported inbox
exported fork
check "documented and exported names are the same" names compare "$ZCG_TMP/page" "$ZCG_TMP/fork" "$ZCG_TMP/inbox"
check "and do not depend on the number of queues" cmp "$ZCG_TMP/fork" "$ZCG_TMP/fork.one-queue"
check "kernel log clean" log_clean
ktap_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The X520 model under DPDK, over snapshots, and twice the same.
exec "$(dirname "${BASH_SOURCE[0]}")/../x520/test/run" \
	--only dpdk --only snapshot --only repeat debian13

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# A port that is bound and unbound 200 times while devlink reads and sets, on all kernels;
# make check does 25.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/lab/tap.sh
. tests/lab/tap.sh

echo "TAP version 13"
for kernel in gated-5.10 debian11 debian12 debian13 backports; do
	began=$SECONDS
	tests/lab/lab build "$kernel" 2>&1 | sed 's/^/# /'
	tap_relay "$kernel: " tests/lab/lab run --timeout 1500 "$kernel" -- env BINDS=200 \
		tests/selftests/run --timeout 1200 devlink
	echo "# $kernel took $((SECONDS - began)) s"
done
tap_done

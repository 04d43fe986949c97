#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: snapshot.sh    (in a guest, which snapshot.py boots, saves and loads)
# Streams from port to port whose SHA-256 must agree at both ends, whatever
# happens to the machine meanwhile. Says "@stream N" before and "@same N" after.

set -euo pipefail
# shellcheck source=tests/x520/test/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
trap cleanup EXIT

load inbox
find_ports
hosts_up 1
mark
for n in 1 2 3 4 5 6; do
	echo "@stream $n"
	if [ $((n % 2)) = 0 ]; then
		stream "$OUTER_TX" 10000000 reverse 4
	else
		stream "$OUTER_RX" 10000000 forth 4
	fi
	echo "@same $n"
done
log_clean

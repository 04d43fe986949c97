#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# Frames of a flow are delivered in the order they came in, whatever becomes of the
# flags between two of them. The cases are in order.py; the same under traffic is in
# defer.sh.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"

load fork
hosts_up 1
tunnel_up noudpcsum
silence
status=0
if core_is_gated; then core=gated; else core=open; fi
python3 "$ZCG_TOP/tests/selftests/order.py" $core || status=$?
exit $status

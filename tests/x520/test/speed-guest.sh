#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# usage: speed-guest.sh SECONDS    (the guest's part of speed, with lab run --icount)

set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[[ ${1-} =~ ^[0-9]+$ ]] || { sed -n 's/^# usage/usage/p' "$0" >&2; exit 2; }
# shellcheck source=tests/selftests/lib.sh
. "$here/../../selftests/lib.sh"

listening() { rx ss -Hltn 'sport = :5201' | grep -q .; }

load inbox
hosts_up 1
tunnel_up noudpcsum
rx iperf3 -s -D > /dev/null
wait_for 5 listening || die "iperf3 does not listen"
echo "@begin"
tx iperf3 -c "$INNER_RX" -t "$1" -f m | tail -n 4
echo "@end"

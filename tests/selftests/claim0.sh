#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# A test of gro.sh: with a build that claims only csum_level 0 (the trap that the
# README describes) it must fail on a gated core, in the aggregation case and in no
# other. The build: make ZCG_TEST_CLAIM=0 BUILD=build/claim0
set -euo pipefail
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=tests/selftests/lib.sh
. "$here/lib.sh"

core_is_gated || skip_all "an open core aggregates whatever is claimed"
module=${ZCG_CLAIM0_MODULE:-$ZCG_TOP/build/claim0/ixgbe.ko}
[ -f "$module" ] || die "$module is not there; build it: make ZCG_TEST_CLAIM=0 BUILD=build/claim0"

fails_as_it_should()
{
	local rc=0 failed
	"$here/gro.sh" "$module" > "$ZCG_TMP/gro" 2>&1 || rc=$?
	sed 's/^/gro.sh: /' "$ZCG_TMP/gro"
	failed=$(sed -n 's/^not ok [0-9]* //p' "$ZCG_TMP/gro")
	[ $rc -eq 1 ] && same "flag on: aggregated at the device" "$failed"
}

says_so() { modinfo -F test_build "$module" | grep . && dmesg | grep -E 'ixgbe: test build' | tail -1; }

ktap_start 2
check "gro.sh sees that level 0 is not enough" fails_as_it_should
check "modinfo and the kernel log say that it is a test build" says_so
ktap_done

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
# The man page: its form, and its names against those in the driver's source. The same
# against a running driver is tests/selftests/names.sh.
# shellcheck disable=SC2317 # case_ calls the functions
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
page=ixgbe/ixgbe-zcg.7
number=0 failed=0

# A case passes if the command does and, for lint, says nothing.
case_()  # name, command...
{
	local name=$1 rc=0
	shift
	number=$((number + 1))
	"$@" > "$tmp/out" 2>&1 || rc=$?
	sed 's/^/# /' "$tmp/out"
	if [ $rc -eq 0 ]; then
		echo "ok $number $name"
	else
		failed=1
		echo "not ok $number $name"
	fi
}

names() { tests/selftests/names.py "$@"; }
compared() { names page > "$tmp/page" && names source > "$tmp/source" && names compare "$tmp/page" "$tmp/source"; }

# Every name of ours that a document or a script uses is in the page.
used_elsewhere()
{
	grep -ohE 'rx_zcg_[a-z_]+|zero-csum-gro(-[a-z]+)*|zero_csum_gro[a-z_]*' README.md scripts/zcg-top scripts/udev/* |
		grep -v '^rx_zcg_$' | sort -u > "$tmp/used"
	local used
	while read -r used; do
		grep -qE "(^|[^a-z_-])$used([^a-z_-]|\$)" "$page" || { echo "$used is not in $page"; return 1; }
	done < "$tmp/used"
	[ -s "$tmp/used" ]
}

renders() { mandoc -T utf8 "$page" > "$tmp/text" && [ "$(wc -l < "$tmp/text")" -gt 100 ]; }

echo "1..4"
case_ "mandoc finds nothing to warn of" mandoc -T lint -W warning "$page"
case_ "it renders" renders
case_ "documented names and those in the source are the same" compared
case_ "names used elsewhere are documented" used_elsewhere
exit $failed

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# The TAP of several programs, most of them in guests of the lab, as one stream. To be
# sourced; no program of its own. What was counted is in tap_total and tap_failed.

tap_total=0 tap_failed=0

# tap_result STATUS NAME: a case of our own, passed if STATUS is 0.
tap_result()
{
	tap_total=$((tap_total + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_total $2"
	else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_total $2"
	fi
}

# tap_relay LABEL COMMAND...: passes on what the command prints: cases with LABEL in front
# and numbers of our own, all else as a diagnostic, as it comes. A command that ran other
# cases than it planned, or whose exit status its cases don't explain (0 passed, 1 some
# failed, 4 all were skipped), is a failed case more. Sets tap_status, tap_ran, tap_planned.
tap_relay()
{
	local label=$1 line fd pid dir failed=0
	local case_line='^(not )?ok [0-9]+ *(.*)$'

	shift
	tap_ran=0 tap_planned=-1 tap_status=0
	# A pipe with a name, and not a process substitution: of one that ended early
	# bash does not always keep the exit status.
	dir=$(mktemp -d)
	mkfifo "$dir/output"
	"$@" >"$dir/output" 2>&1 &
	pid=$!
	exec {fd}<"$dir/output"
	rm -r "$dir"
	while IFS= read -r line <&"$fd" || [ -n "$line" ]; do
		line=${line%$'\r'}
		if [[ $line =~ $case_line ]]; then
			tap_ran=$((tap_ran + 1)) tap_total=$((tap_total + 1))
			[ -z "${BASH_REMATCH[1]}" ] || failed=$((failed + 1))
			echo "${BASH_REMATCH[1]}ok $tap_total $label${BASH_REMATCH[2]}"
		elif [[ $line =~ ^1\.\.([0-9]+) ]]; then
			tap_planned=${BASH_REMATCH[1]}
		elif [[ $line != "TAP version "* ]]; then
			echo "# ${line#\# }"
		fi
	done
	exec {fd}<&-
	wait "$pid" || tap_status=$?
	tap_failed=$((tap_failed + failed))
	if [ "$tap_planned" -ne "$tap_ran" ] || { [ "$tap_status" -eq 1 ] && [ $failed -eq 0 ]; } ||
		{ [ "$tap_status" -eq 0 ] && [ $failed -gt 0 ]; } || [[ " 0 1 4 " != *" $tap_status "* ]]; then
		tap_result 1 "${label}the program ran to its end (status $tap_status, planned $tap_planned, ran $tap_ran)"
	fi
}

# tap_done: the plan; fails if a case did.
tap_done()
{
	echo "1..$tap_total"
	[ "$tap_failed" -eq 0 ]
}

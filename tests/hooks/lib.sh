# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the tests of the build share: TAP on standard output. Sourced in the top of
# the checkout.

tmp=$(mktemp -d)
trap 'chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
# shellcheck disable=SC2034 # for those who source this
driver=drivers/net/ethernet/intel/ixgbe
n=0 failed=0

# result STATUS NAME [FILE]: a line of TAP; on failure with what the file holds
result()
{
	n=$((n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $n - $2"
	else
		failed=$((failed + 1))
		echo "not ok $n - $2"
		[ -z "${3:-}" ] || sed 's/^/#   /' "$3"
	fi
}

# stops NAME PATTERN... -- COMMAND...: it fails, and its output has all patterns
stops()
{
	local name=$1 log=$tmp/stops.log patterns=() pattern status=0
	shift
	while [ "$1" != -- ]; do patterns+=("$1"); shift; done
	shift
	if "$@" > "$log" 2>&1; then
		echo "(it did not fail)" >> "$log"
		status=1
	fi
	for pattern in "${patterns[@]}"; do
		grep -q -- "$pattern" "$log" ||
			{ echo "(no '$pattern' in this)" >> "$log"; status=1; }
	done
	result $status "$name" "$log"
}

# usage_error COMMAND...: exit status 2 and a usage
usage_error()
{
	local status=0
	"$@" > "$tmp/usage.log" 2>&1 || status=$?
	grep -q '^usage: ' "$tmp/usage.log" || status="$status and no usage"
	[ "$status" = 2 ] && status=0
	result "$status" "$* prints its usage" "$tmp/usage.log"
}

# A stand-in for the headers of a kernel of that version, for what comes before
# the compiler.
headers()
{
	local dir=$tmp/headers-$1 major minor patch
	IFS=. read -r major minor patch <<< "$1"
	mkdir -p "$dir/include/generated/uapi/linux" "$dir/include/config"
	touch "$dir/Makefile" "$dir/include/generated/autoconf.h" "$dir/include/config/auto.conf"
	printf '#define LINUX_VERSION_CODE %d\n' $((major * 65536 + minor * 256 + patch)) \
		> "$dir/include/generated/uapi/linux/version.h"
	echo "$dir"
}

# done_testing: the plan, and whether all passed
done_testing()
{
	echo "1..$n"
	[ $failed -eq 0 ]
}

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the build scripts share. Sourced, after `set -euo pipefail`.

zcg_me=scripts/$(basename "$0")
# shellcheck disable=SC2034 # for those who source this
{
	zcg_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
	zcg_cache=${ZCG_CACHE:-${HOME:-/root}/.cache/ixgbe-zcg}
	zcg_driver=drivers/net/ethernet/intel/ixgbe
	zcg_core=net/ipv4/udp_offload.c
}

# die MESSAGE...: each argument a line; the cause first, then the next step.
die()
{
	local line
	for line in "$@"; do
		printf '%s: %s\n' "$zcg_me" "$line" >&2
	done
	exit 1
}

# note MESSAGE: progress, with the seconds since the script began.
note()
{
	printf '[%3d s] %s\n' "$SECONDS" "$*" >&2
}

# The name of a package that exists under different names in the distributions:
# package headers|source|coccinelle RELEASE VERSION
package()
{
	local family=
	[ ! -r /etc/os-release ] ||
		family=" $(sed -nE 's/^ID(_LIKE)?="?([^"]*)"?$/\2/p' /etc/os-release | xargs) "
	case "$1:$family" in
	headers:*" fedora "* | headers:*" rhel "*) echo "kernel-devel-$2" ;;
	headers:*" suse "*) echo "kernel-default-devel" ;;
	headers:*) echo "linux-headers-$2" ;;
	source:*" fedora "* | source:*" rhel "*) echo "the source RPM of kernel-$2, unpacked, as KSRC=" ;;
	source:*" suse "*) echo "kernel-source" ;;
	source:*) echo "linux-source-$3" ;;
	*) echo "$1" ;;
	esac
}

# kernel_version KDIR: the version of the source that headers were made from, as
# X.Y.Z. Distributions fix Z in the release's name (6.1.0-57) and still update it.
kernel_version()
{
	awk '$2 ~ /^LINUX_VERSION_(MAJOR|PATCHLEVEL|SUBLEVEL)$/ { v[$2] = $3 }
	     $2 == "LINUX_VERSION_CODE" { code = $3 }
	     END {
		if ("LINUX_VERSION_MAJOR" in v)
			print v["LINUX_VERSION_MAJOR"] "." v["LINUX_VERSION_PATCHLEVEL"] "." v["LINUX_VERSION_SUBLEVEL"]
		else if (code)
			print int(code / 65536) "." int(code / 256) % 256 "." code % 256
	     }' "$1/include/generated/uapi/linux/version.h"
}

# tree_version MAKEFILE: the version that a kernel tree's Makefile gives.
tree_version()
{
	awk '$1 ~ /^(VERSION|PATCHLEVEL|SUBLEVEL)$/ && $2 == "=" && !($1 in v) { v[$1] = $3 }
	     END { print v["VERSION"] "." v["PATCHLEVEL"] "." v["SUBLEVEL"] }' "$1"
}

# is_version VERSION FOUND: is a source's version FOUND that of headers that say
# VERSION? LINUX_VERSION_CODE has 8 bits for the last number: headers of 5.10.262
# may say 255.
is_version()
{
	[ "$1" != "$2" ] || return 0
	[[ $2 =~ ^[0-9]+\.[0-9]+\.[0-9]+$ ]] || return 1
	[ "${1%.*}" = "${2%.*}" ] && [ "${1##*.}" = 255 ] && [ "${2##*.}" -gt 255 ]
}

# checksum FILE...: one short key for the contents of all of them.
checksum()
{
	cat -- "$@" | sha256sum | cut -c 1-12
}

# driver_files DIR: the files that a driver's source consists of, relative to DIR,
# those in subfolders among them; drivers from elsewhere bring make rules and shell
# scripts of their own. Not what a build left there.
driver_files()
{
	(cd "$1" && find . -type f \( -name Makefile -o -name '*.[ch]' -o -name '*.mk' -o -name '*.sh' \) \
		! -name '*.mod.c' -printf '%P\n' | LC_ALL=C sort)
}

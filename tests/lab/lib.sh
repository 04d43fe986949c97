# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What every part of the lab needs: messages with elapsed time, products in
# the cache that appear whole or not at all, and commands inside a root.
# Sourced by tests/lab/lab; needs LAB (tests/lab) and TREE (the checkout).

CACHE=$(realpath -m -- "${ZCG_CACHE:-${HOME:-/root}/.cache/ixgbe-zcg}")
VERBOSE=${ZCG_VERBOSE:-}

# Everything is told on stderr, so that stdout stays the guest's.
say() { printf 'lab: [%4d s] %s\n' "$SECONDS" "$*" >&2; }
warn() { printf 'lab: warning: %s\n' "$*" >&2; }
die() {
	local status=125

	case ${1-} in
	--status=*) status=${1#--status=}; shift ;;
	esac
	printf 'lab: %s\n' "$*" >&2
	exit "$status"
}

case $CACHE in
*[,:]*) die "the cache's path, $CACHE, must hold no comma and no colon (ZCG_CACHE sets it)" ;;
esac

# A short name for the contents of files and strings: key file... -- string...
key() {
	local f

	{
		while [ $# -gt 0 ] && [ "$1" != -- ]; do
			f=$1; shift
			printf '%s\n' "${f##*/}"
			cat "$f"
		done
		printf '%s\n' "$@"
	} | sha256sum | cut -c1-12
}

# Temporary things of this process, removed however it ends but by SIGKILL;
# half-made products that a SIGKILL leaves are removed by the next maker.
TMPS=()
CHILD=
WATCHDOG=
LOCK=
PIDS=() # of processes that only pass on what a guest says
# Should this process be killed outright, its child must not go on.
start_watchdog() {
	set -m
	(
		[ -z "$LOCK" ] || exec {LOCK}>&-
		tail --pid=$$ -s 1 -f /dev/null || :
		kill -KILL -- "-$CHILD"
	) </dev/null >/dev/null 2>&1 &
	WATCHDOG=$!
	set +m
}
stop_watchdog() {
	if [ -n "$WATCHDOG" ]; then
		kill -KILL -- "-$WATCHDOG" 2>/dev/null || :
		wait "$WATCHDOG" 2>/dev/null || :
		WATCHDOG=
	fi
}
cleanup() {
	local t

	trap - EXIT
	trap '' INT TERM HUP
	if [ -n "$CHILD" ]; then
		kill -TERM -- "-$CHILD" 2>/dev/null || :
		wait "$CHILD" 2>/dev/null || :
	fi
	stop_watchdog
	for t in ${PIDS[@]+"${PIDS[@]}"}; do
		kill "$t" 2>/dev/null || :
	done
	for t in ${TMPS[@]+"${TMPS[@]}"}; do
		rm -rf --one-file-system -- "$t"
	done
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# A temporary directory, in REPLY; those of processes that were killed go.
make_tmp() { # make_tmp kind
	local base=${TMPDIR:-/tmp}/zcg-$1 dir pid

	for dir in "$base".*.*; do
		pid=${dir#"$base".}
		pid=${pid%%.*}
		if [[ $pid =~ ^[0-9]+$ ]] && [ -O "$dir" ] && ! [ -d "/proc/$pid" ]; then
			rm -rf --one-file-system -- "$dir"
		fi
	done
	REPLY=$(mktemp -d "$base.$$.XXXXXX")
	TMPS+=("$REPLY")
}

# Run a command quietly, as a process group of its own; tell how long it
# takes, and the end of its output when it fails. The log of the last run of
# each step stays in the cache.
step() { # step "what" command...
	local what=$1 log begin=$SECONDS next=20 status=0
	shift
	mkdir -p "$CACHE/logs"
	log=$CACHE/logs/$(printf '%s' "$what" | tr -cs 'A-Za-z0-9._-' '-').log
	say "$what ..."
	set -m
	if [ -n "$VERBOSE" ]; then
		"$@" </dev/null >&2 &
	else
		"$@" </dev/null >"$log" 2>&1 &
	fi
	CHILD=$!
	set +m
	start_watchdog
	while kill -0 "$CHILD" 2>/dev/null; do
		if [ $((SECONDS - begin)) -ge "$next" ]; then
			say "$what: $((SECONDS - begin)) s so far"
			next=$((next + 20))
		fi
		sleep 0.2
	done
	wait "$CHILD" || status=$?
	CHILD=
	stop_watchdog
	if [ "$status" -ne 0 ]; then
		[ -n "$VERBOSE" ] || tail -n 30 "$log" | sed 's/^/lab: | /' >&2
		die "$what: failed with status $status after $((SECONDS - begin)) s; the whole output is in $log"
	fi
	say "$what: done in $((SECONDS - begin)) s"
}

# One maker per product at a time. The lock is held by this process and by
# what it started, so that a maker that outlives a killed lab is waited for.
lock() { # lock name
	mkdir -p "$CACHE/locks"
	exec {LOCK}>"$CACHE/locks/$1"
	if ! flock -n "$LOCK"; then
		say "waiting for another run that makes $1"
		flock "$LOCK"
	fi
}
unlock() { exec {LOCK}>&-; LOCK=; }

# A product is a directory that is made under another name and renamed when
# it is complete. Call with the product's lock held.
make_product() { # make_product dir function [args...]: function gets the temporary directory
	local dir=$1 tmp

	shift
	mkdir -p "${dir%/*}"
	rm -rf --one-file-system -- "$dir".part.*
	tmp=$dir.part.$$
	TMPS+=("$tmp")
	mkdir "$tmp"
	"$1" "$tmp" "${@:2}"
	mv -T "$tmp" "$dir"
}

# What was used last is pruned last; another clone may be using what this one
# would not. (A cache of somebody else's may be read-only.)
used() { touch -c "$1" 2>/dev/null || :; } # used dir

# Keep the few products of a kind that were used last.
prune() { # prune prefix count
	local dir

	# shellcheck disable=SC2012 # names of our own making
	ls -dt "$1"*/ | tail -n "+$(($2 + 1))" | while read -r dir; do
		rm -rf --one-file-system -- "$dir"
	done
}

need_root() {
	[ "$(id -u)" -eq 0 ] || die "$1 needs root (it makes file systems and mounts): run it with sudo"
}

need_tools() {
	local t missing=

	for t; do
		command -v "$t" >/dev/null || missing+=" $t"
	done
	[ -z "$missing" ] || die "not found on this machine:$missing (scripts/deps installs what the lab needs)"
}

# Run a command inside a root with the root itself read-only. The mounts live
# in a mount namespace and the processes in a pid namespace of their own: both
# vanish with the command, however it ends.
#   in_root ROOT [-b SRC:DST]... [-e VAR=VALUE]... [-C DIR] -- command...
in_root() {
	local root=$1 binds=() envs=() dir=/

	shift
	while [ "$1" != -- ]; do
		case $1 in
		-b) binds+=("$2") ;;
		-e) envs+=("$2") ;;
		-C) dir=$2 ;;
		esac
		shift 2
	done
	shift
	# shellcheck disable=SC2016 # expanded by the inner shell
	unshare --mount --propagation private --pid --fork --kill-child bash -euc '
		root=$1 dir=$2 n=$3; shift 3
		mount --bind "$root" "$root"
		while [ "$n" -gt 0 ]; do
			mount --bind "${1%%:*}" "$root${1#*:}"
			shift; n=$((n - 1))
		done
		mount -o remount,ro,bind "$root"
		mount -t proc proc "$root/proc"
		mount --rbind /dev "$root/dev"
		mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
		cd "$root"
		exec chroot "$root" /bin/sh -c '\''cd "$1" && shift && exec "$@"'\'' sh "$dir" "$@"
	' bash "$root" "$dir" "${#binds[@]}" ${binds[@]+"${binds[@]}"} \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp LC_ALL=C.UTF-8 \
		TERM="${TERM:-dumb}" ${envs[@]+"${envs[@]}"} "$@"
}

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2016 # inner shells expand
#
# What is done to a machine and how it is booted. A state is a directory: what
# differs from the machine (upper) and what its boots said. Sourced after machine.sh.

# A state as a root file system at $STATE/mnt, in a mount namespace that ends with
# the command; the rest as in_root of the lab does.
#   in_machine STATE [-b SRC:DST]... -- command...
in_machine() {
	local state=$1 binds=()

	shift
	while [ "$1" != -- ]; do
		binds+=("$2")
		shift 2
	done
	shift
	mkdir -p "$state/upper" "$state/work" "$state/mnt"
	unshare --mount --propagation private --pid --fork --kill-child bash -euc '
		lower=$1 state=$2 n=$3; shift 3
		root=$state/mnt
		mount -t overlay overlay -o "lowerdir=$lower,upperdir=$state/upper,workdir=$state/work" "$root"
		mount -t proc proc "$root/proc"
		mount -t sysfs sys "$root/sys"
		mount --rbind /dev "$root/dev"
		mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
		while [ "$n" -gt 0 ]; do
			mkdir -p "$root${1#*:}"
			mount --bind "${1%%:*}" "$root${1#*:}"
			shift; n=$((n - 1))
		done
		cd "$root"
		exec chroot "$root" "$@"
	' bash "$MACHINE" "$state" "${#binds[@]}" ${binds[@]+"${binds[@]}"} \
		env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
		TERM=dumb DEBIAN_FRONTEND=noninteractive "$@"
}

# What a boot needs no more than a build does.
DISK_OMIT="usr/src usr/lib/gcc usr/lib/ocaml usr/share/doc usr/share/man usr/share/locale
	usr/include usr/lib/x86_64-linux-gnu/ocaml var/cache/apt var/lib/apt/lists"

# What boots a state: kernel, initramfs and file system, in STATE/boot. Without
# DISK_OMIT and other kernels' modules, unless "whole".
disk() { # disk STATE RELEASE [whole]
	local state=${1:?} krel=$2 omit=$DISK_OMIT

	[ "${3:-}" != whole ] || omit=

	rm -rf "${state:?}/boot"
	mkdir -p "$state/boot" "$state/mnt" "$state/prune/upper" "$state/prune/work"
	unshare --mount --propagation private bash -euc '
		lower=$1 state=$2 krel=$3 omit=$4
		mount -t overlay overlay -o "lowerdir=$state/upper:$lower,upperdir=$state/prune/upper,workdir=$state/prune/work" "$state/mnt"
		cd "$state/mnt"
		cp "boot/initrd.img-$krel" "$state/boot/initrd"
		cp "boot/vmlinuz-$krel" "$state/boot/vmlinuz"
		if [ -n "$omit" ]; then
			rm -rf $omit
			for dir in lib/modules/*; do
				[ "$dir" = "lib/modules/$krel" ] || rm -rf "$dir"
			done
		fi
		size=$(du -sm . | cut -f1)
		truncate -s $((size + size / 8 + 768))M "$state/boot/root.img"
		mke2fs -q -F -t ext4 -O ^has_journal -m 0 -L zcg -E lazy_itable_init=0,nodiscard \
			-d . "$state/boot/root.img"
	' bash "$MACHINE" "$state" "$krel" "$omit"
	rm -rf "$state/prune"
	image_vmlinux "$state/boot/vmlinuz" "$state/boot/vmlinux"
}

# The kernel and the initramfs that a boot has left on its disk for the next one.
disk_kernel() { # disk_kernel STATE RELEASE
	local file

	for file in vmlinuz initrd.img; do
		debugfs -R "dump /boot/$file-$2 $1/boot/${file%.img}" "$1/boot/root.img" 2>/dev/null
	done
	image_vmlinux "$1/boot/vmlinuz" "$1/boot/vmlinux"
}

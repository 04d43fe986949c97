# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What a kernel is booted with: its image, a small initramfs, and an ext4
# image of its root with its modules.

# Modules that a guest needs before its root file system is there.
INITRAMFS_MODULES="nfit nd_pmem ext4"
# What no guest needs of a root that is also a place to build in.
IMAGE_OMIT="usr/src usr/include usr/lib/gcc usr/lib/ocaml usr/share/doc
	usr/share/info usr/share/locale usr/share/sphinx_rtd_theme
	usr/lib/x86_64-linux-gnu/ocaml usr/share/qemu usr/share/seabios
	var/cache/apt var/lib/apt/lists boot zcg"

image_key() { # image_key kernel
	local name=$1

	key "$LAB/init" -- "$(declare -f image_make image_initramfs image_rootfs)" \
		"$INITRAMFS_MODULES" "$IMAGE_OMIT" "$name" "$KREL" "$(product_name "$ROOT_DIR")" \
		"$(product_name "$KERNEL_DIR")"
}

# The ELF image inside a bzImage. QEMU enters it directly (PVH), which saves
# the guest the decompression: seconds, when instructions are emulated.
image_vmlinux() { # image_vmlinux bzImage output
	local magic at tool

	while read -r magic tool; do
		while read -r at; do
			# What follows the kernel in the file is no error.
			tail -c "+$((at + 1))" "$1" | $tool >"$2" 2>/dev/null || :
			[ "$(head -c 4 "$2" | tr -d '\177')" != ELF ] || return 0
		done < <(LC_ALL=C grep -abo -P "$magic" "$1" | LC_ALL=C cut -d: -f1)
	done <<-'FORMATS'
		\xfd7zXZ\x00 xz -dc --single-stream
		\x28\xb5\x2f\xfd zstd -dc
		\x1f\x8b\x08 gzip -dc
	FORMATS
	die "no kernel found inside $1"
}

image_initramfs() { # image_initramfs tmp: as initramfs.cpio
	local dir=$1/initramfs mod path list=

	mkdir -p "$dir"/{bin,dev,proc,sys,root,lib}
	cp -L "$ROOT_DIR/bin/busybox" "$dir/bin/busybox"
	install -m 755 "$LAB/init" "$dir/init"
	for mod in $INITRAMFS_MODULES; do
		while read -r _ path _; do
			case " $list " in
			*" ${path##*/} "*) continue ;;
			esac
			list="$list ${path##*/}"
			case $path in
			*.xz) xz -dc "$path" >"$dir/lib/$(basename "$path" .xz)" ;;
			*.zst) zstd -qdc "$path" >"$dir/lib/$(basename "$path" .zst)" ;;
			*) cp "$path" "$dir/lib/" ;;
			esac
			path=${path##*/}
			echo "${path%.ko*}" >>"$dir/lib/order"
		done < <(modprobe -d "$KERNEL_MODULES" -S "$KREL" --show-depends "$mod" 2>/dev/null | grep '^insmod')
	done
	touch "$dir/lib/order"
	mknod "$dir/dev/console" c 5 1
	(cd "$dir" && find . | LC_ALL=C sort | "$ROOT_DIR/bin/busybox" cpio -o -H newc) >"$1/initramfs.cpio"
	rm -rf "$dir"
}

image_rootfs() { # image_rootfs tmp: as root.img
	local dir=$1/root d size

	# Links to the files of the root, where the cache's file system allows.
	cp -al "$ROOT_DIR" "$dir" 2>/dev/null || { rm -rf "$dir"; cp -a "$ROOT_DIR" "$dir"; }
	for d in $IMAGE_OMIT; do
		rm -rf "${dir:?}/$d"
	done
	if [ "$KERNEL_MODULES" != "$ROOT_DIR" ]; then
		rm -rf "$dir/lib/modules"
		mkdir -p "$dir/lib/modules"
		cp -a "$KERNEL_MODULES/lib/modules/$KREL" "$dir/lib/modules/"
	fi
	mkdir -p "$dir"/{zcg,zcg-out,boot,proc,sys,dev,run,tmp}
	# Room for what a test writes, and a multiple of what NVDIMMs are made of.
	size=$(du -sm "$dir" | cut -f1)
	size=$(((size + size / 8 + 512 + 127) / 128 * 128))
	truncate -s "${size}M" "$1/root.img"
	mke2fs -q -F -t ext4 -O ^has_journal -m 0 -b 4096 -L zcg -E lazy_itable_init=0,nodiscard \
		-d "$dir" "$1/root.img"
	rm -rf --one-file-system "$dir"
}

image_make() { # image_make tmp kernel
	image_initramfs "$1"
	image_rootfs "$1"
	image_vmlinux "$KERNEL_IMAGE" "$1/vmlinux"
	echo "$KREL" >"$1/krel"
}

image_make_step() { step "image of $2" image_make "$@"; }

# Make sure that a kernel's image is there; its directory in REPLY, KREL set.
need_image() {
	local dir

	need_kernel "$1"
	dir=$CACHE/images/$1-$(image_key "$1")
	if [ ! -e "$dir/krel" ]; then
		need_root "making an image"
		need_tools mke2fs modprobe xz zstd
		lock "image-$1"
		if [ ! -e "$dir/krel" ]; then
			make_product "$dir" image_make_step "$1"
			prune "$CACHE/images/$1-" 4
		fi
		unlock
	fi
	used "$dir"
	REPLY=$dir
}

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2086,SC2153 # inner shells expand; lists of words; TREE is lab's
#
# QEMU with the X520 model: Debian 13's source package, the files that
# tests/x520 adds, built inside the debian13 root. The result brings its
# libraries and firmware along and runs on any x86_64 Linux; nothing is
# installed on the host.

# The version that the model is written for and the lab is pinned to.
QEMU_PIN=10.0

QEMU_CONFIGURE="--target-list=x86_64-softmmu --without-default-features
	--without-default-devices --with-devices-x86_64=zcg --enable-tcg --enable-kvm --enable-plugins
	--disable-install-blobs --disable-debug-info --disable-werror --enable-trace-backends=log"

# The devices that guests of the lab see, apart from the X520.
QEMU_DEVICES="Q35 I440FX PCIE_PORT SERIAL_ISA ISA_DEBUG NVDIMM
	VIRTIO_PCI VIRTIO_BLK VIRTIO_SERIAL VIRTIO_NET VIRTIO_RNG
	E1000_PCI E1000E_PCI_EXPRESS IGB_PCI_EXPRESS"

# The model's files as they are now, copied at once: they may be edited while
# QEMU is being built.
x520_snapshot() { # x520_snapshot dir
	mkdir -p "$1"
	[ ! -x "$TREE/tests/x520/add-to-qemu" ] ||
		find "$TREE/tests/x520" -maxdepth 1 -type f \
			! -name '*.md' ! -name 'test*' ! -name '.*' -exec cp -p -t "$1" {} +
}

qemu_source_version() { # of the source package in a root
	local dsc

	for dsc in "$1"/usr/src/qemu/qemu_*.dsc; do
		[ -e "$dsc" ] || die "the debian13 root holds no QEMU source package; 'tests/lab/lab clean roots' and make it again"
		dsc=${dsc##*/qemu_}
		echo "${dsc%.dsc}"
		return
	done
}

# Unpack, in the root, what apt downloaded there and verified.
qemu_unpack() { # qemu_unpack tmp root
	in_root "$2" -b "$1:/zcg/work" -- sh -ec \
		'dpkg-source --no-check -x /usr/src/qemu/qemu_*.dsc /tmp/src >&2; mv /tmp/src /zcg/work/src'
}

qemu_unpack_step() { step "unpacking QEMU's source" qemu_unpack "$@"; }

# Bring the object tree's sources up to date: a fresh copy with the model
# added, from which only what differs is copied, so that only that is rebuilt.
qemu_sync() { # qemu_sync root pristine x520 tree
	mkdir -p "$4/src" "$4/build"
	{
		echo "# Made by tests/lab/qemu.sh"
		printf 'CONFIG_%s=y\n' $QEMU_DEVICES
		sed -n 's/^config \([A-Z0-9_]*\)$/CONFIG_\1=y/p' "$3"/Kconfig* 2>/dev/null || :
	} >"$4/zcg.mak"
	cp "$LAB/qemu.cocci" "$4/qemu.cocci"
	in_root "$1" -b "$2:/zcg/cache" -b "$3:/zcg/tree" -b "$4:/zcg/work" -- sh -ec '
		cp -a /zcg/cache/src /tmp/src
		spatch --very-quiet --in-place --sp-file /zcg/work/qemu.cocci /tmp/src/accel/tcg/icount-common.c
		if cmp -s /zcg/cache/src/accel/tcg/icount-common.c /tmp/src/accel/tcg/icount-common.c; then
			echo "qemu.cocci does not match this QEMU" >&2
			exit 1
		fi
		if [ -x /zcg/tree/add-to-qemu ]; then
			/zcg/tree/add-to-qemu /tmp/src
		fi
		cp /zcg/work/zcg.mak /tmp/src/configs/devices/x86_64-softmmu/zcg.mak
		rsync -rlpc --delete --exclude __pycache__ /tmp/src/ /zcg/work/src/'
}

qemu_compile() { # qemu_compile root tree
	# shellcheck disable=SC2086 # one word each
	in_root "$1" -b "$2:/zcg/work" -C /zcg/work/build -- sh -ec '
		[ -e build.ninja ] || ../src/configure "$@"
		ninja -j"$(nproc)" qemu-system-x86_64' sh $QEMU_CONFIGURE
}

# What a run needs, in one directory.
qemu_bundle() { # qemu_bundle tmp root tree
	mkdir "$1/bin" "$1/lib" "$1/share"
	in_root "$2" -b "$3:/zcg/work" -b "$1:/zcg/tree" -C /zcg/tree -- sh -ec '
		cp /zcg/work/build/qemu-system-x86_64 bin/
		ldd bin/qemu-system-x86_64 | sed -n "s/.*=> \(\/[^ ]*\) .*/\1/p" |
			xargs cp -L -t lib
		cp -L /lib64/ld-linux-x86-64.so.2 lib/
		for f in bios-256k.bin bios.bin kvmvapic.bin linuxboot_dma.bin \
			linuxboot.bin multiboot_dma.bin multiboot.bin pvh.bin; do
			for d in /usr/share/seabios /usr/share/qemu /zcg/work/build/qemu-bundle/usr/local/share/qemu; do
				if [ -e "$d/$f" ]; then cp -L "$d/$f" share/; break; fi
			done
		done
		[ -e share/bios-256k.bin ] && [ -e share/linuxboot_dma.bin ]'
	cat >"$1/qemu-system-x86_64" <<'WRAPPER'
#!/bin/sh
# QEMU with the libraries and the firmware that it was built with.
dir=$(dirname "$(readlink -f "$0")")
exec "$dir/lib/ld-linux-x86-64.so.2" --library-path "$dir/lib" \
	"$dir/bin/qemu-system-x86_64" -L "$dir/share" "$@"
WRAPPER
	chmod +x "$1/qemu-system-x86_64"
	"$1/qemu-system-x86_64" --version
}

qemu_bundle_step() { step "collecting QEMU" qemu_bundle "$@"; }

# Make sure that QEMU with the current model is there; the program's path in REPLY.
need_qemu() {
	local snap root version pristine tree bin model

	need_debian_root debian13
	root=$REPLY
	version=$(qemu_source_version "$root")
	case ${version#*:} in
	"$QEMU_PIN"*) ;;
	*) die "the model is written for QEMU $QEMU_PIN and Debian 13's source package is $version: adapt tests/x520 and QEMU_PIN in tests/lab/qemu.sh" ;;
	esac

	make_tmp x520
	snap=$REPLY
	x520_snapshot "$snap"
	model=$(cd "$snap" && find . -type f | LC_ALL=C sort | xargs -r sha256sum)
	# shellcheck disable=SC2086 # one word each
	bin=$CACHE/qemu/bin-$(key -- "$version" "$(product_name "$root")" $QEMU_CONFIGURE $QEMU_DEVICES "$model" "$(declare -f qemu_bundle)" "$(cat "$LAB/qemu.cocci")")
	REPLY=$bin/qemu-system-x86_64
	if [ -e "$REPLY" ]; then
		used "$bin"
		return 0
	fi

	need_root "building QEMU"
	need_tools unshare
	lock qemu
	if [ ! -e "$REPLY" ]; then
		pristine=$CACHE/pristine/qemu-$version
		[ -d "$pristine" ] || make_product "$pristine" qemu_unpack_step "$root"
		# One object tree per source version, root and configuration.
		# shellcheck disable=SC2086 # one word each
		tree=$CACHE/qemu/tree-$(key -- "$version" "$(product_name "$root")" $QEMU_CONFIGURE)
		[ -d "$tree" ] || rm -rf --one-file-system "$CACHE"/qemu/tree-*
		mkdir -p "$tree"
		step "adding the X520 model to QEMU" qemu_sync "$root" "$pristine" "$snap" "$tree"
		step "building QEMU $version" qemu_compile "$root" "$tree"
		make_product "$bin" qemu_bundle_step "$root" "$tree"
		# A model under development leaves many builds behind.
		prune "$CACHE/qemu/bin-" 12
	fi
	unlock
	REPLY=$bin/qemu-system-x86_64
}

# A TCG plugin, built for that QEMU in the same root; its path in REPLY.
need_plugin() { # need_plugin source.c
	local source=$1 root version dir name=${1##*/}

	need_qemu
	need_debian_root debian13
	root=$REPLY
	version=$(qemu_source_version "$root")
	dir=$CACHE/qemu/plugin-$(key "$source" -- "$version" "$(product_name "$root")")
	REPLY=$dir/${name%.c}.so
	if [ -e "$REPLY" ]; then
		used "$dir"
		return 0
	fi
	need_root "building a plugin"
	need_tools unshare
	lock qemu
	[ -e "$REPLY" ] || make_product "$dir" plugin_step "$root" "$source" "$CACHE/pristine/qemu-$version"
	prune "$CACHE/qemu/plugin-" 3
	unlock
	REPLY=$dir/${name%.c}.so
}

plugin_compile() { # plugin_compile tmp root source pristine
	cp "$3" "$1/plugin.c"
	in_root "$2" -b "$1:/zcg/work" -b "$4:/zcg/cache" -C /zcg/work -- sh -ec '
		cc -O2 -Wall -shared -fPIC -I/zcg/cache/src/include/qemu $(pkg-config --cflags glib-2.0) \
			-o "$1" plugin.c' sh "$(basename "$3" .c).so"
}

plugin_step() { step "building the plugin ${3##*/}" plugin_compile "$@"; }

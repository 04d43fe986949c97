# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2034 # what need_kernel sets is read in image.sh and run.sh
#
# The kernels that guests boot, and the driver built for one of them.

KERNELS="gated-5.10 debian11 debian12 debian13 backports"
# For those who name them only: the gated kernel with its gate open.
MORE_KERNELS="open-5.10"

kernel_check() {
	local k

	for k in $KERNELS $MORE_KERNELS; do
		[ "$k" != "$1" ] || return 0
	done
	die --status=2 "no kernel called '$1'; there are: $KERNELS"
}

kernel_root() { # the root that a kernel is built in and runs on
	case $1 in
	gated-5.10 | open-5.10) echo debian11 ;;
	*) echo "$1" ;;
	esac
}

# The gated kernel: its source package, our semantic patch and configuration.
gated_make() { # gated_make tmp root
	mkdir "$1/kernel"
	step "building kernel gated-5.10" in_root "$2" -b "$1:/zcg/work" -b "$LAB:/zcg/tree" \
		-C /zcg/work -- bash /zcg/tree/gated-5.10.build
}

# The same, but for its name and the gate.
open_make() { # open_make tmp root
	mkdir "$1/kernel" "$1/lab"
	cp "$LAB/gated-5.10.build" "$1/lab/"
	cp "$LAB/open-5.10.cocci" "$1/lab/gated-5.10.cocci"
	sed 's/^CONFIG_LOCALVERSION="-zcg-gated"$/CONFIG_LOCALVERSION="-zcg-open"/' \
		"$LAB/gated-5.10.config" >"$1/lab/gated-5.10.config"
	step "building kernel open-5.10" in_root "$2" -b "$1:/zcg/work" -b "$1/lab:/zcg/tree" \
		-C /zcg/work -- bash /zcg/tree/gated-5.10.build
	rm -r "${1:?}/lab"
}

# Make sure that a kernel is there. Sets KERNEL_DIR (where its product is; for
# a distribution's kernel its root), KERNEL_IMAGE, KERNEL_MODULES (the
# directory holding lib/modules), KREL and ROOT_DIR.
need_kernel() {
	local image make=gated_make made_of=("$LAB"/gated-5.10.*)

	kernel_check "$1"
	need_debian_root "$(kernel_root "$1")"
	ROOT_DIR=$REPLY
	case $1 in
	gated-5.10 | open-5.10)
		if [ "$1" = open-5.10 ]; then
			make=open_make
			made_of+=("$LAB/open-5.10.cocci")
		fi
		KERNEL_DIR=$CACHE/kernels/$1-$(key "${made_of[@]}" -- "$(product_name "$ROOT_DIR")")
		if [ ! -e "$KERNEL_DIR/krel" ]; then
			need_root "building a kernel"
			lock "kernel-$1"
			if [ ! -e "$KERNEL_DIR/krel" ]; then
				make_product "$KERNEL_DIR" "$make" "$ROOT_DIR"
				prune "$CACHE/kernels/$1-" 2
			fi
			unlock
		fi
		used "$KERNEL_DIR"
		KREL=$(cat "$KERNEL_DIR/krel")
		KERNEL_IMAGE=$KERNEL_DIR/vmlinuz
		KERNEL_MODULES=$KERNEL_DIR/modules
		;;
	*)
		KERNEL_DIR=$ROOT_DIR
		for image in "$ROOT_DIR"/boot/vmlinuz-*; do
			KREL=${image##*/vmlinuz-}
		done
		[ "$KREL" != '*' ] || die "root $1 holds no kernel in boot/; 'tests/lab/lab clean roots' and make it again"
		KERNEL_IMAGE=$ROOT_DIR/boot/vmlinuz-$KREL
		KERNEL_MODULES=$ROOT_DIR
		;;
	esac
	REPLY=$KERNEL_DIR
}

# Build the driver in the kernel's own root. The checkout appears at
# /zcg/tree, the cache at /zcg/cache; a gated kernel's tree at /zcg/kernel;
# KSRC=, a folder or a file of this machine, below /zcg/ksrc.
build_driver() { # build_driver kernel [make arguments...]
	local name=$1 args=() binds=() begin=$SECONDS arg ksrc

	shift
	need_root "building in a root"
	[ -e "$TREE/Makefile" ] || die "there is no Makefile in $TREE"
	need_kernel "$name"
	args=("KREL=$KREL")
	case $name in
	gated-5.10 | open-5.10)
		binds=(-b "$KERNEL_DIR/kernel:/zcg/kernel")
		args+=(KDIR=/zcg/kernel KSRC=/zcg/kernel)
		;;
	esac
	for arg; do
		case $arg in
		KSRC=*)
			ksrc=$(realpath -e -- "${arg#KSRC=}") || die --status=2 "$arg: there is no such file or folder"
			if [ -d "$ksrc" ]; then
				binds+=(-b "$ksrc:/zcg/ksrc")
				args+=(KSRC=/zcg/ksrc)
			else
				binds+=(-b "${ksrc%/*}:/zcg/ksrc")
				args+=("KSRC=/zcg/ksrc/${ksrc##*/}")
			fi
			;;
		*) args+=("$arg") ;;
		esac
	done
	# Two builds in one tree wait for each other in scripts/build; another
	# clone's are none of our business.
	say "building the driver for $name ($KREL)"
	in_root "$ROOT_DIR" -b "$TREE:/zcg/tree" -b "$CACHE:/zcg/cache" \
		${binds[@]+"${binds[@]}"} -e ZCG_CACHE=/zcg/cache -e "ZCG_KERNEL=$name" \
		-C /zcg/tree -- make "${args[@]}" >&2 ||
		die --status=$? "building the driver for $name failed"
	say "built the driver for $name in $((SECONDS - begin)) s"
}

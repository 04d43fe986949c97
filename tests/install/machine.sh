# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2016,SC2086 # inner shells expand; lists of words
#
# The machines that the driver is installed on: one Debian per suite with dkms and
# initramfs-tools; bookworm's also with systemd, and with an older kernel whose
# successor waits in apt's cache. Made like the lab's roots and kept beside them,
# as install/SUITE-KEY/root in the cache; never changed there: what a test does to
# a machine goes to an overlay. Sourced after the lab's parts.

MACHINE_PACKAGES="coccinelle dkms ethtool gcc initramfs-tools iproute2 kmod
	linux-headers-amd64 linux-image-amd64 linux-source make openssl xz-utils zstd"
# bookworm's: its kernels are chosen by machine_kernels.
UPGRADE_PACKAGES="coccinelle dkms ethtool gcc initramfs-tools iproute2 kmod
	make openssl python3 systemd-sysv udev xz-utils zstd"

machine_packages() { # machine_packages suite
	case $1 in
	bookworm) printf '%s\n' $UPGRADE_PACKAGES ;;
	*) printf '%s\n' $MACHINE_PACKAGES ;;
	esac
}

# Run inside bookworm's new root, where apt works: installs the oldest kernel that
# still has its image, headers and source, and fetches what an upgrade brings.
# /etc/zcg-kernels names the two releases.
machine_kernels() {
	cat <<-'SCRIPT'
	set -eu
	export DEBIAN_FRONTEND=noninteractive
	# Each initramfs is made several times and read once.
	echo COMPRESSLEVEL=1 >/etc/initramfs-tools/conf.d/zcg
	carries() { apt-cache madison "$1" | awk '{ print $3 }' | grep -Fqx "$2"; }
	new=$(apt-cache depends linux-image-amd64 | sed -n 's/.*Depends: linux-image-//p')
	series=$(echo "$new" | grep -oE '^[0-9]+\.[0-9]+')
	old=
	for version in $(apt-cache madison "linux-source-$series" | awk '{ print $3 }' | sort -uV); do
		for image in $(apt-cache pkgnames "linux-image-$series" |
			grep -E '^linux-image-[0-9.]+-[0-9]+-amd64$' | sort -V); do
			release=${image#linux-image-}
			if [ "$release" != "$new" ] && carries "$image" "$version" &&
				carries "linux-headers-$release" "$version"; then
				old=$release
				break 2
			fi
		done
	done
	if [ -z "$old" ]; then
		echo "no kernel older than $new has its image, headers and source in this suite" >&2
		exit 1
	fi
	apt-get install -y --no-install-recommends "linux-image-$old=$version" \
		"linux-headers-$old=$version" "linux-headers-${old%-amd64}-common=$version" \
		"linux-source-$series=$version"
	apt-get install -y --no-install-recommends --download-only \
		linux-image-amd64 linux-headers-amd64 linux-source
	echo "$old $new" >/etc/zcg-kernels
	SCRIPT
}

machine_make() { # machine_make tmp suite
	local tmp=$1 suite=$2 keyring opt args=()

	mkdir "$tmp/root"
	suite_sources "$suite" >"$tmp/sources"
	while read -r keyring; do
		args+=("--keyring=$keyring")
	done < <(host_keyrings | sort -u)
	while read -r opt; do
		args+=("--aptopt=$opt")
	done < <(host_apt_options)
	if [ "$suite" = bookworm ]; then
		machine_kernels >"$tmp/kernels"
		args+=("--customize-hook=copy-in $tmp/kernels /tmp"
			'--customize-hook=chroot "$1" sh /tmp/kernels && rm "$1/tmp/kernels"')
	fi
	unshare --mount --propagation private --pid --fork --kill-child --mount-proc \
		mmdebstrap --mode=root --variant=minbase \
		--include="$(machine_packages "$suite" | sort -u | paste -sd,)" \
		--aptopt='APT::Install-Recommends "false"' --dpkgopt='force-unsafe-io' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--skip=cleanup/apt --customize-hook='chroot "$1" apt-get clean' \
		"${args[@]}" \
		--customize-hook='rm -f "$1/etc/resolv.conf"; echo zcg >"$1/etc/hostname"' \
		--customize-hook='touch "$1/etc/fstab"; mkdir -p "$1/zcg"' \
		"$suite" "$tmp/root" "$tmp/sources"
	rm -f "$tmp/kernels"
	touch "$tmp/complete"
}

machine_make_step() { step "machine with $2 to install on" machine_make "$@"; }

# Make sure that a machine is there; its root in REPLY.
need_machine() { # need_machine suite
	local dir

	dir=$CACHE/install/$1-$(key -- "$(declare -f machine_make machine_kernels)" \
		"$(machine_packages "$1" | sort -u)")
	if [ ! -e "$dir/complete" ]; then
		need_root "making a machine"
		need_tools mmdebstrap apt-get unshare
		lock "install-$1"
		if [ ! -e "$dir/complete" ]; then
			make_product "$dir" machine_make_step "$1"
			prune "$CACHE/install/$1-" 1
		fi
		unlock
	fi
	REPLY=$dir/root
}

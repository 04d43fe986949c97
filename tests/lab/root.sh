# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# shellcheck disable=SC2086 # lists of words
#
# Debian roots, one per suite: the place where the driver is built as a user
# of that release would, and the guest's file system.

ROOTS="debian11 debian12 debian13 backports"

# What a guest of any suite offers to the programs that run in it.
GUEST_PACKAGES="bash iproute2 ethtool iperf3 iputils-ping tcpdump python3
	python3-scapy kmod procps nftables netsniff-ng socat strace jq
	udev openssh-server openssh-client busybox-static xz-utils zstd
	ca-certificates"
# What it takes to build modules and kernels.
BUILD_PACKAGES="build-essential bc bison flex libelf-dev libssl-dev cpio
	rsync python3 coccinelle"
# What it takes to build QEMU.
QEMU_PACKAGES="libglib2.0-dev libfdt-dev zlib1g-dev meson ninja-build python3-venv pkgconf"

root_suite() {
	case $1 in
	debian11) echo bullseye ;;
	debian12) echo bookworm ;;
	debian13 | backports | fuzzing) echo trixie ;;
	*) die --status=2 "no root called '$1'; there are: $ROOTS" ;;
	esac
}

root_packages() {
	# No guest boots from it and no driver is built in it.
	if [ "$1" = fuzzing ]; then
		printf '%s\n' build-essential python3 clang libclang-rt-dev llvm $QEMU_PACKAGES
		return
	fi
	printf '%s\n' $GUEST_PACKAGES $BUILD_PACKAGES linux-image-amd64 linux-headers-amd64
	case $1 in
	# bpftool and libbpf-dev are left out: bullseye's last indices name
	# versions of them that mirrors no longer carry.
	debian11) echo linux-source-5.10 ;;
	# systemd-standalone-sysusers is what udev and sshd need of systemd, which
	# no guest runs.
	debian12) printf '%s\n' linux-source-6.1 bpftool libbpf-dev systemd-standalone-sysusers ;;
	# Which kernel that is, the suite says: root_make prefers its packages.
	backports) printf '%s\n' linux-source bpftool libbpf-dev systemd-standalone-sysusers ;;
	debian13)
		printf '%s\n' linux-source-6.12 bpftool libbpf-dev systemd-standalone-sysusers
		# Other users of the card: testpmd and its driver, Open vSwitch, ptp4l.
		printf '%s\n' dpdk-dev librte-net-ixgbe25 librte-mempool-ring25 \
			openvswitch-switch linuxptp
		# QEMU is built in this root; its source package holds no firmware.
		printf '%s\n' $QEMU_PACKAGES seabios qemu-system-data dpkg-dev
		;;
	esac
}

# The repositories of the host's own apt configuration, one a line:
# "URI suite keyring". apt itself reads its configuration, in either format.
host_repositories() {
	# shellcheck disable=SC2016 # apt expands these
	apt-get indextargets --format '$(COMPONENT)|$(ORIGIN)|$(RELEASE)|$(REPO_URI)|$(SIGNED_BY)' \
		'Created-By: Packages' |
		awk -F'|' '$1 == "main" && ($2 == "Debian" || $2 ~ /^\$/ || $2 == "") && $4 !~ /^cdrom:/ { print $4, $3, $5 }' |
		sort -u
}

# One-line-format sources for a suite, from the host's mirrors: that which
# carries the host's own release, and that which carries its security updates.
suite_sources() { # suite_sources suite [deb-src|backports]
	local suite=$1 more=${2-} type uri rel keyring main='' security='' opts=

	while read -r uri rel keyring; do
		case $rel in
		*security*) security=$uri ;;
		*-backports* | *-updates | experimental) ;;
		*) main=$uri ;;
		esac
	done < <(host_repositories)
	[ -n "$main" ] || die "apt's configuration names no Debian mirror (component main); add one and run 'apt-get update'"
	# Releases no longer maintained are no longer re-signed: their last
	# Release file stays right though the date it was good for has passed.
	[ "$suite" != bullseye ] || opts="[check-valid-until=no] "
	[ "$more" != backports ] || echo "deb $main $suite-backports main"
	for type in deb ${more/backports/}; do
		echo "$type $opts$main $suite main"
		if [ -n "$security" ]; then
			echo "$type $opts$security $suite-security main"
		fi
	done
}

host_keyrings() {
	local keyring f

	host_repositories | awk 'NF > 2 { print $3 }' | tr ',' '\n' | sort -u |
		while read -r keyring; do
			[ ! -f "$keyring" ] || echo "$keyring"
		done
	for f in /usr/share/keyrings/debian-archive-keyring.gpg \
		/usr/share/keyrings/debian-archive-keyring.pgp; do
		if [ -f "$f" ]; then echo "$f"; break; fi
	done
}

# What the host says about how to reach its mirrors holds in the roots too.
host_apt_options() {
	apt-config dump Acquire |
		grep -E '^Acquire::(http|https|ftp|Retries|ForceIPv[46]|Check-Date|Check-Valid-Until|Queue-Mode)\b.* ".+";$' || :
}

root_key() {
	# shellcheck disable=SC2046 # one word each
	key -- "$1" "$(root_suite "$1")" "$(declare -f root_make)" $(root_packages "$1" | sort -u)
}

# What a root, or a kernel, is called in the cache: its name and key.
product_name() { local dir=${1%/root}; echo "${dir##*/}"; }

root_dir() { echo "$CACHE/roots/$1-$(root_key "$1")"; }

root_make() { # root_make tmp name
	local tmp=$1 name=$2 suite debs opt keyring args=() more=

	suite=$(root_suite "$name")
	debs=$CACHE/debs/$suite
	mkdir -p "$debs" "$tmp/root"
	case $name in
	debian13) more=deb-src ;;
	backports) more=backports ;;
	esac
	suite_sources "$suite" $more >"$tmp/sources"
	while read -r keyring; do
		args+=("--keyring=$keyring")
	done < <(host_keyrings | sort -u)
	while read -r opt; do
		args+=("--aptopt=$opt")
	done < <(host_apt_options)
	if [ "$name" = backports ]; then
		# Apt takes what comes from a backports suite only if it is told to. Of
		# its packages these get the priority of all others, so that the newest
		# is taken: the kernel's, and what an operator updates along with it.
		printf '%s\n' 'Package: linux-* bpftool ethtool iproute2' \
			"Pin: release n=$suite-backports" 'Pin-Priority: 500' >"$tmp/preferences"
		args+=("--setup-hook=cp '$tmp/preferences' \"\$1/etc/apt/preferences.d/backports\"")
	fi
	if [ "$name" = debian13 ]; then
		# shellcheck disable=SC2016 # $1 is mmdebstrap's
		args+=('--customize-hook=mkdir -p "$1/usr/src/qemu" && cd "$1/usr/src/qemu" && APT_CONFIG=$MMDEBSTRAP_APT_CONFIG apt-get source --download-only qemu')
	fi
	# In namespaces of its own, so that a killed mmdebstrap leaves neither
	# mounts nor processes. Packages downloaded once are kept, so that another
	# list of packages costs only what is new; the roots of one suite share them.
	# shellcheck disable=SC2016 # $1 is mmdebstrap's
	step "root $name ($suite)" unshare --mount --propagation private --pid --fork \
		--kill-child --mount-proc env DEBS="$debs" INITRD=No mmdebstrap --mode=root --variant=minbase \
		--include="$(root_packages "$name" | sort -u | paste -sd,)" \
		--aptopt='APT::Install-Recommends "false"' \
		--dpkgopt='force-unsafe-io' \
		--dpkgopt='force-confold' \
		--dpkgopt='path-exclude=/usr/share/man/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' \
		--dpkgopt='path-exclude=/usr/share/doc/*' \
		--dpkgopt='path-include=/usr/share/doc/*/copyright' \
		--skip=download/empty,cleanup/apt/lists \
		--setup-hook='mkdir -p "$1/var/cache/apt/archives"; cp -f "$DEBS"/*.deb "$1/var/cache/apt/archives/" 2>/dev/null || :' \
		--customize-hook='for f in "$1"/var/cache/apt/archives/*.deb; do if [ ! -e "$DEBS/${f##*/}" ]; then cp "$f" "$DEBS/.$$.part" && mv "$DEBS/.$$.part" "$DEBS/${f##*/}"; fi; rm -f "$f"; done' \
		--customize-hook='mkdir -p "$1/zcg/tree" "$1/zcg/cache" "$1/zcg/kernel" "$1/zcg/ksrc" "$1/zcg/work" "$1/zcg-out"' \
		--customize-hook='rm -f "$1/etc/resolv.conf"; echo zcg >"$1/etc/hostname"; echo 127.0.0.1 localhost zcg >"$1/etc/hosts"' \
		"${args[@]}" "$suite" "$tmp/root" "$tmp/sources"
	# shellcheck disable=SC2016 # dpkg-query expands these
	in_root "$tmp/root" -- dpkg-query -W -f '${Package} ${Version}\n' >"$tmp/manifest"
}

# Make sure that a root is there; its path (ending in /root) in REPLY.
need_debian_root() {
	local dir

	dir=$(root_dir "$1")
	if [ ! -e "$dir/manifest" ]; then
		need_root "making a root"
		need_tools mmdebstrap apt-get unshare
		lock "root-$1"
		if [ ! -e "$dir/manifest" ]; then
			make_product "$dir" root_make "$1"
			prune "$CACHE/roots/$1-" 2
		fi
		unlock
	fi
	used "$dir"
	REPLY=$dir/root
}

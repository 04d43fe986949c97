#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0
#
# make install and make uninstall, in a guest of the lab: modprobe takes ours, then
# the in-box driver again, and what can't be done is said and leaves nothing.
set -euo pipefail
# shellcheck source=tests/selftests/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../selftests/lib.sh"

krel=$(uname -r)
modules=/lib/modules/$krel
place=$modules/updates/ixgbe.ko
inbox=$(modinfo -n ixgbe)
built=$ZCG_TOP/build/$krel/ixgbe.ko
zmake() { make --no-print-directory -C "$ZCG_TOP" "$@"; }
nobody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }

# What is there, and what depmod says of it; the binary indices follow the texts.
picture()
{
	find "$modules" /etc/depmod.d 2>/dev/null | sort
	sha256sum "$modules"/modules.{dep,alias,symbols,softdep}
}

# A driver of ours in a build folder of its own, changed by a command.
changed()  # name command...
{
	mkdir -p "$ZCG_TMP/$1"
	cp "$built" "$ZCG_TMP/$1/ixgbe.ko"
	"${@:2}" "$ZCG_TMP/$1/ixgbe.ko"
}

loads()  # file: modprobe loads the ixgbe of this file
{
	unload
	modprobe ixgbe
	same "$(modinfo -F srcversion "$1")" "$(cat /sys/module/ixgbe/srcversion)"
}

has_flag() { wait_for 10 ports && ethtool --show-priv-flags "$(ports | head -n 1)" | grep zero-csum-gro; }
says() { "${@:2}" 2>&1 | grep -- "$1"; }
chosen() { same "$1" "$(modinfo -n ixgbe)"; }
unchanged() { same "$before" "$(picture)" && echo "as it was"; }

# refused NAME PATTERN COMMAND...: it fails, says so, and changes nothing
refused()
{
	local name=$1 now
	refuses "$@"
	now=$(picture)
	check "$name: nothing changed" same "$before" "$now"
}

staged()
{
	nobody make --no-print-directory -C "$ZCG_TOP" install "DESTDIR=$1" &&
		cmp "$built" "$1$place" && nobody make --no-print-directory -C "$ZCG_TOP" uninstall "DESTDIR=$1" &&
		same "" "$(find "$1" -type f)"
}

in_tree()  # another root with modules: its own index is made, this one is left alone
{
	local root=$ZCG_TMP/root
	mkdir -p "$root$modules/kernel"
	cp -a "$modules/kernel/drivers/net/ethernet/intel" "$root$modules/kernel/"
	cp "$modules"/modules.{order,builtin} "$root$modules/"
	zmake install "INSTALL_MOD_PATH=$root"
	same "$root$place" "$(modinfo -b "$root" -k "$krel" -n ixgbe)"
	zmake uninstall "INSTALL_MOD_PATH=$root"
	same "$root$modules/kernel/intel/ixgbe/ixgbe.ko" "$(modinfo -b "$root" -k "$krel" -n ixgbe)"
}

# Stand-ins for dracut and its look into an image, which say what they were told.
# This guest is thrown away: its initramfs-tools can go.
with_dracut()  # the module that the image is said to hold
{
	rm -f "$(command -v update-initramfs)" "$(command -v lsinitramfs)" "$ZCG_TMP/dracut"
	hash -r
	printf '#!/bin/sh\necho "-rw-r--r-- 1 root root 9 Jan 1 usr/lib/modules/%s/%s"\n' "$krel" "$1" > /usr/bin/lsinitrd
	printf '#!/bin/sh\necho "$@" > %s/dracut\n' "$ZCG_TMP" > /usr/bin/dracut
	chmod 755 /usr/bin/lsinitrd /usr/bin/dracut
	touch "/boot/initramfs-$krel.img"
}
dracut_refreshes()
{
	with_dracut kernel/drivers/net/ethernet/intel/ixgbe/ixgbe.ko.xz
	"$@" && same "--force /boot/initramfs-$krel.img $krel" "$(cat "$ZCG_TMP/dracut")"
}
dracut_rests()
{
	with_dracut kernel/drivers/net/ethernet/intel/ixgbevf/ixgbevf.ko.xz
	"$@" && [ ! -e "$ZCG_TMP/dracut" ]
}

if [ "${1:-}" = lockdown ]; then
	ktap_start 6
	mount -t securityfs securityfs /sys/kernel/security 2>/dev/null || true
	depmod
	before=$(picture)
	note "lockdown: $(cat /sys/kernel/security/lockdown)"
	refuses "this kernel indeed refuses a module without a signature" "Operation not permitted|Key was rejected|lockdown" \
		insmod "$built"
	refused "make install without a signature" "lockdown is integrity" zmake install
	refuses "and it says how to sign" "sign-file sha256 KEY.priv CERT.der build/$krel/ixgbe.ko" zmake install
	(cd "$ZCG_TMP" && openssl req -new -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=zcg-test/ \
		-keyout key.priv -outform DER -out cert.der) 2>/dev/null
	changed signed "$modules"/build/scripts/sign-file sha256 "$ZCG_TMP/key.priv" "$ZCG_TMP/cert.der" 2>/dev/null ||
		changed signed /usr/lib/linux-kbuild-*/scripts/sign-file sha256 "$ZCG_TMP/key.priv" "$ZCG_TMP/cert.der"
	check "a signed one is installed" zmake install "BUILD=$ZCG_TMP/signed"
	zmake uninstall
	check "and taken away again" unchanged
	ktap_done
	exit
fi

ktap_start 34
unload
depmod
before=$(picture)
export TMPDIR=/tmp
chmod 711 "$ZCG_TMP"

refused "make install as an ordinary user" "sudo make install" nobody make -C "$ZCG_TOP" install
refused "make install without a built driver" "build it first.*make KREL=$krel" zmake install "BUILD=$ZCG_TMP/none"
refused "make install for a kernel that is not here" "kernel 0.0.0 is not installed" zmake install KREL=0.0.0
changed other sed -i "s/vermagic=[0-9.]*/vermagic=9.9.9/"
refused "a driver for another kernel" "is for kernel .* and not for $krel" zmake install "BUILD=$ZCG_TMP/other"
changed inbox cp "$inbox"
refused "a driver of someone else" "not this project's driver" zmake install "BUILD=$ZCG_TMP/inbox"

check "make install" zmake install
check "modprobe would load it" chosen "$place"
check "and loads it" loads "$place"
check "with the flag" has_flag
check "make install once more" zmake install
refuses "make uninstall as an ordinary user" "sudo make uninstall" nobody make -C "$ZCG_TOP" uninstall
check "it is still there" chosen "$place"
check "make uninstall" zmake uninstall
check "everything is as it was" unchanged
check "modprobe loads the in-box driver again" loads "$inbox"
check "make uninstall once more says that there is nothing" says "nothing to uninstall" zmake uninstall

# Others' drivers in the same place.
mkdir -p "$modules/updates/drivers/net/ixgbe"
cp "$inbox" "$modules/updates/drivers/net/ixgbe/"
depmod
before=$(picture)
refused "beside another ixgbe in updates" "another ixgbe .*updates/drivers/net/ixgbe" zmake install
rm -r "$modules/updates"
mkdir -p "$modules/updates/dkms"
cp "$built" "$modules/updates/dkms/"
depmod
before=$(picture)
refused "beside one of DKMS" "DKMS put it there" zmake install
rm -r "$modules/updates"
mkdir "$modules/updates"
cp "$inbox" "$place"
depmod
before=$(picture)
refused "make uninstall of someone else's driver" "nothing was changed" zmake uninstall
rm -r "$modules/updates"

mkdir -p /etc/depmod.d
echo "search built-in updates" > /etc/depmod.d/zcg-test.conf
depmod
before=$(picture)
refused "where depmod's search order puts updates last" "modprobe would still load" zmake install
rm /etc/depmod.d/zcg-test.conf
depmod

mkdir -m 777 "$ZCG_TMP/stage"
check "an ordinary user may install below DESTDIR" staged "$ZCG_TMP/stage"
check "below INSTALL_MOD_PATH, depmod runs there" in_tree

check "make install has dracut refresh an initramfs that holds ixgbe" dracut_refreshes zmake install
check "make uninstall, too" dracut_refreshes zmake uninstall
check "an initramfs without ixgbe is left alone" dracut_rests zmake install
ktap_done

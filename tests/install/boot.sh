# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Boot a state with systemd, udev and two cabled ports of the emulated X520, as a
# machine of its user's would: its kernel, its initramfs, its own modules. Sourced
# after overlay.sh and the lab's run.sh.

# boot STATE: runs the script of add_guest at the end of the boot; what that
# printed is in STATE/said, the console in STATE/console. QEMU is the lab's.
boot() { # boot STATE [timeout]
	local state=$1 limit=${2:-300} begin=$SECONDS status=0 cmd

	run_nic x520 hub ''
	cmd=("$QEMU" -nodefaults -no-user-config -display none -no-reboot
		-machine "q35,vmport=off,smbus=off,sata=off" -m 1536M
		-accel "tcg,thread=multi" -smp 2 -cpu "max,la57=off,erms=off,fsrm=off"
		-kernel "$state/boot/vmlinux" -initrd "$state/boot/initrd"
		-drive "if=none,id=disk,format=raw,file=$state/boot/root.img,cache=unsafe"
		-device "virtio-blk-pci,drive=disk"
		-chardev "file,id=console,path=$state/console" -serial chardev:console
		-chardev "file,id=said,path=$state/said" -serial chardev:said
		"${NIC[@]}"
		-append "root=/dev/vda rw console=ttyS0 quiet loglevel=5 panic=-1 oops=panic mitigations=off \
audit=0 tsc=unstable no_timer_check cryptomgr.notests rcupdate.rcu_expedited=1")
	: >"$state/said"
	timeout --foreground --kill-after=5 "$limit" "${cmd[@]}" </dev/null 2>"$state/qemu" || status=$?
	if ! grep -q '^end' "$state/said"; then
		console_tail "$state/console" 30
		cat "$state/qemu" >&2
		warn "the boot ended after $((SECONDS - begin)) s (status $status) without its last word"
		return 1
	fi
	say "booted in $((SECONDS - begin)) s"
}

# What makes a state run guest.sh, or another script of this folder, and end: a
# unit of its own.
add_guest() { # add_guest STATE [SCRIPT]
	local script=${2:-guest.sh} etc=$1/upper/etc/systemd/system

	mkdir -p "$etc/multi-user.target.wants" "$1/upper/zcg"
	cp "$HERE"/{guest,upgrade}.sh "$1/upper/zcg/"
	cat >"$etc/zcg-test.service" <<-UNIT
	[Unit]
	After=network.target systemd-udev-settle.service getty.target
	Wants=systemd-udev-settle.service
	[Service]
	Type=oneshot
	ExecStart=/bin/bash -c "/zcg/$script >/dev/ttyS1 2>&1; sync; systemctl reboot -ff"
	UNIT
	ln -sf ../zcg-test.service "$etc/multi-user.target.wants/"
}

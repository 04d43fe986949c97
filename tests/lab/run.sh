# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# Boot one kernel with the current tree and run a program in it.

run_usage() {
	cat <<-'USAGE'
	usage: tests/lab/lab run [OPTION]... KERNEL -- PROGRAM [ARGUMENT]...
	Boot KERNEL with the current tree at /zcg, run PROGRAM there as root, show its
	output, end with its exit status. Files it leaves in /zcg-out go to --out.
	  --icount         virtual time: one vCPU, 1 ns per instruction (-icount shift=0,sleep=off)
	  --cpus N         vCPUs (2; always 1 with --icount)
	  --mem MB         memory (2048)
	  --timeout SECS   end the guest after so long of the host's time (300): status 124
	  --wire hub|none|peer|socket:DIR
	                   hub (default): the two ports joined; none: no cable partner;
	                   peer: a host inside QEMU at each port, that sends what a guest
	                   asks for (tests/x520/x520_peer.h);
	                   socket:DIR: port N sends each frame as a datagram to the unix
	                   socket DIR/portN.host and receives at DIR/portN.qemu
	  --x520 PROPS     more properties of the x520 devices, e.g. erratum=never,pace=off
	  --nic x520|e1000e|none  which network card (x520)
	  --out DIR        where the files of the guest's /zcg-out go
	  --append ARGS    more kernel parameters
	  --console FILE   keep the kernel's console there
	  --monitor SOCK   QMP on that unix socket
	  --trace PATTERN  QEMU trace events to enable (may be repeated; told on stderr)
	  --qemu PATH      a QEMU other than the lab's own
	  --qemu-arg ARG   one more argument for QEMU (may be repeated)
	  --accel NAME     tcg (default) or kvm
	Status 125: the guest ended without a word (panic) or could not be started.
	USAGE
}

run_bad() {
	printf 'lab run: %s\n' "$1" >&2
	run_usage >&2
	exit 2
}

is_number() { [[ $1 =~ ^[1-9][0-9]{0,8}$ ]]; }

# The files of the tree that a guest gets: what git tracks or would track, and
# what was built: modules and programs.
tree_files() { # NUL-separated, relative to the tree
	if git -c safe.directory='*' -C "$TREE" rev-parse --git-dir >/dev/null 2>&1; then
		git -c safe.directory='*' -C "$TREE" ls-files -co --exclude-standard -z
	else
		(cd "$TREE" && find . -path ./build -prune -o -path ./.git -prune -o -type f -print0)
	fi
	if [ -d "$TREE/build" ]; then
		(cd "$TREE" && find build -name src -prune -o -type f \( -name '*.ko' -o -perm -u+x ! -name '*.o' ! -name '*.so.*' \) -print0)
	fi
}

run_tree() { # run_tree tmp: the current tree as tree.tar
	local status=0

	# A file that another process is just changing is no reason to stop.
	(cd "$TREE" && tree_files | sort -zu |
		while IFS= read -r -d '' f; do
			if [ -e "$f" ] || [ -L "$f" ]; then printf '%s\0' "$f"; fi
		done) |
		tar -C "$TREE" --null --no-recursion -T - --owner=0 --group=0 \
			--warning=no-file-changed --ignore-failed-read -cf "$1/boot/tree.tar" || status=$?
	[ "$status" -le 1 ] || die "cannot collect the files of $TREE"
}

# A file as a member of a newc cpio archive. A cpio program would put inode
# numbers and times in, and the guest's kernel takes another number of
# instructions to read other digits.
cpio_file() { # cpio_file name file
	local size

	size=$(stat -L -c %s "$2")
	printf '070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%s\0' \
		0 $((0100644)) 0 0 1 0 "$size" 0 0 0 0 $((${#1} + 1)) 0 "$1"
	cpio_pad $((110 + ${#1} + 1))
	cat "$2"
	cpio_pad "$size"
}

cpio_pad() { # to a multiple of four
	head -c $(((4 - $1 % 4) % 4)) /dev/zero
}

run_job() { # run_job kernel icount program [arguments...]: the script that the guest runs
	local kernel=$1 icount=$2

	shift 2
	printf 'export HOME=/root LC_ALL=C.UTF-8 TERM=dumb ZCG_KERNEL=%q\n' "$kernel"
	[ -z "$icount" ] || echo 'export PYTHONHASHSEED=0'
	printf 'if [ -e /zcg/build/%q/ixgbe.ko ]; then export ZCG_MODULE=/zcg/build/%q/ixgbe.ko; fi\n' "$KREL" "$KREL"
	printf 'exec'
	printf ' %q' "$@"
	echo
}

console_tail() { # console_tail file
	if [ -s "$1" ]; then
		# The reason may be above a long trace.
		grep -aE 'Kernel panic|BUG:|Oops:|WARNING:' "$1" | head -n 5 |
			tr -d '\r' | sed 's/^/lab: ! /' >&2 || :
		printf 'lab: the end of the console:\n' >&2
		tail -n "${2:-40}" "$1" | tr -d '\r' | sed 's/^/lab: | /' >&2
	else
		printf 'lab: the console is empty\n' >&2
	fi
}

# The network card's part of QEMU's command line, in NIC.
run_nic() { # run_nic nic wire props
	local nic=$1 wire=$2 props=$3 n dir

	NIC=()
	[ "$nic" != none ] || return 0
	for n in 0 1; do
		case $wire in
		hub) NIC+=(-netdev "hubport,id=wire$n,hubid=0") ;;
		none) NIC+=(-netdev "hubport,id=wire$n,hubid=$n") ;;
		peer)
			NIC+=(-netdev "hubport,id=wire$n,hubid=$n" -netdev "hubport,id=far$n,hubid=$n"
				-device "x520-peer,netdev=far$n,mac=52:54:00:7a:63:1$n")
			;;
		socket:*)
			dir=${wire#socket:}
			rm -f "$dir/port$n.qemu"
			NIC+=(-netdev "dgram,id=wire$n,local.type=unix,local.path=$dir/port$n.qemu,remote.type=unix,remote.path=$dir/port$n.host")
			;;
		esac
	done
	case $nic in
	x520)
		NIC+=(-device "pcie-root-port,id=x520slot,chassis=1,slot=1,hotplug=off,pref64-reserve=16M")
		for n in 0 1; do
			NIC+=(-device "x520,id=port$n,bus=x520slot,addr=0.$n,multifunction=on,netdev=wire$n,mac=52:54:00:7a:63:0$n${props:+,$props}")
		done
		;;
	e1000e)
		for n in 0 1; do
			NIC+=(-device "e1000e,addr=1$n.0,netdev=wire$n,mac=52:54:00:7a:63:0$n,romfile=${props:+,$props}")
		done
		;;
	esac
}

run_guest() {
	local kernel aer='pci=noaer ' qemu='' icount='' cpus=2 mem=2048 limit=300 wire=hub props='' nic=x520
	local out='' append='' console='' monitor='' accel=tcg extra=() shell=${RUN_SHELL-}
	local image tmp size status=0 cmd=() begin reader watcher line guest='' started=''

	while [ $# -gt 0 ]; do
		case $1 in
		--icount) icount=1; shift; continue ;;
		-h | --help) run_usage; exit 0 ;;
		--) break ;;
		--cpus | --mem | --timeout | --wire | --x520 | --nic | --out | --append | --console | \
			--monitor | --trace | --qemu | --qemu-arg | --accel)
			[ $# -ge 2 ] || run_bad "$1 wants a value" ;;
		-*) run_bad "unknown option $1" ;;
		*) break ;;
		esac
		case $1 in
		--cpus) cpus=$2; is_number "$2" || run_bad "--cpus wants a number, not '$2'" ;;
		--mem) mem=$2; is_number "$2" || run_bad "--mem wants a number of MB, not '$2'" ;;
		--timeout) limit=$2; is_number "$2" || run_bad "--timeout wants a number of seconds, not '$2'" ;;
		--wire)
			wire=$2
			case $2 in
			hub | none | peer) ;;
			socket:?*) [ -d "${2#socket:}" ] || run_bad "--wire: no directory '${2#socket:}'" ;;
			*) run_bad "--wire wants hub, none, peer or socket:DIR, not '$2'" ;;
			esac
			;;
		--x520) props=$2 ;;
		--nic)
			nic=$2
			case $2 in
			x520 | e1000e | none) ;;
			*) run_bad "--nic wants x520, e1000e or none, not '$2'" ;;
			esac
			;;
		--out) out=$2 ;;
		--append) append=$2 ;;
		--console) console=$2 ;;
		--monitor) monitor=$2 ;;
		--trace) extra+=(-trace "$2") ;;
		--qemu) qemu=$2; command -v "$2" >/dev/null || run_bad "--qemu: '$2' is not a program" ;;
		--qemu-arg) extra+=("$2") ;;
		--accel)
			accel=$2
			case $2 in
			tcg | kvm) ;;
			*) run_bad "--accel wants tcg or kvm, not '$2'" ;;
			esac
			;;
		esac
		shift 2
	done
	if [ $# -lt 1 ] || [ "$1" = -- ]; then
		run_bad "which kernel? There are: $KERNELS"
	fi
	kernel=$1
	kernel_check "$kernel"
	shift
	if [ -n "$shell" ]; then
		[ $# -eq 0 ] || run_bad "a shell takes no program"
		set -- sh -c 'stty -F /dev/ttyS1 sane; exec setsid -w -c bash -i </dev/ttyS1 >/dev/ttyS1 2>&1'
	else
		[ "${1-}" = -- ] || run_bad "'--' and a program must follow the kernel's name"
		shift
		[ $# -ge 1 ] || run_bad "no program given"
	fi
	[ -z "$icount" ] || [ "$accel" = tcg ] || run_bad "--icount needs --accel tcg"
	need_tools tar sha256sum timeout

	need_image "$kernel"
	image=$REPLY
	if [ -z "$qemu" ]; then
		need_qemu
		qemu=$REPLY
		# Before there is a model in the tree there is no such device.
		[ "$nic" != x520 ] || [ -x "$TREE/tests/x520/add-to-qemu" ] ||
			die "tests/x520/add-to-qemu is not there, so QEMU has no x520 device; use --nic e1000e"
	fi

	make_tmp run
	tmp=$REPLY
	mkdir "$tmp/boot"
	run_tree "$tmp"
	run_job "$kernel" "$icount" "$@" >"$tmp/boot/job"
	{
		cat "$image/initramfs.cpio"
		cpio_file job "$tmp/boot/job"
		cpio_file tree.tar "$tmp/boot/tree.tar"
		cpio_file 'TRAILER!!!' /dev/null
	} >"$tmp/initrd"
	rm -r "${tmp:?}/boot"
	mkfifo "$tmp/output" "$tmp/status"
	console=${console:-$tmp/console}
	: >"$console" || die "cannot write to $console"
	size=$(stat -c %s "$image/root.img")

	cmd=("$qemu" -nodefaults -no-user-config -display none -no-reboot
		-machine "q35,nvdimm=on,vmport=off,smbus=off,sata=off"
		-m "${mem}M,slots=2,maxmem=$((mem + size / 1048576 + 1024))M"
		-object "memory-backend-file,id=root,mem-path=$image/root.img,size=$size,share=off,readonly=on,rom=off"
		-device "nvdimm,id=nv0,memdev=root"
		-device "isa-debug-exit,iobase=0x501,iosize=1"
		-kernel "$image/vmlinux" -initrd "$tmp/initrd"
		-chardev "file,id=console,path=$console" -serial chardev:console)
	if [ -n "$shell" ]; then
		cmd+=(-chardev "stdio,id=output,signal=off")
	else
		cmd+=(-chardev "file,id=output,path=$tmp/output")
	fi
	cmd+=(-serial chardev:output -chardev "file,id=status,path=$tmp/status" -serial chardev:status)
	# Without ERMS and FSRM the kernel copies 8 bytes an instruction and not 1:
	# an emulated "rep movsb" costs an instruction of virtual time per byte, and
	# copies would outweigh all that is to be measured.
	local cpu=max,la57=off,erms=off,fsrm=off
	# Without icount the time-stamp counter is the host's, and a guest that is
	# scheduled away while it measures its frequency gets it wrong by far.
	local tsc=unstable
	if [ -n "$icount" ]; then
		tsc=reliable
		# Nothing that differs from run to run: clock, random numbers.
		cmd+=(-accel tcg -icount "shift=0,sleep=off" -smp 1 -cpu "$cpu" -seed 1
			-rtc "base=2026-01-01T00:00:00,clock=vm")
	elif [ "$accel" = kvm ]; then
		cmd+=(-accel kvm -smp "$cpus" -cpu host)
	else
		cmd+=(-accel "tcg,thread=multi" -smp "$cpus" -cpu "$cpu")
	fi
	if [ -n "$out" ]; then
		mkdir -p "$out" || die "cannot make $out"
		truncate -s 1G "$tmp/out.tar"
		cmd+=(-drive "if=none,id=out,format=raw,file=$tmp/out.tar,cache=unsafe"
			-device "virtio-blk-pci,drive=out")
	fi
	[ -z "$monitor" ] || cmd+=(-qmp "unix:$monitor,server=on,wait=off")
	run_nic "$nic" "$wire" "$props"
	cmd+=(${NIC[@]+"${NIC[@]}"} ${extra[@]+"${extra[@]}"})
	# errors of PCI Express are for those who ask for its services
	[[ " $append" != *" pcie_ports="* ]] || aer=''
	cmd+=(-append "console=ttyS0 quiet loglevel=5 panic=-1 oops=panic mitigations=off audit=0 \
nokaslr norandmaps random.trust_cpu=on tsc=$tsc no_timer_check 8250.nr_uarts=4 nmi_watchdog=0 \
cryptomgr.notests lpj=4000000 ${aer}rcupdate.rcu_expedited=1 net.ifnames=0${out:+ zcg_out=1}${append:+ $append}")

	begin=$SECONDS
	say "booting $kernel ($KREL)"
	while read -r line; do
		printf '%s %s\n' "$SECONDS" "$line"
	done <"$tmp/status" >"$tmp/said" &
	watcher=$!
	PIDS+=("$watcher")
	if [ -n "$shell" ]; then
		local saved

		saved=$(stty -g)
		stty raw -echo
		timeout --foreground --kill-after=5 "$limit" "${cmd[@]}" 2>"$tmp/errors" || status=$?
		stty "$saved"
		echo
	else
		cat "$tmp/output" &
		reader=$!
		PIDS+=("$reader")
		set -m
		timeout --foreground --kill-after=5 "$limit" "${cmd[@]}" </dev/null 2>"$tmp/errors" &
		CHILD=$!
		set +m
		start_watchdog
		wait "$CHILD" || status=$?
		CHILD=
		stop_watchdog
		# A QEMU that could not start has opened neither.
		: 1<>"$tmp/output"
		wait "$reader" || :
	fi
	: 1<>"$tmp/status"
	wait "$watcher" || :
	PIDS=()
	if [ ${#extra[@]} -gt 0 ]; then
		cat "$tmp/errors" >&2
	fi

	while read -r at line; do
		case $line in
		run*) started=$((at - begin)) ;;
		exit*) guest=${line#exit } ; guest=${guest%$'\r'} ;;
		out*) warn "the guest could not hand over all of /zcg-out (at most 1 GB)" ;;
		esac
	done <"$tmp/said"
	if [ -n "$out" ] && [ -n "$guest" ]; then
		tar -C "$out" --no-same-owner -xf "$tmp/out.tar" || warn "could not unpack the guest's /zcg-out"
	fi
	if [ -n "$guest" ]; then
		say "the program ended with status $guest (booted in ${started:-?} s, all took $((SECONDS - begin)) s)"
		[ "$guest" -eq 0 ] || console_tail "$console" 15
		exit "$guest"
	fi
	if [ "$status" -eq 124 ] || [ "$status" -eq 137 ]; then
		printf 'lab: %s did not end within %s s (--timeout)\n' "$kernel" "$limit" >&2
		console_tail "$console"
		exit 124
	fi
	[ ${#extra[@]} -gt 0 ] ||
		sed '/hub [0-9]* is not connected to host network/d; s/^/lab: qemu: /' "$tmp/errors" >&2
	if [ -n "$started" ]; then
		printf 'lab: the guest ended while the program ran (panic?), QEMU status %s\n' "$status" >&2
	else
		printf 'lab: the guest did not come up, QEMU status %s\n' "$status" >&2
	fi
	console_tail "$console"
	exit 125
}

# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
#
# What the selftests share. Two ports of an ixgbe card, cabled to each other
# (in the lab: by a hub inside the emulator), each in a namespace of its own,
# as if they were two hosts:
#
#    namespace zcg-tx                          namespace zcg-rx
#   +------------------------------+          +------------------------------+
#   | vxlan01  10.0.2.1/24         |          |         vxlan01  10.0.2.2/24 |
#   |  id 2, dstport 5766          |          |          id 2, dstport 5766  |
#   | PEER     192.168.1.1/24      |==========|         NETIF 192.168.1.2/24 |
#   +------------------------------+          +------------------------------+
#
# The receiver, NETIF, is the port that is tested. Set NETIF and PEER to choose
# the ports; without them the first two ports that ixgbe drives are taken. PEER may
# be any card, also of another host: with REMOTE_TYPE=ssh and REMOTE_ARGS=root@host,
# as the kernel's own driver tests have it, namespace zcg-tx is made there.
#
# Results are KTAP on stdout: one call of ok(), not_ok() or skip() per case.

KSFT_SKIP=4
export NS_TX=zcg-tx
export NS_RX=zcg-rx
OUTER_TX=192.168.1.1
OUTER_RX=192.168.1.2
INNER_TX=10.0.2.1
export INNER_RX=10.0.2.2
VX_PORT=${VX_PORT:-5766}
VX_DEV=vxlan01
FLAG=zero-csum-gro

chosen_netif=${NETIF:-}
chosen_peer=${PEER:-}
# shellcheck disable=SC2034 # for the tests
ZCG_TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
ZCG_TMP=$(mktemp -d)
# Python leaves no compiled files in the tree.
export PYTHONDONTWRITEBYTECODE=1
_case=0
_failed=0

# --- KTAP -------------------------------------------------------------------

ktap_start()  # number of cases
{
	echo "TAP version 13"
	echo "1..$1"
	_planned=$1
}

ok()
{
	_case=$((_case + 1))
	echo "ok $_case $*"
}

not_ok()
{
	_case=$((_case + 1))
	_failed=$((_failed + 1))
	echo "not ok $_case $*"
}

skip()  # name, reason
{
	_case=$((_case + 1))
	echo "ok $_case $1 # SKIP $2"
}

note()
{
	printf '%s\n' "$*" | sed 's/^/# /'
}

# check NAME COMMAND...: the case passes if the command does; its output is
# shown as a diagnostic either way.
check()
{
	local name=$1 out rc=0
	shift
	out=$("$@" 2>&1) || rc=$?
	[ -z "$out" ] || note "$out"
	if [ $rc -eq 0 ]; then ok "$name"; else not_ok "$name"; fi
}

# refuses NAME PATTERN COMMAND...: the command must fail, and what it says (or
# the kernel log since it began) must match PATTERN.
refuses()
{
	local name=$1 pattern=$2 out rc=0 since
	shift 2
	since=$(log_mark)
	out=$("$@" 2>&1) || rc=$?
	out+=$(printf '\n'; log_since "$since")
	note "$out"
	if [ $rc -ne 0 ] && grep -qE -- "$pattern" <<< "$out"; then
		ok "$name"
	else
		not_ok "$name (exit status $rc)"
	fi
}

# Every test ends here, and none may leave counters that do not add up.
ktap_done()
{
	if [ -e /run/netns/$NS_RX ] && rx test -e "/sys/class/net/$NETIF" &&
		! counters_add_up "$NETIF"; then
		echo "# ... so the counters of $NETIF do not add up"
		exit 1
	fi
	if [ "$_case" -ne "$_planned" ]; then
		note "planned $_planned cases, ran $_case"
		exit 1
	fi
	[ "$_failed" -eq 0 ]
}

skip_all()
{
	echo "TAP version 13"
	echo "1..0 # SKIP $*"
	exit $KSFT_SKIP
}

die()
{
	echo "Bail out! $*"
	exit 1
}

# --- waiting, never sleeping ----------------------------------------------------

# wait_for SECONDS COMMAND...: until the command succeeds.
wait_for()
{
	local until=$(($(date +%s%N) + $1 * 1000000000))
	shift
	until "$@" > /dev/null 2>&1; do
		[ "$(date +%s%N)" -lt "$until" ] || return 1
		sleep "${WAIT_STEP:-0.05}"
	done
}

# --- the driver -----------------------------------------------------------------

# Unloads ixgbe, in-box or fork.
unload()
{
	[ ! -d /sys/module/ixgbe ] || rmmod ixgbe
}

# The module that the fork was made from: the in-box one, unless KSRC named another
# driver at the build. Then ZCG_REFERENCE is that driver, built without the hooks.
reference() { echo "${ZCG_REFERENCE:-$(modinfo -n ixgbe)}"; }

# load inbox|fork|FILE [module parameters]: what insmod needs first comes from the
# in-box module's dependencies.
load()
{
	local what=$1 file dep
	shift
	unload
	[ "$what" != inbox ] || [ -z "${ZCG_REFERENCE:-}" ] || what=$ZCG_REFERENCE
	case $what in
	inbox)
		modprobe ixgbe "$@"
		;;
	*)
		file=$what
		[ "$what" != fork ] || file=${ZCG_MODULE:?no fork was built for this kernel: make}
		[ -f "$file" ] || die "$file is not there; build it first: make"
		modinfo -F depends "$file" | tr , '\n' | while read -r dep; do
			[ -z "$dep" ] || modprobe "$dep"
		done
		insmod "$file" "$@"
		;;
	esac
	wait_for 10 ports || die "ixgbe was loaded but ${chosen_netif:-two ports} did not appear"
	find_ports
	peer_is_ours=
	[ -n "${ZCG_SSH:-}" ] || ! ethtool -i "$PEER" | grep -qx 'driver: ixgbe' || peer_is_ours=yes
}

# Names of the interfaces that ixgbe drives, by PCI address; of those that were chosen
# only whether they are there.
ports()
{
	local d found=0
	if [ -n "$chosen_netif" ]; then
		[ -e "/sys/class/net/$chosen_netif" ] && far test -e "/sys/class/net/$chosen_peer"
		return
	fi
	for d in /sys/bus/pci/drivers/ixgbe/*:*/net/*; do
		[ -e "$d" ] || continue
		basename "$d"
		found=$((found + 1))
	done
	[ $found -ge 2 ]
}

find_ports()
{
	local list
	if [ -n "$chosen_netif" ]; then
		export NETIF=$chosen_netif
		export PEER=${chosen_peer:?NETIF is set, PEER (the port it is cabled to) is not}
		return
	fi
	mapfile -t list < <(ports)
	export PEER=${list[0]:?no ixgbe port found}
	export NETIF=${list[1]:?only one ixgbe port found}
}

# --- the two hosts ----------------------------------------------------------------

# far COMMAND...: on the host that PEER is in.
case ${REMOTE_TYPE:-netns} in
netns)
	far() { "$@"; }
	;;
ssh)
	# One connection for everything. Standard input stays with the caller.
	export ZCG_SSH="ssh -o BatchMode=yes -o ControlMaster=auto -o ControlPersist=60 \
		-o ControlPath=$ZCG_TMP/ssh ${REMOTE_ARGS:?REMOTE_TYPE=ssh wants REMOTE_ARGS=user@host}"
	# shellcheck disable=SC2086 # a command line
	far() { $ZCG_SSH "$(printf '%q ' "$@")" < /dev/null; }
	# The sender's namespace is there, wherever a test names it.
	ip()
	{
		case "${1-} ${2-} ${3-}" in
		"-n $NS_TX "* | "netns "*" $NS_TX") far ip "$@" ;;
		*) command ip "$@" ;;
		esac
	}
	;;
*) die "REMOTE_TYPE=$REMOTE_TYPE: say netns or ssh" ;;
esac

tx() { ip netns exec $NS_TX "$@"; }
rx() { ip netns exec $NS_RX "$@"; }

has_link() { [ "$(ip netns exec "$1" cat "/sys/class/net/$2/carrier" 2>/dev/null)" = 1 ]; }

# hosts_up [channels]: namespaces, addresses, link.
hosts_up()
{
	local channels=${1:-1} ns dev addr
	for ns in $NS_TX $NS_RX; do
		ip netns add "$ns"
		ip -n "$ns" link set lo up
	done
	far ip link set "$PEER" netns $NS_TX
	ip link set "$NETIF" netns $NS_RX
	for ns in $NS_TX $NS_RX; do
		dev=$PEER addr=$OUTER_TX
		[ "$ns" = $NS_TX ] || dev=$NETIF addr=$OUTER_RX
		ip netns exec "$ns" sysctl -qw net.ipv6.conf.all.accept_dad=0 \
			net.ipv6.conf.default.accept_dad=0
		ip netns exec "$ns" ethtool -L "$dev" combined "$channels" 2>/dev/null || true
		ip -n "$ns" addr add $addr/24 dev "$dev"
		ip -n "$ns" link set "$dev" up
	done
	if ! wait_for 20 has_link $NS_TX "$PEER" || ! wait_for 20 has_link $NS_RX "$NETIF"; then
		die "no link between $PEER and $NETIF within 20 s"
	fi
	wait_for 10 tx ping -c 1 -W 1 $OUTER_RX || die "$PEER can't reach $NETIF"
}

# tunnel_up [link options...]: vxlan01 on both hosts; options such as udpcsum go
# to both. Device GRO flags are left as they are.
tunnel_up()
{
	local opts=("$@")
	[ ${#opts[@]} -gt 0 ] || opts=(noudpcsum)
	ip -n $NS_TX link add $VX_DEV type vxlan id 2 remote $OUTER_RX local $OUTER_TX \
		dstport "$VX_PORT" dev "$PEER" "${opts[@]}"
	ip -n $NS_RX link add $VX_DEV type vxlan id 2 remote $OUTER_TX local $OUTER_RX \
		dstport "$VX_PORT" dev "$NETIF" "${opts[@]}"
	ip -n $NS_TX addr add $INNER_TX/24 dev $VX_DEV
	ip -n $NS_RX addr add $INNER_RX/24 dev $VX_DEV
	ip -n $NS_TX link set $VX_DEV up
	ip -n $NS_RX link set $VX_DEV up
	wait_for 10 tx ping -c 1 -W 1 $INNER_RX || die "the tunnel does not pass a ping"
}

# For tests that inject frames of their own: the sender's stack has no address and
# says nothing, the receiver knows its neighbours without asking, and nobody speaks
# IPv6 but where an address is added afterwards.
silence()
{
	ip netns exec $NS_TX sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv6.conf.default.disable_ipv6=1
	ip -n $NS_TX link del $VX_DEV 2>/dev/null || true
	ip -n $NS_TX addr flush dev "$PEER"
	ip -n $NS_RX neigh replace $OUTER_TX lladdr "$(tx cat "/sys/class/net/$PEER/address")" dev "$NETIF"
	ip -n $NS_RX neigh replace $INNER_TX lladdr 02:00:00:00:00:01 dev $VX_DEV
	ip netns exec $NS_RX sysctl -qw "net.ipv6.conf.$NETIF.router_solicitations=0" \
		net.ipv6.conf.$VX_DEV.router_solicitations=0
}

# While there is work the device is polled by timer, every millisecond. What is merged
# then depends less on how busy the machine is.
by_timer()
{
	rx sh -c "echo 1000000 > /sys/class/net/$NETIF/gro_flush_timeout"
	rx sh -c "echo 50 > /sys/class/net/$NETIF/napi_defer_hard_irqs"
}

# NAPI comes by timer while there is work, every 20 ms, so that a burst is in the ring
# as a whole when it does, however fast driver and host are; and always on one CPU, so
# that nothing overtakes.
hold_polls()
{
	rx sh -c "echo 20000000 > /sys/class/net/$NETIF/gro_flush_timeout"
	rx sh -c "echo 50 > /sys/class/net/$NETIF/napi_defer_hard_irqs"
	awk -F '[: ]+' -v dev="$NETIF" '$NF ~ "^" dev { print $2 }' /proc/interrupts |
		while read -r irq; do echo 1 > "/proc/irq/$irq/smp_affinity"; done
}

tunnel_down()
{
	ip -n $NS_TX link del $VX_DEV 2>/dev/null || true
	ip -n $NS_RX link del $VX_DEV 2>/dev/null || true
}

# Gives the ports back to the namespace they came from, that of the shell. (When its
# namespace goes, a physical port returns by itself, but to the machine's first one.)
hosts_down()
{
	local ns dev pids there
	for ns in $NS_TX $NS_RX; do
		there=(far) dev=${PEER:-}
		[ "$ns" = $NS_TX ] || there=(env) dev=${NETIF:-}
		"${there[@]}" test -e /run/netns/"$ns" || continue
		pids=$(ip netns pids "$ns")
		# shellcheck disable=SC2086 # a list of numbers
		[ -z "$pids" ] || "${there[@]}" kill $pids 2>/dev/null || true
		# shellcheck disable=SC2016 # for the inner shell
		"${there[@]}" sh -c 'ip -n "$1" link set "$2" netns $$' sh "$ns" "$dev" 2>/dev/null || true
		ip netns del "$ns"
	done
	wait_for 10 ports || true
}

cleanup()
{
	hosts_down
	[ -z "${ZCG_SSH:-}" ] || $ZCG_SSH -O exit 2> /dev/null || true
	rm -rf "$ZCG_TMP"
}
trap cleanup EXIT

# --- reading the card ---------------------------------------------------------------

# nic_stat NAMESPACE DEVICE COUNTER: one line of ethtool -S.
nic_stat()
{
	ip netns exec "$1" ethtool -S "$2" | awk -v want="$3:" '$1 == want { print $2; hit = 1 } END { exit !hit }'
}

rx_stat() { nic_stat $NS_RX "$NETIF" "$1"; }

# counters_add_up DEVICE: the fork's counters of one of the receiver's ports: seen is the
# sum of its reasons, for the port and for each queue, and the port is the sum of its
# queues. Passes with a driver that has none.
counters_add_up()
{
	rx ethtool -S "$1" 2>/dev/null | awk '
		/^ *rx_(queue_[0-9]+_)?zcg_/ {
			name = $1
			sub(/:$/, "", name)
			where = name
			sub(/zcg_.*/, "zcg", where)
			sub(/.*zcg_/, "", name)
			if (name == "seen")
				seen[where] = $2
			else
				sum[where] += $2
			if (where != "rx_zcg")
				all[name] += $2
			else
				port[name] = $2
		}
		END {
			for (where in seen)
				if (seen[where] != sum[where]) {
					printf "# %s: seen %d, its reasons %d\n", where, seen[where], sum[where]
					wrong = 1
				}
			for (name in port)
				if (port[name] != all[name]) {
					printf "# %s: the port %d, its queues %d\n", name, port[name], all[name]
					wrong = 1
				}
			exit wrong
		}'
}

# Packets that a device handed to the stack, GRO counted as one.
link_rx_packets() { ip netns exec "$1" cat "/sys/class/net/$2/statistics/rx_packets"; }

flag_is()  # NAMESPACE DEVICE FLAG on|off
{
	ip netns exec "$1" ethtool --show-priv-flags "$2" | grep -qE "^$3 *: $4\$"
}

set_flag()  # on|off, on the receiver
{
	rx ethtool --set-priv-flags "$NETIF" $FLAG "$1"
}

# The kernel log from a point on. The point is a line of ours in the log, so that
# it is found whatever else the ring buffer has dropped meanwhile.
log_mark()
{
	local mark
	mark="zcg-selftests mark $$ $(date +%s%N)"
	echo "$mark" > /dev/kmsg
	echo "$mark"
}

log_since()  # mark [options of dmesg...]
{
	dmesg "${@:2}" | awk -v mark="$1" 'seen { print; next }
		index($0, mark) { seen = 1; lines = 0; next }
		{ all[lines++] = $0 }
		END { if (!seen) for (i = 0; i < lines; i++) print all[i] }'
}

# log_clean: since mark_log, no warning, oops or lockup.
mark_log() { _log_mark=$(log_mark); }

log_clean()
{
	local bad
	bad=$(log_since "$_log_mark" |
		grep -E 'WARNING|BUG|Oops|Call Trace|Kernel panic|lockup|hw csum failure|UBSAN|KASAN|refcount_t|Tx Unit Hang|NETDEV WATCHDOG' || true)
	[ -z "$bad" ] || { echo "$bad"; return 1; }
}

# What a reset of the port or a lost link leaves behind, as one line of text to
# compare before and after: carrier changes, interrupts, and since mark_log no
# word of a reset or of the link in the log.
port_state()
{
	echo "carrier_changes $(rx cat "/sys/class/net/$NETIF/carrier_changes")," \
		"irqs $(awk -v dev="$NETIF" '$NF ~ "^" dev { printf "%s%s ", $1, $NF }' /proc/interrupts)," \
		"log: $(log_since "$_log_mark" | grep -iE "reset|NIC Link|Detected" || echo quiet)"
}

same()  # before, after
{
	[ "$1" = "$2" ] || { printf 'before: %s\nafter:  %s\n' "$1" "$2"; return 1; }
}

# A checked stream through the tunnel; see traffic.py --help.
traffic() { python3 "$ZCG_TOP/tests/selftests/traffic.py" "$@"; }

# xdp_on HOST DEVICE MODE [MORE]: a program of xdp.py's on rx's or tx's device until xdp_off. What
# it prints is in $ZCG_TMP/xdp, what is written to descriptor $xdp_stop it reads. (check
# runs commands in a shell of its own, which can close nothing here.)
xdp_on()
{
	mkfifo "$ZCG_TMP/xdp-stop"
	"$1" python3 "$ZCG_TOP/tests/selftests/xdp.py" "${@:2}" < "$ZCG_TMP/xdp-stop" > "$ZCG_TMP/xdp" 2>&1 &
	xdp_pid=$!
	exec {xdp_stop}> "$ZCG_TMP/xdp-stop"
	rm "$ZCG_TMP/xdp-stop"
	wait_for 20 grep -qx ready "$ZCG_TMP/xdp" || true
}
# shellcheck disable=SC2034 # xdp_status is for the tests
xdp_off()
{
	exec {xdp_stop}>&-
	xdp_status=0
	wait "$xdp_pid" || xdp_status=$?
}

# The core refuses a zero outer checksum without csum_level 1 (see the design).
core_is_gated() { [[ $(uname -r) == *gated* ]]; }

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: the wire between two ports, that is, when
 * frames leave; and the life cycle of the data path.
 *
 * See x520_data.h for how the parts work together.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/error-report.h"
#include "hw/pci/pci_device.h"
#include "net/net.h"
#include "net/eth.h"
#include "x520_data.h"
#include "trace.h"

#define X520_PAUSE_SLOT_BITS    512             /* IEEE 802.3 annex 31B */
#define X520_ETH_P_MAC_CONTROL  0x8808

bool x520_guard_enter(X520Core *core)
{
    MemReentrancyGuard *guard = &DEVICE(core->owner)->mem_reentrancy_guard;
    bool was_free = !guard->engaged_in_io;

    guard->engaged_in_io = true;
    return was_free;
}

void x520_guard_leave(X520Core *core, bool was_free)
{
    if (was_free) {
        DEVICE(core->owner)->mem_reentrancy_guard.engaged_in_io = false;
    }
}

/* Marsaglia's xorshift32: reproducible, and good enough for faults. */
uint32_t x520_xorshift(uint32_t x)
{
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return x;
}

uint32_t x520_rng(X520Data *d)
{
    d->rng = x520_xorshift(d->rng);
    return d->rng;
}

static uint64_t x520_wire_bps(X520Core *core)
{
    uint64_t bps = x520_link_bps(core);

    return bps ? bps : 10000000000ull;  /* loopback needs no link */
}

/* Lets @bits pass on the wire. */
static void x520_wire_spend(X520Core *core, uint64_t bits)
{
    X520Data *d = core->data;
    uint64_t bps = x520_wire_bps(core);
    uint64_t t = bits * NANOSECONDS_PER_SECOND + d->wire_rem;

    d->wire_free += t / bps;
    d->wire_rem = t % bps;
}

static void x520_wire_sent(NetClientState *nc, ssize_t len)
{
    X520Core *core = qemu_get_nic_opaque(nc);

    core->data->blocked = false;
    x520_tx_arm(core);
}

void x520_wire_take_time(X520Core *core, size_t len)
{
    x520_wire_spend(core, 8 * (MAX(len, X520_FRAME_MIN) + X520_FCS_LEN +
                               X520_WIRE_OVERHEAD));
}

void x520_wire_send(X520Core *core, uint8_t *frame, size_t len)
{
    X520Data *d = core->data;

    x520_wire_take_time(core, len);
    if (x520_loopback(core)) {
        x520_rx_frame(core, frame, len, true);
    } else if (!qemu_send_packet_async(qemu_get_queue(core->nic), frame, len,
                                       x520_wire_sent)) {
        /* the peer's queue has the frame now, but wants no more of them */
        d->blocked = true;
    }
}

void x520_wire_pause(X520Core *core, uint16_t quanta)
{
    X520Data *d = core->data;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    trace_x520_tx_paused(core->port, quanta);
    d->paused_until = now + quanta * X520_PAUSE_SLOT_BITS *
                      NANOSECONDS_PER_SECOND / x520_wire_bps(core);
    if (!quanta) {
        x520_tx_arm(core);
    }
}

/* An 802.3x frame with the quanta of FCTTV, or with 0 to take XOFF back. */
static void x520_wire_send_pause(X520Core *core)
{
    X520Data *d = core->data;
    uint16_t quanta = d->xoff_sent ? x520_reg(core, X520_FCTTV(0)) : 0;
    uint8_t frame[X520_FRAME_MIN] = { 0x01, 0x80, 0xc2, 0x00, 0x00, 0x01 };

    d->want_pause = false;
    if (x520_loopback(core) || !x520_link_up(core)) {
        return;
    }
    memcpy(frame + 6, core->perm_mac, 6);
    stw_be_p(frame + 12, X520_ETH_P_MAC_CONTROL);
    stw_be_p(frame + 14, 1);            /* opcode: PAUSE */
    stw_be_p(frame + 16, quanta);
    x520_stat_add(core, d->xoff_sent ? X520_LXOFFTXC : X520_LXONTXC, 1);
    x520_stat_tx(core, 0, sizeof(frame) + X520_FCS_LEN, frame);
    d->wire_free = MAX(d->wire_free, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
    x520_wire_send(core, frame, sizeof(frame));
}

void x520_wire_level(X520Core *core)
{
    X520Data *d = core->data;
    uint32_t high = x520_reg(core, X520_FCRTH(0));
    uint32_t low = x520_reg(core, X520_FCRTL(0));
    int64_t now, slots;

    if (!(x520_reg(core, X520_FCCFG) & X520_FCCFG_TFCE_802_3X) ||
        !(high & X520_FCRTH_EN)) {
        d->xoff_sent = false;
        return;
    }
    if (!d->xoff_sent && d->pb_used <= (high & X520_FCRT_BYTES)) {
        return;
    }

    now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    if (d->xoff_sent && d->pb_used < (low & X520_FCRT_BYTES)) {
        d->xoff_sent = false;
        d->want_pause = low & X520_FCRTL_XONE;
    } else if (!d->xoff_sent || now >= d->xoff_again) {
        slots = x520_reg(core, X520_FCRTV) & 0xffff;
        d->xoff_again = now + MAX(slots, 1) * X520_PAUSE_SLOT_BITS *
                        NANOSECONDS_PER_SECOND / x520_wire_bps(core);
        d->xoff_sent = true;
        d->want_pause = true;
    }
    if (d->xoff_sent) {
        timer_mod_anticipate(d->rx_timer, d->xoff_again);
    }
    if (d->want_pause) {
        timer_mod_anticipate(d->tx_timer, now);
    }
}

void x520_tx_arm(X520Core *core)
{
    X520Data *d = core->data;
    int64_t now;

    if (timer_pending(d->tx_timer)) {
        return;
    }
    now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    if (core->pace) {
        now = MAX(now + X520_TX_LATENCY_NS, d->wire_free);
    }
    timer_mod(d->tx_timer, now);
}

/*
 * Makes d->pkt the next packet, round robin over the queues. Queues that their
 * rate holds back are passed over; @again is when the first may go on.
 */
static bool x520_tx_next(X520Core *core, int64_t now, int64_t *again)
{
    X520Data *d = core->data;

    for (unsigned n = 0; n < X520_NUM_QUEUES; n++) {
        unsigned q = find_next_bit(d->tx_pending, X520_NUM_QUEUES, d->tx_next);

        if (q >= X520_NUM_QUEUES) {
            q = find_first_bit(d->tx_pending, X520_NUM_QUEUES);
            if (q >= X520_NUM_QUEUES) {
                return false;
            }
        }
        d->tx_next = q + 1;
        if ((core->rate[q] & X520_RTTBCNRC_RS_ENA) &&
            d->rate_free[q] > now) {
            *again = MIN(*again, d->rate_free[q]);
            continue;
        }
        if (x520_tx_fetch(core, q)) {
            return true;
        }
        clear_bit(q, d->tx_pending);
    }
    return false;
}

void x520_rate_take_time(X520Core *core, unsigned queue, size_t len)
{
    X520Data *d = core->data;
    uint64_t bits = 8 * (MAX(len, X520_FRAME_MIN) + X520_FCS_LEN +
                         X520_WIRE_OVERHEAD);
    uint64_t ns;

    if (!(core->rate[queue] & X520_RTTBCNRC_RS_ENA)) {
        return;
    }
    /* 1 or 10 bits a nanosecond, times a factor in fixed point */
    ns = (bits * (core->rate[queue] & X520_RTTBCNRC_FACTOR) /
          (x520_wire_bps(core) / NANOSECONDS_PER_SECOND)) >>
         X520_RTTBCNRC_INT_SHIFT;
    d->rate_free[queue] = MAX(d->rate_free[queue],
                              qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL)) + ns;
}

static void x520_tx_run(void *opaque)
{
    X520Core *core = opaque;
    X520Data *d = core->data;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    bool guard = x520_guard_enter(core);
    int64_t start, again = INT64_MAX;

    if (d->want_pause) {
        x520_wire_send_pause(core);
    }
    for (unsigned done = 0; ; done++) {
        /* a sent frame resumes us, or the link that comes up */
        if (d->blocked || (!x520_loopback(core) && !x520_link_up(core))) {
            break;
        }
        start = MAX(MAX(d->wire_free, d->paused_until), now);
        if (core->pace && start > now + X520_TX_BURST_NS) {
            timer_mod_anticipate(d->tx_timer, start);
            break;
        }
        if (!core->pace && (done == X520_TX_BURST_FRAMES ||
                            d->paused_until > now)) {
            timer_mod_anticipate(d->tx_timer, MAX(d->paused_until, now + 1));
            break;
        }
        if (!d->pkt.active && !x520_tx_next(core, now, &again)) {
            if (again != INT64_MAX) {
                timer_mod_anticipate(d->tx_timer, again);
            }
            break;
        }
        if (d->pkt.active) {
            if (start > d->wire_free) {
                d->wire_free = start;
                d->wire_rem = 0;
            }
            x520_tx_emit(core);
        }
    }
    x520_guard_leave(core, guard);
}

static void x520_rx_run(void *opaque)
{
    X520Core *core = opaque;
    X520Data *d = core->data;
    bool guard = x520_guard_enter(core);

    x520_rx_drain(core);
    x520_wire_level(core);
    if (d->want_pause) {
        /* not by the timer: the peer's, due by now, might run before it */
        x520_wire_send_pause(core);
    }
    x520_guard_leave(core, guard);

    if (d->rx_stalled && x520_can_receive(qemu_get_queue(core->nic))) {
        d->rx_stalled = false;
        qemu_flush_queued_packets(qemu_get_queue(core->nic));
    }
}

void x520_tx_kick(X520Core *core, unsigned queue)
{
    if (queue < X520_NUM_QUEUES) {
        set_bit(queue, core->data->tx_pending);
        x520_tx_arm(core);
    }
}

void x520_rx_kick(X520Core *core, unsigned queue)
{
    X520Data *d = core->data;

    if (d->pb_count || d->rx_stalled) {
        timer_mod_anticipate(d->rx_timer,
                             qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
    }
    /* the link may have come up */
    if (d->pkt.active || !bitmap_empty(d->tx_pending, X520_NUM_QUEUES)) {
        x520_tx_arm(core);
    }
}

/* Life cycle */

static void x520_data_run_state(void *opaque, bool running, RunState state)
{
    X520Core *core = opaque;
    X520Data *d = core->data;
    bool guard;

    if (running) {
        return;
    }
    guard = x520_guard_enter(core);
    x520_rsc_finish(core);
    while (d->pkt.active) {
        x520_tx_emit(core);
    }
    x520_guard_leave(core, guard);
}

void x520_data_realize(X520Core *core)
{
    X520Data *d = g_new0(X520Data, 1);

    core->data = d;
    d->core = core;
    d->tx_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, x520_tx_run, core);
    d->rx_timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, x520_rx_run, core);
    d->tx_buf = g_malloc0(X520_TX_HEADROOM + X520_TX_DATA_MAX);
    /* twice, so that where an entry does not fit before the end costs none */
    d->pb = g_malloc0(2 * X520_PB_SIZE);
    d->rng = core->corrupt_seed * 2654435761u + core->port;
    if (!d->rng) {
        d->rng = 1;                     /* xorshift would stay at zero */
    }
    x520_rx_flush(d);
    x520_rsc_realize(core);
    d->vmstate = qemu_add_vm_change_state_handler(x520_data_run_state, core);
}

void x520_data_unrealize(X520Core *core)
{
    X520Data *d = core->data;

    qemu_del_vm_change_state_handler(d->vmstate);
    timer_free(d->tx_timer);
    timer_free(d->rx_timer);
    x520_rsc_unrealize(core);
    g_free(d->saved);
    g_free(d->tx_buf);
    g_free(d->pb);
    g_free(d);
    core->data = NULL;
}

void x520_data_reset(X520Core *core)
{
    X520Data *d = core->data;

    timer_del(d->tx_timer);
    timer_del(d->rx_timer);
    bitmap_zero(d->tx_pending, X520_NUM_QUEUES);
    memset(d->txq, 0, sizeof(d->txq));
    core->faults.tx_packets = 0;
    memset(d->rate_free, 0, sizeof(d->rate_free));
    for (unsigned q = 0; q < X520_NUM_QUEUES; q++) {
        x520_rx_disable(core, q);
    }
    d->pkt.active = false;
    d->paused_until = 0;
    d->xoff_sent = false;
    d->want_pause = false;
    x520_rx_flush(d);
    if (d->rx_stalled) {
        timer_mod(d->rx_timer, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL));
    }
}

static const VMStateDescription vmstate_x520_tx_queue = {
    .name = "x520-tx-queue",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32_2DARRAY(ctx, X520TxQueue, 2, 4),
        VMSTATE_BOOL(skip, X520TxQueue),
        VMSTATE_END_OF_LIST()
    }
};

static int x520_data_pre_save(void *opaque)
{
    X520Data *d = opaque;
    GByteArray *out = g_byte_array_new();

    x520_rx_save(d->core, out);
    x520_fault_save(d->core, out);
    g_free(d->saved);
    d->saved_len = out->len;
    d->saved = g_byte_array_free(out, false);
    return 0;
}

static int x520_data_free_saved(void *opaque)
{
    X520Data *d = opaque;

    g_clear_pointer(&d->saved, g_free);
    d->saved_len = 0;
    return 0;
}

static int x520_data_loaded(void *opaque, int version_id)
{
    X520Data *d = opaque;
    ssize_t rx = x520_rx_load(d->core, d->saved, d->saved_len), held = -1;

    if (rx >= 0) {
        held = x520_fault_load(d->core, d->saved + rx, d->saved_len - rx);
    }
    if (held < 0 || rx + held != d->saved_len) {
        error_report("x520: the frames in the saved state are not sound");
        held = -1;
    }
    x520_data_free_saved(d);
    return held < 0 ? -EINVAL : 0;
}

const VMStateDescription vmstate_x520_data = {
    .name = "x520-data",
    .version_id = 1,
    .minimum_version_id = 1,
    .pre_save = x520_data_pre_save,
    .post_save = x520_data_free_saved,
    .post_load = x520_data_loaded,
    .fields = (const VMStateField[]) {
        VMSTATE_STRUCT_ARRAY(txq, X520Data, X520_NUM_QUEUES, 1,
                             vmstate_x520_tx_queue, X520TxQueue),
        VMSTATE_INT64(wire_free, X520Data),
        VMSTATE_INT64(paused_until, X520Data),
        VMSTATE_BOOL(xoff_sent, X520Data),
        VMSTATE_UINT32(rng, X520Data),
        VMSTATE_UINT64(corrupted, X520Data),
        VMSTATE_UINT64(wire_rem, X520Data),
        VMSTATE_INT64(xoff_again, X520Data),
        VMSTATE_INT64_ARRAY(rate_free, X520Data, X520_NUM_QUEUES),
        VMSTATE_UINT32(tx_next, X520Data),
        VMSTATE_UINT32(saved_len, X520Data),
        VMSTATE_VBUFFER_ALLOC_UINT32(saved, X520Data, 0, NULL, saved_len),
        VMSTATE_END_OF_LIST()
    }
};

void x520_data_post_load(X520Core *core)
{
    X520Data *d = core->data;

    d->pkt.active = false;
    if (!d->rng) {
        d->rng = 1;
    }
    for (unsigned q = 0; q < X520_NUM_QUEUES; q++) {
        x520_rx_disable(core, q);
        x520_tx_kick(core, q);
    }
    x520_rx_kick(core, 0);
    x520_wire_level(core);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: faults on request, of the wire, in descriptors,
 * of interrupts and of the transmitter. All are off unless a property asks for
 * them, and what happens to which frame follows from the seed and the order of
 * frames alone, so that a run under icount can be repeated.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/timer.h"
#include "hw/pci/pci_device.h"
#include "x520_data.h"
#include "trace.h"

#define X520_FAULT_HELD         32
#define X520_FAULT_REORDER_NS   1000000         /* with nothing to overtake */

typedef struct X520HeldFrame {
    int64_t due;                /* 0: empty */
    bool reorder;               /* goes as soon as another frame went by */
    size_t len;
    uint8_t data[X520_FRAME_MAX];
} X520HeldFrame;

struct X520FaultState {
    QEMUTimer *timer;
    X520HeldFrame held[X520_FAULT_HELD];
};

bool x520_fault(X520Core *core, uint32_t permille)
{
    X520Faults *f = &core->faults;

    if (!permille) {
        return false;
    }
    /* a generator apart from that of corruption, whose seeds keep their runs */
    f->rng = x520_xorshift(f->rng);
    return f->rng % 1000 < permille;
}

static void x520_fault_deliver(X520Core *core, const uint8_t *buf, size_t len)
{
    if (x520_link_up(core) && !x520_loopback(core)) {
        x520_rx_frame(core, buf, len, false);
    }
}

/* Arms the timer for whichever held frame is due first. */
static void x520_fault_arm(X520Core *core)
{
    X520FaultState *s = core->faults.state;
    int64_t first = INT64_MAX;

    for (unsigned i = 0; i < X520_FAULT_HELD; i++) {
        if (s->held[i].due) {
            first = MIN(first, s->held[i].due);
        }
    }
    if (first == INT64_MAX) {
        timer_del(s->timer);
    } else {
        timer_mod_ns(s->timer, first);
    }
}

static bool x520_fault_hold(X520Core *core, const uint8_t *buf, size_t len,
                            int64_t ns, bool reorder)
{
    X520FaultState *s = core->faults.state;

    for (unsigned i = 0; i < X520_FAULT_HELD; i++) {
        X520HeldFrame *h = &s->held[i];

        if (!h->due && len <= sizeof(h->data)) {
            h->due = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + MAX(ns, 1);
            h->reorder = reorder;
            h->len = len;
            memcpy(h->data, buf, len);
            x520_fault_arm(core);
            return true;
        }
    }
    return false;
}

/* Lets go what is due at @now, or with @reorder what was to be overtaken. */
static void x520_fault_release(X520Core *core, int64_t now, bool reorder)
{
    X520FaultState *s = core->faults.state;

    for (;;) {
        X520HeldFrame *next = NULL;

        for (unsigned i = 0; i < X520_FAULT_HELD; i++) {
            X520HeldFrame *h = &s->held[i];

            if (h->due && (reorder ? h->reorder : h->due <= now) &&
                (!next || h->due < next->due)) {
                next = h;
            }
        }
        if (!next) {
            break;
        }
        next->due = 0;
        x520_fault_deliver(core, next->data, next->len);
    }
    x520_fault_arm(core);
}

static void x520_fault_timer(void *opaque)
{
    X520Core *core = opaque;
    bool guard = x520_guard_enter(core);

    x520_fault_release(core, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL), false);
    x520_guard_leave(core, guard);
}

void x520_fault_rx(X520Core *core, const uint8_t *buf, size_t len)
{
    X520Faults *f = &core->faults;

    if (x520_fault(core, f->drop)) {
        trace_x520_fault(core->port, "drop", len);
        return;
    }
    if (x520_fault(core, f->delay)) {
        trace_x520_fault(core->port, "delay", len);
        if (x520_fault_hold(core, buf, len, f->delay_us * 1000LL, false)) {
            return;
        }
    }
    if (x520_fault(core, f->reorder)) {
        trace_x520_fault(core->port, "reorder", len);
        if (x520_fault_hold(core, buf, len, X520_FAULT_REORDER_NS, true)) {
            return;
        }
    }
    x520_fault_deliver(core, buf, len);
    if (x520_fault(core, f->duplicate)) {
        trace_x520_fault(core->port, "duplicate", len);
        x520_fault_deliver(core, buf, len);
    }
    if (f->reorder) {
        x520_fault_release(core, 0, true);
    }
}

bool x520_fault_desc(X520Core *core, uint32_t *status, uint32_t *types,
                     uint32_t *len)
{
    X520Faults *f = &core->faults;

    if (!x520_fault(core, f->desc)) {
        return false;
    }
    *status = (*status & ~f->desc_clear) | f->desc_set;
    *types ^= f->desc_type;
    if (f->desc_length) {
        *len = f->desc_length;
    }
    trace_x520_fault(core->port, "descriptor", *len);
    return true;
}

/* As saved: a count, and for each frame when, how, its length and bytes. */
#define X520_SAVED_HEAD         16

void x520_fault_save(X520Core *core, GByteArray *out)
{
    X520FaultState *s = core->faults.state;
    uint8_t head[X520_SAVED_HEAD];
    uint32_t count = 0;

    for (unsigned i = 0; i < X520_FAULT_HELD; i++) {
        count += s->held[i].due != 0;
    }
    stl_le_p(head, count);
    g_byte_array_append(out, head, 4);
    for (unsigned i = 0; i < X520_FAULT_HELD; i++) {
        const X520HeldFrame *h = &s->held[i];

        if (h->due) {
            stq_le_p(head, h->due);
            stl_le_p(head + 8, h->reorder);
            stl_le_p(head + 12, h->len);
            g_byte_array_append(out, head, sizeof(head));
            g_byte_array_append(out, h->data, h->len);
        }
    }
}

ssize_t x520_fault_load(X520Core *core, const uint8_t *buf, size_t len)
{
    X520FaultState *s = core->faults.state;
    const uint8_t *p = buf, *end = buf + len;
    uint32_t count;

    for (unsigned i = 0; i < X520_FAULT_HELD; i++) {
        s->held[i].due = 0;
    }
    if (len < 4) {
        return -1;
    }
    count = ldl_le_p(p);
    p += 4;
    if (count > X520_FAULT_HELD) {
        return -1;
    }
    for (unsigned i = 0; i < count; i++) {
        X520HeldFrame *h = &s->held[i];

        if (end - p < X520_SAVED_HEAD) {
            return -1;
        }
        h->due = ldq_le_p(p);
        h->reorder = ldl_le_p(p + 8);
        h->len = ldl_le_p(p + 12);
        p += X520_SAVED_HEAD;
        if (h->len > sizeof(h->data) || h->len > end - p) {
            h->due = 0;
            return -1;
        }
        memcpy(h->data, p, h->len);
        p += h->len;
    }
    x520_fault_arm(core);
    return p - buf;
}

void x520_fault_realize(X520Core *core)
{
    X520Faults *f = &core->faults;

    f->rng = f->seed * 2654435761u + core->port;
    if (!f->rng) {
        f->rng = 1;                     /* xorshift would stay at zero */
    }
    f->state = g_new0(X520FaultState, 1);
    f->state->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, x520_fault_timer, core);
}

void x520_fault_unrealize(X520Core *core)
{
    timer_free(core->faults.state->timer);
    g_free(core->faults.state);
    core->faults.state = NULL;
}

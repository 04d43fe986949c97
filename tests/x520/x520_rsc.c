/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: receive-side coalescing (82599 datasheet,
 * section 7.11).
 *
 * Segments of a TCP flow that follow each other are put behind each other in
 * the buffers of their queue, behind the headers of the first one. A buffer's
 * descriptor is written back when it is full, and names the next one; the last
 * one, when the coalescing ends, and then the headers of the first are written
 * once more, now with the length of all. Up to 32 flows of a port are under
 * way at a time. One ends with PSH, or with a frame of the same flow that does
 * not continue it, when it may use no more descriptors, when another flow
 * wants its context, and at the latest when the queue's interrupt is due.
 */

#include "qemu/osdep.h"
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include "qemu/units.h"
#include "hw/pci/pci_device.h"
#include "x520_data.h"
#include "trace.h"

#define X520_RSC_CONTEXTS       32
#define X520_RSC_DELAY_NS       4000            /* unit of GPIE.RSC_DELAY */
#define X520_RSC_CNT_MAX        15
/* tag, IPv6, TCP with a time stamp */
#define X520_RSC_HDR_MAX        (18 + 40 + 32)

#define X520_TCP_FLAGS          13
#define X520_TCP_ACK            0x10
#define X520_TCP_PSH            0x08
#define X520_TCP_HDR            20
#define X520_TCP_HDR_TS         32
/* two no-operations and a time stamp, kind 8, of length 10 */
#define X520_TCP_OPT_TS         0x0101080a

typedef struct X520RscContext {
    bool active;
    uint64_t order;             /* when it was opened, to find the oldest */
    X520RxMeta m;               /* what the last descriptor will say */
    uint8_t hdr[X520_RSC_HDR_MAX];
    uint32_t hdr_len, l3, l4;
    uint32_t len;               /* of headers and payload */
    uint32_t packets;
    uint32_t seq;               /* that the next segment must have */
    uint64_t hdr_addr;          /* the first buffer */

    /* the descriptor that is being filled */
    uint32_t index;
    uint64_t addr;
    uint32_t used;
    uint32_t touched;           /* packets that have bytes in it */
    uint32_t descs;
} X520RscContext;

struct X520RscState {
    QEMUTimer *timer;
    uint64_t opened;
    unsigned open[X520_NUM_QUEUES];
    int64_t due[X520_NUM_QUEUES];       /* 0: nothing is waited for */
    X520RscContext ctx[X520_RSC_CONTEXTS];
};

/* One segment, its tag stripped already if it is to be. */
typedef struct X520RscSegment {
    const uint8_t *buf;
    uint32_t l3, l4, hdr_len, payload;
} X520RscSegment;

bool x520_rsc_enabled(X520Core *core, unsigned queue)
{
    return (x520_reg(core, X520_RSCCTL(queue)) & X520_RSCCTL_RSCEN) &&
           !(x520_reg(core, X520_RFCTL) & X520_RFCTL_RSC_DIS) &&
           (x520_reg(core, X520_SRRCTL(queue)) & X520_SRRCTL_DESCTYPE) ==
           X520_SRRCTL_DESC_ADV1;
}

void x520_rsc_note(X520RxMeta *m, const X520Pkt *p)
{
    if ((p->ptype == (X520_PTYPE_IPV4 | X520_PTYPE_TCP) ||
         p->ptype == (X520_PTYPE_IPV6 | X520_PTYPE_TCP)) &&
        (m->status & X520_RXS_L4CS) &&
        !(m->status & (X520_RXE_L4E | X520_RXE_IPE))) {
        m->l3 = p->l3;
        m->l4 = p->l4;
        m->l4_end = p->l4_end;
    }
}

/* Is it a segment of TCP at all, with headers that a context can hold? */
static bool x520_rsc_segment(X520RscSegment *s, const X520RxMeta *m,
                             const uint8_t *buf, bool stripped)
{
    unsigned shift = stripped ? 4 : 0;
    uint32_t tcp;

    /* what waited in the packet buffer may come from a saved state */
    if (!m->l4 || m->l3 != (m->vlan ? 18 : 14) ||
        (m->l4 != m->l3 + 20 && m->l4 != m->l3 + 40) ||
        m->l4_end < m->l4 + X520_TCP_HDR || m->l4_end > m->len) {
        return false;
    }
    s->buf = buf;
    s->l3 = m->l3 - shift;
    s->l4 = m->l4 - shift;
    tcp = (buf[s->l4 + 12] >> 4) * 4;
    if (tcp < X520_TCP_HDR || s->l4 + tcp > m->l4_end - shift) {
        return false;
    }
    s->hdr_len = s->l4 + tcp;
    s->payload = m->l4_end - shift - s->hdr_len;
    return true;
}

/* May it be merged with others? */
static bool x520_rsc_viable(X520Core *core, const X520RscSegment *s,
                            unsigned queue)
{
    const uint8_t *tcp = s->buf + s->l4;
    uint32_t len = s->hdr_len - s->l4;
    uint32_t room = (x520_reg(core, X520_SRRCTL(queue)) &
                     X520_SRRCTL_BSIZEHDR) >> 2;        /* in bytes */

    /* no flags but ACK and PSH, neither of the reserved bits nor of ECN */
    if ((tcp[12] & 0xf) ||
        (tcp[X520_TCP_FLAGS] & ~X520_TCP_PSH) != X520_TCP_ACK) {
        return false;
    }
    if (len != X520_TCP_HDR && (len != X520_TCP_HDR_TS ||
        ldl_be_p(tcp + X520_TCP_HDR) != X520_TCP_OPT_TS)) {
        return false;
    }
    if (s->hdr_len > room || s->hdr_len > X520_RSC_HDR_MAX) {
        return false;
    }
    return s->payload ||
           !(x520_reg(core, X520_RSCDBU) & X520_RSCDBU_RSCACKDIS);
}

/* Same addresses, ports and tag? */
static bool x520_rsc_same_flow(const X520RscContext *c,
                               const X520RscSegment *s)
{
    bool v6 = c->hdr[c->l3] >> 4 == 6;
    unsigned addrs = c->l3 + (v6 ? 8 : 12);

    return c->l3 == s->l3 && c->l4 == s->l4 &&
           c->hdr[c->l3] == s->buf[s->l3] &&
           !memcmp(c->hdr, s->buf, c->l3) &&
           !memcmp(c->hdr + addrs, s->buf + addrs, v6 ? 32 : 8) &&
           !memcmp(c->hdr + c->l4, s->buf + s->l4, 4);
}

/* Headers that differ in nothing but what coalescing brings up to date? */
static bool x520_rsc_continues(const X520RscContext *c,
                               const X520RscSegment *s)
{
    const uint8_t *a = c->hdr + c->l3, *b = s->buf + s->l3;

    if (c->hdr_len != s->hdr_len || ldl_be_p(s->buf + s->l4 + 4) != c->seq) {
        return false;
    }
    if (a[0] >> 4 == 6) {
        /* traffic class, flow label; next header, hop limit */
        return !memcmp(a, b, 4) && !memcmp(a + 6, b + 6, 2);
    }
    /* type of service; fragment bits, TTL, protocol */
    return a[1] == b[1] && !memcmp(a + 6, b + 6, 4);
}

static uint32_t x520_rsc_max_descs(X520Core *core, unsigned queue)
{
    static const uint8_t max[] = { 1, 4, 8, 16 };

    return max[(x520_reg(core, X520_RSCCTL(queue)) &
                X520_RSCCTL_MAXDESC) >> 2];
}

static uint32_t x520_rsc_buffer_size(X520Core *core, unsigned queue)
{
    return (x520_reg(core, X520_SRRCTL(queue)) & X520_SRRCTL_BSIZEPKT) * KiB;
}

/* The current descriptor is done. */
static void x520_rsc_write_back(X520Core *core, X520RscContext *c, bool last,
                                uint32_t next)
{
    X520RxMeta m = c->m;
    X520RxRing r;

    x520_rx_ring(core, m.queue, &r);
    r.head = c->index;
    m.types |= MIN(c->touched, X520_RSC_CNT_MAX) << X520_RXD_RSCCNT_SHIFT;
    m.next = last ? 0 : next << X520_RXS_NEXTP_SHIFT;
    x520_rx_write_back(core, &r, &m, c->used, last, false);
}

/* Takes the next descriptor of the ring; false if DMA failed. */
static bool x520_rsc_take(X520Core *core, X520RscContext *c, X520RxRing *r)
{
    X520RxQueue *q = &core->data->rxq[c->m.queue];
    const X520RxDesc *desc = x520_rx_desc(core, q, r);

    if (!desc) {
        return false;
    }
    if (c->descs) {
        x520_rsc_write_back(core, c, false, r->head);
    }
    c->index = r->head;
    c->addr = le64_to_cpu(desc->pkt_addr);
    c->used = 0;
    c->touched = 0;
    c->descs++;
    x520_rx_advance(core, c->m.queue, r);
    return true;
}

/*
 * Puts @len bytes behind what is there. The descriptors have been counted; DMA
 * that fails all the same loses the bytes, as it would on the bus.
 */
static void x520_rsc_put(X520Core *core, X520RscContext *c, X520RxRing *r,
                         const uint8_t *buf, uint32_t len)
{
    uint32_t size = x520_rsc_buffer_size(core, c->m.queue);

    if (!len) {
        c->touched++;
    }
    while (len) {
        uint32_t chunk;

        if ((!c->descs || c->used == size) && !x520_rsc_take(core, c, r)) {
            return;
        }
        chunk = MIN(len, size - c->used);
        pci_dma_write(r->dev, c->addr + c->used, buf, chunk);
        if (c->descs == 1 && !c->used) {
            c->hdr_addr = c->addr;
        }
        c->used += chunk;
        c->len += chunk;
        c->touched++;
        buf += chunk;
        len -= chunk;
    }
}

/* The headers of the first segment, made those of all. */
static void x520_rsc_headers(X520Core *core, X520RscContext *c)
{
    uint8_t *ip = c->hdr + c->l3;
    uint32_t len = c->len - c->l3;

    if (*ip >> 4 == 6) {
        stw_be_p(ip + 4, len - 40);
    } else {
        stw_be_p(ip + 2, len);
        stw_he_p(ip + 10, 0);
        stw_he_p(ip + 10, ~x520_csum_fold(x520_csum_add(0, ip, 20)));
    }
    pci_dma_write(x520_queue_dev(core, c->m.queue), c->hdr_addr, c->hdr,
                  c->hdr_len);
}

static void x520_rsc_complete(X520Core *core, X520RscContext *c)
{
    trace_x520_rsc_complete(core->port, c->m.queue, c->packets, c->len,
                            c->descs);
    if (c->packets > 1) {
        x520_rsc_headers(core, c);
    }
    if (c->descs) {
        x520_rsc_write_back(core, c, true, 0);
    }
    c->active = false;
    core->data->rsc->open[c->m.queue]--;
}

void x520_rsc_flush(X520Core *core, unsigned queue)
{
    X520RscState *s = core->data->rsc;

    for (unsigned i = 0; s->open[queue] && i < X520_RSC_CONTEXTS; i++) {
        if (s->ctx[i].active && s->ctx[i].m.queue == queue) {
            x520_rsc_complete(core, &s->ctx[i]);
        }
    }
}

void x520_rsc_forget(X520Core *core, unsigned queue)
{
    X520RscState *s = core->data->rsc;

    for (unsigned i = 0; s->open[queue] && i < X520_RSC_CONTEXTS; i++) {
        if (s->ctx[i].active && s->ctx[i].m.queue == queue) {
            s->ctx[i].active = false;
            s->open[queue]--;
        }
    }
    s->due[queue] = 0;
}

/* A context for a flow that has none; the oldest one, if all are in use. */
static X520RscContext *x520_rsc_new(X520Core *core)
{
    X520RscState *s = core->data->rsc;
    X520RscContext *oldest = &s->ctx[0];

    for (unsigned i = 0; i < X520_RSC_CONTEXTS; i++) {
        if (!s->ctx[i].active) {
            return &s->ctx[i];
        }
        if (s->ctx[i].order < oldest->order) {
            oldest = &s->ctx[i];
        }
    }
    x520_rsc_complete(core, oldest);
    return oldest;
}

static X520RscContext *x520_rsc_find(X520Core *core, unsigned queue,
                                     const X520RscSegment *seg)
{
    X520RscState *s = core->data->rsc;

    for (unsigned i = 0; s->open[queue] && i < X520_RSC_CONTEXTS; i++) {
        X520RscContext *c = &s->ctx[i];

        if (c->active && c->m.queue == queue && x520_rsc_same_flow(c, seg)) {
            return c;
        }
    }
    return NULL;
}

/* Adds a segment that continues the flow, unless there is no room for it. */
static bool x520_rsc_append(X520Core *core, X520RscContext *c,
                            const X520RxMeta *m, const X520RscSegment *s)
{
    uint32_t size = x520_rsc_buffer_size(core, m->queue);
    uint32_t room = size - MIN(size, c->used);
    uint32_t more = s->payload > room ?
                    DIV_ROUND_UP(s->payload - room, size) : 0;
    const uint8_t *tcp = s->buf + s->l4;
    uint8_t *old = c->hdr + c->l4;
    X520RxRing r;

    if (c->descs + more > x520_rsc_max_descs(core, m->queue) ||
        x520_rx_ring(core, m->queue, &r) < more ||
        c->len - c->l3 + s->payload > UINT16_MAX) {
        return false;
    }
    c->m = *m;
    x520_rsc_put(core, c, &r, s->buf + s->hdr_len, s->payload);
    c->seq += s->payload;
    c->packets++;
    /* acknowledgement and window, and the time stamp, are the latest */
    memcpy(old + 8, tcp + 8, 4);
    old[X520_TCP_FLAGS] |= tcp[X520_TCP_FLAGS];
    memcpy(old + 14, tcp + 14, 2);
    memcpy(old + X520_TCP_HDR, tcp + X520_TCP_HDR,
           s->hdr_len - s->l4 - X520_TCP_HDR);
    return true;
}

static X520RxResult x520_rsc_open(X520Core *core, const X520RxMeta *m,
                                  const X520RscSegment *s)
{
    uint32_t size = x520_rsc_buffer_size(core, m->queue);
    uint32_t need = DIV_ROUND_UP(s->hdr_len + s->payload, size);
    X520RscState *state = core->data->rsc;
    X520RscContext *c;
    X520RxRing r;

    if (need > x520_rsc_max_descs(core, m->queue)) {
        return X520_RX_PLAIN;
    }
    if (need > x520_rx_ring(core, m->queue, &r)) {
        return X520_RX_NO_DESC;
    }
    c = x520_rsc_new(core);
    memset(c, 0, sizeof(*c));
    c->active = true;
    c->order = state->opened++;
    c->m = *m;
    c->hdr_len = s->hdr_len;
    c->l3 = s->l3;
    c->l4 = s->l4;
    memcpy(c->hdr, s->buf, s->hdr_len);
    c->seq = ldl_be_p(s->buf + s->l4 + 4) + s->payload;
    c->packets = 1;
    state->open[m->queue]++;
    x520_rsc_put(core, c, &r, s->buf, s->hdr_len + s->payload);
    return X520_RX_DONE;
}

X520RxResult x520_rsc_receive(X520Core *core, const X520RxMeta *m,
                              const uint8_t *buf, bool stripped)
{
    X520RxResult result = X520_RX_DONE;
    X520RscContext *c;
    X520RscSegment s;

    if (!x520_rsc_segment(&s, m, buf, stripped)) {
        return X520_RX_PLAIN;
    }
    c = x520_rsc_find(core, m->queue, &s);
    if (!x520_rsc_viable(core, &s, m->queue)) {
        if (c) {
            x520_rsc_complete(core, c);
        }
        return X520_RX_PLAIN;
    }
    if (!c || !x520_rsc_continues(c, &s) ||
        !x520_rsc_append(core, c, m, &s)) {
        if (c) {
            x520_rsc_complete(core, c);
        }
        result = x520_rsc_open(core, m, &s);
    }
    if (result == X520_RX_DONE &&
        (s.buf[s.l4 + X520_TCP_FLAGS] & X520_TCP_PSH)) {
        c = x520_rsc_find(core, m->queue, &s);
        if (c) {
            x520_rsc_complete(core, c);
        }
    }
    return result;
}

/* ---- when the interrupt is due ---- */

static void x520_rsc_run(void *opaque)
{
    X520Core *core = opaque;
    X520RscState *s = core->data->rsc;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    bool guard = x520_guard_enter(core);

    for (unsigned q = 0; q < X520_NUM_QUEUES; q++) {
        if (!s->due[q]) {
            continue;
        }
        if (s->due[q] > now) {
            timer_mod_anticipate(s->timer, s->due[q]);
            continue;
        }
        s->due[q] = 0;
        x520_rsc_flush(core, q);
        x520_intr_rx(core, q);
    }
    x520_guard_leave(core, guard);
}

void x520_rsc_intr(X520Core *core, unsigned queue)
{
    X520RscState *s = core->data->rsc;
    int64_t delay;

    if (!s->open[queue]) {
        s->due[queue] = 0;
        x520_intr_rx(core, queue);
        return;
    }
    if (!s->due[queue]) {
        delay = (1 + (x520_reg(core, X520_GPIE) >> X520_GPIE_RSC_DELAY_SHIFT &
                      7)) * X520_RSC_DELAY_NS;
        s->due[queue] = MAX(x520_intr_rx_open_at(core, queue),
                            qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL)) + delay;
        timer_mod_anticipate(s->timer, s->due[queue]);
    }
}

void x520_rsc_finish(X520Core *core)
{
    X520RscState *s = core->data->rsc;

    for (unsigned q = 0; q < X520_NUM_QUEUES; q++) {
        if (s->open[q] || s->due[q]) {
            s->due[q] = 0;
            x520_rsc_flush(core, q);
            x520_intr_rx(core, q);
        }
    }
}

void x520_rsc_realize(X520Core *core)
{
    X520RscState *s = g_new0(X520RscState, 1);

    core->data->rsc = s;
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, x520_rsc_run, core);
}

void x520_rsc_unrealize(X520Core *core)
{
    timer_free(core->data->rsc->timer);
    g_free(core->data->rsc);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: receive path.
 *
 * A frame is parsed once and filtered, gets its checksum status, hash and
 * queue, and goes to memory at once if the queue has descriptors. If not, it
 * is dropped (SRRCTL.DROP_EN) or waits in the packet buffer, and then every
 * later frame waits behind it, as in the hardware's one FIFO per traffic
 * class.
 */

#include "qemu/osdep.h"
#include <zlib.h>
#include "qemu/atomic.h"
#include "qemu/bswap.h"
#include "qemu/iov.h"
#include "qemu/host-utils.h"
#include "qemu/units.h"
#include "hw/pci/pci_device.h"
#include "net/eth.h"
#include "net/net.h"
#include "x520_data.h"
#include "trace.h"

#define X520_ETH_P_MAC_CONTROL  0x8808
#define X520_STD_FRAME_MAX      1518            /* without HLREG0.JUMBOEN */

/* ---- queue choice ---- */

static unsigned x520_rx_queue(X520Core *core, const X520Pkt *p, unsigned rss,
                              unsigned pool)
{
    /* PSRTYPE.RQPL: how many bits of the index the pool takes */
    unsigned bits = x520_reg(core, X520_PSRTYPE(pool)) >> X520_PSRTYPE_RQPL;
    unsigned tc = 0;

    if (p->vlan) {
        tc = (x520_reg(core, X520_RTRUP2TC) >> (3 * (p->tci >> 13))) & 7;
    }
    switch (x520_reg(core, X520_MRQC) & X520_MRQC_MRQE) {
    case X520_MRQC_RSS:
        return rss;
    case X520_MRQC_RT8TC:
        return tc * 16;
    case X520_MRQC_RT4TC:
        return (tc & 3) * 32;
    case X520_MRQC_RTRSS8TC:
        return tc * 16 + rss;
    case X520_MRQC_RTRSS4TC:
        return (tc & 3) * 32 + rss;
    case X520_MRQC_VMDQ:
        return pool * 2;
    case X520_MRQC_VMDQRSS32:
        return (pool & 31) * 4 + (rss & 3 & ((1u << bits) - 1));
    case X520_MRQC_VMDQRSS64:
        return pool * 2 + (rss & 1 & ((1u << bits) - 1));
    case X520_MRQC_VMDQRT8TC:
        return (pool & 15) * 8 + tc;
    case X520_MRQC_VMDQRT4TC:
        return (pool & 31) * 4 + (tc & 3);
    default:
        return 0;
    }
}

/* ETQF: a frame type that is told by its Ethernet type alone. */
static bool x520_rx_etype(X520Core *core, const X520Pkt *p, X520RxMeta *m)
{
    for (unsigned i = 0; i < 8; i++) {
        uint32_t etqf = x520_reg(core, X520_ETQF(i));
        uint32_t etqs = x520_reg(core, X520_ETQS(i));

        if (!(etqf & X520_ETQF_EN) || (etqf & 0xffff) != p->ethertype) {
            continue;
        }
        m->types = X520_PTYPE_ETQF | i << 4;
        if (etqs & X520_ETQS_QUEUE_EN) {
            m->queue = (etqs >> 16) & (X520_NUM_QUEUES - 1);
            return true;
        }
        return false;
    }
    return false;
}

/* ---- descriptors ---- */

uint32_t x520_rx_ring(X520Core *core, unsigned queue, X520RxRing *r)
{
    r->dev = x520_queue_dev(core, queue);
    r->base = (uint64_t)x520_reg(core, X520_RDBAH(queue)) << 32 |
              (x520_reg(core, X520_RDBAL(queue)) & ~0x7fu);
    r->count = x520_reg(core, X520_RDLEN(queue)) / X520_DESC_SIZE;
    r->head = x520_reg(core, X520_RDH(queue));
    r->tail = x520_reg(core, X520_RDT(queue));
    if (r->head >= r->count || r->tail >= r->count) {
        return 0;
    }
    return r->tail >= r->head ? r->tail - r->head :
           r->count - r->head + r->tail;
}

const X520RxDesc *x520_rx_desc(X520Core *core, X520RxQueue *q,
                               const X520RxRing *r)
{
    if (q->pos == q->num || q->head != r->head) {
        uint32_t n = (r->tail > r->head ? r->tail : r->count) - r->head;

        n = MIN(n, X520_RX_FETCH);
        q->num = 0;
        q->pos = 0;
        if (pci_dma_read(r->dev,
                         r->base + (uint64_t)r->head * X520_DESC_SIZE,
                         q->desc, n * X520_DESC_SIZE)) {
            return NULL;
        }
        q->head = r->head;
        q->num = n;
    }
    return &q->desc[q->pos];
}

void x520_rx_advance(X520Core *core, unsigned queue, X520RxRing *r)
{
    X520RxQueue *q = &core->data->rxq[queue];

    r->head = r->head + 1 == r->count ? 0 : r->head + 1;
    q->pos++;
    q->head = r->head;
    core->mac[X520_RDH(queue) >> 2] = r->head;
}

void x520_rx_write_back(X520Core *core, const X520RxRing *r,
                        const X520RxMeta *m, uint32_t len, bool last,
                        bool legacy)
{
    uint64_t at = r->base + (uint64_t)r->head * X520_DESC_SIZE;
    uint32_t status = X520_RXS_DD | m->next, types = m->types;
    uint64_t qw;

    if (last) {
        status |= m->status | X520_RXS_EOP;
        x520_fault_desc(core, &status, &types, &len);
    }
    if (legacy) {
        /* the low status byte has the same bits, with UDPCS and PIF */
        qw = len | (uint64_t)(status & 0xff) << X520_RXL_STATUS_SHIFT |
             (uint64_t)m->tci << X520_RXL_VLAN_SHIFT;
        if (status & X520_RXE_L4E) {
            qw |= (uint64_t)X520_RXL_L4E << X520_RXL_ERRORS_SHIFT;
        }
        if (status & X520_RXE_IPE) {
            qw |= (uint64_t)X520_RXL_IPE << X520_RXL_ERRORS_SHIFT;
        }
    } else {
        stq_le_pci_dma(r->dev, at,
                       types | (uint64_t)m->hash << X520_RXD_HASH_SHIFT,
                       MEMTXATTRS_UNSPECIFIED);
        qw = status | (uint64_t)len << X520_RXS_LEN_SHIFT |
             (uint64_t)m->tci << X520_RXS_VLAN_SHIFT;
    }
    /* pairs with the read barrier after software saw DD or a length */
    smp_wmb();
    stq_le_pci_dma(r->dev, at + 8, qw, MEMTXATTRS_UNSPECIFIED);
}

/* Moves one frame to the buffers of its queue. */
static X520RxResult x520_rx_put(X520Core *core, const X520RxMeta *m,
                                const uint8_t *buf)
{
    X520Data *d = core->data;
    X520RxQueue *q = &d->rxq[m->queue];
    uint32_t rxdctl = x520_reg(core, X520_RXDCTL(m->queue));
    uint32_t srrctl = x520_reg(core, X520_SRRCTL(m->queue));
    uint32_t size = (srrctl & X520_SRRCTL_BSIZEPKT) * KiB;
    bool legacy = (srrctl & X520_SRRCTL_DESCTYPE) == X520_SRRCTL_DESC_LEGACY;
    uint32_t len = m->len, need, have;
    bool coalesce = x520_rsc_enabled(core, m->queue), stripped = false;
    X520RxMeta hidden;
    X520RxRing r;

    if (!(rxdctl & X520_RXDCTL_ENABLE) || !size) {
        return X520_RX_DISCARD;
    }
    if (m->vlan && (rxdctl & X520_RXDCTL_VME)) {
        if (core->qde[m->queue] & X520_QDE_HIDE_VLAN) {
            hidden = *m;
            hidden.tci = 0;
            hidden.status &= ~X520_RXS_VP;
            m = &hidden;
        }
        memcpy(d->strip_buf, buf, 12);
        memcpy(d->strip_buf + 12, buf + 16, len - 16);
        buf = d->strip_buf;
        len -= 4;
        stripped = true;
    }
    if (coalesce) {
        switch (x520_rsc_receive(core, m, buf, stripped)) {
        case X520_RX_DONE:
            goto done;
        case X520_RX_NO_DESC:
            goto no_desc;
        default:
            break;
        }
    }

    have = x520_rx_ring(core, m->queue, &r);
    need = DIV_ROUND_UP(len, size);
    if (need > have) {
        if (need >= r.count && r.count) {
            return X520_RX_DISCARD;     /* it must not wait for ever */
        }
        goto no_desc;
    }

    for (uint32_t i = 0; i < need; i++) {
        const X520RxDesc *desc = x520_rx_desc(core, q, &r);
        uint32_t chunk = MIN(len, size);

        if (!desc) {
            return X520_RX_DISCARD;
        }
        pci_dma_write(r.dev, le64_to_cpu(desc->pkt_addr), buf, chunk);
        x520_rx_write_back(core, &r, m, chunk, i + 1 == need, legacy);
        buf += chunk;
        len -= chunk;
        x520_rx_advance(core, m->queue, &r);
    }
done:
    x520_stat_rx_queue(core, m->queue, m->wire_len, m->len);
    x520_stat_rx_pool(core, m->queue, m->wire_len, m->multicast);
    x520_rsc_intr(core, m->queue);
    return X520_RX_DONE;

no_desc:
    if (coalesce) {
        /* software gives descriptors back for those that are done */
        x520_rsc_flush(core, m->queue);
        x520_rsc_intr(core, m->queue);
    }
    return X520_RX_NO_DESC;
}

/* ---- packet buffer ---- */

void x520_rx_flush(X520Data *d)
{
    d->pb_head = 0;
    d->pb_tail = 0;
    d->pb_wrap = 2 * X520_PB_SIZE;
    d->pb_used = 0;
    d->pb_count = 0;
}

/* Without descriptors, are frames for the queue lost, or do they wait? */
static bool x520_rx_drops(X520Core *core, unsigned queue)
{
    return (x520_reg(core, X520_SRRCTL(queue)) & X520_SRRCTL_DROP_EN) ||
           (core->qde[queue] & X520_QDE_ENABLE);
}

/* RXPBSIZE(0) is in units of 1 KiB from bit 10 on, so it reads as bytes. */
static uint32_t x520_pb_limit(X520Core *core)
{
    uint32_t limit = x520_reg(core, X520_RXPBSIZE(0)) & 0xffc00;

    return limit ? MIN(limit, X520_PB_SIZE) : X520_PB_SIZE;
}

static bool x520_pb_push(X520Core *core, X520RxMeta *m, const uint8_t *buf)
{
    X520Data *d = core->data;
    uint32_t space = ROUND_UP(sizeof(*m) + m->len, X520_PB_UNIT);
    uint32_t at = d->pb_tail;

    if (d->pb_used + space > x520_pb_limit(core)) {
        return false;
    }
    if (at + space > 2 * X520_PB_SIZE) {
        /*
         * With at most half of the memory used, and that reaching up to here,
         * the beginning is free.
         */
        d->pb_wrap = at;
        at = 0;
    }
    m->space = space;
    memcpy(d->pb + at, m, sizeof(*m));
    memcpy(d->pb + at + sizeof(*m), buf, m->len);
    d->pb_tail = at + space;
    d->pb_used += space;
    d->pb_count++;
    return true;
}

void x520_rx_drain(X520Core *core)
{
    X520Data *d = core->data;
    X520RxMeta m;

    while (d->pb_count) {
        memcpy(&m, d->pb + d->pb_head, sizeof(m));
        if (x520_rx_put(core, &m, d->pb + d->pb_head + sizeof(m)) ==
            X520_RX_NO_DESC) {
            if (!x520_rx_drops(core, m.queue)) {
                return;
            }
            x520_stat_rx_nodesc(core, m.queue);
        }
        d->pb_head += m.space;
        d->pb_used -= m.space;
        d->pb_count--;
        if (d->pb_head == d->pb_wrap) {
            d->pb_head = 0;
            d->pb_wrap = 2 * X520_PB_SIZE;
        }
    }
    x520_rx_flush(d);
}

/* As saved: a count, and for each frame nine 32-bit words and its bytes. */
#define X520_SAVED_WORDS        9

void x520_rx_save(X520Core *core, GByteArray *out)
{
    X520Data *d = core->data;
    uint32_t count = cpu_to_le32(d->pb_count), at = d->pb_head;
    X520RxMeta m;

    g_byte_array_append(out, (uint8_t *)&count, sizeof(count));
    for (uint32_t n = 0; n < d->pb_count; n++) {
        memcpy(&m, d->pb + at, sizeof(m));
        uint32_t words[X520_SAVED_WORDS] = {
            m.len, m.wire_len, m.queue, m.types, m.hash, m.status, m.tci,
            m.vlan, m.multicast,
        };

        for (unsigned i = 0; i < X520_SAVED_WORDS; i++) {
            words[i] = cpu_to_le32(words[i]);
        }
        g_byte_array_append(out, (uint8_t *)words, sizeof(words));
        g_byte_array_append(out, d->pb + at + sizeof(m), m.len);
        at += m.space;
        if (at == d->pb_wrap) {
            at = 0;
        }
    }
}

ssize_t x520_rx_load(X520Core *core, const uint8_t *buf, size_t len)
{
    const uint8_t *p = buf, *end = buf + len;
    uint32_t count;

    x520_rx_flush(core->data);
    if (len < sizeof(count)) {
        return -1;
    }
    count = ldl_le_p(p);
    p += sizeof(count);
    while (count--) {
        X520RxMeta m = {};

        if (end - p < 4 * X520_SAVED_WORDS) {
            return -1;
        }
        m.len = ldl_le_p(p);
        m.wire_len = ldl_le_p(p + 4);
        m.queue = ldl_le_p(p + 8);
        m.types = ldl_le_p(p + 12);
        m.hash = ldl_le_p(p + 16);
        m.status = ldl_le_p(p + 20);
        m.tci = ldl_le_p(p + 24);
        m.vlan = ldl_le_p(p + 28);
        m.multicast = ldl_le_p(p + 32);
        p += 4 * X520_SAVED_WORDS;
        if (m.len > X520_FRAME_MAX + X520_FCS_LEN || m.len > end - p ||
            m.len < X520_FRAME_MIN || m.queue >= X520_NUM_QUEUES ||
            !x520_pb_push(core, &m, p)) {
            return -1;
        }
        p += m.len;
    }
    return p - buf;
}

static void x520_rx_queue_frame(X520Core *core, X520RxMeta *m,
                                const uint8_t *buf)
{
    X520Data *d = core->data;

    if (!d->pb_count) {
        if (x520_rx_put(core, m, buf) != X520_RX_NO_DESC) {
            return;
        }
        if (x520_rx_drops(core, m->queue)) {
            x520_stat_rx_nodesc(core, m->queue);
            trace_x520_rx_drop(core->port, m->queue, m->len, "no descriptor");
            return;
        }
    }
    if (!x520_pb_push(core, m, buf)) {
        x520_stat_rx_missed(core);
        trace_x520_rx_drop(core->port, m->queue, m->len, "buffer full");
    }
    x520_wire_level(core);
}

/* ---- frames ---- */

/* MAC control frames end here; PAUSE stops the transmitter. */
static void x520_rx_mac_control(X520Core *core, const uint8_t *buf)
{
    uint16_t quanta = lduw_be_p(buf + 16);

    if (lduw_be_p(buf + 14) != 1 ||
        !(x520_reg(core, X520_MFLCN) & X520_MFLCN_RFCE)) {
        return;
    }
    x520_stat_add(core, quanta ? X520_LXOFFRXCNT : X520_LXONRXCNT, 1);
    x520_wire_pause(core, quanta);
}

/* Checksum bits, with the erratum of zero UDP checksums. */
static uint32_t x520_rx_status(X520Core *core, const X520Pkt *p,
                               const uint8_t *buf)
{
    bool zero;
    uint32_t st = x520_pkt_verify(p, buf, &zero);

    /*
     * Nothing was checked, and the datasheet has L4CS clear then. The silicon
     * checks all the same: an all-zero field does not fit, so the frame comes
     * with an L4 error.
     */
    if (zero && (core->erratum == X520_ERRATUM_ALWAYS ||
                 (core->erratum == X520_ERRATUM_SOMETIMES &&
                  (x520_rng(core->data) & 0x100)))) {
        st |= X520_RXS_L4CS | X520_RXS_UDPCS | X520_RXE_L4E;
    }
    return st;
}

static bool x520_rx_keeps_fcs(X520Core *core)
{
    return !(x520_reg(core, X520_HLREG0) & X520_HLREG0_RXCRCSTRP) &&
           !(x520_reg(core, X520_RDRXCTL) & X520_RDRXCTL_CRCSTRIP);
}

/* Fault injection: flips one bit at or after byte corrupt-offset. */
static bool x520_rx_damaged(X520Core *core, size_t len)
{
    return core->corrupt_permille && len > (size_t)core->corrupt_offset + 1 &&
           x520_rng(core->data) % 1000 < core->corrupt_permille;
}

static void x520_rx_damage(X520Core *core, uint8_t *buf, size_t len)
{
    X520Data *d = core->data;
    uint32_t bit = x520_rng(d) % ((len - core->corrupt_offset) * 8);
    size_t byte = core->corrupt_offset + bit / 8;

    buf[byte] ^= 1 << (bit % 8);
    d->corrupted++;
    trace_x520_rx_corrupt(core->port, byte, bit % 8, len, d->corrupted);
}

/* Sets the queue of a pool's copy; false if a filter drops the frame. */
static bool x520_rx_steer(X520Core *core, X520RxMeta *m, const uint8_t *buf,
                          const X520Pkt *p, unsigned rss, unsigned pool)
{
    X520FdirMatch fdir;

    m->queue = x520_rx_queue(core, p, rss, pool) & (X520_NUM_QUEUES - 1);
    if (!x520_fdir_match(core, p, buf, m->len, pool, &fdir)) {
        return true;
    }
    m->status |= X520_RXS_FLM;
    if (x520_reg(core, X520_FDIRCTRL) & X520_FDIRCTRL_REPORT) {
        m->types = (m->types & ~0xf) | X520_RSSTYPE_FDIR;
        m->hash = fdir.id;
    }
    if (fdir.to_queue) {
        m->queue = fdir.queue;
    }
    return !fdir.drop;
}

/*
 * The 82599 does not look beyond L2 at frames that it switches itself: neither
 * checksums nor hash nor packet type.
 */
void x520_rx_switched(X520Core *core, const uint8_t *buf, size_t len,
                      const X520Pkt *p, uint64_t pools)
{
    X520Data *d = core->data;
    X520RxMeta m = {
        .wire_len = MAX(len, X520_FRAME_MIN) + X520_FCS_LEN,
        .tci = p->tci,
        .vlan = p->vlan,
        .multicast = is_multicast_ether_addr(buf),
        .status = X520_RXS_LB | (p->vlan ? X520_RXS_VP : 0),
    };
    bool keep_fcs = x520_rx_keeps_fcs(core);

    if (!(x520_reg(core, X520_RXCTRL) & X520_RXCTRL_RXEN) ||
        len + X520_FCS_LEN > X520_FRAME_MAX) {
        return;
    }
    if (len < X520_FRAME_MIN || keep_fcs) {
        memcpy(d->rx_buf, buf, len);
        if (len < X520_FRAME_MIN) {
            memset(d->rx_buf + len, 0, X520_FRAME_MIN - len);
            len = X520_FRAME_MIN;
        }
        if (keep_fcs) {
            stl_le_p(d->rx_buf + len, crc32(0, d->rx_buf, len));
        }
        buf = d->rx_buf;
    }
    m.len = len + (keep_fcs ? X520_FCS_LEN : 0);
    for (; pools; pools &= pools - 1) {
        m.queue = x520_rx_queue(core, p, 0, ctz64(pools)) &
                  (X520_NUM_QUEUES - 1);
        x520_rx_queue_frame(core, &m, buf);
    }
}

void x520_rx_frame(X520Core *core, const uint8_t *buf, size_t len,
                   bool loopback)
{
    X520Data *d = core->data;
    uint32_t hlreg0 = x520_reg(core, X520_HLREG0);
    uint32_t mrqc = x520_reg(core, X520_MRQC);
    uint16_t vet = x520_reg(core, X520_VLNCTRL) & X520_VLNCTRL_VET;
    size_t max = X520_STD_FRAME_MAX;
    bool keep_fcs, damaged;
    unsigned rss = 0;
    X520RxMatch match;
    X520RxMeta m = {};
    X520Pkt p;

    if (!(x520_reg(core, X520_RXCTRL) & X520_RXCTRL_RXEN) ||
        (x520_reg(core, X520_SECRXCTRL) & X520_SECRXCTRL_RX_DIS)) {
        return;
    }
    m.wire_len = MAX(len, X520_FRAME_MIN) + X520_FCS_LEN;
    x520_stat_rx_seen(core, m.wire_len);
    if (hlreg0 & X520_HLREG0_JUMBOEN) {
        max = x520_reg(core, X520_MAXFRS) >> X520_MAXFRS_MFS_SHIFT;
    }
    max = MIN(max, X520_FRAME_MAX);
    /* a tag does not count */
    if (len + X520_FCS_LEN > max &&
        !(len + X520_FCS_LEN <= max + 4 && len >= 14 &&
          lduw_be_p(buf + 12) == (vet ? vet : ETH_P_VLAN))) {
        x520_stat_add(core, X520_ROC, 1);
        trace_x520_rx_drop(core->port, 0, len, "oversize");
        return;
    }

    keep_fcs = x520_rx_keeps_fcs(core);
    damaged = !loopback && x520_rx_damaged(core, len);
    if (len < X520_FRAME_MIN || damaged || keep_fcs) {
        memcpy(d->rx_buf, buf, len);
        if (len < X520_FRAME_MIN) {
            memset(d->rx_buf + len, 0, X520_FRAME_MIN - len);
            len = X520_FRAME_MIN;
        }
        if (damaged) {
            x520_rx_damage(core, d->rx_buf, len);
        }
        if (keep_fcs) {
            stl_le_p(d->rx_buf + len, crc32(0, d->rx_buf, len));
        }
        buf = d->rx_buf;
    }

    x520_pkt_parse(&p, buf, len, vet ? vet : ETH_P_VLAN);
    if (p.ethertype == X520_ETH_P_MAC_CONTROL && !p.vlan) {
        x520_rx_mac_control(core, buf);
        return;
    }
    if (!x520_filter_rx(core, buf, &p, &match)) {
        return;
    }
    x520_stat_rx_good(core, m.wire_len, buf);

    m.len = len + (keep_fcs ? X520_FCS_LEN : 0);
    m.tci = p.tci;
    m.vlan = p.vlan;
    m.multicast = is_multicast_ether_addr(buf);
    m.types = p.ptype;
    m.status = x520_rx_status(core, &p, buf);
    if (p.vlan) {
        m.status |= X520_RXS_VP;
    }
    if (match.inexact) {
        m.status |= X520_RXS_PIF;
    }
    if (loopback) {
        m.status |= X520_RXS_LB;
    }
    if (x520_ptp_rx(core, &p, buf, len)) {
        m.status |= X520_RXS_TS;
    }
    x520_rsc_note(&m, &p);
    trace_x520_rx_frame(core->port, len, p.ptype, m.status);

    if (p.ptype) {
        uint32_t key[X520_RSS_KEY_LEN / 4];
        unsigned type, i;

        for (i = 0; i < ARRAY_SIZE(key); i++) {
            key[i] = x520_reg(core, X520_RSSRK(i));
        }
        x520_rss_set_key(&d->rss, key);
        type = x520_rss_hash(&d->rss, mrqc, &p, buf, &m.hash);
        if (type != X520_RSSTYPE_NONE) {
            i = m.hash & 127;
            rss = (x520_reg(core, X520_RETA(i / 4)) >> (8 * (i % 4))) & 0xf;
        }
        /* RXCSUM.PCSD: the dword holds the hash, not a packet checksum */
        if (x520_reg(core, X520_RXCSUM) & X520_RXCSUM_PCSD) {
            m.types |= type;
        } else {
            m.hash = 0;
        }
    } else if (x520_rx_etype(core, &p, &m)) {
        x520_rx_queue_frame(core, &m, buf);
        return;
    }

    /*
     * Order of precedence (datasheet 7.1.2): Ethernet type, then the SYN,
     * five-tuple and Flow Director filters, then RSS. SYN and five-tuple
     * filters are not modelled.
     */
    do {
        unsigned pool = match.pools ? ctz64(match.pools) : 0;
        X520RxMeta copy = m;

        if (x520_rx_steer(core, &copy, buf, &p, rss, pool)) {
            x520_rx_queue_frame(core, &copy, buf);
        }
        match.pools &= match.pools - 1;
    } while (match.pools);
}

void x520_rx_disable(X520Core *core, unsigned queue)
{
    X520RxQueue *q = &core->data->rxq[queue];

    q->pos = 0;
    q->num = 0;
    x520_rsc_forget(core, queue);
}

/* ---- network client ---- */

/*
 * A wire does not push back: with pace=on, what does not fit is lost, as on
 * the hardware. With pace=off the sender is not limited by time either, and
 * a peer that can wait is made to.
 */
bool x520_can_receive(NetClientState *nc)
{
    X520Core *core = qemu_get_nic_opaque(nc);
    X520Data *d = core->data;

    if (!core->pace && d->pb_used > x520_pb_limit(core) / 2) {
        d->rx_stalled = true;
        return false;
    }
    return true;
}

ssize_t x520_receive(NetClientState *nc, const uint8_t *buf, size_t size)
{
    X520Core *core = qemu_get_nic_opaque(nc);

    if (x520_link_up(core) && !x520_loopback(core)) {
        x520_fault_rx(core, buf, size);
    }
    return size;
}

ssize_t x520_receive_iov(NetClientState *nc, const struct iovec *iov,
                         int iovcnt)
{
    X520Core *core = qemu_get_nic_opaque(nc);
    X520Data *d = core->data;
    size_t size;

    if (iovcnt == 1) {
        return x520_receive(nc, iov->iov_base, iov->iov_len);
    }
    size = iov_size(iov, iovcnt);
    if (size <= sizeof(d->iov_buf)) {
        iov_to_buf(iov, iovcnt, 0, d->iov_buf, size);
        x520_receive(nc, d->iov_buf, size);
    }
    return size;
}

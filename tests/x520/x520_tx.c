/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: transmit path.
 *
 * One packet is fetched at a time, all of it, into a linear buffer; its frames
 * leave one by one as the wire has room. A segment is made by writing its
 * header right in front of its payload, over payload that has left already,
 * so that payload is copied once, from guest memory.
 *
 * Every length in a descriptor is the guest's word. A packet whose lengths
 * contradict each other is dropped and its descriptors completed; real
 * hardware may hang in such a case and waits for a reset.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/log.h"
#include "hw/pci/pci_device.h"
#include "net/eth.h"
#include "x520_data.h"
#include "trace.h"

#define X520_TCP_FIN            0x001
#define X520_TCP_PSH            0x008
#define X520_TCP_FLAGS          0xfff

/* Offsets in protocol headers */
#define X520_IP4_LEN            2
#define X520_IP4_ID             4
#define X520_IP4_CHECK          10
#define X520_IP6_LEN            4
#define X520_TCP_SEQ            4
#define X520_TCP_OFF_FLAGS      12
#define X520_TCP_CHECK          16
#define X520_UDP_LEN            4
#define X520_UDP_CHECK          6
#define X520_SCTP_CHECK         8

static void x520_tx_bad(X520Core *core, unsigned queue, const char *what)
{
    qemu_log_mask(LOG_GUEST_ERROR, "x520: port %u tx queue %u: %s\n",
                  core->port, queue, what);
}

/* Ring size in descriptors, and head and tail within it; false if unusable */
static bool x520_tx_ring(X520Core *core, unsigned queue, uint64_t *base,
                         uint32_t *count, uint32_t *head, uint32_t *tail)
{
    if (!(x520_reg(core, X520_TXDCTL(queue)) & X520_TXDCTL_ENABLE) ||
        !(x520_reg(core, X520_DMATXCTL) & X520_DMATXCTL_TE) ||
        !x520_tx_pool_enabled(core, queue) ||
        (core->faults.tx_hang &&
         core->faults.tx_packets >= core->faults.tx_hang)) {
        return false;
    }
    *base = (uint64_t)x520_reg(core, X520_TDBAH(queue)) << 32 |
            (x520_reg(core, X520_TDBAL(queue)) & ~0x7fu);
    *count = x520_reg(core, X520_TDLEN(queue)) / X520_DESC_SIZE;
    *head = x520_reg(core, X520_TDH(queue));
    *tail = x520_reg(core, X520_TDT(queue));
    return *head < *count && *tail < *count;
}

static void x520_tx_complete(X520Core *core)
{
    X520Data *d = core->data;
    X520TxPacket *p = &d->pkt;
    unsigned queue = p->queue;
    PCIDevice *dev = x520_queue_dev(core, queue);
    uint32_t wb = x520_reg(core, X520_TDWBAL(queue));
    uint64_t base = (uint64_t)x520_reg(core, X520_TDBAH(queue)) << 32 |
                    (x520_reg(core, X520_TDBAL(queue)) & ~0x7fu);

    p->active = false;
    core->faults.tx_packets++;
    core->mac[X520_TDH(queue) >> 2] = p->new_head;
    if (!p->num_rs) {
        return;
    }
    if (wb & X520_TDWBAL_EN) {
        uint64_t addr = (uint64_t)x520_reg(core, X520_TDWBAH(queue)) << 32 |
                        (wb & ~0x3u);

        stl_le_pci_dma(dev, addr, p->new_head, MEMTXATTRS_UNSPECIFIED);
    } else {
        for (unsigned i = 0; i < p->num_rs; i++) {
            stl_le_pci_dma(dev, base + (uint64_t)p->rs[i] * X520_DESC_SIZE + 12,
                           X520_TXD_DD, MEMTXATTRS_UNSPECIFIED);
        }
    }
    x520_intr_tx(core, queue);
}

/* Puts the tag behind the addresses of the header or frame at @hdr. */
static void x520_tx_tag(X520Core *core, uint8_t *hdr, uint16_t tci)
{
    uint16_t type = x520_reg(core, X520_DMATXCTL) >> X520_DMATXCTL_VT_SHIFT;

    memmove(hdr - 4, hdr, 12);
    stw_be_p(hdr + 8, type ? type : ETH_P_VLAN);
    stw_be_p(hdr + 10, tci);
}

/*
 * Inserts an Internet checksum at @field over [@start, @end). The field holds
 * what software put there: zero, or a seed such as the pseudo header's sum.
 */
static bool x520_tx_insert(uint8_t *buf, uint32_t start, uint32_t field,
                           uint32_t end, bool udp)
{
    uint16_t sum;

    if (start >= end || field < start || field + 2 > end) {
        return false;
    }
    sum = ~x520_csum_fold(x520_csum_add(0, buf + start, end - start));
    if (udp && !sum) {
        sum = 0xffff;
    }
    memcpy(buf + field, &sum, sizeof(sum));
    return true;
}

/* Checksums of a packet that leaves as one frame. */
static bool x520_tx_checksums(uint8_t *buf, uint32_t len, const uint32_t *ctx,
                              uint32_t popts)
{
    uint32_t l3 = (ctx[0] >> X520_TXC_MACLEN_SHIFT) & 0x7f;
    uint32_t l4 = l3 + (ctx[0] & X520_TXC_IPLEN);

    if (popts & X520_TXD_TXSM) {
        switch (ctx[2] & X520_TXC_L4T) {
        case X520_TXC_L4T_TCP:
            if (!x520_tx_insert(buf, l4, l4 + X520_TCP_CHECK, len, false)) {
                return false;
            }
            break;
        case X520_TXC_L4T_UDP:
            if (!x520_tx_insert(buf, l4, l4 + X520_UDP_CHECK, len, true)) {
                return false;
            }
            break;
        case X520_TXC_L4T_SCTP:
            if (l4 + 12 > len) {
                return false;
            }
            stl_le_p(buf + l4 + X520_SCTP_CHECK,
                     x520_sctp_crc(buf + l4, len - l4));
            break;
        default:
            return false;
        }
    }
    if ((popts & X520_TXD_IXSM) && (ctx[2] & X520_TXC_IPV4)) {
        return l4 <= len &&
               x520_tx_insert(buf, l3, l3 + X520_IP4_CHECK, l4, false);
    }
    return true;
}

/*
 * Prepares segmentation. The "IP header" may reach over tunnel headers up to
 * the inner L4 header (GSO partial): the outer IP header gets length and
 * identification per segment, the checksum field was seeded so that all else
 * cancels out, and what lies between is the same in every segment.
 */
static bool x520_tx_start_tso(X520Core *core, X520TxPacket *p, uint8_t *buf,
                              uint32_t len, const uint32_t *ctx,
                              int tci, uint32_t popts)
{
    uint32_t mac_len = (ctx[0] >> X520_TXC_MACLEN_SHIFT) & 0x7f;
    uint32_t ip_len = ctx[0] & X520_TXC_IPLEN;
    uint32_t l4t = ctx[2] & X520_TXC_L4T;
    uint32_t tag = tci >= 0 ? 4 : 0;
    uint32_t hdr_len;
    uint16_t zero = 0, w;

    p->l4_len = (ctx[3] >> X520_TXC_L4LEN_SHIFT) & 0xff;
    p->mss = ctx[3] >> X520_TXC_MSS_SHIFT;
    p->ipv4 = ctx[2] & X520_TXC_IPV4;
    p->udp = l4t == X520_TXC_L4T_UDP;
    hdr_len = mac_len + ip_len + p->l4_len;
    if (!p->mss || mac_len < 14 || ip_len < (p->ipv4 ? 20 : 40) ||
        (l4t != X520_TXC_L4T_TCP && l4t != X520_TXC_L4T_UDP) ||
        p->l4_len < (p->udp ? 8 : 20) || len <= hdr_len ||
        hdr_len + tag + p->mss + X520_FCS_LEN > X520_FRAME_MAX) {
        return false;
    }

    p->tso = true;
    p->popts = popts;
    p->hdr_len = hdr_len + tag;
    p->l2_len = mac_len + tag;
    p->l3 = mac_len + tag;
    p->l4 = mac_len + ip_len + tag;
    p->payload = buf + hdr_len;
    p->left = len - hdr_len;
    p->seg = 0;
    memcpy(p->hdr + tag, buf, hdr_len);
    if (tag) {
        x520_tx_tag(core, p->hdr + tag, tci);
    }

    /* take the fields that change out, and sum up the rest once */
    if (p->ipv4) {
        p->ip_id = lduw_be_p(p->hdr + p->l3 + X520_IP4_ID);
        memcpy(p->hdr + p->l3 + X520_IP4_ID, &zero, 2);
        memcpy(p->hdr + p->l3 + X520_IP4_LEN, &zero, 2);
        p->ip_sum = x520_csum_add(0, p->hdr + p->l3, ip_len);
    }
    if (p->udp) {
        memcpy(p->hdr + p->l4 + X520_UDP_LEN, &zero, 2);
    } else {
        p->seq = ldl_be_p(p->hdr + p->l4 + X520_TCP_SEQ);
        memset(p->hdr + p->l4 + X520_TCP_SEQ, 0, 4);
        w = lduw_be_p(p->hdr + p->l4 + X520_TCP_OFF_FLAGS);
        p->tcp_flags = w;
        memcpy(p->hdr + p->l4 + X520_TCP_OFF_FLAGS, &zero, 2);
    }
    p->l4_sum = x520_csum_add(0, p->hdr + p->l4, p->l4_len);
    return true;
}

/* Flags of this segment: the masks of DTXTCPFLGL and DTXTCPFLGH. */
static uint16_t x520_tx_tcp_flags(X520Core *core, const X520TxPacket *p,
                                  bool first, bool last)
{
    uint32_t low = x520_reg(core, X520_DTXTCPFLGL);
    uint32_t mask;

    if (first && last) {
        return p->tcp_flags;
    }
    if (last) {
        mask = x520_reg(core, X520_DTXTCPFLGH);
    } else if (first) {
        mask = low;
    } else {
        mask = low >> 16;
    }
    return p->tcp_flags & (mask | ~X520_TCP_FLAGS);
}

/* Writes the next segment's header before its payload; returns its length. */
static uint32_t x520_tx_segment(X520Core *core, X520TxPacket *p,
                                uint8_t **frame)
{
    uint32_t chunk = MIN(p->left, p->mss);
    bool last = chunk == p->left;
    uint32_t l4_bytes = p->l4_len + chunk;
    uint32_t len = p->hdr_len + chunk;
    uint8_t *hdr = p->payload - p->hdr_len;
    uint64_t sum;
    uint16_t w;

    memcpy(hdr, p->hdr, p->hdr_len);

    if (p->ipv4) {
        sum = p->ip_sum;
        w = cpu_to_be16(len - p->l2_len);
        memcpy(hdr + p->l3 + X520_IP4_LEN, &w, 2);
        sum += w;
        w = cpu_to_be16(p->ip_id + p->seg);
        memcpy(hdr + p->l3 + X520_IP4_ID, &w, 2);
        sum += w;
        if (p->popts & X520_TXD_IXSM) {
            w = ~x520_csum_fold(sum);
            memcpy(hdr + p->l3 + X520_IP4_CHECK, &w, 2);
        }
    } else {
        stw_be_p(hdr + p->l3 + X520_IP6_LEN, len - p->l2_len - 40);
    }

    /* the seed lacks the L4 length, which differs in the last segment */
    sum = p->l4_sum + cpu_to_be16(l4_bytes);
    if (p->udp) {
        w = cpu_to_be16(l4_bytes);
        memcpy(hdr + p->l4 + X520_UDP_LEN, &w, 2);
        sum += w;
    } else {
        uint32_t seq = cpu_to_be32(p->seq);

        memcpy(hdr + p->l4 + X520_TCP_SEQ, &seq, 4);
        sum += seq;
        w = cpu_to_be16(x520_tx_tcp_flags(core, p, !p->seg, last));
        memcpy(hdr + p->l4 + X520_TCP_OFF_FLAGS, &w, 2);
        sum += w;
    }
    if (p->popts & X520_TXD_TXSM) {
        sum = x520_csum_add(sum, p->payload, chunk);
        w = ~x520_csum_fold(sum);
        if (p->udp && !w) {
            w = 0xffff;
        }
        memcpy(hdr + p->l4 + (p->udp ? X520_UDP_CHECK : X520_TCP_CHECK), &w,
               2);
    }

    p->payload += chunk;
    p->left -= chunk;
    p->seq += chunk;
    p->seg++;
    *frame = hdr;
    return len;
}

void x520_tx_emit(X520Core *core)
{
    X520TxPacket *p = &core->data->pkt;
    uint8_t *frame = p->frame;
    uint8_t padded[X520_FRAME_MIN];
    uint32_t len = p->len;

    if (p->tso) {
        len = x520_tx_segment(core, p, &frame);
    }
    if (len < X520_FRAME_MIN &&
        (x520_reg(core, X520_HLREG0) & X520_HLREG0_TXPADEN)) {
        /* not in place: the next segment's payload may lie there */
        memcpy(padded, frame, len);
        memset(padded + len, 0, X520_FRAME_MIN - len);
        frame = padded;
        len = X520_FRAME_MIN;
    }
    trace_x520_tx_frame(core->port, p->queue, len, p->tso);
    if (p->stamp) {
        p->stamp = false;
        x520_ptp_tx(core);
    }
    x520_rate_take_time(core, p->queue, len);
    x520_switch_send(core, p->queue, frame, len);
    /* a reset may have come in between, and made the packet void */
    if (p->active && (!p->tso || !p->left)) {
        x520_tx_complete(core);
    }
}

/* The tag to insert, by the descriptor or by the pool's VMVIR; -1: none. */
static int x520_tx_tci(X520Core *core, unsigned queue, uint32_t cmd,
                       uint16_t tci)
{
    int pool = x520_tx_pool(core, queue);
    uint32_t vmvir = pool < 0 ? 0 : x520_reg(core, X520_VMVIR(pool));

    switch (vmvir & X520_VMVIR_ACTION) {
    case X520_VMVIR_DEFAULT:
        return vmvir & 0xffff;
    case X520_VMVIR_NEVER:
        return -1;
    default:
        return cmd & X520_TXD_VLE ? tci : -1;
    }
}

/* A whole packet lies in d->tx_buf: offloads, then it may leave. */
static bool x520_tx_start(X520Core *core, X520TxPacket *p, uint32_t len,
                          const X520TxDesc *first)
{
    X520Data *d = core->data;
    uint8_t *buf = d->tx_buf + X520_TX_HEADROOM;
    uint32_t cmd = first->dw[2];
    uint32_t opts = first->dw[3];
    int tci;

    p->tso = false;
    p->stamp = (cmd & X520_TXD_DEXT) && (cmd & X520_TXD_1588);
    if (len < 14) {
        x520_tx_bad(core, p->queue, "frame shorter than its header");
        return false;
    }
    if (cmd & X520_TXD_DEXT) {
        const uint32_t *ctx =
            d->txq[p->queue].ctx[(opts >> X520_TXD_IDX_SHIFT) & 1];

        tci = x520_tx_tci(core, p->queue, cmd,
                          ctx[0] >> X520_TXC_VLAN_SHIFT);
        if (cmd & X520_TXD_TSE) {
            if (!x520_tx_start_tso(core, p, buf, len, ctx, tci, opts)) {
                x520_tx_bad(core, p->queue, "impossible segmentation");
                return false;
            }
            return true;
        }
        if ((opts & (X520_TXD_IXSM | X520_TXD_TXSM)) &&
            !x520_tx_checksums(buf, len, ctx, opts)) {
            x520_tx_bad(core, p->queue, "checksum outside the frame");
        }
    } else {
        if (cmd & X520_TXD_IC) {
            uint32_t css = (opts >> X520_TXD_CSS_SHIFT) & 0xff;
            uint32_t cso = (cmd >> X520_TXD_CSO_SHIFT) & 0xff;

            if (!x520_tx_insert(buf, css, cso, len, false)) {
                x520_tx_bad(core, p->queue, "checksum outside the frame");
            }
        }
        tci = x520_tx_tci(core, p->queue, cmd, opts >> X520_TXD_VLAN_SHIFT);
    }
    if (tci >= 0) {
        x520_tx_tag(core, buf, tci);
        buf -= 4;
        len += 4;
    }
    if (len + X520_FCS_LEN > X520_FRAME_MAX) {
        x520_tx_bad(core, p->queue, "frame too long");
        return false;
    }
    p->frame = buf;
    p->len = len;
    return true;
}

bool x520_tx_fetch(X520Core *core, unsigned queue)
{
    X520Data *d = core->data;
    X520TxQueue *q = &d->txq[queue];
    X520TxPacket *p = &d->pkt;
    PCIDevice *dev = x520_queue_dev(core, queue);
    uint8_t *buf = d->tx_buf + X520_TX_HEADROOM;
    uint32_t count, head, tail, idx, len = 0;
    X520TxDesc first = {};
    bool have_first = false;
    uint64_t base;

    if (!x520_tx_ring(core, queue, &base, &count, &head, &tail)) {
        return false;
    }
    p->queue = queue;
    p->num_rs = 0;
    idx = head;

    /* each descriptor between head and tail is looked at once */
    while (idx != tail) {
        uint32_t n = (tail > idx ? tail : count) - idx;

        n = MIN(n, X520_TX_FETCH);
        /* most packets take two to four descriptors: do not read 1 KiB */
        if (!have_first) {
            n = MIN(n, 8);
        }
        if (pci_dma_read(dev, base + (uint64_t)idx * X520_DESC_SIZE,
                         d->tx_desc, n * X520_DESC_SIZE)) {
            x520_tx_bad(core, queue, "descriptor fetch failed");
            return false;
        }
        for (uint32_t i = 0; i < n; i++) {
            uint32_t cmd = le32_to_cpu(d->tx_desc[i].dw[2]);
            uint32_t opts = le32_to_cpu(d->tx_desc[i].dw[3]);
            uint32_t size = cmd & X520_TXD_DTALEN;
            uint64_t addr = le32_to_cpu(d->tx_desc[i].dw[0]) |
                            (uint64_t)le32_to_cpu(d->tx_desc[i].dw[1]) << 32;

            if ((cmd & X520_TXD_RS) && p->num_rs < X520_TX_RS_MAX) {
                p->rs[p->num_rs++] = idx;
            }
            idx = idx + 1 == count ? 0 : idx + 1;

            if ((cmd & X520_TXD_DEXT) &&
                (cmd & X520_TXD_DTYP) == X520_TXD_DTYP_CTXT) {
                uint32_t *ctx = q->ctx[(opts >> X520_TXD_IDX_SHIFT) & 1];

                ctx[0] = addr;
                ctx[1] = addr >> 32;
                ctx[2] = cmd;
                ctx[3] = opts;
                continue;
            }
            if (!have_first) {
                have_first = true;
                first.dw[2] = cmd;
                first.dw[3] = opts;
            }
            if (!q->skip) {
                if (len + size > X520_TX_DATA_MAX) {
                    x520_tx_bad(core, queue, "packet over 256 KiB");
                    q->skip = true;
                } else if (size && pci_dma_read(dev, addr, buf + len, size)) {
                    x520_tx_bad(core, queue, "data fetch failed");
                    q->skip = true;
                } else {
                    len += size;
                }
            }
            if (!(cmd & X520_TXD_EOP)) {
                continue;
            }
            p->new_head = idx;
            p->active = true;
            if (q->skip || !x520_tx_start(core, p, len, &first)) {
                q->skip = false;
                x520_tx_complete(core);
                /* nothing to send, but more may follow */
            }
            return true;
        }
    }
    if (idx != head && (q->skip || !have_first)) {
        /* contexts only, or too long already: need not be seen again */
        p->new_head = idx;
        x520_tx_complete(core);
    }
    return false;
}

void x520_tx_disable(X520Core *core, unsigned queue)
{
    X520Data *d = core->data;

    memset(&d->txq[queue], 0, sizeof(d->txq[queue]));
    clear_bit(queue, d->tx_pending);
    if (d->pkt.active && d->pkt.queue == queue) {
        d->pkt.active = false;
    }
}

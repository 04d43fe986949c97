/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: the IEEE 1588 clock, and the stamps of frames
 * that come and go (82599 datasheet, section 7.9).
 *
 * There is one stamp for each direction. It is kept until software has read
 * its high half, and frames that pass meanwhile get none.
 */

#include "qemu/osdep.h"
#include "qemu/bitops.h"
#include "qemu/bswap.h"
#include "qemu/host-utils.h"
#include "x520_data.h"
#include "trace.h"

#define X520_PTP_HEADER         34      /* of IEEE 1588-2008 */
#define X520_PTP_CONTROL        32      /* version 1: control field */

/*
 * TIMINCA: every IP (bits 31:24) periods of 6.4 ns at 10 Gb/s (64 ns at
 * 1 Gb/s) the clock advances by IV (bits 23:0).
 */
static uint64_t x520_systim(X520Core *core)
{
    uint32_t inca = x520_reg(core, X520_TIMINCA);
    uint32_t period = inca >> 24;
    uint64_t ns = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) - core->systim_start;
    uint32_t tick = x520_link_bps(core) == 1000000000 ? 640 : 64;

    if (!period) {
        return core->systim_base;
    }
    return core->systim_base +
           muldiv64(ns, 10, tick * period) * (inca & 0xffffff);
}

uint32_t x520_systim_read(X520Core *core, hwaddr offset)
{
    if (offset == X520_SYSTIML) {
        core->systim_latch = x520_systim(core);
        return core->systim_latch;
    }
    return core->systim_latch >> 32;
}

void x520_systim_write(X520Core *core, hwaddr offset, uint32_t value)
{
    uint64_t now = x520_systim(core);

    if (offset == X520_TIMINCA) {
        core->mac[offset >> 2] = value;
    } else if (offset == X520_SYSTIML) {
        now = deposit64(now, 0, 32, value);
    } else {
        now = deposit64(now, 32, 32, value);
    }
    core->systim_base = now;
    core->systim_start = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
}

/* Reading a stamp's high half makes room for the next. */
uint32_t x520_stamp_read(X520Core *core, hwaddr offset)
{
    hwaddr ctl = offset == X520_RXSTMPH ? X520_TSYNCRXCTL : X520_TSYNCTXCTL;

    core->mac[ctl >> 2] &= ~X520_TSYNC_VALID;
    return x520_reg(core, offset);
}

static bool x520_stamp(X520Core *core, hwaddr ctl, hwaddr low, hwaddr high)
{
    uint32_t *reg = &core->mac[ctl >> 2];
    uint64_t now;

    if (!(*reg & X520_TSYNC_ENABLED) || (*reg & X520_TSYNC_VALID)) {
        return false;
    }
    now = x520_systim(core);
    core->mac[low >> 2] = now;
    core->mac[high >> 2] = now >> 32;
    *reg |= X520_TSYNC_VALID;
    trace_x520_stamp(core->port, ctl == X520_TSYNCTXCTL, now);
    return true;
}

/* The PTP message in a frame, or NULL; *@udp says where it was found. */
static const uint8_t *x520_ptp_message(X520Core *core, const X520Pkt *p,
                                       const uint8_t *buf, size_t len,
                                       bool *udp)
{
    uint32_t mtrl = x520_reg(core, X520_RXMTRL);
    size_t at = 0;

    *udp = false;
    if (p->l4 && (p->ptype & X520_PTYPE_UDP)) {
        if (lduw_be_p(buf + p->l4 + 2) == mtrl >> 16) {
            *udp = true;
            at = p->l4 + 8;
        }
    } else if (!p->ptype) {
        for (unsigned i = 0; i < 8; i++) {
            uint32_t etqf = x520_reg(core, X520_ETQF(i));

            if ((etqf & X520_ETQF_EN) && (etqf & X520_ETQF_1588) &&
                (etqf & 0xffff) == p->ethertype) {
                at = p->l3;
            }
        }
    }
    return at && at + X520_PTP_HEADER <= len ? buf + at : NULL;
}

bool x520_ptp_rx(X520Core *core, const X520Pkt *p, const uint8_t *buf,
                 size_t len)
{
    uint32_t ctl = x520_reg(core, X520_TSYNCRXCTL);
    uint32_t mtrl = x520_reg(core, X520_RXMTRL);
    unsigned type = (ctl >> X520_TSYNCRX_TYPE_SHIFT) & 7;
    const uint8_t *msg;
    bool udp, want;

    if (!(ctl & X520_TSYNC_ENABLED)) {
        return false;
    }
    msg = x520_ptp_message(core, p, buf, len, &udp);
    switch (type) {
    case X520_TSYNCRX_ALL:
        want = true;
        break;
    case X520_TSYNCRX_L2_V2:
        want = msg && !udp && (msg[0] & 0xf) == ((mtrl >> 8) & 0xf);
        break;
    case X520_TSYNCRX_L4_V1:
        want = msg && udp && msg[X520_PTP_CONTROL] == (mtrl & 0xff);
        break;
    case X520_TSYNCRX_L2_L4_V2:
        want = msg && (msg[0] & 0xf) == ((mtrl >> 8) & 0xf);
        break;
    case X520_TSYNCRX_EVENT_V2:
        want = msg && (msg[0] & 0xf) < 8;
        break;
    default:
        want = false;
        break;
    }
    return want && x520_stamp(core, X520_TSYNCRXCTL, X520_RXSTMPL,
                              X520_RXSTMPH);
}

void x520_ptp_tx(X520Core *core)
{
    x520_stamp(core, X520_TSYNCTXCTL, X520_TXSTMPL, X520_TXSTMPH);
}

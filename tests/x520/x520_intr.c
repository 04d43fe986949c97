/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: interrupt causes, vectors and moderation
 * (82599 datasheet, sections 7.3 and 8.2.3.5).
 *
 * Two delivery schemes share the cause and mask registers:
 *
 * - MSI-X with GPIE.Multiple_MSIX: IVAR names a vector 0..63 for each queue.
 *   The masks of all vectors are EIMS_EX; EIMS bits 15:0 are the first 16 of
 *   them, and EICR bits 15:0 the causes of the first 16. Every other cause
 *   (EICR bits 30:16) has its mask in EIMS and its vector in IVAR_MISC.
 *   Sending a message clears the causes named in EIAC (always those of
 *   vectors above 15, which EICR cannot show), and with GPIE.EIAME masks
 *   what EIAM names.
 * - MSI, INTx, or MSI-X without that bit: IVAR names a bit of EICR 15:0, and
 *   the one interrupt is the OR of EICR & EIMS, moderated by EITR(0).
 *
 * EITR: after a message of a vector the next one waits for the interval to
 * end; what arrives meanwhile, or while masked, stays pending.
 */

#include "qemu/osdep.h"
#include "hw/pci/msi.h"
#include "hw/pci/msix.h"
#include "x520_core.h"
#include "trace.h"

#define X520_EICR_OTHERS        0x7fff0000      /* all but the queue bits */

static bool x520_multi_vector(const X520Core *core)
{
    return (x520_reg(core, X520_GPIE) & X520_GPIE_MSIX) &&
           msix_enabled(core->owner);
}

static uint32_t x520_eims(const X520Core *core)
{
    return (x520_reg(core, X520_EIMS) & 0xffff0000) |
           (core->vec_mask & 0xffff);
}

/* EITR bits 11:3 count in 2 us steps, so the field as it lies is 4 per us. */
static int64_t x520_interval_ns(const X520Core *core, unsigned vector)
{
    return (x520_reg(core, X520_EITR(vector)) & X520_EITR_INTERVAL) * 250LL;
}

/* May @vector send now? If not, have its timer try again. */
static bool x520_eitr_open(X520Core *core, unsigned vector)
{
    X520Eitr *eitr = &core->eitr[vector];
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    if (now < eitr->open_at) {
        if (!timer_pending(eitr->timer)) {
            timer_mod_ns(eitr->timer, eitr->open_at);
        }
        return false;
    }
    eitr->open_at = now + x520_interval_ns(core, vector);
    return true;
}

/* Vector of a cause outside the queue group, or -1 when not routed. */
static int x520_other_vector(const X520Core *core, uint32_t causes)
{
    uint32_t ivar = x520_reg(core, X520_IVAR_MISC);

    if (!(causes & ~X520_EICR_TCP_TIMER)) {
        ivar <<= 8;
    }
    return ivar & (X520_IVAR_VALID << 8) ? (ivar >> 8) & 0x3f : -1;
}

static void x520_send_vector(X520Core *core, unsigned vector, uint32_t others)
{
    uint64_t bit = 1ULL << vector;
    uint32_t eiac = x520_reg(core, X520_EIAC);
    bool automask = x520_reg(core, X520_GPIE) & X520_GPIE_EIAME;

    trace_x520_intr_msix(core->port, vector, others);
    if (core->vec_pending & core->vec_mask & bit) {
        core->vec_pending &= ~bit;
        if (vector < 16) {
            core->mac[X520_EICR >> 2] &= ~(eiac & bit);
        }
        if (automask) {
            uint32_t eiam = x520_reg(core, X520_EIAM_EX(vector / 32));

            core->vec_mask &= ~((uint64_t)eiam << (vector & 32) & bit);
        }
    }
    core->other_pending &= ~others;
    core->mac[X520_EICR >> 2] &= ~(eiac & others);
    if (automask) {
        core->mac[X520_EIMS >> 2] &= ~(x520_reg(core, X520_EIAM) & others);
    }
    msix_notify(core->owner, vector);
}

static void x520_update_msix(X520Core *core)
{
    uint32_t due = core->other_pending & x520_reg(core, X520_EIMS);
    uint64_t ready = core->vec_pending & core->vec_mask;

    while (due) {
        uint32_t group = due & X520_EICR_TCP_TIMER;
        int vector;

        if (!group) {
            group = due;
        }
        due &= ~group;
        vector = x520_other_vector(core, group);
        if (vector >= 0 && x520_eitr_open(core, vector)) {
            x520_send_vector(core, vector, group);
            ready = core->vec_pending & core->vec_mask;
        }
    }
    while (ready) {
        unsigned vector = ctz64(ready);

        ready &= ready - 1;
        if (x520_eitr_open(core, vector)) {
            x520_send_vector(core, vector, 0);
        }
    }
}

static void x520_update_single(X520Core *core)
{
    bool level = x520_reg(core, X520_EICR) & x520_eims(core);

    if (level == core->legacy_level) {
        return;
    }
    if (level && !x520_eitr_open(core, 0)) {
        return;
    }
    core->legacy_level = level;
    trace_x520_intr_single(core->port, level, x520_reg(core, X520_EICR));
    if (msix_enabled(core->owner)) {
        if (level) {
            msix_notify(core->owner, 0);
        }
    } else if (msi_enabled(core->owner)) {
        if (level) {
            msi_notify(core->owner, 0);
        }
    } else {
        pci_set_irq(core->owner, level);
    }
}

static void x520_update(X520Core *core)
{
    if (x520_multi_vector(core)) {
        x520_update_msix(core);
    } else {
        x520_update_single(core);
    }
}

static void x520_eitr_timer(void *opaque)
{
    X520Eitr *eitr = opaque;

    x520_update(eitr->core);
}

static void x520_set_vectors(X520Core *core, uint64_t vectors)
{
    core->mac[X520_EICR >> 2] |= vectors & 0xffff;
    core->vec_pending |= vectors;
    x520_update(core);
}

/* @tx: 0 receive, 1 transmit. IVAR packs rx, tx of an even and odd queue. */
static void x520_intr_queue(X520Core *core, unsigned queue, unsigned tx)
{
    uint32_t entry = x520_reg(core, X520_IVAR(queue / 2)) >>
                     (16 * (queue & 1) + 8 * tx);
    int vf = x520_queue_vf(core, queue);
    uint64_t bit;

    if (vf >= 0) {
        x520_vf_intr_queue(core, vf, queue, tx);
        return;
    }
    if (!(entry & X520_IVAR_VALID)) {
        return;
    }
    bit = 1ULL << (entry & (x520_multi_vector(core) ? 0x3f : 0xf));
    if (x520_fault(core, core->faults.irq_lost)) {
        trace_x520_fault(core->port, "interrupt lost", 0);
        return;
    }
    if (x520_multi_vector(core) &&
        x520_fault(core, core->faults.irq_spurious)) {
        trace_x520_fault(core->port, "spurious interrupt", 0);
        msix_notify(core->owner, ctz64(bit));
    }
    if (!(core->vec_pending & bit) || (core->vec_mask & bit)) {
        x520_set_vectors(core, bit);
    }
}

int64_t x520_intr_rx_open_at(const X520Core *core, unsigned queue)
{
    uint32_t entry = x520_reg(core, X520_IVAR(queue / 2)) >>
                     (16 * (queue & 1));

    return core->eitr[x520_multi_vector(core) ? entry & 0x3f : 0].open_at;
}

void x520_intr_rx(X520Core *core, unsigned queue)
{
    x520_intr_queue(core, queue, 0);
}

void x520_intr_tx(X520Core *core, unsigned queue)
{
    x520_intr_queue(core, queue, 1);
}

void x520_intr_other(X520Core *core, uint32_t cause)
{
    cause &= X520_EICR_OTHERS;
    trace_x520_intr_other(core->port, cause);
    core->mac[X520_EICR >> 2] |= cause;
    core->other_pending |= cause;
    x520_update(core);
}

/* ---- registers ---- */

/* Outside GPIE.EIAME, touching EICR masks what EIAM names. */
static void x520_automask_on_access(X520Core *core)
{
    uint32_t eiam = x520_intr_read(core, X520_EIAM);

    if (!(x520_reg(core, X520_GPIE) & X520_GPIE_EIAME)) {
        core->vec_mask &= ~(uint64_t)(eiam & 0xffff);
        core->mac[X520_EIMS >> 2] &= ~eiam;
    }
}

static void x520_clear_causes(X520Core *core, uint32_t causes)
{
    core->mac[X520_EICR >> 2] &= ~causes;
    core->vec_pending &= ~(uint64_t)(causes & 0xffff);
    core->other_pending &= ~causes;
}

static uint32_t x520_eicr_read(X520Core *core)
{
    uint32_t value = x520_reg(core, X520_EICR);

    if (value) {
        bool ocd = x520_reg(core, X520_GPIE) & X520_GPIE_OCD;

        x520_clear_causes(core, ocd ? 0x3fff0000 : ~0u);
    }
    x520_automask_on_access(core);
    x520_update(core);
    return value;
}

uint32_t x520_intr_read(X520Core *core, hwaddr offset)
{
    switch (offset) {
    case X520_EICR:
        return x520_eicr_read(core);
    case X520_EICS:             /* EICR without the side effects */
        return x520_reg(core, X520_EICR);
    case X520_EIMS:
        return x520_eims(core);
    case X520_EIAM:
        return (x520_reg(core, X520_EIAM) & 0xffff0000) |
               (x520_reg(core, X520_EIAM_EX(0)) & 0xffff);
    case X520_EIMS_EX(0):
        return core->vec_mask;
    case X520_EIMS_EX(1):
        return core->vec_mask >> 32;
    case X520_EIAM_EX(0):
    case X520_EIAM_EX(1):
        return x520_reg(core, offset);
    default:                    /* EIMC, EIMC_EX, EICS_EX: write only */
        return 0;
    }
}

/* Unmask; a cause that is set already counts as new then. */
static void x520_unmask(X520Core *core, uint64_t vectors, uint32_t others)
{
    uint32_t eicr = x520_reg(core, X520_EICR);
    uint64_t fresh = vectors & ~core->vec_mask;
    uint32_t fresh_others = others & ~x520_reg(core, X520_EIMS);

    core->vec_mask |= vectors;
    core->mac[X520_EIMS >> 2] |= others;
    core->vec_pending |= fresh & eicr & 0xffff;
    core->other_pending |= fresh_others & eicr & X520_EICR_OTHERS;
    x520_update(core);
}

static void x520_mask(X520Core *core, uint64_t vectors, uint32_t others)
{
    core->vec_mask &= ~vectors;
    core->mac[X520_EIMS >> 2] &= ~others;
    x520_update(core);
}

static void x520_eitr_write(X520Core *core, hwaddr offset, uint32_t value)
{
    unsigned vector = offset < 0x12300 ? (offset - 0x820) / 4
                                       : 24 + (offset - 0x12300) / 4;
    X520Eitr *eitr = &core->eitr[vector];
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    core->mac[offset >> 2] = value & 0x001f8ff8;
    if (!(value & X520_EITR_CNT_WDIS)) {
        /* Bits 27:21 are the upper 7 bits of the running 9-bit counter. */
        eitr->open_at = now + ((value >> 21) & 0x7f) * 4 * 2000LL;
    } else if (!(value & X520_EITR_INTERVAL)) {
        eitr->open_at = now;
    }
    timer_del(eitr->timer);
    x520_update(core);
}

/* Software causes; with GPIE.EIMEN they do not wait for moderation. */
static void x520_eics_write(X520Core *core, uint64_t vectors)
{
    if (x520_reg(core, X520_GPIE) & X520_GPIE_EIMEN) {
        unsigned v;

        for (v = 0; v < X520_NUM_VECTORS; v++) {
            if (vectors >> v & 1) {
                core->eitr[v].open_at = 0;
            }
        }
    }
    x520_set_vectors(core, vectors);
}

void x520_intr_write(X520Core *core, hwaddr offset, uint32_t value)
{
    uint32_t others = value & 0xffff0000;

    switch (offset) {
    case X520_EICR:
        x520_clear_causes(core, value);
        x520_automask_on_access(core);
        x520_update(core);
        break;
    case X520_EICS:
        if (value & X520_EICR_OTHERS) {
            x520_intr_other(core, value);
        }
        x520_eics_write(core, value & 0xffff);
        break;
    case X520_EIMS:
        x520_unmask(core, value & 0xffff, others);
        break;
    case X520_EIMC:
        x520_mask(core, value & 0xffff, others);
        break;
    case X520_EIAM:
        core->mac[X520_EIAM >> 2] = others;
        core->mac[X520_EIAM_EX(0) >> 2] =
            (x520_reg(core, X520_EIAM_EX(0)) & 0xffff0000) |
            (value & 0xffff);
        break;
    case X520_EICS_EX(0):
        x520_eics_write(core, value);
        break;
    case X520_EICS_EX(1):
        x520_eics_write(core, (uint64_t)value << 32);
        break;
    case X520_EIMS_EX(0):
        x520_unmask(core, value, 0);
        break;
    case X520_EIMS_EX(1):
        x520_unmask(core, (uint64_t)value << 32, 0);
        break;
    case X520_EIMC_EX(0):
        x520_mask(core, value, 0);
        break;
    case X520_EIMC_EX(1):
        x520_mask(core, (uint64_t)value << 32, 0);
        break;
    case X520_EIAM_EX(0):
    case X520_EIAM_EX(1):
        core->mac[offset >> 2] = value;
        break;
    case X520_GPIE:
        core->mac[offset >> 2] = value;
        x520_update(core);
        break;
    default:
        x520_eitr_write(core, offset, value);
        break;
    }
}

/* ---- life cycle ---- */

void x520_intr_realize(X520Core *core)
{
    unsigned v;

    for (v = 0; v < X520_NUM_VECTORS; v++) {
        core->eitr[v].core = core;
        core->eitr[v].timer = timer_new_ns(QEMU_CLOCK_VIRTUAL,
                                           x520_eitr_timer, &core->eitr[v]);
    }
}

void x520_intr_unrealize(X520Core *core)
{
    unsigned v;

    for (v = 0; v < X520_NUM_VECTORS; v++) {
        timer_free(core->eitr[v].timer);
        core->eitr[v].timer = NULL;
    }
}

void x520_intr_reset(X520Core *core)
{
    unsigned v;

    for (v = 0; v < X520_NUM_VECTORS; v++) {
        timer_del(core->eitr[v].timer);
        core->eitr[v].open_at = 0;
    }
    core->vec_pending = 0;
    core->vec_mask = 0;
    core->other_pending = 0;
    if (core->legacy_level) {
        core->legacy_level = false;
        pci_set_irq(core->owner, 0);
    }
}

/* Timers are not migrated: whatever waits arms its timer again. */
void x520_intr_post_load(X520Core *core)
{
    x520_update(core);
}

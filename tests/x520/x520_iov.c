/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: virtual functions as the port sees them: who
 * owns a queue, mailboxes, interrupts, the registers of a function's BAR 0
 * (82599 datasheet, sections 4.2.2, 7.10.2 and 8.3).
 *
 * A function's queue registers are the port's own at another address. Its
 * interrupt registers and half of each mailbox are state of their own. What
 * a function may reach is bounded here: its number is QEMU's, its queues are
 * those of its pool.
 */

#include "qemu/osdep.h"
#include "qemu/log.h"
#include "hw/pci/msix.h"
#include "hw/pci/pcie_sriov.h"
#include "x520_core.h"
#include "trace.h"

#define X520_VECTORS            ((1u << X520_VF_VECTORS) - 1)

/* ---- queues ---- */

/* GCR_EXT.VT_Mode: 16, 32 or 64 functions share the 128 queues. */
static unsigned x520_vf_queues(X520Core *core)
{
    unsigned mode = x520_reg(core, X520_GCR_EXT) & X520_GCR_EXT_VT_MODE;

    return mode ? 16 >> mode : 0;
}

int x520_queue_vf(X520Core *core, unsigned queue)
{
    unsigned per_vf = x520_vf_queues(core);

    if (!per_vf || queue / per_vf >= pcie_sriov_num_vfs(core->owner)) {
        return -1;
    }
    return queue / per_vf;
}

PCIDevice *x520_queue_dev(X520Core *core, unsigned queue)
{
    int vf = x520_queue_vf(core, queue);
    PCIDevice *dev = vf < 0 ? NULL :
                     pcie_sriov_get_vf_at_index(core->owner, vf);

    return dev ? dev : core->owner;
}

/* ---- interrupts ---- */

static void x520_vf_update(X520Core *core, unsigned vf)
{
    X520Vf *v = &core->vf[vf];
    PCIDevice *dev = pcie_sriov_get_vf_at_index(core->owner, vf);
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);

    if (!dev || !msix_enabled(dev)) {
        return;
    }
    for (unsigned i = 0; i < X520_VF_VECTORS; i++) {
        X520VfVector *vec = &v->vec[i];
        uint32_t bit = 1u << i;

        if (!(v->pending & v->eims & bit)) {
            continue;
        }
        if (now < vec->open_at) {
            if (!timer_pending(vec->timer)) {
                timer_mod_ns(vec->timer, vec->open_at);
            }
            continue;
        }
        vec->open_at = now + (v->eitr[i] & X520_EITR_INTERVAL) * 250LL;
        v->pending &= ~bit;
        v->eicr &= ~(v->eiac & bit);
        v->eims &= ~(v->eiam & bit);
        trace_x520_vf_intr(core->port, vf, i);
        msix_notify(dev, i);
    }
}

static void x520_vf_timer(void *opaque)
{
    X520VfVector *vec = opaque;

    x520_vf_update(vec->core, vec->vf);
}

static void x520_vf_cause(X520Core *core, unsigned vf, uint32_t bits)
{
    X520Vf *v = &core->vf[vf];

    v->eicr |= bits & X520_VECTORS;
    v->pending |= bits & X520_VECTORS;
    x520_vf_update(core, vf);
}

static void x520_vf_entry(X520Core *core, unsigned vf, uint32_t entry)
{
    if (entry & X520_IVAR_VALID) {
        x520_vf_cause(core, vf, 1u << (entry & 3));
    }
}

void x520_vf_intr_queue(X520Core *core, unsigned vf, unsigned queue,
                        unsigned tx)
{
    unsigned q = queue % x520_vf_queues(core);

    x520_vf_entry(core, vf, core->vf[vf].ivar[q / 2] >>
                  (16 * (q & 1) + 8 * tx));
}

/* ---- mailbox ---- */

/* Something of the mailbox changed that the function is to see. */
static void x520_vf_mail(X520Core *core, unsigned vf, uint32_t status)
{
    core->vf[vf].mbx |= status;
    x520_vf_entry(core, vf, core->vf[vf].ivar_misc);
}

/* A bit of MBVFICR: of function @vf a message (0) or an acknowledge (16). */
static void x520_pf_mail(X520Core *core, unsigned vf, unsigned shift)
{
    uint32_t bit = 1u << (shift + vf % 16);

    core->mac[X520_MBVFICR(vf / 16) >> 2] |= bit;
    if (x520_reg(core, X520_MBVFIMR(vf / 16)) & bit) {
        x520_intr_other(core, X520_EICR_MAILBOX);
    }
}

void x520_pfmailbox_write(X520Core *core, hwaddr offset, uint32_t value)
{
    unsigned vf = (offset - X520_PFMAILBOX(0)) / 4;
    uint32_t *owner = &core->mac[offset >> 2];

    if (value & X520_PFMAILBOX_RVFU) {
        *owner &= ~X520_PFMAILBOX_VFU;
    }
    if (!(value & X520_PFMAILBOX_PFU)) {
        *owner &= ~X520_PFMAILBOX_PFU;
    } else if (!(*owner & X520_PFMAILBOX_VFU)) {
        *owner |= X520_PFMAILBOX_PFU;
    }
    if (value & X520_PFMAILBOX_STS) {
        x520_vf_mail(core, vf, X520_VFMAILBOX_PFSTS);
    }
    if (value & X520_PFMAILBOX_ACK) {
        x520_vf_mail(core, vf, X520_VFMAILBOX_PFACK);
    }
}

static void x520_vfmailbox_write(X520Core *core, unsigned vf, uint32_t value)
{
    uint32_t *owner = &core->mac[X520_PFMAILBOX(vf) >> 2];

    if (!(value & X520_VFMAILBOX_VFU)) {
        *owner &= ~X520_PFMAILBOX_VFU;
    } else if (!(*owner & X520_PFMAILBOX_PFU)) {
        *owner |= X520_PFMAILBOX_VFU;
    }
    if (value & X520_VFMAILBOX_REQ) {
        x520_pf_mail(core, vf, 0);
    }
    if (value & X520_VFMAILBOX_ACK) {
        x520_pf_mail(core, vf, 16);
    }
}

/* The three status bits clear on read. */
static uint32_t x520_vfmailbox_read(X520Core *core, unsigned vf)
{
    uint32_t value = core->vf[vf].mbx;

    core->vf[vf].mbx = 0;
    value |= x520_reg(core, X520_PFMAILBOX(vf)) &
             (X520_VFMAILBOX_VFU | X520_VFMAILBOX_PFU);
    if (!(x520_reg(core, X520_CTRL_EXT) & X520_CTRL_EXT_PFRSTD)) {
        value |= X520_VFMAILBOX_RSTI;
    }
    return value;
}

void x520_ctrl_ext_write(X520Core *core, hwaddr offset, uint32_t value)
{
    uint32_t old = x520_reg(core, offset);

    core->mac[offset >> 2] = value;
    if (~old & value & X520_CTRL_EXT_PFRSTD) {
        for (unsigned vf = 0; vf < X520_NUM_POOLS; vf++) {
            x520_vf_mail(core, vf, X520_VFMAILBOX_RSTD);
        }
    }
}

/* PFQDE: a window on two bits of each receive queue. */
void x520_qde_write(X520Core *core, hwaddr offset, uint32_t value)
{
    uint8_t *qde = &core->qde[(value >> X520_QDE_IDX_SHIFT) &
                              (X520_NUM_QUEUES - 1)];

    if (value & X520_QDE_WRITE) {
        *qde = value & (X520_QDE_ENABLE | X520_QDE_HIDE_VLAN);
    } else if (value & X520_QDE_READ) {
        value = (value & ~3u) | *qde;
    }
    core->mac[offset >> 2] = value & ~(X520_QDE_WRITE | X520_QDE_READ);
}

/* ---- registers of the function ---- */

/* The port's register behind @offset, or 0. */
static hwaddr x520_vf_alias(X520Core *core, unsigned vf, hwaddr offset)
{
    static const uint64_t rx = 1ull << 0x00 | 1ull << 0x04 | 1ull << 0x08 |
                               1ull << 0x0c | 1ull << 0x10 | 1ull << 0x14 |
                               1ull << 0x18 | 1ull << 0x28 | 1ull << 0x2c;
    static const uint64_t tx = 1ull << 0x00 | 1ull << 0x04 | 1ull << 0x08 |
                               1ull << 0x0c | 1ull << 0x10 | 1ull << 0x18 |
                               1ull << 0x28 | 1ull << 0x38 | 1ull << 0x3c;
    unsigned per_vf = x520_vf_queues(core);
    unsigned q = (offset & 0xfff) / 0x40, reg = offset & 0x3f;

    switch (offset) {
    case X520_VFPSRTYPE:
        return X520_PSRTYPE(vf);
    case X520_VFGPRC:
        return X520_PVFGPRC(vf);
    case X520_VFGORC_LSB:
        return X520_PVFGORC_LSB(vf);
    case X520_VFGORC_MSB:
        return X520_PVFGORC_MSB(vf);
    case X520_VFMPRC:
        return X520_PVFMPRC(vf);
    case X520_VFGPTC:
        return X520_PVFGPTC(vf);
    case X520_VFGOTC_LSB:
        return X520_PVFGOTC_LSB(vf);
    case X520_VFGOTC_MSB:
        return X520_PVFGOTC_MSB(vf);
    }
    if (q >= per_vf || vf * per_vf + q >= X520_NUM_QUEUES) {
        return 0;
    }
    q += vf * per_vf;
    if ((offset & ~0xfffull) == X520_VFRXQ && (rx >> reg & 1)) {
        return X520_RXQ_BASE(q) + reg;
    }
    if ((offset & ~0xfffull) == X520_VFTXQ && (tx >> reg & 1)) {
        return X520_TXQ_BASE(q) + reg;
    }
    return 0;
}

static uint32_t x520_vf_links(X520Core *core)
{
    uint64_t bps = x520_link_bps(core);

    return bps ? X520_LINKS_UP | (bps == 1000000000 ? X520_LINKS_SPEED_1G :
                                  X520_LINKS_SPEED_10G) : 0;
}

static uint32_t x520_vf_read_own(X520Core *core, unsigned vf, hwaddr offset)
{
    X520Vf *v = &core->vf[vf];
    uint32_t value;

    switch (offset) {
    case X520_VFSTATUS:
        return x520_core_read(core, X520_STATUS, 4);
    case X520_VFLINKS:
        return x520_vf_links(core);
    case X520_VFFRTIMER:
        return x520_core_read(core, X520_FRTIMER, 4);
    case X520_VTEICR:
        value = v->eicr;
        v->eicr = 0;
        v->pending = 0;
        return value;
    case X520_VTEICS:
        return v->eicr;
    case X520_VTEIMS:
        return v->eims;
    case X520_VTEIAC:
        return v->eiac;
    case X520_VTEIAM:
        return v->eiam;
    case X520_VTIVAR(0) ... X520_VTIVAR(3):
        return v->ivar[(offset - X520_VTIVAR(0)) / 4];
    case X520_VTIVAR_MISC:
        return v->ivar_misc;
    case X520_VTRSCINT(0) ... X520_VTRSCINT(2):
        return v->rscint[(offset - X520_VTRSCINT(0)) / 4];
    case X520_VFMBMEM ... X520_VFMBMEM + 0x3c:
        return x520_reg(core, X520_PFMBMEM(vf) + (offset - X520_VFMBMEM));
    case X520_VFMAILBOX:
        return x520_vfmailbox_read(core, vf);
    case X520_VTEITR(0) ... X520_VTEITR(2):
        return v->eitr[(offset - X520_VTEITR(0)) / 4];
    default:                    /* VFCTRL, VTEIMC and what is not there */
        return 0;
    }
}

uint32_t x520_vf_read(X520Core *core, unsigned vf, hwaddr offset)
{
    hwaddr alias;
    uint32_t value;

    if (core->removed) {
        return 0xffffffff;
    }
    if (offset & 3) {
        return 0;
    }
    alias = x520_vf_alias(core, vf, offset);
    value = alias ? x520_core_read(core, alias, 4) :
            x520_vf_read_own(core, vf, offset);
    trace_x520_vf_read(core->port, vf, offset, value);
    return value;
}

static void x520_vf_eitr_write(X520Core *core, unsigned vf, unsigned i,
                               uint32_t value)
{
    X520VfVector *vec = &core->vf[vf].vec[i];

    core->vf[vf].eitr[i] = value & 0x001f8ff8;
    if (!(value & X520_EITR_CNT_WDIS) || !(value & X520_EITR_INTERVAL)) {
        vec->open_at = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        timer_del(vec->timer);
    }
    x520_vf_update(core, vf);
}

void x520_vf_write(X520Core *core, unsigned vf, hwaddr offset, uint32_t value)
{
    X520Vf *v = &core->vf[vf];
    hwaddr alias;

    if (core->removed || (offset & 3)) {
        return;
    }
    trace_x520_vf_write(core->port, vf, offset, value);
    alias = x520_vf_alias(core, vf, offset);
    if (alias) {
        x520_core_write(core, alias, value, 4);
        return;
    }
    switch (offset) {
    case X520_VFCTRL:
        if (value & X520_CTRL_RST) {
            x520_vf_reset(core, vf, true);
        }
        break;
    case X520_VTEICR:
        v->eicr &= ~value;
        v->pending &= ~value;
        break;
    case X520_VTEICS:
        x520_vf_cause(core, vf, value);
        break;
    case X520_VTEIMS:
        /* a cause that is set already counts as new */
        v->pending |= value & ~v->eims & v->eicr;
        v->eims |= value & X520_VECTORS;
        x520_vf_update(core, vf);
        break;
    case X520_VTEIMC:
        v->eims &= ~value;
        break;
    case X520_VTEIAC:
        v->eiac = value & X520_VECTORS;
        break;
    case X520_VTEIAM:
        v->eiam = value & X520_VECTORS;
        break;
    case X520_VTIVAR(0) ... X520_VTIVAR(3):
        v->ivar[(offset - X520_VTIVAR(0)) / 4] = value & 0x83838383;
        break;
    case X520_VTIVAR_MISC:
        v->ivar_misc = value & 0x83;
        break;
    case X520_VTRSCINT(0) ... X520_VTRSCINT(2):
        v->rscint[(offset - X520_VTRSCINT(0)) / 4] = value;
        break;
    case X520_VFMBMEM ... X520_VFMBMEM + 0x3c:
        core->mac[(X520_PFMBMEM(vf) + (offset - X520_VFMBMEM)) >> 2] = value;
        break;
    case X520_VFMAILBOX:
        x520_vfmailbox_write(core, vf, value);
        break;
    case X520_VTEITR(0) ... X520_VTEITR(2):
        x520_vf_eitr_write(core, vf, (offset - X520_VTEITR(0)) / 4, value);
        break;
    default:
        qemu_log_mask(LOG_UNIMP, "x520: port %u VF %u: write of 0x%08x to "
                      "0x%05" HWADDR_PRIx "\n", core->port, vf, value, offset);
        break;
    }
}

/* ---- resets ---- */

static void x520_vf_clear(X520Core *core, unsigned vf)
{
    X520Vf *v = &core->vf[vf];

    for (unsigned i = 0; i < X520_VF_VECTORS; i++) {
        timer_del(v->vec[i].timer);
        v->vec[i].open_at = 0;
        v->eitr[i] = 0;
        v->rscint[i] = 0;
    }
    memset(v->ivar, 0, sizeof(v->ivar));
    v->ivar_misc = 0;
    v->eicr = 0;
    v->eims = 0;
    v->eiac = 0;
    v->eiam = 0;
    v->pending = 0;
    v->mbx = 0;
}

/*
 * VFCTRL.RST, FLR, or the function came or went: its queues stop and its
 * interrupts are cleared, it may neither send nor receive until the port's
 * driver lets it. @tell: let that one know through VFLRE.
 */
void x520_vf_reset(X520Core *core, unsigned vf, bool tell)
{
    unsigned per_vf = x520_vf_queues(core);
    uint32_t bit = 1u << (vf % 32);

    trace_x520_vf_reset(core->port, vf);
    x520_vf_clear(core, vf);
    for (unsigned q = vf * per_vf;
         q < MIN((vf + 1) * per_vf, X520_NUM_QUEUES); q++) {
        x520_core_write(core, X520_RXDCTL(q), 0, 4);
        x520_core_write(core, X520_TXDCTL(q), 0, 4);
        core->mac[X520_SRRCTL(q) >> 2] = 0;
    }
    core->mac[X520_PFMAILBOX(vf) >> 2] = 0;
    core->mac[X520_VFRE(vf / 32) >> 2] &= ~bit;
    core->mac[X520_VFTE(vf / 32) >> 2] &= ~bit;
    if (tell) {
        core->mac[X520_VFLREC(vf / 32) >> 2] |= bit;
        x520_intr_other(core, X520_EICR_MAILBOX);
    }
}

/*
 * Reset of the port. The functions keep their interrupt set-up, without which
 * they could not be told of it: RSTI reads 1 from now on.
 */
void x520_iov_reset(X520Core *core)
{
    memset(core->qde, 0, sizeof(core->qde));
    memset(core->rate, 0, sizeof(core->rate));
    for (unsigned vf = 0; vf < X520_NUM_POOLS; vf++) {
        x520_vf_mail(core, vf, 0);
    }
}

void x520_iov_post_load(X520Core *core)
{
    for (unsigned vf = 0; vf < X520_NUM_POOLS; vf++) {
        x520_vf_update(core, vf);
    }
}

void x520_iov_realize(X520Core *core)
{
    for (unsigned vf = 0; vf < X520_NUM_POOLS; vf++) {
        for (unsigned i = 0; i < X520_VF_VECTORS; i++) {
            X520VfVector *vec = &core->vf[vf].vec[i];

            vec->core = core;
            vec->vf = vf;
            vec->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, x520_vf_timer, vec);
        }
    }
}

void x520_iov_unrealize(X520Core *core)
{
    for (unsigned vf = 0; vf < X520_NUM_POOLS; vf++) {
        for (unsigned i = 0; i < X520_VF_VECTORS; i++) {
            timer_free(core->vf[vf].vec[i].timer);
            core->vf[vf].vec[i].timer = NULL;
        }
    }
}

/* ---- migration ---- */

static const VMStateDescription vmstate_x520_vf_vector = {
    .name = "x520/vf-vector",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_INT64(open_at, X520VfVector),
        VMSTATE_END_OF_LIST()
    }
};

const VMStateDescription vmstate_x520_core_vf = {
    .name = "x520/vf",
    .version_id = 1,
    .minimum_version_id = 1,
    .fields = (const VMStateField[]) {
        VMSTATE_UINT32(mbx, X520Vf),
        VMSTATE_UINT32(eicr, X520Vf),
        VMSTATE_UINT32(eims, X520Vf),
        VMSTATE_UINT32(eiac, X520Vf),
        VMSTATE_UINT32(eiam, X520Vf),
        VMSTATE_UINT32(pending, X520Vf),
        VMSTATE_UINT32_ARRAY(ivar, X520Vf, X520_VF_QUEUES / 2),
        VMSTATE_UINT32(ivar_misc, X520Vf),
        VMSTATE_UINT32_ARRAY(eitr, X520Vf, X520_VF_VECTORS),
        VMSTATE_UINT32_ARRAY(rscint, X520Vf, X520_VF_VECTORS),
        VMSTATE_STRUCT_ARRAY(vec, X520Vf, X520_VF_VECTORS, 1,
                             vmstate_x520_vf_vector, X520VfVector),
        VMSTATE_END_OF_LIST()
    }
};

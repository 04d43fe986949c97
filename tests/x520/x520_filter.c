/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: L2 filters, pools and the switch between them
 * (82599 datasheet, sections 7.1.1 and 7.10.3).
 *
 * A pool is a set of queues, of a virtual function or of the port itself. With
 * VT_CTL.VT_ENA the filters do not only say whether a frame is accepted, but
 * also by which pools; and with PFDTXGSWC.LBE a frame that a pool sends passes
 * them too, and may never see the wire.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "net/eth.h"
#include "x520_data.h"
#include "trace.h"

#define X520_NUM_RAR            128
#define X520_NUM_VLVF           64

/* ---- filters ---- */

/* The exact filters (RAL, RAH); ORs the pools of those that match. */
static bool x520_exact(X520Core *core, const uint8_t *addr, bool all,
                       uint64_t *pools)
{
    uint32_t lo = ldl_le_p(addr);
    uint32_t hi = lduw_le_p(addr + 4) | X520_RAH_AV;
    bool match = false;

    for (unsigned i = 0; i < X520_NUM_RAR; i++) {
        if (x520_reg(core, X520_RAL(i)) == lo &&
            (x520_reg(core, X520_RAH(i)) & (X520_RAH_AV | 0xffff)) == hi) {
            match = true;
            if (!all) {
                break;
            }
            *pools |= x520_reg_pair(core, X520_MPSAR_LO(i));
        }
    }
    return match;
}

/* MCSTCTRL.MO selects 12 of the address's last bits, for MTA and PFUTA. */
static bool x520_table(X520Core *core, const uint8_t *dst, hwaddr table)
{
    uint32_t mcst = x520_reg(core, X520_MCSTCTRL);
    unsigned shift = 4 - (mcst & X520_MCSTCTRL_MO);
    uint32_t vector;

    if ((mcst & X520_MCSTCTRL_MO) == 3) {
        shift = 0;
    }
    vector = (lduw_le_p(dst + 4) >> shift) & 0xfff;
    return x520_reg(core, table + 4 * (vector / 32)) & (1u << (vector % 32));
}

static bool x520_mta(X520Core *core, const uint8_t *dst)
{
    return (x520_reg(core, X520_MCSTCTRL) & X520_MCSTCTRL_MFE) &&
           x520_table(core, dst, X520_MTA(0));
}

static bool x520_vlan(X520Core *core, const X520Pkt *p)
{
    uint32_t ctrl = x520_reg(core, X520_VLNCTRL);
    unsigned vid = p->tci & 0xfff;

    if (!p->vlan || !(ctrl & X520_VLNCTRL_VFE)) {
        return true;
    }
    if ((ctrl & X520_VLNCTRL_CFIEN) &&
        !(p->tci & 0x1000) != !(ctrl & X520_VLNCTRL_CFI)) {
        return false;
    }
    return x520_reg(core, X520_VFTA(vid / 32)) & (1u << (vid % 32));
}

/* ---- pools ---- */

/* Pools with any of the @want bits in VMOLR. */
static uint64_t x520_vmolr(X520Core *core, uint32_t want)
{
    uint64_t pools = 0;

    for (unsigned n = 0; n < X520_NUM_POOLS; n++) {
        if (x520_reg(core, X520_VMOLR(n)) & want) {
            pools |= 1ull << n;
        }
    }
    return pools;
}

/* Pools that are members of the frame's VLAN, or take untagged frames. */
static uint64_t x520_vlan_pools(X520Core *core, const X520Pkt *p)
{
    if (!p->vlan) {
        return x520_vmolr(core, X520_VMOLR_AUPE);
    }
    for (unsigned i = 0; i < X520_NUM_VLVF; i++) {
        uint32_t vlvf = x520_reg(core, X520_PFVLVF(i));

        if ((vlvf & X520_PFVLVF_VIEN) &&
            (vlvf & 0xfff) == (p->tci & 0xfff)) {
            return x520_reg_pair(core, X520_PFVLVFB(2 * i));
        }
    }
    /* no entry: nobody's, and so the default pool's */
    return 0;
}

/* Pools that want the frame, by address and by VLAN. */
static uint64_t x520_pools(X520Core *core, const uint8_t *dst,
                           const X520Pkt *p, uint64_t exact)
{
    uint64_t pools = exact;

    if (is_broadcast_ether_addr(dst)) {
        pools |= x520_vmolr(core, X520_VMOLR_BAM);
    } else if (is_multicast_ether_addr(dst)) {
        pools |= x520_vmolr(core, X520_VMOLR_MPE |
                            (x520_mta(core, dst) ? X520_VMOLR_ROMPE : 0));
    } else if (x520_table(core, dst, X520_PFUTA(0))) {
        pools |= x520_vmolr(core, X520_VMOLR_ROPE);
    }
    return pools & x520_vlan_pools(core, p);
}

static uint64_t x520_rx_pools(X520Core *core, const uint8_t *dst,
                              const X520Pkt *p, uint64_t exact)
{
    uint32_t vt = x520_reg(core, X520_VT_CTL);
    uint64_t pools = x520_pools(core, dst, p, exact);
    uint64_t def = 1ull << ((vt >> X520_VT_CTL_POOL_SHIFT) &
                            (X520_NUM_POOLS - 1));

    if (is_multicast_ether_addr(dst) && !(vt & X520_VT_CTL_REPLEN)) {
        pools = exact ? pools & exact : def;
    }
    if (!pools && !(vt & X520_VT_CTL_DIS_DEFPL)) {
        pools = def;
    }
    return pools & x520_reg_pair(core, X520_VFRE(0));
}

bool x520_filter_rx(X520Core *core, const uint8_t *dst, const X520Pkt *p,
                    X520RxMatch *m)
{
    uint32_t fctrl = x520_reg(core, X520_FCTRL);
    bool vt = x520_reg(core, X520_VT_CTL) & X520_VT_CTL_ENABLE;
    bool exact, pass;

    m->inexact = false;
    m->pools = 0;
    exact = x520_exact(core, dst, vt, &m->pools);
    if (exact) {
        pass = true;
    } else if (is_broadcast_ether_addr(dst)) {
        pass = fctrl & X520_FCTRL_BAM;
    } else if (is_multicast_ether_addr(dst)) {
        m->inexact = x520_mta(core, dst);
        pass = m->inexact || (fctrl & X520_FCTRL_MPE) ||
               (vt && x520_vmolr(core, X520_VMOLR_MPE));
    } else {
        pass = (fctrl & X520_FCTRL_UPE) ||
               (vt && x520_table(core, dst, X520_PFUTA(0)));
    }
    if (!pass || !x520_vlan(core, p)) {
        return false;
    }
    if (vt) {
        m->pools = x520_rx_pools(core, dst, p, m->pools);
        return m->pools;
    }
    return true;
}

/* ---- transmit ---- */

int x520_tx_pool(X520Core *core, unsigned queue)
{
    uint32_t mtqc = x520_reg(core, X520_MTQC);
    unsigned shift = (mtqc >> X520_MTQC_LAYOUT_SHIFT) & 3;

    if (!(mtqc & X520_MTQC_VT_ENA) || !shift) {
        return -1;
    }
    return queue >> shift;
}

bool x520_tx_pool_enabled(X520Core *core, unsigned queue)
{
    int pool = x520_tx_pool(core, queue);

    return pool < 0 || (x520_reg_pair(core, X520_VFTE(0)) >> pool & 1);
}

/* PFVFSPOOF: the source address, and a tag's VLAN, must be the pool's. */
static bool x520_spoofed(X520Core *core, unsigned pool, const uint8_t *frame,
                         const X520Pkt *p)
{
    uint32_t check = x520_reg(core, X520_PFVFSPOOF(pool / 8));
    uint64_t owners = 0;

    if (check & X520_PFVFSPOOF_MAC(pool)) {
        x520_exact(core, frame + 6, true, &owners);
        if (!(owners >> pool & 1)) {
            return true;
        }
    }
    return (check & X520_PFVFSPOOF_VLAN(pool)) && p->vlan &&
           !(x520_vlan_pools(core, p) >> pool & 1);
}

void x520_switch_send(X520Core *core, unsigned queue, uint8_t *frame,
                      size_t len)
{
    int pool = x520_tx_pool(core, queue);
    uint16_t vet = x520_reg(core, X520_VLNCTRL) & X520_VLNCTRL_VET;
    uint64_t pools = 0;
    X520Pkt p;

    if (pool < 0) {
        x520_stat_tx(core, queue, MAX(len, X520_FRAME_MIN) + X520_FCS_LEN,
                     frame);
        x520_wire_send(core, frame, len);
        return;
    }
    x520_pkt_parse(&p, frame, len, vet ? vet : ETH_P_VLAN);
    if (x520_spoofed(core, pool, frame, &p)) {
        trace_x520_tx_spoof(core->port, pool, len);
        if (x520_reg_pair(core, X520_VMECM(0)) >> pool & 1) {
            x520_stat_add(core, X520_SSVPC, 1);
        }
        x520_wire_take_time(core, len);
        return;
    }
    if ((x520_reg(core, X520_VT_CTL) & X520_VT_CTL_ENABLE) &&
        (x520_reg(core, X520_PFDTXGSWC) & X520_PFDTXGSWC_LBE) &&
        !x520_loopback(core)) {
        x520_exact(core, frame, true, &pools);
        pools = x520_pools(core, frame, &p, pools);
        pools &= x520_reg_pair(core, X520_VFRE(0));
        if (!(x520_reg_pair(core, X520_PFVMTXSW(0)) >> pool & 1)) {
            pools &= ~(1ull << pool);
        }
    }
    x520_stat_tx_pool(core, queue, MAX(len, X520_FRAME_MIN) + X520_FCS_LEN);
    if (pools) {
        trace_x520_tx_switch(core->port, pool, len, pools);
        x520_rx_switched(core, frame, len, &p, pools);
    }
    if (!pools || is_multicast_ether_addr(frame)) {
        x520_stat_tx(core, queue, MAX(len, X520_FRAME_MIN) + X520_FCS_LEN,
                     frame);
        x520_wire_send(core, frame, len);
    } else {
        x520_wire_take_time(core, len);
    }
}

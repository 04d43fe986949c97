/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: statistics (82599 datasheet, section 8.2.3.23).
 *
 * Counters live in the register shadow and clear on read. 32-bit ones stick
 * at all ones; octet counters are a low word and a 4-bit high word that takes
 * the carry, and wrap.
 */

#include "qemu/osdep.h"
#include "net/eth.h"
#include "x520_core.h"

void x520_stat_add(X520Core *core, hwaddr offset, uint32_t n)
{
    uint32_t *reg = &core->mac[offset >> 2];

    *reg = *reg > UINT32_MAX - n ? UINT32_MAX : *reg + n;
}

static void x520_stat_octets(X520Core *core, hwaddr low, size_t len)
{
    uint32_t *reg = &core->mac[low >> 2];

    reg[0] += len;
    if (reg[0] < len) {
        reg[1] = (reg[1] + 1) & 0xf;
    }
}

/* Those of virtual functions wrap, and do not clear on read. */
static void x520_stat_pool_octets(X520Core *core, hwaddr low, hwaddr high,
                                  size_t len)
{
    core->mac[low >> 2] += len;
    if (core->mac[low >> 2] < len) {
        core->mac[high >> 2] = (core->mac[high >> 2] + 1) & 0xf;
    }
}

uint32_t x520_stat_read(X520Core *core, hwaddr offset)
{
    uint32_t value = core->mac[offset >> 2];

    core->mac[offset >> 2] = 0;
    return value;
}

/* The six size classes are consecutive registers: 64, -127, ..., -1522. */
static hwaddr x520_size_class(hwaddr first, size_t len)
{
    unsigned n = len <= 64 ? 0 : len <= 127 ? 1 : len <= 255 ? 2 :
                 len <= 511 ? 3 : len <= 1023 ? 4 : 5;

    return first + 4 * n;
}

/* Add 1 to the broadcast or multicast counter that @dst calls for. */
static void x520_stat_cast(X520Core *core, const uint8_t *dst,
                           hwaddr multicast, hwaddr broadcast)
{
    if (!(dst[0] & 1)) {
        return;
    }
    if (is_broadcast_ether_addr(dst)) {
        x520_stat_add(core, broadcast, 1);
    } else {
        x520_stat_add(core, multicast, 1);
    }
}

/* RQSMR and TQSM: four queues a register, a 4-bit statistics set each. */
static unsigned x520_stat_set(const X520Core *core, hwaddr map, unsigned queue)
{
    return x520_reg(core, map + (queue & ~3u)) >> (8 * (queue & 3)) & 0xf;
}

void x520_stat_rx_seen(X520Core *core, size_t len)
{
    x520_stat_add(core, X520_TPR, 1);
    x520_stat_octets(core, X520_TORL, len);
}

void x520_stat_rx_good(X520Core *core, size_t len, const uint8_t *dst)
{
    x520_stat_add(core, X520_GPRC, 1);
    x520_stat_octets(core, X520_GORCL, len);
    x520_stat_add(core, x520_size_class(X520_PRC64, len), 1);
    x520_stat_add(core, X520_RXNFGPC, 1);
    x520_stat_octets(core, X520_RXNFGBCL, len);
    x520_stat_cast(core, dst, X520_MPRC, X520_BPRC);
}

void x520_stat_rx_queue(X520Core *core, unsigned queue, size_t len,
                        size_t stored)
{
    unsigned set = x520_stat_set(core, X520_RQSMR(0), queue);

    x520_stat_add(core, X520_QPRC(set), 1);
    x520_stat_octets(core, X520_QBRC_L(set), stored);
    x520_stat_add(core, X520_RXDGPC, 1);
    x520_stat_octets(core, X520_RXDGBCL, len);
}

void x520_stat_rx_pool(X520Core *core, unsigned queue, size_t len,
                       bool multicast)
{
    int vf = x520_queue_vf(core, queue);

    if (vf < 0) {
        return;
    }
    core->mac[X520_PVFGPRC(vf) >> 2]++;
    x520_stat_pool_octets(core, X520_PVFGORC_LSB(vf), X520_PVFGORC_MSB(vf),
                          len);
    if (multicast) {
        core->mac[X520_PVFMPRC(vf) >> 2]++;
    }
}

void x520_stat_tx_pool(X520Core *core, unsigned queue, size_t len)
{
    int vf = x520_queue_vf(core, queue);

    if (vf < 0) {
        return;
    }
    core->mac[X520_PVFGPTC(vf) >> 2]++;
    x520_stat_pool_octets(core, X520_PVFGOTC_LSB(vf), X520_PVFGOTC_MSB(vf),
                          len);
}

void x520_stat_rx_nodesc(X520Core *core, unsigned queue)
{
    unsigned set = x520_stat_set(core, X520_RQSMR(0), queue);

    x520_stat_add(core, X520_QPRDC(set), 1);
}

void x520_stat_rx_missed(X520Core *core)
{
    x520_stat_add(core, X520_MPC(0), 1);
    x520_intr_other(core, X520_EICR_RX_MISS);
}

void x520_stat_tx(X520Core *core, unsigned queue, size_t len,
                  const uint8_t *dst)
{
    unsigned set = x520_stat_set(core, X520_TQSM(0), queue);

    x520_stat_add(core, X520_GPTC, 1);
    x520_stat_octets(core, X520_GOTCL, len);
    x520_stat_add(core, X520_TPT, 1);
    x520_stat_add(core, x520_size_class(X520_PTC64, len), 1);
    x520_stat_cast(core, dst, X520_MPTC, X520_BPTC);
    x520_stat_add(core, X520_QPTC(set), 1);
    x520_stat_octets(core, X520_QBTC_L(set), len);
    x520_stat_add(core, X520_TXDGPC, 1);
    x520_stat_octets(core, X520_TXDGBCL, len);
}

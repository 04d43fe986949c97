/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: register dispatch and resets.
 *
 * One table describes every register: where it lies, which bits stick when
 * written, its value after reset, and the functions that give it behaviour.
 * What the table does not name reads as zero, ignores writes and is logged
 * once per register (LOG_UNIMP).
 */

#include "qemu/osdep.h"
#include "qemu/log.h"
#include "qemu/bitmap.h"
#include "qemu/bitops.h"
#include "qemu/host-utils.h"
#include "net/eth.h"
#include "x520_core.h"
#include "trace.h"

typedef uint32_t (*X520ReadFn)(X520Core *core, hwaddr offset);
typedef void (*X520WriteFn)(X520Core *core, hwaddr offset, uint32_t value);

typedef struct X520RegInfo {
    uint32_t base;
    uint16_t count;
    uint16_t stride;
    uint32_t wmask;             /* bits that a write changes */
    uint32_t reset;
    X520ReadFn read;            /* default: the shadow value */
    X520WriteFn write;          /* default: store under wmask */
    uint32_t canon;             /* another address of register canon + ... */
    uint16_t canon_stride;      /* ... i * canon_stride, when not 0 */
} X520RegInfo;

static DECLARE_BITMAP(x520_unimp_logged, X520_MAC_REGS);

static void x520_unimp(hwaddr offset, bool write, uint32_t value)
{
    if (!test_and_set_bit(offset >> 2, x520_unimp_logged)) {
        qemu_log_mask(LOG_UNIMP,
                      "x520: %s register 0x%05" HWADDR_PRIx
                      " is not modelled (value 0x%08x)\n",
                      write ? "write to" : "read of", offset, value);
    }
}

/* ---- general registers ---- */

static void x520_soft_reset(X520Core *core, bool link);

static void x520_ctrl_write(X520Core *core, hwaddr offset, uint32_t value)
{
    core->mac[X520_CTRL >> 2] = value & ~(X520_CTRL_RST | X520_CTRL_LRST);
    if (value & (X520_CTRL_RST | X520_CTRL_LRST)) {
        x520_soft_reset(core, value & X520_CTRL_LRST);
    }
}

static uint32_t x520_status_read(X520Core *core, hwaddr offset)
{
    uint32_t status = core->port ? X520_STATUS_LAN_ID1 : 0;

    /* No request of ours is ever outstanding, so GIO follows at once. */
    if (!(x520_reg(core, X520_CTRL) & X520_CTRL_GIO_DIS)) {
        status |= X520_STATUS_GIO;
    }
    if (x520_link_up(core)) {
        status |= X520_STATUS_LINKUP;
    }
    return status;
}

static uint32_t x520_esdp_read(X520Core *core, hwaddr offset)
{
    /* SDP2 is wired to the cage's module-present signal. */
    if (core->sfp == X520_SFP_NONE) {
        return x520_reg(core, X520_ESDP) & ~X520_ESDP_SDP2;
    }
    return x520_reg(core, X520_ESDP) | X520_ESDP_SDP2;
}

static uint32_t x520_i2cctl_read(X520Core *core, hwaddr offset)
{
    return x520_i2c_read(core);
}

static void x520_i2cctl_write(X520Core *core, hwaddr offset, uint32_t value)
{
    x520_i2c_write(core, value);
}

/* Free-running timer, 1 us per tick. */
static uint32_t x520_frtimer_read(X520Core *core, hwaddr offset)
{
    return qemu_clock_get_us(QEMU_CLOCK_VIRTUAL);
}

/* ---- receive and transmit control ---- */

static void x520_kick_all_rx(X520Core *core)
{
    unsigned q;

    for (q = 0; q < X520_NUM_QUEUES; q++) {
        if (x520_reg(core, X520_RXDCTL(q)) & X520_RXDCTL_ENABLE) {
            x520_rx_kick(core, q);
        }
    }
}

static void x520_kick_all_tx(X520Core *core)
{
    unsigned q;

    for (q = 0; q < X520_NUM_QUEUES; q++) {
        if (x520_reg(core, X520_TXDCTL(q)) & X520_TXDCTL_ENABLE) {
            x520_tx_kick(core, q);
        }
    }
}

void x520_core_kick(X520Core *core)
{
    x520_kick_all_rx(core);
    x520_kick_all_tx(core);
}

static unsigned x520_rx_queue_of(hwaddr offset)
{
    return offset < 0x5000 ? (offset - 0x1000) / 0x40
                           : 64 + (offset - 0xD000) / 0x40;
}

static unsigned x520_tx_queue_of(hwaddr offset)
{
    return (offset - 0x6000) / 0x40;
}

static void x520_rxctrl_write(X520Core *core, hwaddr offset, uint32_t value)
{
    uint32_t old = x520_reg(core, offset);

    core->mac[offset >> 2] = value & 3;
    if (~old & value & X520_RXCTRL_RXEN) {
        x520_kick_all_rx(core);
    }
}

static void x520_rxdctl_write(X520Core *core, hwaddr offset, uint32_t value)
{
    unsigned q = x520_rx_queue_of(offset);
    uint32_t old = x520_reg(core, offset);

    core->mac[offset >> 2] = value & ~X520_RXDCTL_SWFLSH;
    if (~old & value & X520_RXDCTL_ENABLE) {
        x520_rx_kick(core, q);
    } else if (old & ~value & X520_RXDCTL_ENABLE) {
        x520_rx_disable(core, q);
    }
}

static void x520_rdt_write(X520Core *core, hwaddr offset, uint32_t value)
{
    core->mac[offset >> 2] = value & 0xffff;
    x520_rx_kick(core, x520_rx_queue_of(offset));
}

static void x520_dmatxctl_write(X520Core *core, hwaddr offset, uint32_t value)
{
    uint32_t old = x520_reg(core, offset);

    core->mac[offset >> 2] = value;
    if (~old & value & X520_DMATXCTL_TE) {
        x520_kick_all_tx(core);
    }
}

static void x520_txdctl_write(X520Core *core, hwaddr offset, uint32_t value)
{
    unsigned q = x520_tx_queue_of(offset);
    uint32_t old = x520_reg(core, offset);

    core->mac[offset >> 2] = value & ~X520_TXDCTL_SWFLSH;
    if (~old & value & X520_TXDCTL_ENABLE) {
        x520_tx_kick(core, q);
    } else if (old & ~value & X520_TXDCTL_ENABLE) {
        x520_tx_disable(core, q);
    }
}

static void x520_tdt_write(X520Core *core, hwaddr offset, uint32_t value)
{
    core->mac[offset >> 2] = value & 0xffff;
    x520_tx_kick(core, x520_tx_queue_of(offset));
}

/* DMA initialisation is finished as soon as it is asked for. */
static uint32_t x520_rdrxctl_read(X520Core *core, hwaddr offset)
{
    return x520_reg(core, offset) | X520_RDRXCTL_DMAIDONE;
}

/*
 * Security engines: always drained (bit 0), and reported as fused off
 * (bit 1), since the model has no IPsec or MACsec.
 */
static uint32_t x520_secstat_read(X520Core *core, hwaddr offset)
{
    return 3;
}

/* ---- statistics ---- */

static uint32_t x520_clear_read(X520Core *core, hwaddr offset)
{
    return x520_stat_read(core, offset);
}

/* ---- MDIO: no external PHY answers, so reads float high ---- */

static void x520_msca_write(X520Core *core, hwaddr offset, uint32_t value)
{
    core->mac[offset >> 2] = value & ~0x40000000;
    core->mac[X520_MSRWD >> 2] |= 0xffff0000;
}

/* PFVFLRE at its two addresses; PFVFLREC clears the bits. */
static uint32_t x520_vflre_read(X520Core *core, hwaddr offset)
{
    return x520_reg(core, X520_VFLREC(offset == X520_VFLRE1));
}

static void x520_vfte_write(X520Core *core, hwaddr offset, uint32_t value)
{
    core->mac[offset >> 2] = value;
    x520_kick_all_tx(core);
}

/* RTTBCNRC of the queue that RTTDQSEL selects. */
static uint32_t x520_rate_read(X520Core *core, hwaddr offset)
{
    return core->rate[x520_reg(core, X520_RTTDQSEL) & (X520_NUM_QUEUES - 1)];
}

static void x520_rate_write(X520Core *core, hwaddr offset, uint32_t value)
{
    core->rate[x520_reg(core, X520_RTTDQSEL) & (X520_NUM_QUEUES - 1)] = value;
}

static void x520_w1c_write(X520Core *core, hwaddr offset, uint32_t value)
{
    core->mac[offset >> 2] &= ~value;
}

static void x520_pba_clear(X520Core *core, hwaddr offset, uint32_t value)
{
    /* PBA support bits: QEMU's MSI-X keeps the pending array itself. */
}

#define RW(base, count, stride, wmask) \
    { base, count, stride, wmask, 0, NULL, NULL }
#define RWR(base, count, stride, wmask, reset) \
    { base, count, stride, wmask, reset, NULL, NULL }
#define RO(base, count, stride, value) \
    { base, count, stride, 0, value, NULL, NULL }
#define FN(base, count, stride, wmask, reset, rd, wr) \
    { base, count, stride, wmask, reset, rd, wr }
#define CNT(base, count, stride) \
    { base, count, stride, 0, 0, x520_clear_read, NULL }
#define ALIAS(base, count, stride, canon, canon_stride) \
    { base, count, stride, 0, 0, NULL, NULL, canon, canon_stride }
#define ALL 0xffffffff

static const X520RegInfo x520_regs[] = {
    { 0 },      /* index 0: not in the table */

    /* General */
    FN(X520_CTRL, 1, 4, 0, 0, NULL, x520_ctrl_write),
    ALIAS(X520_CTRL_ALIAS, 1, 4, X520_CTRL, 4),
    FN(X520_STATUS, 1, 4, 0, 0, x520_status_read, NULL),
    FN(X520_CTRL_EXT, 1, 4, 0, 0, NULL, x520_ctrl_ext_write),
    FN(X520_ESDP, 1, 4, ALL, 0, x520_esdp_read, NULL),
    FN(X520_I2CCTL, 1, 4, 0, 0, x520_i2cctl_read, x520_i2cctl_write),
    FN(X520_FRTIMER, 1, 4, 0, 0, x520_frtimer_read, NULL),
    RW(X520_TCPTIMER, 1, 4, 0x00000fff),
    RWR(X520_LEDCTL, 1, 4, 0xcfcfcfef, 0x84222104),

    /* EEPROM, flash, semaphores */
    FN(X520_EEC, 1, 4, 0, 0, x520_eeprom_read, x520_eeprom_write),
    FN(X520_EERD, 1, 4, 0, 0, x520_eeprom_read, x520_eeprom_write),
    RO(X520_EEWR, 1, 4, 0),
    RO(X520_FLA, 1, 4, 0),
    RO(X520_EEMNGCTL, 1, 4, 0x00040000),        /* CFG_DONE of port 0 */
    RO(X520_EEMNGDATA, 1, 4, 0),
    RO(0x10118, 3, 4, 0),                       /* FLMNGCTL, DATA, CNT */
    RO(X520_FLOP, 1, 4, 0),
    RW(X520_GRC, 1, 4, 0x00000003),
    FN(X520_SWSM, 1, 4, 0, 0, x520_link_read, x520_link_write),
    RO(X520_FWSM, 1, 4, 0x00008000),            /* valid, no firmware mode */
    RO(X520_FACTPS, 1, 4, 0),
    RW(X520_SW_FW_SYNC, 1, 4, ALL),
    RO(0x15F00, 4, 4, 0),                       /* HICR: no ARC */
    RO(0x05820, 1, 4, 0),                       /* MANC */

    /* PCIe */
    RWR(X520_GCR, 1, 4, ALL, 0x00040000),
    RO(0x11004, 15, 4, 0),
    RW(X520_GCR_EXT, 1, 4, ALL),
    FN(X520_PBACL, 1, 4, 0, 0, NULL, x520_pba_clear),
    FN(0x110C4, 7, 4, 0, 0, NULL, x520_pba_clear),
    RO(X520_DCA_ID, 1, 4, 0),
    RW(X520_DCA_CTRL, 1, 4, 0x0000001f),
    RO(X520_MREVID, 1, 4, 1),
    RO(0x1106C, 1, 4, 0),                       /* PCIEECCCTL */
    RO(X520_CIAA, 1, 4, 0x80000000),
    RO(X520_CIAD, 1, 4, 0),
    RO(0x11090, 8, 4, 0),                       /* PCIE_DIAG */
    FN(X520_PICAUSE, 1, 4, 0, 0, NULL, x520_w1c_write),
    RW(X520_PIENA, 1, 4, ALL),
    RO(X520_BARCTRL, 1, 4, 0),

    /* Interrupts */
    FN(X520_EICR, 1, 4, 0, 0, x520_intr_read, x520_intr_write),
    FN(X520_EICS, 1, 4, 0, 0, x520_intr_read, x520_intr_write),
    FN(X520_EIMS, 1, 4, 0, 0, x520_intr_read, x520_intr_write),
    FN(X520_EIMC, 1, 4, 0, 0, x520_intr_read, x520_intr_write),
    RW(X520_EIAC, 1, 4, 0x7fffffff),
    FN(X520_EIAM, 1, 4, 0, 0, x520_intr_read, x520_intr_write),
    /* EICS_EX, EIMS_EX, EIMC_EX, EIAM_EX */
    FN(0x00A90, 2, 4, 0, 0, x520_intr_read, x520_intr_write),
    FN(0x00AA0, 2, 4, 0, 0, x520_intr_read, x520_intr_write),
    FN(0x00AB0, 2, 4, 0, 0, x520_intr_read, x520_intr_write),
    FN(0x00AD0, 2, 4, 0, 0, x520_intr_read, x520_intr_write),
    FN(X520_EITR(0), 24, 4, 0, 0, NULL, x520_intr_write),
    FN(X520_EITR(24), 40, 4, 0, 0, NULL, x520_intr_write),
    FN(X520_GPIE, 1, 4, 0, 0, NULL, x520_intr_write),
    RW(X520_EITRSEL, 1, 4, ALL),
    RW(X520_IVAR(0), 64, 4, 0xbfbfbfbf),
    RW(X520_IVAR_MISC, 1, 4, 0x0000bfbf),
    RW(0x02000, 1, 4, 0),

    /* Receive queues */
    RW(X520_RDBAL(0), 64, 0x40, 0xffffff80),
    RW(X520_RDBAL(64), 64, 0x40, 0xffffff80),
    RW(X520_RDBAH(0), 64, 0x40, ALL),
    RW(X520_RDBAH(64), 64, 0x40, ALL),
    RW(X520_RDLEN(0), 64, 0x40, 0x000fff80),
    RW(X520_RDLEN(64), 64, 0x40, 0x000fff80),
    RW(X520_DCA_RXCTRL(0), 64, 0x40, ALL),
    RW(X520_DCA_RXCTRL(64), 64, 0x40, ALL),
    ALIAS(0x02200, 16, 4, X520_DCA_RXCTRL(0), 0x40),
    RW(X520_RDH(0), 64, 0x40, 0x0000ffff),
    RW(X520_RDH(64), 64, 0x40, 0x0000ffff),
    RW(X520_SRRCTL(0), 64, 0x40, ALL),
    RW(X520_SRRCTL(64), 64, 0x40, ALL),
    ALIAS(0x02100, 16, 4, X520_SRRCTL(0), 0x40),
    FN(X520_RDT(0), 64, 0x40, 0, 0, NULL, x520_rdt_write),
    FN(X520_RDT(64), 64, 0x40, 0, 0, NULL, x520_rdt_write),
    FN(X520_RXDCTL(0), 64, 0x40, 0, 0, NULL, x520_rxdctl_write),
    FN(X520_RXDCTL(64), 64, 0x40, 0, 0, NULL, x520_rxdctl_write),
    RW(X520_RSCCTL(0), 64, 0x40, ALL),
    RW(X520_RSCCTL(64), 64, 0x40, ALL),

    /* Receive, global */
    FN(X520_RDRXCTL, 1, 4, ALL, 0, x520_rdrxctl_read, NULL),
    FN(X520_RXCTRL, 1, 4, 0, 0, NULL, x520_rxctrl_write),
    FN(X520_QDE, 1, 4, 0, 0, NULL, x520_qde_write),
    RW(0x02F08, 1, 4, ALL),                     /* RDHMPN */
    RO(0x02F10, 5, 4, 0),
    RW(0x03008, 1, 4, ALL),                     /* PFCTOP */
    RW(X520_RTRUP2TC, 1, 4, 0x00ffffff),
    RW(X520_RSCDBU, 1, 4, ALL),
    RW(0x02430, 1, 4, ALL),                     /* RTRPCS */
    RW(0x02140, 8, 4, ALL),                     /* RTRPT4C */
    RW(0x02160, 8, 4, ALL),                     /* RTRPT4S */
    RW(X520_FCTTV(0), 4, 4, ALL),
    RW(X520_FCRTL(0), 8, 4, 0x8007fff0),
    RW(X520_FCRTH(0), 8, 4, 0x8007fff0),
    RW(X520_FCRTV, 1, 4, 0x0000ffff),
    RWR(X520_RXPBSIZE(0), 1, 4, 0x000ffc00, 0x00080000),
    RW(X520_RXPBSIZE(1), 7, 4, 0x000ffc00),
    RW(X520_FCCFG, 1, 4, ALL),
    RW(X520_DROPEN, 1, 4, ALL),
    RW(X520_RXCSUM, 1, 4, 0x00003000),
    RW(X520_RFCTL, 1, 4, ALL),
    RW(X520_EXVET, 1, 4, ALL),
    RW(X520_FCTRL, 1, 4, ALL),
    RWR(X520_VLNCTRL, 1, 4, 0xf000ffff, 0x00008100),
    RW(X520_MCSTCTRL, 1, 4, 0x00000007),
    RW(0x050A0, 2, 4, ALL), RW(0x050B0, 2, 4, ALL), /* RFVAL, PFFLP */
    RW(X520_VT_CTL, 1, 4, ALL),
    RW(0x05180, 2, 4, ALL),                     /* PFVMTXSW */
    RW(0x051E0, 2, 4, ALL),                     /* PFVFRE */
    RW(X520_MTA(0), 128, 4, ALL),
    RW(X520_ETQF(0), 8, 4, ALL),
    RW(X520_ETQS(0), 8, 4, ALL),
    RW(X520_MRQC, 1, 4, ALL),
    ALIAS(0x05818, 1, 4, X520_MRQC, 4),
    RW(0x0EC70, 1, 4, ALL),                     /* RQTC */
    RW(X520_RSSRK(0), 10, 4, ALL),
    ALIAS(0x05C80, 10, 4, X520_RSSRK(0), 4),
    RW(X520_RETA(0), 32, 4, 0x0f0f0f0f),
    ALIAS(0x05C00, 32, 4, X520_RETA(0), 4),
    RW(X520_PSRTYPE(0), 64, 4, ALL),
    ALIAS(0x05480, 16, 4, X520_PSRTYPE(0), 4),
    RW(X520_VFTA(0), 128, 4, ALL),
    RW(X520_RAL(0), 128, 8, ALL),
    RW(X520_RAH(0), 128, 8, 0x8000ffff),
    ALIAS(0x05400, 32, 4, X520_RAL(0), 4),
    RW(X520_MPSAR_LO(0), 128, 8, ALL),
    RW(X520_MPSAR_HI(0), 128, 8, ALL),
    RW(X520_PFVLVF(0), 64, 4, ALL),
    RW(X520_PFVLVFB(0), 128, 4, ALL),
    RW(0x0F000, 64, 4, ALL),                    /* PFVML2FLT */
    RW(0x0F400, 128, 4, ALL),                   /* PFUTA */
    RW(0x0F600, 20, 4, ALL),                    /* PFMRCTL, VLAN, VM */
    RW(X520_SAQF(0), 128, 4, ALL),
    RW(X520_DAQF(0), 128, 4, ALL),
    RW(X520_SDPQF(0), 128, 4, ALL),
    RW(X520_FTQF(0), 128, 4, ALL),
    RW(X520_L34TIMIR(0), 128, 4, ALL),
    RW(X520_SYNQF, 1, 4, ALL),
    RW(0x0EC90, 1, 4, ALL),                     /* LLITHRESH */
    RW(0x05A80, 17, 4, ALL),                    /* IMIR, IMIREXT, IMIRVP */
    RW(0x0581C, 1, 4, ALL),                     /* VMD_CTL (82598) */
    RW(0x0ED00, 1, 4, ALL),                     /* FCRECTL */
    RW(0x0ED10, 8, 4, ALL),                     /* FCRETA */
    RW(0x05100, 1, 4, ALL),                     /* FCRXCTRL */
    RW(0x05158, 1, 4, ALL),                     /* REOFF */
    RW(0x051F8, 1, 4, ALL),                     /* RSOFF */
    RW(0x02410, 3, 4, ALL),                     /* FCPTRL, FCPTRH, FCBUFF */
    RW(0x02420, 1, 4, ALL),                     /* FCDMARW */
    RW(0x05108, 1, 4, ALL),                     /* FCFLT */
    RW(0x05110, 1, 4, ALL),                     /* FCFLTRW */
    FN(X520_MBVFICR(0), 4, 4, 0, 0, NULL, x520_w1c_write),
    RWR(X520_MBVFIMR(0), 4, 4, ALL, ALL),
    FN(X520_PFMAILBOX(0), 64, 4, 0, 0, NULL, x520_pfmailbox_write),
    RW(X520_PFMBMEM(0), 1024, 4, ALL),
    FN(X520_VFLRE0, 1, 4, 0, 0, x520_vflre_read, NULL),
    FN(X520_VFLRE1, 1, 4, 0, 0, x520_vflre_read, NULL),
    FN(X520_VFLREC(0), 2, 4, 0, 0, NULL, x520_w1c_write),
    RO(X520_PVFGPRC(0), 64, 0x40, 0), RO(X520_PVFGORC_LSB(0), 64, 0x40, 0),
    RO(X520_PVFGORC_MSB(0), 64, 0x40, 0), RO(X520_PVFMPRC(0), 64, 0x40, 0),
    RO(X520_PVFGPTC(0), 64, 4, 0), RO(X520_PVFGOTC_LSB(0), 128, 4, 0),

    /* Flow Director */
    FN(X520_FDIRCTRL, 1, 4, ALL, 0, NULL, x520_fdirctrl_write),
    RW(X520_FDIRSIPV6(0), 3, 4, ALL),
    RW(X520_FDIRIPSA, 5, 4, ALL),               /* IPSA .. HASH */
    FN(X520_FDIRCMD, 1, 4, ALL, 0, NULL, x520_fdircmd_write),
    RW(X520_FDIRFREE, 1, 4, ALL),
    RWR(X520_FDIRDIP4M, 4, 4, ALL, ALL),        /* DIP4M .. UDPM */
    CNT(X520_FDIRLEN, 5, 4),                    /* LEN .. MISS */
    RW(X520_FDIRHKEY, 2, 4, ALL),
    RW(X520_FDIRM, 3, 4, ALL),                  /* FDIRM, IP6M, SCTPM */

    /* Transmit queues */
    RW(X520_TDBAL(0), 128, 0x40, 0xffffff80),
    RW(X520_TDBAH(0), 128, 0x40, ALL),
    RW(X520_TDLEN(0), 128, 0x40, 0x000fff80),
    RW(X520_DCA_TXCTRL(0), 128, 0x40, ALL),
    ALIAS(0x07200, 16, 4, X520_DCA_TXCTRL(0), 0x40),
    RW(X520_TDH(0), 128, 0x40, 0x0000ffff),
    FN(X520_TDT(0), 128, 0x40, 0, 0, NULL, x520_tdt_write),
    FN(X520_TXDCTL(0), 128, 0x40, 0, 0, NULL, x520_txdctl_write),
    RW(X520_TDWBAL(0), 128, 0x40, 0xfffffffd),
    RW(X520_TDWBAH(0), 128, 0x40, ALL),

    /* Transmit, global */
    RW(X520_RTTDCS, 1, 4, ALL),
    RW(X520_RTTDQSEL, 1, 4, 0x0000007f),
    RW(0x04908, 2, 4, ALL),                     /* RTTDT1C, RTTDT1S */
    RW(0x04910, 8, 4, ALL),                     /* RTTDT2C */
    RW(0x04930, 8, 4, ALL),                     /* RTTDT2S */
    RWR(X520_TXPBTHRESH(0), 8, 4, 0x000003ff, 0x96),
    FN(X520_RTTBCNRC, 1, 4, 0, 0, x520_rate_read, x520_rate_write),
    RW(0x04980, 5, 4, ALL),                     /* other RTTBCN* */
    FN(X520_DMATXCTL, 1, 4, ALL, 0x81000000, NULL, x520_dmatxctl_write),
    RWR(X520_DTXTCPFLGL, 1, 4, 0x0fff0fff, 0x0ff60ff6),
    RWR(X520_DTXTCPFLGH, 1, 4, 0x00000fff, 0x00000f7f),
    RW(0x04A90, 3, 4, ALL),                     /* TEOFF, TSOFF */
    RW(X520_DTXMXSZRQ, 1, 4, 0x00000fff),
    RW(X520_MTQC, 1, 4, ALL),
    FN(X520_VFTE(0), 2, 4, 0, 0, NULL, x520_vfte_write),
    RW(X520_VMECM(0), 2, 4, ALL),
    RW(0x08000, 64, 4, ALL),                    /* PFVMVIR */
    RW(0x08200, 9, 4, ALL),                     /* PFVFSPOOF, PFDTXGSWC */
    RW(0x082CC, 1, 4, 0x0fffffff),              /* TXDESCIC */
    RW(0x082E0, 4, 4, ALL),                     /* TXLLQ */
    RW(0x07E00, 1, 4, 0),                       /* DTXCTL (82598) */
    RW(X520_SECTXCTRL, 1, 4, 0x00000007),
    FN(X520_SECTXSTAT, 1, 4, 0, 0, x520_secstat_read, NULL),
    RWR(X520_SECTXBUFFAF, 1, 4, ALL, 0x250),
    RWR(X520_SECTXMINIFG, 1, 4, ALL, 0x1),
    RW(X520_SECRXCTRL, 1, 4, 0x00000003),
    FN(X520_SECRXSTAT, 1, 4, 0, 0, x520_secstat_read, NULL),
    RO(0x08A00, 16, 4, 0),                      /* MACsec, transmit */
    RO(0x08F00, 32, 4, 0),                      /* MACsec, receive */
    RO(0x08900, 6, 4, 0),                       /* IPsec */
    RO(0x08E00, 13, 4, 0),
    RW(0x08B00, 1, 4, ALL),
    RWR(X520_TXPBSIZE(0), 1, 4, 0x000ffc00, 0x00028000),
    RW(X520_TXPBSIZE(1), 7, 4, 0x000ffc00),
    RW(X520_RTTUP2TC, 1, 4, 0x00ffffff),
    RW(0x0CA00, 1, 4, ALL),                     /* LBDRPEN */
    RW(0x0CB00, 1, 4, ALL),                     /* TIPG */
    RW(X520_RTTPCS, 1, 4, ALL),
    RW(0x0CD10, 1, 4, ALL),                     /* MNGTXMAP */
    RW(0x0CD20, 8, 4, ALL),                     /* RTTPT2C */
    RW(0x0CD40, 8, 4, ALL),                     /* RTTPT2S */
    RO(X520_TFCS, 1, 4, 0),

    /* MAC and link */
    RW(0x04200, 1, 4, ALL),                     /* PCS1GCFIG */
    RWR(X520_PCS1GLCTL, 1, 4, ALL, 0x02000000),
    RO(X520_PCS1GLSTA, 1, 4, 0),
    RO(0x04210, 2, 4, 0),
    RW(X520_PCS1GANA, 1, 4, ALL),
    RO(X520_PCS1GANLP, 1, 4, 0),
    RW(0x04220, 1, 4, ALL),
    RO(0x04224, 1, 4, 0),
    RWR(X520_HLREG0, 1, 4, ALL, X520_HLREG0_TXCRCEN | X520_HLREG0_RXCRCSTRP |
        X520_HLREG0_TXPADEN | 0x08000000),
    RO(X520_HLREG1, 1, 4, 0x10),
    RWR(X520_PAP, 1, 4, ALL, 0xffff),
    RWR(X520_MACA, 1, 4, ALL, 0),
    RO(0x04250, 3, 4, 0),
    FN(X520_MSCA, 1, 4, ALL, 0, NULL, x520_msca_write),
    RW(X520_MSRWD, 1, 4, 0x0000ffff),
    RW(X520_MLADD, 1, 4, ALL),
    RWR(X520_MAXFRS, 1, 4, 0xffff0000, 0x05ee0000),
    RO(0x0426C, 1, 4, 0),
    RO(X520_PCSS1, 3, 4, 0),
    RW(X520_MFLCN, 1, 4, 0x0000000f),
    RW(X520_SERDESC, 1, 4, ALL),
    RW(X520_MACS, 1, 4, ALL),
    FN(X520_AUTOC, 1, 4, 0, 0, NULL, x520_link_write),
    FN(X520_AUTOC2, 1, 4, 0, 0, NULL, x520_link_write),
    RW(0x042AC, 1, 4, ALL),                     /* AUTOC3 */
    FN(X520_LINKS, 1, 4, 0, 0, x520_link_read, NULL),
    FN(X520_LINKS2, 1, 4, 0, 0, x520_link_read, NULL),
    FN(X520_ANLP1, 1, 4, 0, 0, x520_link_read, NULL),
    RO(X520_ANLP2, 1, 4, 0),
    RO(X520_MMNGC, 1, 4, 0),
    RO(0x042D4, 2, 4, 0),
    RW(0x042E0, 4, 4, ALL),
    RW(X520_MACC, 1, 4, ALL),
    RW(0x04800, 1, 4, ALL),                     /* ATLASCTL */
    RW(X520_CORECTL, 1, 4, ALL),
    RW(X520_SMADARCTL, 1, 4, ALL),

    /* Diagnostics that ethtool -d reads */
    RO(0x02C00, 9, 4, 0), RO(0x07C00, 9, 4, 0), RO(0x07F08, 7, 4, 0),
    RO(0x07F40, 1, 4, 0), RO(0x03300, 1, 4, 0), RO(0x03600, 8, 4, 0),
    RO(0x0C300, 1, 4, 0), RO(0x0C600, 8, 4, 0), RO(0x042B8, 1, 4, 0),
    RO(0x042C0, 4, 4, 0),

    /* Wake-up: configurable, but the model never wakes anything */
    RW(0x05800, 1, 4, ALL), RW(0x05808, 1, 4, ALL),
    FN(0x05810, 1, 4, 0, 0, NULL, x520_w1c_write),
    RW(0x05838, 1, 4, ALL), RW(0x05840, 8, 4, ALL),
    RW(0x05880, 4, 4, ALL), RO(0x05900, 1, 4, 0),
    RO(0x05A00, 32, 4, 0), RW(0x09000, 256, 4, ALL),
    RW(0x09800, 128, 4, ALL),

    /* Statistics, clear on read */
    CNT(X520_CRCERRS, 1, 4), CNT(X520_ILLERRC, 1, 4), CNT(X520_ERRBC, 1, 4),
    CNT(X520_MSPDC, 1, 4), CNT(X520_MPC(0), 8, 4), CNT(X520_MLFC, 1, 4),
    CNT(X520_MRFC, 1, 4), CNT(X520_RLEC, 1, 4),
    CNT(0x03FC0, 8, 4),                         /* RNBC */
    CNT(0x03F00, 16, 4), CNT(X520_LXONTXC, 1, 4), CNT(X520_LXOFFTXC, 1, 4),
    CNT(0x0CF00, 16, 4), CNT(0x0CF60, 1, 4), CNT(0x0CF68, 1, 4),
    CNT(0x03240, 8, 4),
    CNT(X520_PRC64, 6, 4), CNT(X520_GPRC, 3, 4), CNT(X520_GPTC, 1, 4),
    CNT(X520_GORCL, 4, 4), CNT(X520_RUC, 4, 4), CNT(X520_MNGPRC, 2, 4),
    CNT(X520_TORL, 2, 4), CNT(X520_TPR, 2, 4), CNT(X520_PTC64, 6, 4),
    CNT(X520_MPTC, 2, 4), CNT(X520_XEC, 1, 4), CNT(X520_PXONRXCNT(0), 8, 4),
    CNT(X520_PXOFFRXCNT(0), 8, 4), CNT(X520_LXONRXCNT, 2, 4),
    CNT(X520_RXNFGPC, 3, 4), CNT(0x041C0, 2, 4), CNT(X520_FCCRC, 1, 4),
    CNT(X520_SSVPC, 2, 4), CNT(0x08788, 1, 4), CNT(X520_TXDGPC, 3, 4),
    CNT(0x087B0, 1, 4), CNT(X520_MNGPTC, 1, 4),
    CNT(X520_RXDGPC, 12, 4), CNT(0x02F90, 1, 4), RW(0x02F40, 1, 4, ALL),
    CNT(0x0241C, 1, 4), CNT(0x02424, 3, 4),
    RW(X520_RQSMR(0), 32, 4, 0x0f0f0f0f),
    RW(X520_TQSM(0), 32, 4, 0x0f0f0f0f),
    ALIAS(0x07300, 8, 4, X520_TQSM(0), 4),
    CNT(X520_QPRC(0), 16, 0x40), CNT(X520_QBRC_L(0), 16, 0x40),
    CNT(X520_QBRC_H(0), 16, 0x40), CNT(X520_QPRDC(0), 16, 0x40),
    CNT(X520_QPTC(0), 16, 4), CNT(X520_QBTC_L(0), 32, 4),
    ALIAS(0x06030, 16, 0x40, X520_QPTC(0), 4),
    ALIAS(0x06034, 16, 0x40, X520_QBTC_L(0), 8),

    /* Time stamps */
    RW(X520_TSYNCRXCTL, 1, 4, 0x0000001e),
    FN(X520_RXSTMPH, 1, 4, 0, 0, x520_stamp_read, NULL),
    RO(0x051A0, 3, 4, 0),                       /* RXSATRL, RXSATRH */
    RO(X520_RXSTMPL, 1, 4, 0), RW(X520_RXMTRL, 1, 4, ALL),
    RW(X520_TSYNCTXCTL, 1, 4, 0x00000010),
    RO(X520_TXSTMPL, 1, 4, 0),
    FN(X520_TXSTMPH, 1, 4, 0, 0, x520_stamp_read, NULL),
    FN(X520_SYSTIML, 3, 4, 0, 0, x520_systim_read, x520_systim_write),
    RW(0x08C18, 10, 4, ALL), RW(0x08C68, 1, 4, ALL), RW(0x0003C, 1, 4, ALL),
};

/* Which table entry serves each 32-bit word; shared by all devices. */
static uint16_t x520_reg_index[X520_MAC_REGS];

static void x520_build_index(void)
{
    size_t i;
    unsigned n;

    for (i = 1; i < ARRAY_SIZE(x520_regs); i++) {
        const X520RegInfo *r = &x520_regs[i];

        for (n = 0; n < r->count; n++) {
            uint32_t word = (r->base + n * r->stride) >> 2;

            if (!x520_reg_index[word]) {
                x520_reg_index[word] = i;
            }
        }
    }
}

static const X520RegInfo *x520_find(hwaddr *offset)
{
    const X520RegInfo *r = &x520_regs[x520_reg_index[*offset >> 2]];

    if (r->canon_stride) {
        *offset = r->canon +
                  (*offset - r->base) / r->stride * r->canon_stride;
        r = &x520_regs[x520_reg_index[*offset >> 2]];
    }
    return r;
}

uint64_t x520_core_read(X520Core *core, hwaddr offset, unsigned size)
{
    const X520RegInfo *r;
    uint32_t value;

    if (core->removed) {
        return 0xffffffff;
    }
    if (offset >= X520_MMIO_SIZE || (offset & 3)) {
        return 0;
    }
    r = x520_find(&offset);
    if (!r->count) {
        x520_unimp(offset, false, 0);
        return 0;
    }
    value = r->read ? r->read(core, offset) : core->mac[offset >> 2];
    trace_x520_reg_read(core->port, offset, value);
    return value;
}

void x520_core_write(X520Core *core, hwaddr offset, uint64_t value,
                     unsigned size)
{
    const X520RegInfo *r;
    uint32_t *reg;

    if (core->removed || offset >= X520_MMIO_SIZE || (offset & 3)) {
        return;
    }
    r = x520_find(&offset);
    if (!r->count) {
        x520_unimp(offset, true, value);
        return;
    }
    trace_x520_reg_write(core->port, offset, value);
    if (r->write) {
        r->write(core, offset, value);
        return;
    }
    reg = &core->mac[offset >> 2];
    *reg = (*reg & ~r->wmask) | (value & r->wmask);
}

/* ---- reset ---- */

static void x520_load_defaults(X520Core *core)
{
    size_t i;
    unsigned n;

    memset(core->mac, 0, sizeof(core->mac));
    for (i = 1; i < ARRAY_SIZE(x520_regs); i++) {
        const X520RegInfo *r = &x520_regs[i];

        for (n = 0; r->reset && n < r->count; n++) {
            core->mac[(r->base + n * r->stride) >> 2] = r->reset;
        }
    }
    /* Receive address 0 comes from the EEPROM. */
    core->mac[X520_RAL(0) >> 2] = ldl_le_p(core->perm_mac);
    core->mac[X520_RAH(0) >> 2] = lduw_le_p(core->perm_mac + 4) |
                                  X520_RAH_AV;
}

static void x520_soft_reset(X520Core *core, bool link)
{
    /* Shared with firmware and the other function: outlive these resets. */
    uint32_t swsm = x520_reg(core, X520_SWSM);
    uint32_t sync = x520_reg(core, X520_SW_FW_SYNC);
    uint32_t esdp = x520_reg(core, X520_ESDP);
    uint32_t ctrl_ext = x520_reg(core, X520_CTRL_EXT);

    trace_x520_reset(core->port, link ? "link" : "software");
    x520_load_defaults(core);
    core->mac[X520_SWSM >> 2] = swsm;
    core->mac[X520_SW_FW_SYNC >> 2] = sync;
    core->mac[X520_ESDP >> 2] = esdp;
    core->mac[X520_CTRL_EXT >> 2] = ctrl_ext & X520_CTRL_EXT_DRV_LOAD;
    core->systim_base = 0;
    core->systim_start = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    x520_intr_reset(core);
    x520_link_reset(core, link);
    x520_data_reset(core);
    x520_fdir_reset(core);
    x520_iov_reset(core);
}

void x520_core_reset(X520Core *core)
{
    core->mac[X520_SWSM >> 2] = 0;
    core->mac[X520_SW_FW_SYNC >> 2] = 0;
    core->mac[X520_ESDP >> 2] = 0;
    core->mac[X520_CTRL_EXT >> 2] = 0;
    x520_eeprom_reset(core);
    x520_soft_reset(core, true);
}

void x520_core_realize(X520Core *core)
{
    if (!x520_reg_index[X520_CTRL >> 2]) {
        x520_build_index();
    }
    x520_eeprom_init(core);
    x520_i2c_realize(core);
    x520_intr_realize(core);
    x520_link_realize(core);
    x520_iov_realize(core);
    x520_fdir_realize(core);
    x520_fault_realize(core);
    x520_data_realize(core);
}

void x520_core_unrealize(X520Core *core)
{
    x520_data_unrealize(core);
    x520_fault_unrealize(core);
    x520_fdir_unrealize(core);
    x520_iov_unrealize(core);
    x520_link_unrealize(core);
    x520_intr_unrealize(core);
}

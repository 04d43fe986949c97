/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: state of one port and the contracts between
 * its parts.
 *
 *   x520.c         PCI front: BARs, capabilities, properties, migration
 *   x520_core.c    register dispatch, resets
 *   x520_intr.c    causes, vectors, moderation
 *   x520_link.c    PCS/MAC link state, semaphores
 *   x520_eeprom.c  EEPROM image and access
 *   x520_i2c.c     SFP+ module on the bit-banged I2C bus
 *   x520_stats.c   statistics registers
 *   x520_fault.c   faults on request
 *   x520_fdir.c    Flow Director
 *   x520_ptp.c     IEEE 1588 clock and time stamps
 *   x520_iov.c     virtual functions: mailboxes, interrupts, registers
 *   x520_vf.c      PCI front of a virtual function
 *   x520_rx.c      receive path
 *   x520_rsc.c     receive-side coalescing
 *   x520_tx.c      transmit path
 *
 * Everything runs under the big QEMU lock.
 */

#ifndef HW_NET_X520_CORE_H
#define HW_NET_X520_CORE_H

#include "qemu/timer.h"
#include "net/net.h"
#include "hw/pci/pci_device.h"
#include "hw/i2c/i2c.h"
#include "hw/i2c/bitbang_i2c.h"
#include "migration/vmstate.h"
#include "x520_regs.h"

#define X520_MMIO_SIZE          0x20000         /* CSR space in BAR 0 */
#define X520_MAC_REGS           (X520_MMIO_SIZE / 4)
#define X520_EEPROM_WORDS       2048
#define X520_NUM_POOLS          64
#define X520_VF_VECTORS         3
#define X520_VF_QUEUES          8               /* at most */
#define X520_FCS_LEN            4

typedef struct X520Core X520Core;
typedef struct X520Fdir X520Fdir;       /* private to x520_fdir.c */
typedef struct X520Data X520Data;       /* private to x520_rx.c, x520_tx.c */

typedef enum X520Erratum {
    X520_ERRATUM_NEVER,
    X520_ERRATUM_SOMETIMES,
    X520_ERRATUM_ALWAYS,
} X520Erratum;

/* What is in the cage. */
typedef enum X520Cage {
    X520_SFP_DA,                /* passive direct-attach cable */
    X520_SFP_SR,                /* Intel's 10GBASE-SR */
    X520_SFP_OTHER,             /* somebody else's 10GBASE-SR */
    X520_SFP_NONE,
} X520Cage;

/* One interrupt vector's moderation (EITR). */
typedef struct X520Eitr {
    X520Core *core;
    QEMUTimer *timer;           /* QEMU_CLOCK_VIRTUAL, end of the interval */
    int64_t open_at;            /* when the next message may be sent, ns */
    unsigned vector;
} X520Eitr;

/* One vector of a virtual function, and its moderation. */
typedef struct X520VfVector {
    X520Core *core;
    QEMUTimer *timer;
    int64_t open_at;
    unsigned vf;
} X520VfVector;

/* What a virtual function has for itself. */
typedef struct X520Vf {
    uint32_t mbx;               /* VFMAILBOX bits that clear on read */
    uint32_t eicr, eims, eiac, eiam;
    uint32_t pending;           /* causes not yet sent */
    uint32_t ivar[X520_VF_QUEUES / 2];
    uint32_t ivar_misc;
    uint32_t eitr[X520_VF_VECTORS];
    uint32_t rscint[X520_VF_VECTORS];
    X520VfVector vec[X520_VF_VECTORS];
} X520Vf;

/* Faults on request (x520_fault.c); rates are per mille. */
typedef struct X520FaultState X520FaultState;
typedef struct X520Faults {
    uint32_t seed;
    uint32_t drop, duplicate, reorder, delay;   /* of received frames */
    uint32_t delay_us;
    uint32_t desc;                              /* of receive write-backs */
    uint32_t desc_set, desc_clear;              /* status and error bits */
    uint32_t desc_type;                         /* XORed into packet types */
    uint32_t desc_length;                       /* 0: as it was */
    uint32_t irq_lost, irq_spurious;            /* of queue interrupts */
    uint32_t tx_hang;                           /* after so many packets */
    uint32_t rng;
    uint32_t tx_packets;                        /* since reset */
    X520FaultState *state;
} X520Faults;

struct X520Core {
    /* Shadow of the register space, indexed by offset >> 2. */
    uint32_t mac[X520_MAC_REGS];
    uint16_t eeprom[X520_EEPROM_WORDS];

    PCIDevice *owner;           /* for pci_dma_*() */
    NICState *nic;              /* qemu_get_queue(core->nic) */
    unsigned port;              /* 0 or 1: PCI function */
    uint8_t perm_mac[6];

    /* Properties */
    X520Erratum erratum;
    bool pace;                  /* 10 Gb/s pacing of the wire */
    uint32_t corrupt_permille;
    uint32_t corrupt_seed;
    uint32_t corrupt_offset;
    X520Cage sfp;
    bool eeprom_bad;            /* its checksum is wrong */
    bool removed;               /* pulled out of its slot */
    X520Faults faults;

    /* x520_intr.c */
    X520Eitr eitr[X520_NUM_VECTORS];
    uint64_t vec_pending;       /* MSI-X: causes not yet sent, per vector */
    uint64_t vec_mask;          /* EIMS_EX, one bit per vector */
    uint32_t other_pending;     /* EICR bits 30:16 not yet sent */
    bool legacy_level;          /* MSI or INTx: EICR & EIMS was seen set */

    /* x520_iov.c */
    X520Vf vf[X520_NUM_POOLS];
    uint8_t qde[X520_NUM_QUEUES];       /* PFQDE of each receive queue */
    uint32_t rate[X520_NUM_QUEUES];     /* RTTBCNRC of each transmit queue */

    /* x520_link.c */
    QEMUTimer *link_timer;
    bool link_ready;            /* the last (re)start of the link is over */
    bool link_was_up;           /* backend link as last seen by set_link */
    bool links_latched_down;    /* LINKS.UP reads 0 once more */
    bool an_started;            /* AUTOC restart was asked for since reset */

    /* x520_i2c.c */
    I2CBus *i2c_bus;
    bitbang_i2c_interface i2c;
    uint32_t i2cctl;            /* the two output bits */

    /* x520_eeprom.c: bit-banged SPI */
    uint32_t eec;
    uint32_t spi_shift;
    uint32_t spi_bits;          /* clocked since the chip was selected */
    uint32_t spi_addr;
    uint8_t spi_cmd;
    bool spi_wel;               /* write enable latch */

    /* x520_ptp.c: IEEE 1588 clock */
    uint64_t systim_base;
    uint64_t systim_latch;
    int64_t systim_start;

    X520Fdir *fdir;             /* Flow Director's table */
    X520Data *data;             /* rings, timers of the data path */
};

static inline uint32_t x520_reg(const X520Core *core, hwaddr offset)
{
    return core->mac[offset >> 2];
}

static inline uint64_t x520_reg_pair(const X520Core *core, hwaddr offset)
{
    return x520_reg(core, offset) | (uint64_t)x520_reg(core, offset + 4) << 32;
}

/* ---- data path (x520_rx.c, x520_tx.c), called by the register side ---- */

/* Allocate and free core->data, its timers and bottom halves. */
void x520_data_realize(X520Core *core);
void x520_data_unrealize(X520Core *core);

/*
 * Any reset: forget fetched descriptors, partial frames and contexts, stop
 * timers. The register file has been reset by the caller already.
 */
void x520_data_reset(X520Core *core);

/* Migration: the section for core->data, and what to restart afterwards. */
extern const VMStateDescription vmstate_x520_data;
void x520_data_post_load(X520Core *core);

/*
 * Transmit queue @queue may have something to do: TDT was written, TXDCTL
 * enabled the queue, or DMATXCTL.TE was set (then called for each enabled
 * queue). Must not block; long work goes to a bottom half or timer.
 */
void x520_tx_kick(X520Core *core, unsigned queue);

/*
 * Queue @queue was just disabled (TXDCTL/RXDCTL ENABLE 1 -> 0): drop what
 * was fetched from it. Head and tail registers are kept, as hardware does.
 */
void x520_tx_disable(X520Core *core, unsigned queue);
void x520_rx_disable(X520Core *core, unsigned queue);

/*
 * Receive queue @queue may have room: RDT was written, RXDCTL enabled it.
 * Also called with each enabled queue when RXCTRL.RXEN or the link changes.
 */
void x520_rx_kick(X520Core *core, unsigned queue);

/* NetClientInfo hooks; opaque is the X520Core via qemu_get_nic_opaque(). */
bool x520_can_receive(NetClientState *nc);
ssize_t x520_receive(NetClientState *nc, const uint8_t *buf, size_t size);
ssize_t x520_receive_iov(NetClientState *nc, const struct iovec *iov,
                         int iovcnt);

/* ---- register side, called by the data path ---- */

/*
 * A descriptor with the interrupt condition was written back on @queue: set
 * the cause that IVAR names and send what moderation and masks allow. Cheap
 * to call often, but one call per burst is enough.
 */
void x520_intr_rx(X520Core *core, unsigned queue);
void x520_intr_tx(X520Core *core, unsigned queue);
/* When moderation lets the receive interrupt of @queue through next, ns. */
int64_t x520_intr_rx_open_at(const X520Core *core, unsigned queue);

/* A cause of the "other" group: X520_EICR_LSC, X520_EICR_RX_MISS ... */
void x520_intr_other(X520Core *core, uint32_t cause);

/* Link is up and the MAC may send and receive on the wire. */
bool x520_link_up(const X520Core *core);
/* Wire speed in bits per second: 10^10 or 10^9; 0 when the link is down. */
uint64_t x520_link_bps(const X520Core *core);
/* Transmitted frames come back to the receiver and never reach the wire. */
bool x520_loopback(const X520Core *core);

/*
 * Statistics. @len is the length on the wire including the 4-byte FCS (so at
 * least 64 for a good frame), @dst the destination address.
 */
/* Seen by the MAC, whatever becomes of it: TPR, TOR. */
void x520_stat_rx_seen(X520Core *core, size_t len);
/* Passed the L2 filters: GPRC, GORC, PRC by size, BPRC, MPRC. */
void x520_stat_rx_good(X520Core *core, size_t len, const uint8_t *dst);
/*
 * Delivered to @queue: QPRC, QBRC of the set that RQSMR names, RXDGPC. QBRC
 * counts the @stored bytes, without an FCS that was stripped.
 */
void x520_stat_rx_queue(X520Core *core, unsigned queue, size_t len,
                        size_t stored);
/* Dropped, no descriptor on @queue and DROP_EN: QPRDC. */
void x520_stat_rx_nodesc(X520Core *core, unsigned queue);
/*
 * Dropped, packet buffer full: MPC(0) and the RX_MISS cause. Hardware counts
 * such a frame in GPRC too, so call x520_stat_rx_good() for it as well.
 */
void x520_stat_rx_missed(X520Core *core);
/* Sent from @queue: GPTC, GOTC, TPT, PTC by size, BPTC, MPTC, QPTC, QBTC. */
void x520_stat_tx(X520Core *core, unsigned queue, size_t len,
                  const uint8_t *dst);
/* The same for the queue's virtual function: VFGPRC, VFGORC, VFMPRC. */
void x520_stat_rx_pool(X520Core *core, unsigned queue, size_t len,
                       bool multicast);
/* VFGPTC, VFGOTC: switched frames count too. */
void x520_stat_tx_pool(X520Core *core, unsigned queue, size_t len);
/* Any other 32-bit counter, by register offset; sticks at all ones. */
void x520_stat_add(X520Core *core, hwaddr offset, uint32_t n);

/* ---- between the parts of the register side ---- */

void x520_core_realize(X520Core *core);
void x520_core_unrealize(X520Core *core);
void x520_core_reset(X520Core *core);           /* power-on, bus reset, FLR */
void x520_core_kick(X520Core *core);            /* all enabled queues */
uint64_t x520_core_read(X520Core *core, hwaddr offset, unsigned size);
void x520_core_write(X520Core *core, hwaddr offset, uint64_t value,
                     unsigned size);

void x520_intr_realize(X520Core *core);
void x520_intr_unrealize(X520Core *core);
void x520_intr_reset(X520Core *core);
uint32_t x520_intr_read(X520Core *core, hwaddr offset);
void x520_intr_write(X520Core *core, hwaddr offset, uint32_t value);
void x520_intr_post_load(X520Core *core);

void x520_link_realize(X520Core *core);
void x520_link_unrealize(X520Core *core);
void x520_link_reset(X520Core *core, bool restart);
void x520_link_set(X520Core *core);             /* NetClientInfo set_link */
uint32_t x520_link_read(X520Core *core, hwaddr offset);
void x520_link_write(X520Core *core, hwaddr offset, uint32_t value);

void x520_eeprom_init(X520Core *core);
void x520_eeprom_reset(X520Core *core);
uint32_t x520_eeprom_read(X520Core *core, hwaddr offset);
void x520_eeprom_write(X520Core *core, hwaddr offset, uint32_t value);

void x520_i2c_realize(X520Core *core);
uint32_t x520_i2c_read(X520Core *core);
void x520_i2c_write(X520Core *core, uint32_t value);

uint32_t x520_stat_read(X520Core *core, hwaddr offset);

/* ---- IEEE 1588 ---- */

uint32_t x520_systim_read(X520Core *core, hwaddr offset);
void x520_systim_write(X520Core *core, hwaddr offset, uint32_t value);
uint32_t x520_stamp_read(X520Core *core, hwaddr offset);

/* ---- faults ---- */

/* Is it now? Takes a number from the generator unless @permille is 0. */
bool x520_fault(X520Core *core, uint32_t permille);
/* A frame from the wire, less or more or later than it came. */
void x520_fault_rx(X520Core *core, const uint8_t *buf, size_t len);
/* May change what the last descriptor of a frame says. */
bool x520_fault_desc(X520Core *core, uint32_t *status, uint32_t *types,
                     uint32_t *len);
void x520_fault_realize(X520Core *core);
void x520_fault_unrealize(X520Core *core);

/* ---- Flow Director ---- */

void x520_fdirctrl_write(X520Core *core, hwaddr offset, uint32_t value);
void x520_fdircmd_write(X520Core *core, hwaddr offset, uint32_t value);
void x520_fdir_realize(X520Core *core);
void x520_fdir_unrealize(X520Core *core);
void x520_fdir_reset(X520Core *core);
extern const VMStateDescription vmstate_x520_fdir;

/* ---- virtual functions ---- */

/* The core of the port @pf. */
X520Core *x520_core_of(PCIDevice *pf);
/* The virtual function that owns a queue, or -1. */
int x520_queue_vf(X520Core *core, unsigned queue);
/* The PCI function that a queue's DMA comes from. */
PCIDevice *x520_queue_dev(X520Core *core, unsigned queue);
/* A queue of virtual function @vf has the interrupt condition. */
void x520_vf_intr_queue(X520Core *core, unsigned vf, unsigned queue,
                        unsigned tx);
uint32_t x520_vf_read(X520Core *core, unsigned vf, hwaddr offset);
void x520_vf_write(X520Core *core, unsigned vf, hwaddr offset, uint32_t value);
void x520_vf_reset(X520Core *core, unsigned vf, bool tell);
void x520_pfmailbox_write(X520Core *core, hwaddr offset, uint32_t value);
void x520_ctrl_ext_write(X520Core *core, hwaddr offset, uint32_t value);
void x520_qde_write(X520Core *core, hwaddr offset, uint32_t value);
void x520_iov_realize(X520Core *core);
void x520_iov_unrealize(X520Core *core);
void x520_iov_reset(X520Core *core);
void x520_iov_post_load(X520Core *core);
extern const VMStateDescription vmstate_x520_core_vf;

#endif

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: state of the data path, private to
 * x520_wire.c, x520_filter.c, x520_rx.c, x520_rsc.c and x520_tx.c.
 *
 *   x520_wire.c   timers, pacing, pause frames, life cycle, migration
 *   x520_filter.c L2 filters, pools and the switch between them
 *   x520_rx.c     filters, queue choice, packet buffer, receive descriptors
 *   x520_rsc.c    receive-side coalescing
 *   x520_tx.c     transmit descriptors, checksum insertion, segmentation
 *
 * How work flows. A doorbell only arms a timer on the virtual clock; nothing
 * is sent from the guest's register write. The transmit timer takes one packet
 * after the other from the rings, as far as the wire has time for them, and
 * hands each frame to the peer. Received frames are written to memory at once
 * when the ring has descriptors, and wait in the packet buffer when it has
 * none; RDT then arms the receive timer. Receiving never transmits, so two
 * ports on one hub cannot recurse. Timers, and not bottom halves, keep a run
 * under icount reproducible: they fire at an instruction count, whereas
 * a bottom half runs whenever the host's main loop gets round to it.
 *
 * While a timer works, the device's re-entrancy guard is held, as the network
 * layer does around receive: a descriptor that points at the device's own
 * registers then goes nowhere.
 *
 * Migration: when the machine stops, a packet that is half way out is finished,
 * and so are coalesced ones. Frames that wait, in the packet buffer or as a
 * fault, are saved as one run of bytes; what else there is are the transmit
 * contexts and a few scalars.
 */

#ifndef HW_NET_X520_DATA_H
#define HW_NET_X520_DATA_H

#include "qemu/bitmap.h"
#include "system/runstate.h"
#include "x520_core.h"
#include "x520_desc.h"
#include "x520_pkt.h"

/* Registers and bits that only the data path interprets */
#define X520_MRQC_RT8TC         0x2
#define X520_MRQC_RT4TC         0x3
#define X520_MRQC_RTRSS8TC      0x4
#define X520_MRQC_RTRSS4TC      0x5
#define X520_MRQC_VMDQ          0x8
#define X520_MRQC_VMDQRSS32     0xA
#define X520_MRQC_VMDQRSS64     0xB
#define X520_MRQC_VMDQRT8TC     0xC
#define X520_MRQC_VMDQRT4TC     0xD
#define X520_PSRTYPE_RQPL       29
#define X520_FCCFG_TFCE_802_3X  0x00000008
#define X520_FCRTH_EN           0x80000000
#define X520_FCRTL_XONE         0x80000000
#define X520_FCRT_BYTES         0x0007FFE0

#define X520_FRAME_MIN          60              /* without FCS */
#define X520_FRAME_MAX          15872           /* datasheet 1.3, with FCS */
#define X520_WIRE_OVERHEAD      20              /* preamble, SFD, gap */

/*
 * A doorbell takes about a microsecond to become a frame: descriptor fetch
 * and data fetch are two PCIe round trips.
 */
#define X520_TX_LATENCY_NS      1000
/*
 * How far frames may leave ahead of their time, so that one timer serves many
 * of them. The average rate and the order are not affected.
 */
#define X520_TX_BURST_NS        10000
/* Frames per timer when the wire is not paced. */
#define X520_TX_BURST_FRAMES    512

#define X520_TX_DATA_MAX        (256 * 1024)    /* one packet, all segments */
#define X520_TX_HEADROOM        64
#define X520_TX_HDR_MAX         1024            /* > 127 + 511 + 255 + 4 */
#define X520_TX_FETCH           64              /* descriptors per DMA read */
#define X520_TX_RS_MAX          64              /* write-backs per packet */

#define X520_RX_FETCH           32
#define X520_PB_SIZE            (512 * 1024)    /* 82599 packet buffer */
#define X520_PB_UNIT            32

typedef struct X520TxQueue {
    uint32_t ctx[2][4];         /* context descriptors, as fetched */
    bool skip;                  /* drop descriptors up to the next EOP */
} X520TxQueue;

/* The packet that is on its way out; one at a time. */
typedef struct X520TxPacket {
    bool active;
    bool tso;
    bool stamp;                 /* when its first frame leaves */
    unsigned queue;
    uint8_t *frame;             /* not TSO: what is left to send */
    uint32_t len;

    /* segmentation */
    uint8_t hdr[X520_TX_HDR_MAX];       /* as it precedes each payload */
    uint32_t hdr_len;
    uint32_t l3, l4;            /* offsets in hdr */
    uint32_t l2_len;            /* what IP lengths leave out: MAC, tag */
    uint32_t l4_len;
    uint32_t popts;             /* X520_TXD_IXSM, X520_TXD_TXSM */
    bool ipv4, udp;
    uint8_t *payload;
    uint32_t left;
    uint32_t mss;
    uint32_t seg;
    uint64_t ip_sum, l4_sum;    /* of hdr, changing fields taken as zero */
    uint32_t seq;
    uint16_t ip_id, tcp_flags;

    /* completion */
    uint32_t new_head;
    uint32_t rs[X520_TX_RS_MAX];
    unsigned num_rs;
} X520TxPacket;

typedef struct X520RxQueue {
    X520RxDesc desc[X520_RX_FETCH];     /* fetched, as in guest memory */
    uint32_t head;                      /* ring index of desc[pos] */
    unsigned pos, num;
} X520RxQueue;

/*
 * What the descriptor will say of a frame. In the packet buffer the frame's
 * bytes follow.
 */
typedef struct X520RxMeta {
    uint32_t space;             /* in the packet buffer, to the next entry */
    uint32_t len;               /* bytes for the ring, before stripping */
    uint32_t wire_len;
    uint32_t queue;
    uint32_t types;             /* RSS type and packet type */
    uint32_t hash;
    uint32_t status;            /* and errors, without DD and EOP */
    uint32_t next;              /* NEXTP in its place, without EOP */
    uint16_t l3, l4;            /* TCP without an error; otherwise l4 is 0 */
    uint32_t l4_end;
    uint16_t tci;
    bool vlan;
    bool multicast;
} X520RxMeta;

typedef enum X520RxResult {
    X520_RX_DONE,
    X520_RX_NO_DESC,
    X520_RX_DISCARD,
    X520_RX_PLAIN,              /* not to be coalesced */
} X520RxResult;

typedef struct X520RxRing {
    PCIDevice *dev;
    uint64_t base;
    uint32_t count, head, tail;
} X520RxRing;

typedef struct X520RscState X520RscState;       /* private to x520_rsc.c */

struct X520Data {
    X520Core *core;

    /* wire */
    QEMUTimer *tx_timer;
    QEMUTimer *rx_timer;
    int64_t rate_free[X520_NUM_QUEUES]; /* when a limited queue goes on */
    int64_t wire_free;          /* when the last frame's gap ends, ns */
    uint64_t wire_rem;          /* rest of that division, in bits * 10^9 */
    int64_t paused_until;       /* an 802.3x pause frame holds us */
    bool blocked;               /* the peer took the frame into its queue */
    bool xoff_sent;             /* and not yet taken back by XON */
    bool want_pause;            /* XOFF or XON, as xoff_sent says, is due */
    int64_t xoff_again;         /* when XOFF is to be repeated, ns */
    VMChangeStateEntry *vmstate;
    DECLARE_BITMAP(tx_pending, X520_NUM_QUEUES);
    unsigned tx_next;           /* round robin */
    uint32_t rng;               /* erratum=sometimes and corruption */
    uint64_t corrupted;
    uint8_t *saved;             /* migration: frames that wait */
    uint32_t saved_len;

    /* transmit */
    X520TxQueue txq[X520_NUM_QUEUES];
    X520TxPacket pkt;
    uint8_t *tx_buf;
    X520TxDesc tx_desc[X520_TX_FETCH];

    /* receive */
    X520RxQueue rxq[X520_NUM_QUEUES];
    X520RscState *rsc;
    X520Rss rss;
    uint8_t *pb;                /* packet buffer: ring of X520RxMeta */
    uint32_t pb_head, pb_tail;  /* offsets of the oldest and the next entry */
    uint32_t pb_wrap;           /* where the entries before the wrap end */
    uint32_t pb_used;
    uint32_t pb_count;
    bool rx_stalled;            /* can_receive() said no */
    uint8_t rx_buf[X520_FRAME_MAX + 128];       /* padded, damaged, with FCS */
    uint8_t iov_buf[X520_FRAME_MAX];            /* made of several pieces */
    uint8_t strip_buf[X520_FRAME_MAX + 128];    /* without its tag */
};

/* Which receivers a frame is for. */
typedef struct X520RxMatch {
    bool inexact;
    uint64_t pools;             /* with VT_CTL.VT_ENA */
} X520RxMatch;

/* ---- x520_filter.c ---- */

/* L2 filters; false if a frame from the wire is not for this port. */
bool x520_filter_rx(X520Core *core, const uint8_t *dst, const X520Pkt *p,
                    X520RxMatch *m);
/* Pool of a transmit queue, or -1 without pools. */
int x520_tx_pool(X520Core *core, unsigned queue);
/* May the queue's pool transmit (PFVFTE)? */
bool x520_tx_pool_enabled(X520Core *core, unsigned queue);
/*
 * A frame leaves @queue: to the wire, to other pools of this port, to both, or
 * nowhere if it claims an address or a VLAN that is not the pool's.
 */
void x520_switch_send(X520Core *core, unsigned queue, uint8_t *frame,
                      size_t len);

/* ---- x520_rsc.c ---- */

/* Does the queue coalesce? */
bool x520_rsc_enabled(X520Core *core, unsigned queue);
/* Notes in @m what of a frame decides whether it may be coalesced. */
void x520_rsc_note(X520RxMeta *m, const X520Pkt *p);
/*
 * Coalesces a frame of a queue that does so; X520_RX_PLAIN if this one wants
 * descriptors of its own. @buf is without its tag if @stripped.
 */
X520RxResult x520_rsc_receive(X520Core *core, const X520RxMeta *m,
                              const uint8_t *buf, bool stripped);
/* The queue has the interrupt condition: now, or when it is due. */
void x520_rsc_intr(X520Core *core, unsigned queue);
/* Ends what is being coalesced, of one queue or (with interrupts) of all. */
void x520_rsc_flush(X520Core *core, unsigned queue);
void x520_rsc_finish(X520Core *core);
/* The queue is gone: nothing more is written. */
void x520_rsc_forget(X520Core *core, unsigned queue);
void x520_rsc_realize(X520Core *core);
void x520_rsc_unrealize(X520Core *core);

/* ---- x520_fdir.c ---- */

typedef struct X520FdirMatch {
    bool drop, to_queue;
    unsigned queue;
    uint32_t id;                /* FDIRHASH of the filter */
} X520FdirMatch;

/* Is there a filter for the frame, that came for @pool? */
bool x520_fdir_match(X520Core *core, const X520Pkt *p, const uint8_t *buf,
                     size_t len, unsigned pool, X520FdirMatch *m);

/* ---- x520_ptp.c ---- */

/* Stamps the frame if it is one that TSYNCRXCTL asks for; did it? */
bool x520_ptp_rx(X520Core *core, const X520Pkt *p, const uint8_t *buf,
                 size_t len);
/* Stamps a frame that leaves and asked for it. */
void x520_ptp_tx(X520Core *core);

/* ---- x520_wire.c ---- */

uint32_t x520_xorshift(uint32_t x);
uint32_t x520_rng(X520Data *d);
/*
 * The guard that the network layer takes around receive, taken around timers
 * too. Entering returns whether it was free.
 */
bool x520_guard_enter(X520Core *core);
void x520_guard_leave(X520Core *core, bool was_free);
/* Arms the transmit timer unless it runs already. */
void x520_tx_arm(X520Core *core);
/* Hands a frame (without FCS) to the wire or, in loopback, to the receiver. */
void x520_wire_send(X520Core *core, uint8_t *frame, size_t len);
/* A frame of @len bytes left @queue: when does RTTBCNRC allow the next? */
void x520_rate_take_time(X520Core *core, unsigned queue, size_t len);
/* Lets the time pass that a frame of @len bytes takes. */
void x520_wire_take_time(X520Core *core, size_t len);
/* A pause frame came: hold transmission for @quanta slots of 512 bits. */
void x520_wire_pause(X520Core *core, uint16_t quanta);
/* The packet buffer's level changed: XOFF or XON may be due. */
void x520_wire_level(X520Core *core);

/* ---- x520_tx.c ---- */

/* Takes the next packet of @queue into d->pkt; false if there is none. */
bool x520_tx_fetch(X520Core *core, unsigned queue);
/* Sends one frame of d->pkt, and completes the packet after the last. */
void x520_tx_emit(X520Core *core);

/* ---- x520_rx.c ---- */

/* One frame without FCS, from the wire or looped back. */
void x520_rx_frame(X520Core *core, const uint8_t *buf, size_t len,
                   bool loopback);
/* One frame without FCS, from a pool of this port to others. */
void x520_rx_switched(X520Core *core, const uint8_t *buf, size_t len,
                      const X520Pkt *p, uint64_t pools);
/* Returns how many descriptors of @queue the hardware owns. */
uint32_t x520_rx_ring(X520Core *core, unsigned queue, X520RxRing *r);
/* The descriptor at r->head, which the hardware owns; NULL if DMA failed. */
const X520RxDesc *x520_rx_desc(X520Core *core, X520RxQueue *q,
                               const X520RxRing *r);
/* That one is used now. */
void x520_rx_advance(X520Core *core, unsigned queue, X520RxRing *r);
/*
 * Writes back the descriptor at r->head. Software looks at the status or the
 * length, both in the second quadword, which is therefore written last and in
 * one piece.
 */
void x520_rx_write_back(X520Core *core, const X520RxRing *r,
                        const X520RxMeta *m, uint32_t len, bool last,
                        bool legacy);
/* Moves frames from the packet buffer to memory as far as possible. */
void x520_rx_drain(X520Core *core);
/* Loses what the packet buffer holds. */
void x520_rx_flush(X520Data *d);
/*
 * Migration: appends what the packet buffer holds, and takes it back. Loading
 * returns how many bytes of @buf were its own, or -1 if they are not sound.
 */
void x520_rx_save(X520Core *core, GByteArray *out);
ssize_t x520_rx_load(X520Core *core, const uint8_t *buf, size_t len);

/* ---- x520_fault.c ---- */

/* The same for the frames that a fault holds back. */
void x520_fault_save(X520Core *core, GByteArray *out);
ssize_t x520_fault_load(X520Core *core, const uint8_t *buf, size_t len);

#endif

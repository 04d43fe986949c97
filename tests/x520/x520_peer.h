/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host at the other end of the cable, inside the emulator: what a receiver
 * is measured with.
 *
 * A sender that runs in the guest takes its instructions from the receiver's
 * processor. This one takes none: it answers ARP and echo requests for every
 * address, accepts each TCP connection, with or without a VXLAN or Geneve
 * header in front, and sends on it as fast as the wire and the receiver's
 * window allow. It can also send UDP frames at a given rate. It lives on the
 * virtual clock, so that a run under icount repeats.
 *
 *   x520_peer.c       device, wire, control, generator of UDP frames
 *   x520_peer_tcp.c   finding a packet's layers, and the TCP sender
 *
 * Control: a datagram to UDP port 5520 of any address, outside a tunnel, holds
 * words "name=value" (see peer_settings). The answer is one line with the
 * virtual clock, the instructions that the guest has executed, and counters.
 *
 * What it is not: it knows IPv4 only, has no congestion control (inflight= is
 * the limit instead), no SACK, sends full segments only, and ignores data.
 */

#ifndef HW_NET_X520_PEER_H
#define HW_NET_X520_PEER_H

#include "net/net.h"
#include "hw/qdev-core.h"

#define PEER_FLOWS              64
#define PEER_CONTROL_PORT       5520
#define PEER_PROTO_ICMP         1
#define PEER_FRAME_MAX          9728
#define PEER_HDR_MAX            256
#define PEER_PATTERN            65536   /* payload repeats after so much */
#define PEER_REPLIES            64
#define PEER_REPLY_MAX          512

/* Where the layers of a frame begin, as offsets from its first byte. */
typedef struct PeerLayers {
    bool tunnel;                /* outer IPv4 and UDP, then a tunnel header */
    bool geneve;
    unsigned outer_ip, outer_udp, tun;
    unsigned eth;               /* that what follows belongs to: 0 or inner */
    unsigned net;               /* behind its Ethernet header */
    uint16_t type;              /* EtherType there */
    unsigned l4;                /* IPv4 only */
    uint8_t proto;
    unsigned end;               /* of the IPv4 packet */
} PeerLayers;

/* What the guest asked for. */
typedef struct PeerConfig {
    uint64_t mss;               /* at most; 0: what the receiver takes */
    uint64_t csum;              /* 1: with an outer UDP checksum */
    uint64_t rco;               /* 1: VXLAN remote checksum offload */
    uint64_t inflight;          /* bytes unacknowledged, all flows together */
    uint64_t burst;             /* segments of a flow before the next's turn */
    uint64_t gap;               /* ns of silence after so many segments */
    uint64_t loss, reorder, corrupt;    /* of 1000 data frames */
    uint64_t udp_frames;        /* UDP frames to send */
    uint64_t udp_size;          /* bytes of such a frame, without FCS */
    uint64_t udp_gap;           /* ns from one to the next */
    uint64_t udp_port;          /* they go there */
    uint64_t udp_flows;         /* different source ports */
    uint64_t udp_csum;          /* 1: with a checksum */
} PeerConfig;

typedef struct PeerFlow {
    bool used;
    PeerLayers at;              /* of hdr */
    uint8_t hdr[PEER_HDR_MAX];  /* of each data frame */
    unsigned hdr_len;
    unsigned mss;               /* payload bytes of a segment */
    bool stamps;                /* TCP timestamps */
    uint8_t wscale;
    uint32_t una, nxt, max;     /* as RFC 9293 has them; max: highest nxt */
    uint32_t rcv_nxt;
    uint32_t wnd;
    uint32_t ts_recent;
    uint32_t recover;           /* recovery ends when this is acknowledged */
    bool recovering, rexmit;
    unsigned dupacks;
    int64_t rto_at;
    uint16_t ip_id;
} PeerFlow;

typedef struct X520Peer {
    DeviceState parent_obj;
    NICConf conf;
    NICState *nic;

    QEMUTimer *timer;
    int64_t wire_free;
    uint64_t wire_rem;
    int64_t paused_until;
    int64_t quiet_until;        /* gap= */
    PeerConfig cfg;
    uint32_t rng;
    uint8_t *pattern;

    uint8_t reply[PEER_REPLIES][PEER_REPLY_MAX];
    unsigned reply_len[PEER_REPLIES];
    unsigned reply_head, reply_count;

    PeerFlow flow[PEER_FLOWS];
    unsigned turn, turn_left;   /* whose turn it is, for how many segments */
    unsigned gap_left;

    uint8_t guest_mac[6];       /* who asked for UDP frames */
    uint32_t guest_ip, own_ip;
    uint64_t udp_left;
    uint64_t udp_seq;
    int64_t udp_at;

    uint8_t frame[PEER_FRAME_MAX];
    uint8_t held[PEER_FRAME_MAX];       /* reorder= */
    unsigned held_len, held_for;

    uint64_t sent, sent_bytes, acked, rexmits, timeouts, received;
} X520Peer;

#define TYPE_X520_PEER "x520-peer"
OBJECT_DECLARE_SIMPLE_TYPE(X520Peer, X520_PEER)

/* ---- x520_peer.c ---- */

/* A short frame that is sent before all data. */
void peer_reply(X520Peer *s, const uint8_t *frame, unsigned len);
uint32_t peer_random(X520Peer *s);

/* ---- x520_peer_tcp.c ---- */

/* Finds a frame's layers; false if it is cut off or none of ours. */
bool peer_layers(const uint8_t *f, size_t len, PeerLayers *at);
/* Makes a frame its own answer: addresses swapped, @mac as the sender's. */
void peer_turn_round(X520Peer *s, uint8_t *f, const PeerLayers *at);
/* Sets the lengths and checksums from @at->net outwards. */
void peer_seal(uint8_t *f, unsigned len, const PeerLayers *at, bool outer_csum);
void peer_tcp_receive(X520Peer *s, const uint8_t *f, const PeerLayers *at);
/* The next data frame in s->frame; 0 if no flow may send. */
unsigned peer_tcp_next(X520Peer *s, int64_t now);
/* Takes up what was not acknowledged in time; when the next such time is. */
int64_t peer_tcp_timeouts(X520Peer *s, int64_t now);

#endif

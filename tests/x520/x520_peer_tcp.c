/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host at the other end of the cable: the layers of a packet, and a bulk TCP
 * sender (RFC 9293, timestamps and window scaling of RFC 7323, fast retransmit
 * of RFC 6582 without its congestion window). See x520_peer.h.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/timer.h"
#include "net/eth.h"
#include "net/checksum.h"
#include "x520_peer.h"

#define TCP_FIN                 0x01
#define TCP_SYN                 0x02
#define TCP_RST                 0x04
#define TCP_ACK                 0x10
#define TCP_HDR                 20
#define TCP_STAMPS              12      /* NOP, NOP, timestamps */
#define TCP_SYN_OPTIONS         20      /* MSS, timestamps, window scale */
#define PEER_MSS_DEFAULT         536
#define PEER_WSCALE             7
#define PEER_RTO_NS             20000000
#define PEER_DUPACKS            3

#define GENEVE_ETHERNET         0x6558  /* RFC 8926 */
#define VXLAN_HDR               8       /* RFC 7348 */
#define VXLAN_I                 0x08
#define VXLAN_RCO               0x20    /* draft-herbert-vxlan-rco: byte 1 */

/* Sequence numbers wrap. */
static bool before(uint32_t a, uint32_t b)
{
    return (int32_t)(a - b) < 0;
}

/* ---- layers ---- */

static bool peer_ipv4(const uint8_t *f, size_t len, PeerLayers *at)
{
    const uint8_t *ip = f + at->net;
    unsigned hdr;

    if (at->net + 20 > len) {
        return false;
    }
    hdr = (ip[0] & 15) * 4;
    at->l4 = at->net + hdr;
    at->end = at->net + lduw_be_p(ip + 2);
    at->proto = ip[9];
    return ip[0] >> 4 == 4 && hdr >= 20 && at->end <= len &&
           at->l4 <= at->end && !(lduw_be_p(ip + 6) & 0x3fff);
}

bool peer_layers(const uint8_t *f, size_t len, PeerLayers *at)
{
    unsigned tun;

    memset(at, 0, sizeof(*at));
    if (len < 14) {
        return false;
    }
    at->net = 14;
    at->type = lduw_be_p(f + 12);
    if (at->type == ETH_P_ARP) {
        return true;
    }
    if (at->type != ETH_P_IP || !peer_ipv4(f, len, at)) {
        return false;
    }
    tun = at->l4 + 8;
    if (at->proto != IP_PROTO_UDP || at->end < tun + VXLAN_HDR ||
        lduw_be_p(f + at->l4 + 2) == PEER_CONTROL_PORT) {
        return true;
    }
    if (!(f[tun] >> 6) && lduw_be_p(f + tun + 2) == GENEVE_ETHERNET) {
        at->geneve = true;
        at->eth = tun + 8 + (f[tun] & 63) * 4;
    } else if (f[tun] == VXLAN_I) {
        at->eth = tun + VXLAN_HDR;
    } else {
        return true;
    }
    at->tunnel = true;
    at->outer_ip = at->net;
    at->outer_udp = at->l4;
    at->tun = tun;
    if (at->eth + 14 > at->end || at->eth > PEER_HDR_MAX / 2) {
        return false;
    }
    len = at->end;
    at->net = at->eth + 14;
    at->type = lduw_be_p(f + at->eth + 12);
    at->proto = 0;
    return at->type == ETH_P_ARP ||
           (at->type == ETH_P_IP && peer_ipv4(f, len, at));
}

static void peer_swap_ipv4(uint8_t *ip)
{
    uint32_t source = ldl_he_p(ip + 12);

    memcpy(ip + 12, ip + 16, 4);
    stl_he_p(ip + 16, source);
    ip[8] = 64;
    stw_be_p(ip + 6, 0x4000);   /* do not fragment */
}

void peer_turn_round(X520Peer *s, uint8_t *f, const PeerLayers *at)
{
    memcpy(f, f + 6, 6);
    memcpy(f + 6, s->conf.macaddr.a, 6);
    if (at->tunnel) {
        memcpy(f + at->eth, f + at->eth + 6, 6);
        memcpy(f + at->eth + 6, s->conf.macaddr.a, 6);
        peer_swap_ipv4(f + at->outer_ip);
    }
    if (at->type == ETH_P_IP) {
        peer_swap_ipv4(f + at->net);
    }
}

static void peer_seal_ipv4(uint8_t *ip, unsigned len)
{
    stw_be_p(ip + 2, len);
    stw_be_p(ip + 10, 0);
    stw_be_p(ip + 10, net_raw_checksum(ip, (ip[0] & 15) * 4));
}

/* The sum of the pseudo header of RFC 768 and RFC 9293. */
static uint32_t peer_pseudo(uint8_t *ip, uint8_t proto, unsigned len)
{
    return net_checksum_add(8, ip + 12) + proto + len;
}

static void peer_seal_udp(uint8_t *ip, uint8_t *udp, unsigned len, bool csum)
{
    stw_be_p(udp + 4, len);
    stw_be_p(udp + 6, 0);
    if (csum) {
        uint16_t sum = net_checksum_finish(net_checksum_add(len, udp) +
                                           peer_pseudo(ip, IP_PROTO_UDP, len));

        stw_be_p(udp + 6, sum ? sum : 0xffff);
    }
}

void peer_seal(uint8_t *f, unsigned len, const PeerLayers *at, bool outer_csum)
{
    uint8_t *ip = f + at->net, *l4 = f + at->l4;

    if (at->type == ETH_P_IP) {
        unsigned l4_len = len - at->l4;

        peer_seal_ipv4(ip, len - at->net);
        switch (at->proto) {
        case IP_PROTO_TCP:
            stw_be_p(l4 + 16, 0);
            stw_be_p(l4 + 16, net_checksum_finish(net_checksum_add(l4_len, l4) +
                peer_pseudo(ip, IP_PROTO_TCP, l4_len)));
            break;
        case IP_PROTO_UDP:
            peer_seal_udp(ip, l4, l4_len, true);
            break;
        case PEER_PROTO_ICMP:
            stw_be_p(l4 + 2, 0);
            stw_be_p(l4 + 2, net_raw_checksum(l4, l4_len));
            break;
        }
    }
    if (at->tunnel) {
        peer_seal_ipv4(f + at->outer_ip, len - at->outer_ip);
        peer_seal_udp(f + at->outer_ip, f + at->outer_udp, len - at->outer_udp,
                      outer_csum);
    }
}

/*
 * VXLAN's remote checksum offload: the receiver is to compute the inner
 * checksum from where the header says; until then its place holds the pseudo
 * header's sum. Only the outer checksum protects the frame.
 */
static void peer_seal_remote(uint8_t *f, unsigned len, const PeerLayers *at)
{
    unsigned l4_len = len - at->l4;
    uint32_t sum = peer_pseudo(f + at->net, IP_PROTO_TCP, l4_len);

    while (sum >> 16) {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    peer_seal_ipv4(f + at->net, len - at->net);
    stw_be_p(f + at->l4 + 16, sum);
    f[at->tun + 1] |= VXLAN_RCO;
    f[at->tun + 7] = (at->l4 - at->eth) / 2;
    peer_seal_ipv4(f + at->outer_ip, len - at->outer_ip);
    peer_seal_udp(f + at->outer_ip, f + at->outer_udp, len - at->outer_udp,
                  true);
}

/* ---- connections ---- */

static PeerFlow *peer_find(X520Peer *s, const uint8_t *f, const PeerLayers *at)
{
    for (unsigned i = 0; i < PEER_FLOWS; i++) {
        PeerFlow *flow = &s->flow[i];
        const uint8_t *ip = flow->hdr + flow->at.net;

        if (flow->used && flow->at.tunnel == at->tunnel &&
            !memcmp(ip + 16, f + at->net + 12, 4) &&
            !memcmp(ip + 12, f + at->net + 16, 4) &&
            !memcmp(flow->hdr + flow->at.l4 + 2, f + at->l4, 2) &&
            !memcmp(flow->hdr + flow->at.l4, f + at->l4 + 2, 2)) {
            return flow;
        }
    }
    return NULL;
}

/* What a segment's options say; a value that is not there is left alone. */
static void peer_options(const uint8_t *tcp, unsigned len, unsigned *mss,
                         uint8_t *wscale, uint32_t *stamp)
{
    unsigned pos = TCP_HDR, size;

    while (pos < len && tcp[pos]) {
        if (tcp[pos] == 1) {            /* no operation */
            pos++;
            continue;
        }
        size = pos + 1 < len ? tcp[pos + 1] : 0;
        if (size < 2 || pos + size > len) {
            return;
        }
        if (tcp[pos] == 2 && size == 4) {
            *mss = lduw_be_p(tcp + pos + 2);
        } else if (tcp[pos] == 3 && size == 3) {
            *wscale = MIN(tcp[pos + 2], 14);
        } else if (tcp[pos] == 8 && size == 10) {
            *stamp = ldl_be_p(tcp + pos + 2);
        }
        pos += size;
    }
}

static uint32_t peer_now_ms(void)
{
    return qemu_clock_get_ms(QEMU_CLOCK_VIRTUAL) + 1;
}

/* Sends away whoever is not known or has closed. */
static void peer_refuse(X520Peer *s, const uint8_t *f, const PeerLayers *at)
{
    uint8_t r[PEER_REPLY_MAX], *tcp = r + at->l4;

    memcpy(r, f, at->l4 + TCP_HDR);
    peer_turn_round(s, r, at);
    memcpy(tcp, f + at->l4 + 2, 2);
    memcpy(tcp + 2, f + at->l4, 2);
    memcpy(tcp + 4, f + at->l4 + 8, 4);
    stl_be_p(tcp + 8, 0);
    tcp[12] = TCP_HDR / 4 << 4;
    tcp[13] = TCP_RST;
    stl_be_p(tcp + 16, 0);
    peer_seal(r, at->l4 + TCP_HDR, at, s->cfg.csum);
    peer_reply(s, r, at->l4 + TCP_HDR);
}

static void peer_accept(X520Peer *s, const uint8_t *f, const PeerLayers *at)
{
    PeerFlow *flow = peer_find(s, f, at);
    const uint8_t *syn = f + at->l4;
    unsigned syn_len = (syn[12] >> 4) * 4, mss = PEER_MSS_DEFAULT, len;
    uint8_t wscale = 0xff, r[PEER_REPLY_MAX], *tcp;
    uint32_t stamp = 0;

    for (unsigned i = 0; !flow && i < PEER_FLOWS; i++) {
        if (!s->flow[i].used) {
            flow = &s->flow[i];
        }
    }
    if (!flow) {
        return;
    }
    peer_options(syn, syn_len, &mss, &wscale, &stamp);

    memset(flow, 0, sizeof(*flow));
    flow->used = true;
    flow->at = *at;
    flow->stamps = stamp;
    flow->ts_recent = stamp;
    flow->wscale = wscale == 0xff ? 0 : wscale;
    flow->wnd = lduw_be_p(syn + 14);
    flow->rcv_nxt = ldl_be_p(syn + 4) + 1;
    flow->una = flow->nxt = flow->max = 1 + ((uint32_t)(flow - s->flow) << 24);
    flow->mss = s->cfg.mss ? MIN(mss, s->cfg.mss) : mss;
    flow->mss -= flow->stamps ? TCP_STAMPS : 0;
    flow->hdr_len = at->l4 + TCP_HDR + (flow->stamps ? TCP_STAMPS : 0);
    flow->mss = MIN(MAX((int)flow->mss, 64), PEER_FRAME_MAX - flow->hdr_len);
    flow->rto_at = INT64_MAX;

    /* the header that all frames begin with */
    memcpy(flow->hdr, f, at->l4);
    peer_turn_round(s, flow->hdr, at);
    tcp = flow->hdr + at->l4;
    memset(tcp, 0, TCP_HDR + TCP_STAMPS);
    memcpy(tcp, syn + 2, 2);
    memcpy(tcp + 2, syn, 2);
    tcp[12] = (flow->hdr_len - at->l4) / 4 << 4;
    tcp[13] = TCP_ACK;
    stw_be_p(tcp + 14, 0xffff);
    tcp[20] = tcp[21] = 1;
    tcp[22] = 8;
    tcp[23] = 10;

    /* SYN, ACK */
    memcpy(r, flow->hdr, at->l4 + TCP_HDR);
    tcp = r + at->l4;
    len = at->l4 + TCP_HDR + TCP_SYN_OPTIONS;
    stl_be_p(tcp + 4, flow->una - 1);
    stl_be_p(tcp + 8, flow->rcv_nxt);
    tcp[12] = (TCP_HDR + TCP_SYN_OPTIONS) / 4 << 4;
    tcp[13] = TCP_SYN | TCP_ACK;
    tcp += TCP_HDR;
    memset(tcp, 1, TCP_SYN_OPTIONS);
    tcp[0] = 2;
    tcp[1] = 4;
    stw_be_p(tcp + 2, 1460);
    if (flow->stamps) {
        tcp[6] = 8;
        tcp[7] = 10;
        stl_be_p(tcp + 8, peer_now_ms());
        stl_be_p(tcp + 12, stamp);
    }
    if (wscale != 0xff) {
        tcp[17] = 3;
        tcp[18] = 3;
        tcp[19] = PEER_WSCALE;
    }
    peer_seal(r, len, at, s->cfg.csum);
    peer_reply(s, r, len);
}

void peer_tcp_receive(X520Peer *s, const uint8_t *f, const PeerLayers *at)
{
    const uint8_t *tcp = f + at->l4;
    unsigned hdr, mss;
    uint8_t flags, wscale;
    PeerFlow *flow;
    uint32_t ack, wnd;

    if (at->end < at->l4 + TCP_HDR ||
        at->l4 + TCP_HDR + TCP_STAMPS > PEER_HDR_MAX) {
        return;
    }
    hdr = (tcp[12] >> 4) * 4;
    if (hdr < TCP_HDR || at->l4 + hdr > at->end) {
        return;
    }
    flags = tcp[13];
    if ((flags & (TCP_SYN | TCP_ACK)) == TCP_SYN) {
        peer_accept(s, f, at);
        return;
    }
    flow = peer_find(s, f, at);
    if (flags & TCP_RST || !flow || flags & TCP_FIN) {
        if (flow) {
            flow->used = false;
        }
        if (!(flags & TCP_RST)) {
            peer_refuse(s, f, at);
        }
        return;
    }

    ack = ldl_be_p(tcp + 8);
    wnd = lduw_be_p(tcp + 14) << flow->wscale;
    peer_options(tcp, hdr, &mss, &wscale, &flow->ts_recent);
    if (before(flow->una, ack) && !before(flow->max, ack)) {
        s->acked += ack - flow->una;
        flow->una = ack;
        flow->dupacks = 0;
        if (before(flow->nxt, ack)) {
            flow->nxt = ack;
        }
        if (flow->recovering) {
            flow->recovering = before(ack, flow->recover);
            flow->rexmit = flow->recovering;
        }
        flow->rto_at = ack == flow->max ? INT64_MAX :
            qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + PEER_RTO_NS;
    } else if (ack == flow->una && ack != flow->max && wnd == flow->wnd &&
               at->l4 + hdr == at->end && !flow->recovering &&
               ++flow->dupacks == PEER_DUPACKS) {
        flow->recover = flow->max;
        flow->recovering = true;
        flow->rexmit = true;
    }
    flow->wnd = wnd;
}

int64_t peer_tcp_timeouts(X520Peer *s, int64_t now)
{
    int64_t next = INT64_MAX;

    for (unsigned i = 0; i < PEER_FLOWS; i++) {
        PeerFlow *flow = &s->flow[i];

        if (!flow->used) {
            continue;
        }
        if (flow->rto_at <= now) {
            s->timeouts++;
            flow->nxt = flow->una;
            flow->recovering = flow->rexmit = false;
            flow->dupacks = 0;
            flow->rto_at = now + PEER_RTO_NS;
        }
        next = MIN(next, flow->rto_at);
    }
    return next;
}

/* ---- sending ---- */

static bool peer_may_send(X520Peer *s, const PeerFlow *flow, unsigned flows)
{
    uint64_t most = MAX(s->cfg.inflight / flows, flow->mss);

    return flow->used && (flow->rexmit ||
           flow->nxt - flow->una + flow->mss <= MIN(flow->wnd, most));
}

static unsigned peer_segment(X520Peer *s, PeerFlow *flow, int64_t now)
{
    unsigned len = flow->hdr_len + flow->mss;
    uint32_t seq = flow->rexmit ? flow->una : flow->nxt;
    uint8_t *f = s->frame, *tcp = f + flow->at.l4;

    memcpy(f, flow->hdr, flow->hdr_len);
    memcpy(f + flow->hdr_len, s->pattern + seq % PEER_PATTERN, flow->mss);
    stl_be_p(tcp + 4, seq);
    stl_be_p(tcp + 8, flow->rcv_nxt);
    if (flow->stamps) {
        stl_be_p(tcp + 24, peer_now_ms());
        stl_be_p(tcp + 28, flow->ts_recent);
    }
    stw_be_p(f + flow->at.net + 4, flow->ip_id);
    if (flow->at.tunnel) {
        stw_be_p(f + flow->at.outer_ip + 4, flow->ip_id);
    }
    flow->ip_id++;
    if (s->cfg.rco && flow->at.tunnel && !flow->at.geneve) {
        peer_seal_remote(f, len, &flow->at);
    } else {
        peer_seal(f, len, &flow->at, s->cfg.csum);
    }

    if (before(seq, flow->max)) {
        s->rexmits++;
    }
    if (flow->rexmit) {
        flow->rexmit = false;
    } else {
        flow->nxt += flow->mss;
        if (before(flow->max, flow->nxt)) {
            flow->max = flow->nxt;
        }
    }
    if (flow->rto_at == INT64_MAX) {
        flow->rto_at = now + PEER_RTO_NS;
    }
    s->sent++;
    s->sent_bytes += flow->mss;
    return len;
}

unsigned peer_tcp_next(X520Peer *s, int64_t now)
{
    unsigned flows = 0;

    for (unsigned i = 0; i < PEER_FLOWS; i++) {
        flows += s->flow[i].used;
    }
    if (!flows) {
        return 0;
    }
    for (unsigned tried = 0; tried <= PEER_FLOWS; tried++) {
        PeerFlow *flow = &s->flow[s->turn];

        if (s->turn_left && peer_may_send(s, flow, flows)) {
            s->turn_left--;
            return peer_segment(s, flow, now);
        }
        s->turn = (s->turn + 1) % PEER_FLOWS;
        s->turn_left = MAX(s->cfg.burst, 1);
    }
    return 0;
}

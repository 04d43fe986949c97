/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host at the other end of the cable: the device, the wire, control, and
 * the generator of UDP frames. See x520_peer.h.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/cutils.h"
#include "qemu/module.h"
#include "qemu/timer.h"
#include "qapi/error.h"
#include "net/eth.h"
#include "net/checksum.h"
#include "hw/qdev-properties.h"
#include "system/cpu-timers.h"
#include "x520_peer.h"

#define PEER_BPS                10000000000ull
#define PEER_WIRE_OVERHEAD      24      /* FCS, preamble, SFD, gap */
#define PEER_FRAME_MIN          60
#define PEER_LATENCY_NS         1000    /* from a frame to its answer */
/* As the card's own X520_TX_BURST_NS: one timer for a few frames. */
#define PEER_BURST_NS           10000
#define PEER_HELD_FOR           3       /* frames that overtake a held one */
#define PEER_PAUSE_SLOT_BITS    512     /* IEEE 802.3 annex 31B */
#define PEER_ETH_P_MAC_CONTROL  0x8808

static const struct {
    const char *name;
    size_t offset;
    uint64_t most, initial;
} peer_settings[] = {
    { "mss", offsetof(PeerConfig, mss), 9000, 0 },
    { "csum", offsetof(PeerConfig, csum), 1, 0 },
    { "rco", offsetof(PeerConfig, rco), 1, 0 },
    { "inflight", offsetof(PeerConfig, inflight), 1 << 30, 384 * 1024 },
    { "burst", offsetof(PeerConfig, burst), 1 << 20, 44 },
    { "gap", offsetof(PeerConfig, gap), 1000000000, 0 },
    { "loss", offsetof(PeerConfig, loss), 1000, 0 },
    { "reorder", offsetof(PeerConfig, reorder), 1000, 0 },
    { "corrupt", offsetof(PeerConfig, corrupt), 1000, 0 },
    { "udp_frames", offsetof(PeerConfig, udp_frames), 1000000000, 0 },
    { "udp_size", offsetof(PeerConfig, udp_size), PEER_FRAME_MAX, 60 },
    { "udp_gap", offsetof(PeerConfig, udp_gap), 1000000000, 0 },
    { "udp_port", offsetof(PeerConfig, udp_port), 65535, 9 },
    { "udp_flows", offsetof(PeerConfig, udp_flows), 16384, 1 },
    { "udp_csum", offsetof(PeerConfig, udp_csum), 1, 1 },
};

static uint64_t *peer_setting(X520Peer *s, unsigned i)
{
    return (uint64_t *)((char *)&s->cfg + peer_settings[i].offset);
}

uint32_t peer_random(X520Peer *s)
{
    s->rng ^= s->rng << 13;
    s->rng ^= s->rng >> 17;
    s->rng ^= s->rng << 5;
    return s->rng;
}

static void peer_arm(X520Peer *s, int64_t when)
{
    if (!timer_pending(s->timer) ||
        timer_expire_time_ns(s->timer) > when) {
        timer_mod(s->timer, when);
    }
}

static void peer_arm_soon(X520Peer *s)
{
    peer_arm(s, qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + PEER_LATENCY_NS);
}

void peer_reply(X520Peer *s, const uint8_t *frame, unsigned len)
{
    unsigned slot = (s->reply_head + s->reply_count) % PEER_REPLIES;

    if (s->reply_count == PEER_REPLIES || len > PEER_REPLY_MAX) {
        return;                 /* a wire may lose frames */
    }
    memcpy(s->reply[slot], frame, len);
    s->reply_len[slot] = len;
    s->reply_count++;
}

/* ---- the wire ---- */

static void peer_transmit(X520Peer *s, uint8_t *frame, unsigned len)
{
    uint64_t t = (MAX(len, PEER_FRAME_MIN) + PEER_WIRE_OVERHEAD) * 8ull *
                 NANOSECONDS_PER_SECOND + s->wire_rem;

    s->wire_free += t / PEER_BPS;
    s->wire_rem = t % PEER_BPS;
    qemu_send_packet(qemu_get_queue(s->nic), frame, len);
}

/* Data frames, which the wire may lose, delay or damage if so asked. */
static void peer_transmit_data(X520Peer *s, unsigned len)
{
    if (s->cfg.loss && peer_random(s) % 1000 < s->cfg.loss) {
        return;
    }
    if (s->cfg.corrupt && peer_random(s) % 1000 < s->cfg.corrupt) {
        s->frame[len - 1 - peer_random(s) % (len / 2)] ^=
            1 << peer_random(s) % 8;
    }
    if (s->cfg.reorder && !s->held_len &&
        peer_random(s) % 1000 < s->cfg.reorder) {
        memcpy(s->held, s->frame, len);
        s->held_len = len;
        s->held_for = PEER_HELD_FOR;
        return;
    }
    peer_transmit(s, s->frame, len);
    if (s->held_len && !--s->held_for) {
        peer_transmit(s, s->held, s->held_len);
        s->held_len = 0;
    }
}

static unsigned peer_udp_next(X520Peer *s)
{
    unsigned len = MAX(s->cfg.udp_size, PEER_FRAME_MIN);
    PeerLayers at = { .net = 14, .type = ETH_P_IP, .l4 = 34, .end = len,
                      .proto = IP_PROTO_UDP };
    uint8_t *f = s->frame;

    memcpy(f, s->guest_mac, 6);
    memcpy(f + 6, s->conf.macaddr.a, 6);
    stw_be_p(f + 12, ETH_P_IP);
    memset(f + 14, 0, 28);
    f[14] = 0x45;
    stw_be_p(f + 20, 0x4000);   /* do not fragment */
    f[22] = 64;
    f[23] = IP_PROTO_UDP;
    stl_be_p(f + 26, s->own_ip);
    stl_be_p(f + 30, s->guest_ip);
    stw_be_p(f + 34, 49152 + s->udp_seq % MAX(s->cfg.udp_flows, 1));
    stw_be_p(f + 36, s->cfg.udp_port);
    memcpy(f + 42, s->pattern, len - 42);
    peer_seal(f, len, &at, false);
    if (!s->cfg.udp_csum) {
        stw_be_p(f + 40, 0);
    }
    s->udp_seq++;
    s->udp_left--;
    return len;
}

/* When the next frame may leave. */
static int64_t peer_start(X520Peer *s, int64_t now)
{
    return MAX(MAX(s->wire_free, s->paused_until), now);
}

static void peer_run(void *opaque)
{
    X520Peer *s = opaque;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    int64_t again = peer_tcp_timeouts(s, now), start;
    unsigned len;

    for (;;) {
        start = peer_start(s, now);
        if (start > now + PEER_BURST_NS) {
            again = MIN(again, start);
            break;
        }
        if (start > s->wire_free) {
            s->wire_free = start;
            s->wire_rem = 0;
        }
        if (s->reply_count) {
            peer_transmit(s, s->reply[s->reply_head],
                          s->reply_len[s->reply_head]);
            s->reply_head = (s->reply_head + 1) % PEER_REPLIES;
            s->reply_count--;
            continue;
        }
        if (s->udp_left && s->udp_at <= now) {
            len = peer_udp_next(s);
            s->udp_at += s->cfg.udp_gap;
            if (!s->cfg.udp_gap) {
                s->udp_at = now;
            }
            peer_transmit(s, s->frame, len);
            continue;
        }
        if (s->quiet_until > now) {
            again = MIN(again, s->quiet_until);
            break;
        }
        len = peer_tcp_next(s, now);
        if (!len) {
            break;
        }
        peer_transmit_data(s, len);
        if (s->cfg.gap && !--s->gap_left) {
            s->gap_left = MAX(s->cfg.burst, 1);
            s->quiet_until = s->wire_free + s->cfg.gap;
        }
    }
    if (s->udp_left) {
        again = MIN(again, MAX(s->udp_at, start));
    }
    if (again != INT64_MAX) {
        peer_arm(s, MAX(again, now + 1));
    }
}

/* ---- control ---- */

static void peer_set(X520Peer *s, const char *word)
{
    const char *value = strchr(word, '=');
    uint64_t number;

    if (!value || qemu_strtou64(value + 1, NULL, 10, &number) < 0) {
        return;
    }
    for (unsigned i = 0; i < ARRAY_SIZE(peer_settings); i++) {
        if (strlen(peer_settings[i].name) == value - word &&
            !strncmp(peer_settings[i].name, word, value - word)) {
            *peer_setting(s, i) = MIN(number, peer_settings[i].most);
        }
    }
}

/*
 * The answer's first two figures are taken where the request arrived: an
 * instruction of the guest that rang the card's doorbell.
 */
static void peer_control(X520Peer *s, const uint8_t *f, const PeerLayers *at)
{
    unsigned len = at->end - at->l4 - 8, flows = 0;
    PeerLayers out = *at;
    g_autofree char *text = g_strndup((const char *)f + at->l4 + 8, len);
    g_auto(GStrv) words = g_strsplit_set(text, "\n ", -1);
    g_autofree char *answer = NULL;
    uint8_t r[PEER_REPLY_MAX];

    for (unsigned i = 0; words[i]; i++) {
        if (!strcmp(words[i], "reset")) {
            for (unsigned k = 0; k < ARRAY_SIZE(peer_settings); k++) {
                *peer_setting(s, k) = peer_settings[k].initial;
            }
            for (unsigned k = 0; k < PEER_FLOWS; k++) {
                s->flow[k].used = false;
            }
            s->udp_left = 0;
            s->quiet_until = 0;
            s->rng = 1;
        } else if (!strcmp(words[i], "udp")) {
            memcpy(s->guest_mac, f + 6, 6);
            s->guest_ip = ldl_be_p(f + at->net + 12);
            s->own_ip = ldl_be_p(f + at->net + 16);
            s->udp_left = s->cfg.udp_frames;
            s->udp_at = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
        } else {
            peer_set(s, words[i]);
        }
    }
    s->gap_left = MAX(s->cfg.burst, 1);
    for (unsigned i = 0; i < PEER_FLOWS; i++) {
        flows += s->flow[i].used;
    }
    answer = g_strdup_printf("ns=%" PRId64 " insns=%" PRId64 " flows=%u "
        "sent=%" PRIu64 " sent_bytes=%" PRIu64 " acked=%" PRIu64
        " rexmits=%" PRIu64 " timeouts=%" PRIu64 " received=%" PRIu64
        " udp=%" PRIu64 "\n",
        qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL),
        icount_enabled() ? icount_get_raw() : 0, flows, s->sent,
        s->sent_bytes, s->acked, s->rexmits, s->timeouts, s->received,
        s->udp_seq);

    memcpy(r, f, at->l4 + 8);
    peer_turn_round(s, r, at);
    memcpy(r + at->l4, f + at->l4 + 2, 2);
    memcpy(r + at->l4 + 2, f + at->l4, 2);
    len = at->l4 + 8 + strlen(answer);
    memcpy(r + at->l4 + 8, answer, strlen(answer));
    out.end = len;
    peer_seal(r, len, &out, false);
    peer_reply(s, r, len);
}

/* ---- what arrives ---- */

/* ARP for IPv4 on Ethernet: we are whoever is asked for. */
static void peer_arp(X520Peer *s, const uint8_t *f, size_t len,
                     const PeerLayers *at)
{
    const uint8_t *arp = f + at->net;
    uint8_t r[PEER_REPLY_MAX], *a = r + at->net;

    if (at->net + 28 > len || at->net + 28 > sizeof(r) ||
        lduw_be_p(arp + 6) != 1 || !memcmp(arp + 14, arp + 24, 4)) {
        return;
    }
    memcpy(r, f, at->net + 28);
    peer_turn_round(s, r, at);
    stw_be_p(a + 6, 2);
    memcpy(a + 8, s->conf.macaddr.a, 6);
    memcpy(a + 14, arp + 24, 4);
    memcpy(a + 18, arp + 8, 10);
    peer_seal(r, at->net + 28, at, s->cfg.csum);
    peer_reply(s, r, at->net + 28);
}

static void peer_echo(X520Peer *s, const uint8_t *f, const PeerLayers *at)
{
    uint8_t r[PEER_REPLY_MAX];

    if (at->end > sizeof(r) || at->end < at->l4 + 8 || f[at->l4] != 8) {
        return;
    }
    memcpy(r, f, at->end);
    peer_turn_round(s, r, at);
    r[at->l4] = 0;
    peer_seal(r, at->end, at, s->cfg.csum);
    peer_reply(s, r, at->end);
}

static bool peer_can_receive(NetClientState *nc)
{
    return true;
}

static ssize_t peer_receive(NetClientState *nc, const uint8_t *f, size_t len)
{
    X520Peer *s = qemu_get_nic_opaque(nc);
    PeerLayers at;

    s->received++;
    if (len >= 18 && lduw_be_p(f + 12) == PEER_ETH_P_MAC_CONTROL) {
        s->paused_until = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) +
                          lduw_be_p(f + 16) * PEER_PAUSE_SLOT_BITS *
                          NANOSECONDS_PER_SECOND / PEER_BPS;
        peer_arm_soon(s);
        return len;
    }
    if (!peer_layers(f, len, &at)) {
        return len;
    }
    if (at.type == ETH_P_ARP) {
        peer_arp(s, f, len, &at);
    } else if (at.proto == IP_PROTO_TCP) {
        peer_tcp_receive(s, f, &at);
    } else if (at.proto == PEER_PROTO_ICMP) {
        peer_echo(s, f, &at);
    } else if (at.proto == IP_PROTO_UDP && at.end >= at.l4 + 8 &&
               lduw_be_p(f + at.l4 + 2) == PEER_CONTROL_PORT) {
        peer_control(s, f, &at);
    }
    peer_arm_soon(s);
    return len;
}

/* ---- the device ---- */

static NetClientInfo peer_net_info = {
    .type = NET_CLIENT_DRIVER_NIC,
    .size = sizeof(NICState),
    .can_receive = peer_can_receive,
    .receive = peer_receive,
};

static void peer_realize(DeviceState *dev, Error **errp)
{
    X520Peer *s = X520_PEER(dev);
    uint32_t x = 1;

    if (!s->conf.peers.ncs[0]) {
        error_setg(errp, "x520-peer: netdev= must name the cable");
        return;
    }
    qemu_macaddr_default_if_unset(&s->conf.macaddr);
    s->nic = qemu_new_nic(&peer_net_info, &s->conf, TYPE_X520_PEER, dev->id,
                          &dev->mem_reentrancy_guard, s);
    s->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, peer_run, s);
    s->rng = 1;
    for (unsigned i = 0; i < ARRAY_SIZE(peer_settings); i++) {
        *peer_setting(s, i) = peer_settings[i].initial;
    }
    /* what is sent repeats, but no two halves of a segment are alike */
    s->pattern = g_malloc(PEER_PATTERN + PEER_FRAME_MAX);
    for (unsigned i = 0; i < PEER_PATTERN; i++) {
        x = x * 1664525 + 1013904223;
        s->pattern[i] = x >> 24;
    }
    memcpy(s->pattern + PEER_PATTERN, s->pattern, PEER_FRAME_MAX);
}

static void peer_unrealize(DeviceState *dev)
{
    X520Peer *s = X520_PEER(dev);

    timer_free(s->timer);
    qemu_del_nic(s->nic);
    g_free(s->pattern);
}

static const Property peer_properties[] = {
    DEFINE_NIC_PROPERTIES(X520Peer, conf),
};

static void peer_class_init(ObjectClass *klass, void *data)
{
    DeviceClass *dc = DEVICE_CLASS(klass);

    dc->realize = peer_realize;
    dc->unrealize = peer_unrealize;
    dc->desc = "a host on the wire that sends to the X520";
    dc->user_creatable = true;
    dc->hotpluggable = false;
    device_class_set_props(dc, peer_properties);
    set_bit(DEVICE_CATEGORY_NETWORK, dc->categories);
}

static const TypeInfo peer_info = {
    .name = TYPE_X520_PEER,
    .parent = TYPE_DEVICE,
    .instance_size = sizeof(X520Peer),
    .class_init = peer_class_init,
};

static void peer_register(void)
{
    type_register_static(&peer_info);
}

type_init(peer_register)

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: receive parser and checksums.
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "qemu/crc32c.h"
#include "qemu/host-utils.h"
#include "net/eth.h"
#include "x520_desc.h"
#include "x520_pkt.h"
#include "x520_regs.h"

#define X520_IP6_HDR_LEN        40
#define X520_IP6_EXT_MAX        8       /* the hardware's limit is not public */
#define X520_TCP_HDR_MIN        20
#define X520_UDP_HDR_LEN        8
#define X520_SCTP_HDR_LEN       12

#define X520_PROTO_HOPOPTS      0
#define X520_PROTO_TCP          6
#define X520_PROTO_UDP          17
#define X520_PROTO_IPV6         41
#define X520_PROTO_ROUTING      43
#define X520_PROTO_FRAGMENT     44
#define X520_PROTO_ESP          50
#define X520_PROTO_AH           51
#define X520_PROTO_DSTOPTS      60
#define X520_PROTO_SCTP         132

uint64_t x520_csum_add(uint64_t sum, const void *data, size_t len)
{
    const uint8_t *p = data;
    uint64_t hi = 0;

    /*
     * 32-bit halves added apart need no carry handling below 2^32 words, and
     * the compiler can use vector adds for them.
     */
    while (len >= 32) {
        uint64_t w[4];

        memcpy(w, p, sizeof(w));
        sum += (uint32_t)w[0];
        hi += w[0] >> 32;
        sum += (uint32_t)w[1];
        hi += w[1] >> 32;
        sum += (uint32_t)w[2];
        hi += w[2] >> 32;
        sum += (uint32_t)w[3];
        hi += w[3] >> 32;
        p += 32;
        len -= 32;
    }
    sum += hi;
    while (len >= 4) {
        uint32_t w;

        memcpy(&w, p, sizeof(w));
        sum += w;
        p += 4;
        len -= 4;
    }
    if (len >= 2) {
        uint16_t w;

        memcpy(&w, p, sizeof(w));
        sum += w;
        p += 2;
        len -= 2;
    }
    if (len) {
        uint8_t last[2] = { *p, 0 };
        uint16_t w;

        memcpy(&w, last, sizeof(w));
        sum += w;
    }
    return sum;
}

uint16_t x520_csum_fold(uint64_t sum)
{
    sum = (sum >> 32) + (uint32_t)sum;
    sum = (sum >> 32) + (uint32_t)sum;
    sum = (sum >> 16) + (sum & 0xffff);
    sum = (sum >> 16) + (sum & 0xffff);
    return (sum >> 16) + (sum & 0xffff);
}

uint32_t x520_sctp_crc(const uint8_t *sctp, size_t len)
{
    static const uint8_t zero[4];
    uint32_t crc = 0xffffffff;

    /* crc32c() inverts what it returns, which a continuation must undo */
    crc = ~crc32c(crc, sctp, 8);
    crc = ~crc32c(crc, zero, 4);
    return crc32c(crc, sctp + X520_SCTP_HDR_LEN, len - X520_SCTP_HDR_LEN);
}

/* Notes the L4 header at @off. No bit for one that is cut short. */
static void x520_parse_l4(X520Pkt *p, size_t off, size_t end, uint8_t proto)
{
    size_t room = end - off;

    switch (proto) {
    case X520_PROTO_TCP:
        if (room < X520_TCP_HDR_MIN) {
            return;
        }
        p->ptype |= X520_PTYPE_TCP;
        break;
    case X520_PROTO_UDP:
        if (room < X520_UDP_HDR_LEN) {
            return;
        }
        p->ptype |= X520_PTYPE_UDP;
        break;
    case X520_PROTO_SCTP:
        if (room < X520_SCTP_HDR_LEN) {
            return;
        }
        p->ptype |= X520_PTYPE_SCTP;
        break;
    case X520_PROTO_ESP:
        p->ptype |= X520_PTYPE_ESP;
        return;
    case X520_PROTO_AH:
        p->ptype |= X520_PTYPE_AH;
        return;
    default:
        return;
    }
    p->l4 = off;
    p->l4_end = end;
    p->l4_sum = true;
}

static void x520_parse_ip6(X520Pkt *p, const uint8_t *buf, size_t off,
                           size_t len)
{
    size_t end;
    uint8_t next;
    bool routed = false;

    if (len - off < X520_IP6_HDR_LEN || buf[off] >> 4 != 6) {
        return;
    }
    p->ptype |= X520_PTYPE_IPV6;
    p->addrs = off + 8;
    p->l4_v6 = true;
    end = off + X520_IP6_HDR_LEN + lduw_be_p(buf + off + 4);
    if (end > len) {
        return;
    }
    next = buf[off + 6];
    off += X520_IP6_HDR_LEN;

    for (int i = 0; i < X520_IP6_EXT_MAX; i++) {
        switch (next) {
        case X520_PROTO_FRAGMENT:
            p->ptype |= X520_PTYPE_IPV6E;
            return;
        case X520_PROTO_ROUTING:
            /* the checksum covers the last address while any is left */
            if (end - off >= 8 && buf[off + 3]) {
                routed = true;
            }
            /* fall through */
        case X520_PROTO_HOPOPTS:
        case X520_PROTO_DSTOPTS:
            p->ptype |= X520_PTYPE_IPV6E;
            if (end - off < 8) {
                return;
            }
            next = buf[off];
            off += 8 + 8 * (size_t)buf[off + 1];
            if (off > end) {
                return;
            }
            break;
        default:
            x520_parse_l4(p, off, end, next);
            p->l4_sum = p->l4_sum && !routed;
            return;
        }
    }
}

static void x520_parse_ip4(X520Pkt *p, const uint8_t *buf, size_t off,
                           size_t len)
{
    size_t hlen, end;

    if (len - off < 20 || buf[off] >> 4 != 4) {
        return;
    }
    hlen = (buf[off] & 0xf) * 4;
    if (hlen < 20 || hlen > len - off) {
        return;
    }
    p->ptype |= X520_PTYPE_IPV4;
    if (hlen > 20) {
        p->ptype |= X520_PTYPE_IPV4E;
    }
    p->l3_hlen = hlen;
    end = off + lduw_be_p(buf + off + 2);
    if (end > len || end < off + hlen) {
        return;
    }
    if (lduw_be_p(buf + off + 6) & (IP_MF | IP_OFFMASK)) {
        return;
    }
    if (buf[off + 9] == X520_PROTO_IPV6) {
        x520_parse_ip6(p, buf, off + hlen, end);
        return;
    }
    p->addrs = off + 12;
    x520_parse_l4(p, off + hlen, end, buf[off + 9]);
}

void x520_pkt_parse(X520Pkt *p, const uint8_t *buf, size_t len, uint16_t vet)
{
    size_t off = 14;

    memset(p, 0, sizeof(*p));
    if (len < off) {
        return;
    }
    p->ethertype = lduw_be_p(buf + 12);
    if (p->ethertype == vet && len >= 18) {
        p->vlan = true;
        p->tci = lduw_be_p(buf + 14);
        p->ethertype = lduw_be_p(buf + 16);
        off = 18;
    }
    p->l3 = off;
    if (p->ethertype == ETH_P_IP) {
        x520_parse_ip4(p, buf, off, len);
    } else if (p->ethertype == ETH_P_IPV6) {
        x520_parse_ip6(p, buf, off, len);
    }
}

/* The pseudo header's sum: addresses, protocol, length. */
static uint64_t x520_pseudo(const X520Pkt *p, const uint8_t *buf,
                            uint8_t proto, uint32_t len)
{
    uint64_t sum;

    sum = x520_csum_add(0, buf + p->addrs, p->l4_v6 ? 32 : 8);
    sum += cpu_to_be16(proto);
    sum += cpu_to_be32(len);
    return sum;
}

uint32_t x520_pkt_verify(const X520Pkt *p, const uint8_t *buf, bool *udp_zero)
{
    const uint8_t *l4 = buf + p->l4;
    uint32_t st = 0, len;
    uint64_t sum;

    *udp_zero = false;
    if (p->ptype & X520_PTYPE_IPV4) {
        st |= X520_RXS_IPCS;
        sum = x520_csum_add(0, buf + p->l3, p->l3_hlen);
        if (x520_csum_fold(sum) != 0xffff) {
            st |= X520_RXE_IPE;
        }
    }
    if (!p->l4_sum) {
        return st;
    }

    len = p->l4_end - p->l4;
    if (p->ptype & X520_PTYPE_TCP) {
        sum = x520_pseudo(p, buf, X520_PROTO_TCP, len);
        sum = x520_csum_add(sum, l4, len);
        st |= X520_RXS_L4CS;
        if (x520_csum_fold(sum) != 0xffff) {
            st |= X520_RXE_L4E;
        }
    } else if (p->ptype & X520_PTYPE_UDP) {
        uint32_t ulen = lduw_be_p(l4 + 4);

        if (!l4[6] && !l4[7]) {
            *udp_zero = true;
            return st;
        }
        st |= X520_RXS_L4CS | X520_RXS_UDPCS;
        if (ulen < X520_UDP_HDR_LEN || ulen > len) {
            return st | X520_RXE_L4E;
        }
        sum = x520_pseudo(p, buf, X520_PROTO_UDP, ulen);
        sum = x520_csum_add(sum, l4, ulen);
        if (x520_csum_fold(sum) != 0xffff) {
            st |= X520_RXE_L4E;
        }
    } else {
        st |= X520_RXS_L4CS;
        if (x520_sctp_crc(l4, len) != ldl_le_p(l4 + 8)) {
            st |= X520_RXE_L4E;
        }
    }
    return st;
}

void x520_rss_set_key(X520Rss *rss, const uint32_t *key)
{
    uint8_t k[X520_RSS_KEY_LEN];

    if (rss->valid && !memcmp(rss->key, key, sizeof(rss->key))) {
        return;
    }
    memcpy(rss->key, key, sizeof(rss->key));
    rss->valid = true;

    for (int i = 0; i < X520_RSS_KEY_LEN / 4; i++) {
        stl_le_p(k + 4 * i, key[i]);
    }
    for (int i = 0; i < X520_RSS_INPUT_MAX; i++) {
        /* the 40 key bits that the 8 bits of input byte i select from */
        uint64_t window = ldl_be_p(k + i);
        uint32_t bit[8];

        window = window << 8 | k[i + 4];
        for (int b = 0; b < 8; b++) {
            bit[b] = window >> (8 - b);
        }
        rss->table[i][0] = 0;
        for (int v = 1; v < 256; v++) {
            /* add the lowest set bit to the value without it */
            rss->table[i][v] = rss->table[i][v & (v - 1)] ^ bit[7 - ctz32(v)];
        }
    }
}

static uint32_t x520_toeplitz(const X520Rss *rss, unsigned pos,
                              const uint8_t *in, unsigned len)
{
    uint32_t h = 0;

    for (unsigned i = 0; i < len; i++) {
        h ^= rss->table[pos + i][in[i]];
    }
    return h;
}

unsigned x520_rss_hash(const X520Rss *rss, uint32_t mrqc, const X520Pkt *p,
                       const uint8_t *buf, uint32_t *hash)
{
    unsigned type = X520_RSSTYPE_NONE, alen, off;
    bool ports = false;

    *hash = 0;
    if (p->ptype & X520_PTYPE_IPV4) {
        off = p->l3 + 12;
        alen = 8;
        /* behind a 6in4 header the ports belong to other addresses */
        if (p->l4 && !p->l4_v6) {
            if ((p->ptype & X520_PTYPE_TCP) &&
                (mrqc & X520_MRQC_HASH_IPV4_TCP)) {
                type = X520_RSSTYPE_IPV4_TCP;
                ports = true;
            } else if ((p->ptype & X520_PTYPE_UDP) &&
                       (mrqc & X520_MRQC_HASH_IPV4_UDP)) {
                type = X520_RSSTYPE_IPV4_UDP;
                ports = true;
            }
        }
        if (!ports && (mrqc & X520_MRQC_HASH_IPV4)) {
            type = X520_RSSTYPE_IPV4;
        }
    } else if (p->ptype & X520_PTYPE_IPV6) {
        off = p->l3 + 8;
        alen = 32;
        if (p->l4) {
            if ((p->ptype & X520_PTYPE_TCP) &&
                (mrqc & X520_MRQC_HASH_IPV6_TCP)) {
                type = X520_RSSTYPE_IPV6_TCP;
                ports = true;
            } else if ((p->ptype & X520_PTYPE_UDP) &&
                       (mrqc & X520_MRQC_HASH_IPV6_UDP)) {
                type = X520_RSSTYPE_IPV6_UDP;
                ports = true;
            }
        }
        if (!ports && (mrqc & X520_MRQC_HASH_IPV6)) {
            type = X520_RSSTYPE_IPV6;
        }
    }
    if (type == X520_RSSTYPE_NONE) {
        return type;
    }
    *hash = x520_toeplitz(rss, 0, buf + off, alen);
    if (ports) {
        *hash ^= x520_toeplitz(rss, alen, buf + p->l4, 4);
    }
    return type;
}

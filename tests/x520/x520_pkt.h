/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Intel X520-DA2 (82599) model: what the receive parser makes of a frame, and
 * the sums that both directions need.
 *
 * Nothing here knows of registers, rings or QEMU's devices.
 */

#ifndef HW_NET_X520_PKT_H
#define HW_NET_X520_PKT_H

/* The longest hash input: two IPv6 addresses and two ports. */
#define X520_RSS_INPUT_MAX      36
#define X520_RSS_KEY_LEN        40

/* One frame, parsed once. Offsets count from the destination address. */
typedef struct X520Pkt {
    uint16_t ptype;             /* X520_PTYPE_* */
    uint16_t ethertype;         /* behind the tag, host order */
    uint16_t tci;               /* of the 802.1Q tag, if vlan */
    uint16_t l3;                /* outermost IP header */
    uint16_t l3_hlen;           /* IPv4: header length */
    uint16_t addrs;             /* addresses that the L4 checksum covers */
    uint16_t l4;                /* TCP, UDP or SCTP header */
    uint32_t l4_end;            /* end of the L4 segment by the IP length */
    bool vlan;
    bool l4_v6;                 /* the addresses are IPv6's */
    bool l4_sum;                /* the L4 checksum can be checked */
} X520Pkt;

/* Parses @len bytes at @buf; a tag is recognised by Ethernet type @vet. */
void x520_pkt_parse(X520Pkt *p, const uint8_t *buf, size_t len, uint16_t vet);

/*
 * Verifies what the hardware verifies. Returns descriptor status and error
 * bits (IPCS, L4CS, UDPCS, IPE, L4E). A UDP checksum of zero is not verified;
 * then *@udp_zero is set and no L4 bit is.
 */
uint32_t x520_pkt_verify(const X520Pkt *p, const uint8_t *buf, bool *udp_zero);

/* Toeplitz hash, one table look-up per input byte. */
typedef struct X520Rss {
    uint32_t key[X520_RSS_KEY_LEN / 4];         /* registers as written */
    bool valid;
    uint32_t table[X520_RSS_INPUT_MAX][256];
} X520Rss;

/* Makes the tables for the ten RSSRK registers at @key, if they changed. */
void x520_rss_set_key(X520Rss *rss, const uint32_t *key);

/*
 * Hashes by the field bits of @mrqc. Returns X520_RSSTYPE_*, and the hash in
 * *@hash (0 for X520_RSSTYPE_NONE).
 */
unsigned x520_rss_hash(const X520Rss *rss, uint32_t mrqc, const X520Pkt *p,
                       const uint8_t *buf, uint32_t *hash);

/*
 * Internet checksum. Sums are taken over 16-bit words in memory order, so a
 * folded sum is stored as it is (inverted), whatever the host's endianness.
 * x520_csum_add() may only be continued at an even offset.
 */
uint64_t x520_csum_add(uint64_t sum, const void *data, size_t len);
uint16_t x520_csum_fold(uint64_t sum);

/* CRC-32C of an SCTP packet, its checksum field taken as zero. */
uint32_t x520_sctp_crc(const uint8_t *sctp, size_t len);

#endif

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ethernet and IP headers, read alike outside and inside the tunnel. What a
 * defect means differs between the two, so nothing is judged here.
 */
#ifndef ZCG_IP_H
#define ZCG_IP_H

#include <linux/if_ether.h>
#include <linux/in.h>
#include <linux/in6.h>

#include "zcg_frame.h"

/* VLAN tags that are stepped over: an 802.1ad one and an 802.1Q one. */
#define ZCG_MAX_TAGS	2
#define ZCG_TAG_LEN	4

#define ZCG_IP4_MIN	20	/* RFC 791, without options */
#define ZCG_IP4_FRAG	0x3fff	/* MF flag and fragment offset */
#define ZCG_IP6_LEN	40	/* RFC 8200, fixed header */
#define ZCG_UDP_LEN	8	/* RFC 768 */
#define ZCG_TCP_MIN	20	/* RFC 9293, without options */

/**
 * struct zcg_ip - what the two IP headers have in common
 * @l4: where the payload begins, counted from the outer Ethernet header
 * @end: where it ends by the header's own account; may lie anywhere, in front
 *	of @l4 as well as behind the frame
 * @addrs: ones' complement sum of the two addresses, not folded
 * @proto: IPv4 protocol or IPv6 next header
 * @frag: it is a fragment by the fixed header (IPv4 only)
 */
struct zcg_ip {
	u32 l4;
	u32 end;
	u64 addrs;
	u8 proto;
	bool frag;
};

enum zcg_ip_defect {
	ZCG_IP_FINE,
	ZCG_IP_VERSION,	/* not the version that the layer below announced */
	ZCG_IP_SHORT,	/* cut off, or the header length is impossible */
};

/**
 * zcg_ethertype - read the type behind Ethernet addresses and VLAN tags
 * @ops: the caller's operations
 * @f: the frame
 * @off: where the Ethernet header begins; moved to what follows the type
 * @end: where the Ethernet frame ends
 * @buf: ZCG_FETCH_MAX bytes
 *
 * Return: the type, in host order; a VLAN type if there are more than
 * ZCG_MAX_TAGS of them; -1 if the header is cut off.
 */
static __always_inline int
zcg_ethertype(const struct zcg_ops *ops, const struct zcg_frame *f, u32 *off,
	      u32 end, u8 *buf)
{
	unsigned int tags;
	const u8 *p;
	u16 type;

	*off += ETH_HLEN;
	for (tags = 0; ; tags++) {
		p = zcg_bytes(ops, f, *off - 2, 2, end, buf);
		if (unlikely(!p))
			return -1;
		type = zcg_be16(p);
		if (likely(type != ETH_P_8021Q && type != ETH_P_8021AD))
			return type;
		if (tags == ZCG_MAX_TAGS)
			return type;
		*off += ZCG_TAG_LEN;
	}
}

/* The fixed part of an IPv4 header at @off; see struct zcg_ip. */
static __always_inline enum zcg_ip_defect
zcg_ip4(const struct zcg_ops *ops, const struct zcg_frame *f, u32 off, u32 end,
	u8 *buf, struct zcg_ip *ip)
{
	const u8 *p = zcg_bytes(ops, f, off, ZCG_IP4_MIN, end, buf);
	u32 hlen;

	if (unlikely(!p))
		return ZCG_IP_SHORT;
	if (unlikely(p[0] >> 4 != 4))
		return ZCG_IP_VERSION;
	hlen = (p[0] & 0xf) * 4;
	if (unlikely(hlen < ZCG_IP4_MIN))
		return ZCG_IP_SHORT;

	ip->proto = p[9];
	ip->frag = zcg_be16(p + 6) & ZCG_IP4_FRAG;
	ip->l4 = off + hlen;
	ip->end = off + zcg_be16(p + 2);
	ip->addrs = (u64)zcg_raw32(p + 12) + zcg_raw32(p + 16);
	return ZCG_IP_FINE;
}

/* The fixed IPv6 header at @off; see struct zcg_ip. */
static __always_inline enum zcg_ip_defect
zcg_ip6(const struct zcg_ops *ops, const struct zcg_frame *f, u32 off, u32 end,
	u8 *buf, struct zcg_ip *ip)
{
	const u8 *p = zcg_bytes(ops, f, off, ZCG_IP6_LEN, end, buf);
	unsigned int i;

	if (unlikely(!p))
		return ZCG_IP_SHORT;
	if (unlikely(p[0] >> 4 != 6))
		return ZCG_IP_VERSION;

	ip->proto = p[6];
	ip->frag = false;
	ip->l4 = off + ZCG_IP6_LEN;
	ip->end = ip->l4 + zcg_be16(p + 4);
	ip->addrs = 0;
	for (i = 8; i < ZCG_IP6_LEN; i += 4)
		ip->addrs += zcg_raw32(p + i);
	return ZCG_IP_FINE;
}

#endif /* ZCG_IP_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The inside of a tunnelled frame, down to the TCP or UDP checksum.
 */
#ifndef ZCG_INNER_H
#define ZCG_INNER_H

#include "zcg_outer.h"

/* Sum of the pseudo-header (RFC 9293 3.1, RFC 8200 8.1), folded to 32 bits. */
static __always_inline u32 zcg_pseudo_sum(const struct zcg_ip *ip, u32 len)
{
	u64 sum = ip->addrs;

	/*
	 * In IPv6's pseudo-header length and next header are wider, but their
	 * upper halves are zero here: there are no jumbograms.
	 */
	sum += (__force u16)cpu_to_be16(len);
	sum += (__force u16)cpu_to_be16(ip->proto);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);
	return sum;
}

/**
 * zcg_inner_l4 - check the inner TCP or UDP header and verify its checksum
 * @ops: the caller's operations
 * @f: the frame
 * @buf: ZCG_FETCH_MAX bytes
 * @ip: the inner IP header; its payload lies within the outer datagram
 * @v6: it is an IPv6 header
 *
 * Return: the verdict.
 */
static __always_inline enum zcg_reason
zcg_inner_l4(const struct zcg_ops *ops, const struct zcg_frame *f, u8 *buf,
	     const struct zcg_ip *ip, bool v6)
{
	u32 len = ip->end - ip->l4;
	const u8 *p;
	u32 hlen;

	switch (ip->proto) {
	case IPPROTO_TCP:
		p = zcg_bytes(ops, f, ip->l4, ZCG_TCP_MIN, ip->end, buf);
		if (unlikely(!p))
			return ZCG_MALFORMED;
		hlen = (p[12] >> 4) * 4;
		if (unlikely(hlen < ZCG_TCP_MIN || hlen > len))
			return ZCG_MALFORMED;
		break;
	case IPPROTO_UDP:
		p = zcg_bytes(ops, f, ip->l4, ZCG_UDP_LEN, ip->end, buf);
		if (unlikely(!p))
			return ZCG_MALFORMED;
		/*
		 * A datagram shorter than the IP payload is legal, but the
		 * stack then has two opinions on what its checksum covers: the
		 * UDP length in udp_rcv(), the IP payload in GRO. No claim
		 * would be true for both.
		 */
		if (unlikely(zcg_be16(p + 4) != len))
			return ZCG_MALFORMED;
		/* No checksum: allowed over IPv4, an open question over IPv6. */
		if (!zcg_raw16(p + 6))
			return v6 ? ZCG_OUTER_PROTO : ZCG_VERIFIED;
		break;
	default:
		return ZCG_OUTER_PROTO;
	}

	if (ops->csum(f, ip->l4, len, zcg_pseudo_sum(ip, len)) != 0xffff)
		return ZCG_INNER_BAD;
	return ZCG_VERIFIED;
}

/**
 * zcg_inner - verify what a tunnel carries
 * @ops: the caller's operations
 * @f: the frame
 * @buf: ZCG_FETCH_MAX bytes
 * @pl: where the payload is, from zcg_outer()
 *
 * The checksum of an inner IPv4 header is left alone: csum_level does not cover
 * it, the stack checks it itself.
 *
 * Return: the verdict, never ZCG_GO_ON.
 */
static __always_inline enum zcg_reason
zcg_inner(const struct zcg_ops *ops, const struct zcg_frame *f, u8 *buf,
	  const struct zcg_payload *pl)
{
	enum zcg_ip_defect defect;
	u32 off = pl->off;
	struct zcg_ip ip;
	int type = pl->type;

	if (likely(type == ETH_P_TEB))
		type = zcg_ethertype(ops, f, &off, pl->end, buf);
	if (unlikely(type < 0))
		return ZCG_MALFORMED;

	if (type == ETH_P_IP)
		defect = zcg_ip4(ops, f, off, pl->end, buf, &ip);
	else if (type == ETH_P_IPV6)
		defect = zcg_ip6(ops, f, off, pl->end, buf, &ip);
	else
		return ZCG_OUTER_PROTO;
	if (unlikely(defect))
		return defect == ZCG_IP_VERSION ? ZCG_OUTER_PROTO :
						  ZCG_MALFORMED;

	/* No payload: a lone header, an IPv6 jumbogram, or a wrong length. */
	if (unlikely(ip.end <= ip.l4 || ip.end > pl->end))
		return ZCG_MALFORMED;
	if (unlikely(ip.frag ||
		     (type == ETH_P_IPV6 && ip.proto == IPPROTO_FRAGMENT)))
		return ZCG_OUTER_FRAG;

	return zcg_inner_l4(ops, f, buf, &ip, type == ETH_P_IPV6);
}

#endif /* ZCG_INNER_H */

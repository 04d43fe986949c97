/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The one shape that nearly all tunnel traffic has, judged in few instructions:
 * untagged Ethernet, IPv4 without options, UDP, VXLAN, untagged Ethernet, IPv4
 * without options, TCP; all of these headers in the linear part.
 */
#ifndef ZCG_PLAIN_H
#define ZCG_PLAIN_H

#include "zcg_inner.h"

/* Where the headers of that shape begin, counted from the Ethernet header. */
enum zcg_plain_offset {
	ZCG_PLAIN_IP	= ETH_HLEN,
	ZCG_PLAIN_UDP	= ZCG_PLAIN_IP + ZCG_IP4_MIN,
	ZCG_PLAIN_TUN	= ZCG_PLAIN_UDP + ZCG_UDP_LEN,
	ZCG_PLAIN_ETH	= ZCG_PLAIN_TUN + ZCG_TUN_LEN,
	ZCG_PLAIN_IP2	= ZCG_PLAIN_ETH + ETH_HLEN,
	ZCG_PLAIN_TCP	= ZCG_PLAIN_IP2 + ZCG_IP4_MIN,
	ZCG_PLAIN_LEN	= ZCG_PLAIN_TCP + ZCG_TCP_MIN,
};

/* Do four header bytes have the given value where the mask has ones? */
static __always_inline bool zcg_match(const u8 *p, u32 mask, u32 value)
{
	return (zcg_raw32(p) & (__force u32)cpu_to_be32(mask)) ==
	       (__force u32)cpu_to_be32(value);
}

/* EtherType IPv4, then version 4 and five words; no fragment, protocol. */
static __always_inline bool zcg_plain_ip4(const u8 *ip, u8 proto)
{
	return zcg_match(ip - 2, 0xffffff00, (u32)ETH_P_IP << 16 | 0x4500) &&
	       zcg_match(ip + 6, (u32)ZCG_IP4_FRAG << 16 | 0xff, proto);
}

/* After zcg_plain_port(): plain so far, go on with zcg_plain_tunnel(). */
#define ZCG_GO_ON_PLAIN	(ZCG_GO_ON + 1)

/**
 * zcg_plain_port - judge by a plain outside, as far as the UDP header
 * @ip: what follows an Ethernet header
 * @n: number of bytes that may be read at @ip
 * @ports: the known tunnel ports
 *
 * Frames that no tunnel is behind leave here. The verdict is that of zcg_outer(),
 * in fewer steps, whether GRO is on or not.
 *
 * Context: any; takes no lock, allocates nothing.
 * Return: ZCG_NOT_OURS, ZCG_UNKNOWN_PORT; ZCG_GO_ON_PLAIN; ZCG_GO_ON if the
 * outside is not plain: no verdict.
 */
static __always_inline enum zcg_reason
zcg_plain_port(const u8 *ip, u32 n, const struct zcg_ports *ports)
{
	const u8 *udp = ip + ZCG_IP4_MIN;

	if (unlikely(n < ZCG_IP4_MIN + ZCG_UDP_LEN ||
		     !zcg_plain_ip4(ip, IPPROTO_UDP)))
		return ZCG_GO_ON;
	/* UDP with a checksum: other people's, whatever the rest of it is. */
	if (zcg_raw16(udp + 6))
		return ZCG_NOT_OURS;
	if (unlikely(zcg_be16(ip + 2) < ZCG_IP4_MIN + ZCG_UDP_LEN))
		return ZCG_NOT_OURS;
	if (!zcg_ports_may_have(ports, (__force __be16)zcg_raw16(udp + 2)))
		return ZCG_UNKNOWN_PORT;
	return ZCG_GO_ON_PLAIN;
}

/**
 * zcg_plain_tunnel - judge a frame of the usual shape whose outside is plain
 * @ops: the caller's operations; only csum is used
 * @f: the frame, for which zcg_plain_port() returned ZCG_GO_ON_PLAIN
 * @ports: the known tunnel ports
 *
 * Asks nothing that zcg_outer() and zcg_inner() do not ask, in fewer steps, and
 * leaves to them whatever is not exactly as expected: it never judges a frame
 * otherwise than they would. To be asked only if GRO is on.
 *
 * Context: any; takes no lock, allocates nothing.
 * Return: ZCG_VERIFIED, ZCG_INNER_BAD, ZCG_UNKNOWN_PORT, or ZCG_GO_ON: no
 * verdict.
 */
static __always_inline enum zcg_reason
zcg_plain_tunnel(const struct zcg_ops *ops, const struct zcg_frame *f,
		 const struct zcg_ports *ports)
{
	const u8 *p = f->head;
	enum zcg_tunnel tunnel;
	u32 outer, inner, len;
	u64 sum;

	tunnel = zcg_ports_find(ports, (__force __be16)
				  zcg_raw16(p + ZCG_PLAIN_UDP + 2));
	if (unlikely(tunnel == ZCG_TUNNEL_NONE))
		return ZCG_UNKNOWN_PORT;
	if (unlikely(f->headlen < ZCG_PLAIN_LEN ||
		     tunnel != ZCG_TUNNEL_VXLAN))
		return ZCG_GO_ON;
	if (unlikely(!zcg_match(p + ZCG_PLAIN_TUN,
				ZCG_VXLAN_I << 24 | ZCG_VXLAN_RCO << 16,
				ZCG_VXLAN_I << 24) ||
		     !zcg_plain_ip4(p + ZCG_PLAIN_IP2, IPPROTO_TCP)))
		return ZCG_GO_ON;

	outer = zcg_be16(p + ZCG_PLAIN_IP + 2);
	inner = zcg_be16(p + ZCG_PLAIN_IP2 + 2);
	if (unlikely(ZCG_PLAIN_IP + outer > f->len ||
		     zcg_be16(p + ZCG_PLAIN_UDP + 4) != outer - ZCG_IP4_MIN ||
		     ZCG_PLAIN_IP2 + inner > ZCG_PLAIN_IP + outer))
		return ZCG_GO_ON;

	len = (p[ZCG_PLAIN_TCP + 12] >> 4) * 4;
	if (unlikely(len < ZCG_TCP_MIN || ZCG_IP4_MIN + len > inner))
		return ZCG_GO_ON;
	len = inner - ZCG_IP4_MIN;

	/* The pseudo-header: what zcg_pseudo_sum() adds up. */
	sum = (u64)zcg_raw32(p + ZCG_PLAIN_IP2 + 12) +
	      zcg_raw32(p + ZCG_PLAIN_IP2 + 16);
	sum += (__force u16)cpu_to_be16(len);
	sum += (__force u16)cpu_to_be16(IPPROTO_TCP);
	sum = (sum & 0xffffffff) + (sum >> 32);
	sum = (sum & 0xffffffff) + (sum >> 32);

	if (unlikely(ops->csum(f, ZCG_PLAIN_TCP, len, sum) != 0xffff))
		return ZCG_INNER_BAD;
	return ZCG_VERIFIED;
}

#endif /* ZCG_PLAIN_H */

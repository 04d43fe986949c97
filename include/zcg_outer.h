/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The outside of a tunnelled frame: Ethernet, IP, UDP, tunnel header.
 */
#ifndef ZCG_OUTER_H
#define ZCG_OUTER_H

#include "zcg_ip.h"
#include "zcg_ports.h"
#include "zcg_reason.h"

/**
 * struct zcg_payload - what a tunnel carries
 * @off: where it begins, counted from the outer Ethernet header
 * @end: where the outer UDP datagram ends; not behind the frame
 * @type: ETH_P_TEB, ETH_P_IP or ETH_P_IPV6
 */
struct zcg_payload {
	u32 off;
	u32 end;
	u16 type;
};

#define ZCG_TUN_LEN	8	/* VXLAN, VXLAN-GPE, Geneve without options */

/* First byte of a VXLAN header, RFC 7348 section 5. */
#define ZCG_VXLAN_I	0x08	/* VNI valid; the other bits are reserved */

/*
 * Second byte: Linux's remote checksum offload (draft-herbert-vxlan-rco), bit
 * 0x00200000 of the flags word.
 */
#define ZCG_VXLAN_RCO	0x20

/* First byte of a VXLAN-GPE header, draft-ietf-nvo3-vxlan-gpe section 3. */
#define ZCG_GPE_VERSION	0x30
#define ZCG_GPE_I	0x08
#define ZCG_GPE_P	0x04	/* next protocol valid */
#define ZCG_GPE_O	0x01	/* OAM */
#define ZCG_GPE_NP_IP4	1
#define ZCG_GPE_NP_IP6	2
#define ZCG_GPE_NP_ETH	3

/* First two bytes of a Geneve header, RFC 8926 section 3.4. */
#define ZCG_GENEVE_VER	0xc0
#define ZCG_GENEVE_OPTS	0x3f	/* length of the options in 4-byte words */
#define ZCG_GENEVE_O	0x80	/* control packet */

/*
 * Receivers ignore reserved VXLAN bits (RFC 7348). Linux drops what has bits
 * set that its device was not told of, but that is for it to do: the claim is
 * about checksums, and those hold or do not hold whatever these bits are.
 */
static __always_inline enum zcg_reason
zcg_vxlan(const u8 *p, struct zcg_payload *pl)
{
	if (unlikely(!(p[0] & ZCG_VXLAN_I)))
		return ZCG_MALFORMED;
	if (unlikely(p[1] & ZCG_VXLAN_RCO))
		return ZCG_OUTER_RCO;
	pl->type = ETH_P_TEB;
	return ZCG_GO_ON;
}

static __always_inline enum zcg_reason
zcg_vxlan_gpe(const u8 *p, struct zcg_payload *pl)
{
	u8 must = ZCG_GPE_I | ZCG_GPE_P;

	if (unlikely((p[0] & (must | ZCG_GPE_VERSION)) != must))
		return ZCG_MALFORMED;
	if (unlikely(p[0] & ZCG_GPE_O))
		return ZCG_OUTER_PROTO;

	switch (p[3]) {
	case ZCG_GPE_NP_IP4:
		pl->type = ETH_P_IP;
		return ZCG_GO_ON;
	case ZCG_GPE_NP_IP6:
		pl->type = ETH_P_IPV6;
		return ZCG_GO_ON;
	case ZCG_GPE_NP_ETH:
		pl->type = ETH_P_TEB;
		return ZCG_GO_ON;
	}
	return ZCG_OUTER_PROTO;
}

/* Options, critical ones too, are skipped: none changes what follows them. */
static __always_inline enum zcg_reason
zcg_geneve(const u8 *p, struct zcg_payload *pl)
{
	u32 opts = (p[0] & ZCG_GENEVE_OPTS) * 4;

	if (unlikely(p[0] & ZCG_GENEVE_VER || opts > pl->end - pl->off))
		return ZCG_MALFORMED;
	if (unlikely(p[1] & ZCG_GENEVE_O))
		return ZCG_OUTER_PROTO;

	pl->off += opts;
	pl->type = zcg_be16(p + 2);
	if (likely(pl->type == ETH_P_TEB || pl->type == ETH_P_IP ||
		   pl->type == ETH_P_IPV6))
		return ZCG_GO_ON;
	return ZCG_OUTER_PROTO;
}

/**
 * zcg_outer - check everything up to and including the tunnel header
 * @ops: the caller's operations
 * @f: the frame
 * @ports: the known tunnel ports
 * @buf: ZCG_FETCH_MAX bytes
 * @pl: set if the verdict is ZCG_GO_ON
 *
 * Ordered so that other people's frames leave early: most after the IP
 * protocol, UDP with a checksum after the UDP header, all before anything
 * behind the UDP header is read.
 *
 * What follows the IP packet in a short Ethernet frame is padding and ignored.
 *
 * Return: ZCG_GO_ON if the outside is good and there is an inside to look at.
 */
static __always_inline enum zcg_reason
zcg_outer(const struct zcg_ops *ops, const struct zcg_frame *f,
	  const struct zcg_ports *ports, u8 *buf, struct zcg_payload *pl)
{
	enum zcg_ip_defect defect;
	enum zcg_tunnel tunnel;
	struct zcg_ip ip;
	const u8 *p;
	u32 off = 0;

	switch (zcg_ethertype(ops, f, &off, f->len, buf)) {
	case ETH_P_IP:
		defect = zcg_ip4(ops, f, off, f->len, buf, &ip);
		break;
	case ETH_P_IPV6:
		defect = zcg_ip6(ops, f, off, f->len, buf, &ip);
		break;
	default:
		return ZCG_NOT_OURS;
	}
	if (unlikely(defect) || ip.proto != IPPROTO_UDP || ip.frag)
		return ZCG_NOT_OURS;

	/* An IP packet that ends before that has no UDP header. */
	if (unlikely(ip.end < ip.l4 + ZCG_UDP_LEN))
		return ZCG_NOT_OURS;
	p = zcg_bytes(ops, f, ip.l4, ZCG_UDP_LEN, f->len, buf);
	if (unlikely(!p) || zcg_raw16(p + 6))
		return ZCG_NOT_OURS;
	tunnel = zcg_ports_lookup(ports, (__force __be16)zcg_raw16(p + 2));
	if (tunnel == ZCG_TUNNEL_NONE)
		return ZCG_UNKNOWN_PORT;

	/* From here on it is ours, if only to be called malformed. */
	if (unlikely(ip.end > f->len || zcg_be16(p + 4) != ip.end - ip.l4))
		return ZCG_MALFORMED;
	p = zcg_bytes(ops, f, ip.l4 + ZCG_UDP_LEN, ZCG_TUN_LEN, ip.end, buf);
	if (unlikely(!p))
		return ZCG_MALFORMED;
	pl->off = ip.l4 + ZCG_UDP_LEN + ZCG_TUN_LEN;
	pl->end = ip.end;

	switch (tunnel) {
	case ZCG_TUNNEL_VXLAN:
		return zcg_vxlan(p, pl);
	case ZCG_TUNNEL_VXLAN_GPE:
		return zcg_vxlan_gpe(p, pl);
	case ZCG_TUNNEL_GENEVE:
		return zcg_geneve(p, pl);
	default:
		return ZCG_NOT_OURS;
	}
}

#endif /* ZCG_OUTER_H */

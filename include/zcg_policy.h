/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the driver may say about the checksums of a received frame.
 */
#ifndef ZCG_POLICY_H
#define ZCG_POLICY_H

#include "zcg_inner.h"

/* Somebody profits from level 1: GRO is on. Else the inside is not read. */
#define ZCG_F_GRO	0x1
/* The device reported an error in the outer IPv4 header (RXDADV IPE). */
#define ZCG_F_IP_ERR	0x2

/**
 * zcg_skip - recognise most of other people's frames at once
 * @f: the frame
 *
 * For the receive path itself, in front of the call that leads to
 * zcg_decide(): a handful of instructions, no fetch, no stack. Knows untagged
 * IPv4 and IPv6 that is not UDP, so that TCP goes by at almost no cost.
 *
 * Context: any.
 * Return: true only if zcg_decide() would say ZCG_NOT_OURS; false says nothing.
 */
static __always_inline bool zcg_skip(const struct zcg_frame *f)
{
	u16 type;

	if (unlikely(f->headlen < ETH_HLEN + ZCG_IP4_MIN))
		return false;
	type = zcg_be16(f->head + ETH_HLEN - 2);
	if (type == ETH_P_IP)
		return f->head[ETH_HLEN + 9] != IPPROTO_UDP;
	return type == ETH_P_IPV6 && f->head[ETH_HLEN + 6] != IPPROTO_UDP;
}

/**
 * zcg_decide - judge one received frame
 * @ops: how to read it; a compile-time constant, so that it is inlined
 * @f: the frame
 * @ports: the known tunnel ports
 * @flags: ZCG_F_*
 *
 * Works on bytes of any content: reads nothing outside the frame, loops over
 * nothing but two VLAN tags and the port table, and computes at most one
 * checksum. ZCG_VERIFIED is returned only if the outer UDP checksum is zero and
 * the inner TCP or UDP checksum holds or is the zero of UDP over IPv4.
 *
 * Context: any; takes no lock, allocates nothing. Below 200 bytes of stack.
 * Return: the verdict; see zcg_claim_level() for what follows from it.
 */
static __always_inline enum zcg_reason
zcg_decide(const struct zcg_ops *ops, const struct zcg_frame *f,
	   const struct zcg_ports *ports, u32 flags)
{
	u8 buf[ZCG_FETCH_MAX];
	struct zcg_payload pl;
	enum zcg_reason r;

	if (unlikely(flags & ZCG_F_IP_ERR))
		return ZCG_NOT_OURS;

	r = zcg_outer(ops, f, ports, buf, &pl);
	if (r != ZCG_GO_ON)
		return r;
	if (!(flags & ZCG_F_GRO))
		return ZCG_OUTER_GRO_OFF;
	return zcg_inner(ops, f, buf, &pl);
}

#endif /* ZCG_POLICY_H */

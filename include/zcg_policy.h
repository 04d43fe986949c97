/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the driver may say about the checksums of a received frame.
 */
#ifndef ZCG_POLICY_H
#define ZCG_POLICY_H

#include "zcg_plain.h"

/* Somebody profits from level 1: GRO is on. Else the inside is not read. */
#define ZCG_F_GRO	0x1
/* The frame is to be kept out of GRO: its inside is not read, GRO on or off. */
#define ZCG_F_DEFER	0x2

/**
 * zcg_decide_any - judge a received frame of any shape
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
zcg_decide_any(const struct zcg_ops *ops, const struct zcg_frame *f,
	       const struct zcg_ports *ports, u32 flags)
{
	u8 buf[ZCG_FETCH_MAX];
	struct zcg_payload pl;
	enum zcg_reason r;

	r = zcg_outer(ops, f, ports, buf, &pl);
	/* What has a good outside, whatever is in the tunnel. */
	if (flags & ZCG_F_DEFER &&
	    (r == ZCG_GO_ON || r == ZCG_OUTER_PROTO || r == ZCG_OUTER_RCO))
		return ZCG_DEFERRED;
	if (r != ZCG_GO_ON)
		return r;
	if (!(flags & ZCG_F_GRO))
		return ZCG_OUTER_GRO_OFF;
	return zcg_inner(ops, f, buf, &pl);
}

/**
 * zcg_decide_plain - go on with a frame after its outside
 * @ops: how to read it; a compile-time constant, so that it is inlined
 * @f: the frame
 * @ports: the known tunnel ports
 * @flags: ZCG_F_*, without ZCG_F_DEFER
 * @r: what zcg_plain_port() said of it
 *
 * The second of three steps: zcg_plain_port() lets go, by a linear header, what is
 * no tunnel's; this judges the usual shape; zcg_decide_any() all the rest, and
 * would return the same verdict as each of the two.
 *
 * Context: any; takes no lock, allocates nothing.
 * Return: the verdict, or ZCG_GO_ON: ask zcg_decide_any().
 */
static __always_inline enum zcg_reason
zcg_decide_plain(const struct zcg_ops *ops, const struct zcg_frame *f,
		 const struct zcg_ports *ports, u32 flags, enum zcg_reason r)
{
	if (likely(r == ZCG_GO_ON_PLAIN && flags == ZCG_F_GRO))
		r = zcg_plain_tunnel(ops, f, ports);
	return unlikely(r >= ZCG_GO_ON) ? ZCG_GO_ON : r;
}

#endif /* ZCG_POLICY_H */

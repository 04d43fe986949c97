/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The verdicts on a frame, and what each lets the driver claim.
 */
#ifndef ZCG_REASON_H
#define ZCG_REASON_H

#include "zcg_types.h"

/**
 * enum zcg_reason - the verdict on a frame, in the order of the counters
 * @ZCG_NOT_OURS: not a whole IPv4 or IPv6 packet with a UDP header whose
 *	checksum is zero. Left as the in-box driver reports it, not counted.
 *	Also: any outer fragment, any outer IPv6 extension header, an outer IPv4
 *	header reported bad, and whatever is cut off before the UDP header's end.
 * @ZCG_VERIFIED: the inner TCP or UDP checksum was computed and holds, or is the
 *	zero of a UDP datagram over IPv4 (skbuff.h: "UDP (possibly zero)")
 * @ZCG_OUTER_PROTO: the outside is good; inside is something whose checksum is
 *	not known here (ARP, ICMP, IPv6 extension headers, OAM, ...) or which
 *	has none that could be checked (UDP over IPv6 with checksum zero)
 * @ZCG_OUTER_FRAG: the outside is good; inside is a fragment
 * @ZCG_OUTER_RCO: the outside is good; the inner checksum is left to the
 *	receiver (remote checksum offload)
 * @ZCG_OUTER_GRO_OFF: the outside is good; the inside was not looked at, since
 *	without GRO on the device nobody profits
 * @ZCG_INNER_BAD: the inner checksum was computed and does not hold
 * @ZCG_MALFORMED: zero-checksum UDP to a known port whose lengths or headers do
 *	not hold together, outside, in the tunnel's header or inside: the IP
 *	packet is longer than the frame, UDP length and IP payload differ, a
 *	header is cut off or invalid. Left as the in-box driver reports it.
 * @ZCG_UNKNOWN_PORT: zero-checksum UDP to a port that is not in the table. Left
 *	as the in-box driver reports it.
 * @ZCG_DEFERRED: the outside is good; the inside was not looked at, since the
 *	frame is to be kept out of the device's GRO
 * @ZCG_REASONS: number of the above
 *
 * All but ZCG_NOT_OURS are frames "seen": seen is at any time the sum of the
 * other counts.
 */
enum zcg_reason {
	ZCG_NOT_OURS,
	ZCG_VERIFIED,
	ZCG_OUTER_PROTO,
	ZCG_OUTER_FRAG,
	ZCG_OUTER_RCO,
	ZCG_OUTER_GRO_OFF,
	ZCG_INNER_BAD,
	ZCG_MALFORMED,
	ZCG_UNKNOWN_PORT,
	ZCG_DEFERRED,
	ZCG_REASONS,
};

/* Between the steps of the parser: no verdict yet, go on. */
#define ZCG_GO_ON	ZCG_REASONS

/**
 * zcg_claim_level - what a verdict lets the driver claim
 * @r: the verdict
 *
 * Context: any.
 * Return: the csum_level to report with CHECKSUM_UNNECESSARY, 0 or 1; -1: claim
 * nothing, leave the sk_buff as the in-box driver has it.
 */
static inline int zcg_claim_level(enum zcg_reason r)
{
	switch (r) {
	case ZCG_VERIFIED:
		return 1;
	case ZCG_OUTER_PROTO:
	case ZCG_OUTER_FRAG:
	case ZCG_OUTER_RCO:
	case ZCG_OUTER_GRO_OFF:
	case ZCG_INNER_BAD:
	case ZCG_DEFERRED:
		return 0;
	case ZCG_NOT_OURS:
	case ZCG_MALFORMED:
	case ZCG_UNKNOWN_PORT:
	case ZCG_REASONS:
		break;
	}
	return -1;
}

#endif /* ZCG_REASON_H */

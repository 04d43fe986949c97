// SPDX-License-Identifier: GPL-2.0
/*
 * Receive path: decide what may be said about the checksums of a frame that
 * the hardware could not judge, and say it.
 */
#include <linux/skbuff.h>
#include <net/checksum.h>

#include "ixgbe.h"
#include "zcg_build.h"
#include "zcg_policy.h"

static const void *zcg_skb_fetch(const struct zcg_frame *f, u32 off, u32 n,
				 void *buf)
{
	return skb_header_pointer(f->ctx, off, n, buf);
}

static u16 zcg_skb_csum(const struct zcg_frame *f, u32 off, u32 len, u32 seed)
{
	__wsum sum = (__force __wsum)seed;

	/* build_skb has the whole frame in the linear part, unless it needed
	 * several buffers; legacy-rx has little more than the headers there.
	 */
	if (likely(off + len <= f->headlen))
		sum = csum_partial(f->head + off, len, sum);
	else
		sum = skb_checksum(f->ctx, off, len, sum);

	return (u16)~(__force u16)csum_fold(sum);
}

static const struct zcg_ops zcg_skb_ops = {
	.fetch	= zcg_skb_fetch,
	.csum	= zcg_skb_csum,
};

static void zcg_count(const struct ixgbe_ring *ring, enum zcg_reason reason)
{
	const struct zcg_adapter *zcg = &ring->q_vector->adapter->zcg;
	struct zcg_queue *queue = &zcg->queues[ring->queue_index];

	u64_stats_update_begin(&queue->syncp);
	queue->count[reason]++;
	u64_stats_update_end(&queue->syncp);
}

/* Can this frame be zero-checksum UDP that the hardware left unjudged? Asks the
 * descriptor and touches no byte of the frame.
 */
static bool zcg_is_candidate(const struct ixgbe_ring *ring,
			     union ixgbe_adv_rx_desc *rx_desc)
{
	__le16 type = rx_desc->wb.lower.lo_dword.hs_rss.pkt_info;

	/* On X550 and later, a frame that the hardware recognized as a tunnel
	 * has the inner protocol's bits; the outer one is UDP then. On the
	 * older MACs that bit says NFS, which is never switched on.
	 */
	if (!(type & cpu_to_le16(IXGBE_RXDADV_PKTTYPE_UDP |
				 IXGBE_RXDADV_PKTTYPE_VXLAN)))
		return false;

	/* With an EtherType filter's match the bits are the filter's number. */
	if (type & cpu_to_le16(IXGBE_RXDADV_PKTTYPE_ETQF))
		return false;

	/* A bad outer IP header is not ours to excuse. IPE is the inner header
	 * for a recognized tunnel, OUTERIPER (reserved before X550) the outer.
	 */
	if (rx_desc->wb.upper.status_error &
	    cpu_to_le32(IXGBE_RXDADV_ERR_IPE | IXGBE_RXDADV_ERR_OUTERIPER))
		return false;

	return ring->netdev->features & NETIF_F_RXCSUM;
}

/* GRO asks the device that the skb will belong to: for a macvlan with its own
 * rings that is the macvlan, as it is for ring->netdev.
 */
static u32 zcg_flags(const struct ixgbe_ring *ring)
{
	return ring->netdev->features & NETIF_F_GRO ? ZCG_F_GRO : 0;
}

static struct zcg_frame zcg_frame(const struct sk_buff *skb)
{
	return (struct zcg_frame) {
		.head		= skb->data,
		.headlen	= skb_headlen(skb),
		.len		= skb->len,
		.ctx		= skb,
	};
}

/* Out of line, so that frames of the usual shape do not pay for its registers
 * and stack.
 */
static noinline enum zcg_reason zcg_judge_any(const struct ixgbe_ring *ring,
					      const struct sk_buff *skb)
{
	struct zcg_frame f = zcg_frame(skb);

	return zcg_decide_any(&zcg_skb_ops, &f,
			      &ring->q_vector->adapter->zcg.ports,
			      zcg_flags(ring));
}

/* Judge the frame and report what is known. Out of line for the sake of frames
 * that are no candidates.
 */
static noinline void zcg_judge(const struct ixgbe_ring *ring,
			       struct sk_buff *skb)
{
	const struct zcg_adapter *zcg = &ring->q_vector->adapter->zcg;
	struct zcg_frame f = zcg_frame(skb);
	enum zcg_reason reason;
	int level;

	/* The hardware merged several frames (RSC): a length of its own making,
	 * and it does so for TCP without a tunnel only.
	 */
	if (unlikely(skb_is_gso(skb)))
		return;

	reason = zcg_decide_plain(&zcg_skb_ops, &f, &zcg->ports,
				  zcg_flags(ring));
	if (reason == ZCG_GO_ON)
		reason = zcg_judge_any(ring, skb);
	if (reason == ZCG_NOT_OURS)
		return;

	zcg_count(ring, reason);

	level = zcg_claim_level(reason);
	if (level < 0)
		return;

	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = min(level, ZCG_TEST_CLAIM);
}

/**
 * zcg_rx_checksum - report the checksums of a zero-checksum tunnel frame
 * @ring: receive ring, with the private flag on
 * @rx_desc: the frame's last descriptor, written back
 * @skb: the frame, data at the Ethernet header, after ixgbe_rx_checksum()
 *
 * Raises what the in-box driver reported, never lowers it: a frame that it
 * already reported at level 1 or that is none of the fork's business stays as
 * it is. Level 1 says that two checksums in a row hold, the outer UDP one
 * (which is zero) and the inner one, so it is reported only after the inner
 * one was computed; see CHECKSUM_UNNECESSARY in skbuff.h.
 *
 * Context: NAPI; takes no lock, allocates nothing.
 */
void zcg_rx_checksum(struct ixgbe_ring *ring, union ixgbe_adv_rx_desc *rx_desc,
		     struct sk_buff *skb)
{
	if (zcg_is_candidate(ring, rx_desc) && !skb->csum_level)
		zcg_judge(ring, skb);
}

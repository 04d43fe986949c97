// SPDX-License-Identifier: GPL-2.0
/*
 * Receive path: decide what may be said about the checksums of a frame that
 * the hardware could not judge, say it, and see to it that the frame is
 * delivered the way that the mode asks for.
 */
#include <linux/skbuff.h>
#include <net/checksum.h>

#include "ixgbe.h"
#include "zcg_build.h"
#include "zcg_compat.h"
#include "zcg_policy.h"

/* The parser counts from the Ethernet header, which is in front of skb->data by
 * now, and the skb from skb->data. The Ethernet header is always linear: what is
 * asked for here ends behind the linear part and begins behind that header.
 */
static const void *zcg_skb_fetch(const struct zcg_frame *f, u32 off, u32 n,
				 void *buf)
{
	const struct sk_buff *skb = f->ctx;

	return skb_header_pointer(skb, (int)off - ETH_HLEN, n, buf);
}

static __always_inline u16 zcg_skb_csum(const struct zcg_frame *f, u32 off,
					u32 len, u32 seed)
{
	const struct sk_buff *skb = f->ctx;
	__wsum sum = (__force __wsum)seed;

	/* build_skb has the whole frame in the linear part, unless it needed
	 * several buffers; legacy-rx has little more than the headers there.
	 */
	if (likely(off + len <= f->headlen))
		sum = csum_partial(f->head + off, len, sum);
	else
		sum = skb_checksum(skb, (int)off - ETH_HLEN, len, sum);

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

/* Can this frame be UDP? Asks the descriptor and touches no byte of the frame.
 *
 * On X550 and later, a frame that the hardware recognized as a tunnel has the
 * inner protocol's bits; the outer one is UDP then. On the older MACs that bit
 * says NFS, which is never switched on.
 */
static bool zcg_is_udp(const union ixgbe_adv_rx_desc *rx_desc)
{
	return rx_desc->wb.lower.lo_dword.hs_rss.pkt_info &
	       cpu_to_le16(IXGBE_RXDADV_PKTTYPE_UDP |
			   IXGBE_RXDADV_PKTTYPE_VXLAN);
}

/* Can this UDP frame be one that the hardware left unjudged?
 *
 * What the hardware merges of several frames (RSC) is TCP without a tunnel, and
 * has been called that by zcg_is_udp().
 */
static bool zcg_is_candidate(const union ixgbe_adv_rx_desc *rx_desc)
{
	__le16 type = rx_desc->wb.lower.lo_dword.hs_rss.pkt_info;

	/* With an EtherType filter's match the bits are the filter's number. */
	if (type & cpu_to_le16(IXGBE_RXDADV_PKTTYPE_ETQF))
		return false;

	/* A bad outer IP header is not ours to excuse. IPE is the inner header
	 * for a recognized tunnel, OUTERIPER (reserved before X550) the outer.
	 */
	return !(rx_desc->wb.upper.status_error &
		 cpu_to_le32(IXGBE_RXDADV_ERR_IPE | IXGBE_RXDADV_ERR_OUTERIPER));
}

static bool zcg_may_report(const struct ixgbe_ring *ring)
{
	return ring->netdev->features & NETIF_F_RXCSUM;
}

/* GRO asks the device that the skb will belong to: for a macvlan with its own
 * rings that is the macvlan, as it is for ring->netdev.
 */
static u32 zcg_flags(const struct ixgbe_ring *ring)
{
	return ring->netdev->features & NETIF_F_GRO ? ZCG_F_GRO : 0;
}

static __always_inline struct zcg_frame zcg_frame(const struct sk_buff *skb)
{
	/* eth_type_trans() has just stepped over it. */
	return (struct zcg_frame) {
		.head		= skb->data - ETH_HLEN,
		.headlen	= skb_headlen(skb) + ETH_HLEN,
		.len		= skb->len + ETH_HLEN,
		.ctx		= skb,
	};
}

/* Out of line, so that frames of the usual shape do not pay for its registers
 * and stack.
 */
static noinline enum zcg_reason zcg_judge_any(const struct ixgbe_ring *ring,
					      const struct sk_buff *skb,
					      u32 flags)
{
	struct zcg_frame f = zcg_frame(skb);

	return zcg_decide_any(&zcg_skb_ops, &f,
			      &ring->q_vector->adapter->zcg.ports, flags);
}

/* Judge a frame that may be a tunnel's and report what is known. Out of line, and
 * called last, for the sake of frames that are none. Returns false: it delivers
 * nothing.
 */
static noinline bool zcg_judge(const struct ixgbe_ring *ring,
			       struct sk_buff *skb, u32 state,
			       enum zcg_reason reason)
{
	u32 flags = zcg_flags(ring);
	struct zcg_frame f;
	int level;

	/* Nothing may be reported, so that a gated core refuses the frame without
	 * a look at what it holds of its flow.
	 */
	if (unlikely(!zcg_may_report(ring))) {
		zcg_settle(ring, state);
		return false;
	}

	f = zcg_frame(skb);
	reason = zcg_decide_plain(&zcg_skb_ops, &f,
				  &ring->q_vector->adapter->zcg.ports, flags,
				  reason);
	if (unlikely(reason == ZCG_GO_ON))
		reason = zcg_judge_any(ring, skb, flags);
	if (reason == ZCG_NOT_OURS)
		return false;

	zcg_count(ring, reason);

	level = zcg_claim_level(reason);
	if (level < 0)
		return false;

	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = min(level, ZCG_TEST_CLAIM);
	return false;
}

/* Judge a frame that may have to be kept out of GRO, and deliver it. */
static void zcg_judge_deferred(struct ixgbe_ring *ring, struct sk_buff *skb,
			       u32 state)
{
	enum zcg_reason reason = zcg_judge_any(ring, skb, ZCG_F_DEFER);

	if (reason != ZCG_NOT_OURS)
		zcg_count(ring, reason);
	if (reason != ZCG_DEFERRED) {
		zcg_deliver_other(ring, skb, state);
		return;
	}

	if (zcg_may_report(ring))
		skb->ip_summed = CHECKSUM_UNNECESSARY;
	zcg_deliver_deferred(ring, skb, state);
}

/* Frames for which it is not as usual: that the flag is on, and that the card
 * could not judge them.
 */
static noinline bool zcg_rx_other(struct ixgbe_ring *ring,
				  const union ixgbe_adv_rx_desc *rx_desc,
				  struct sk_buff *skb, u32 state)
{
	switch (state & ZCG_STATE_MODE) {
	case ZCG_OFF:
		zcg_leave(ring, state);
		return false;
	case ZCG_ON:
		zcg_see_less(ring);
		return false;
	}

	if (!zcg_is_candidate(rx_desc))
		return false;
	zcg_judge_deferred(ring, skb, state);
	return true;
}

/**
 * zcg_rx_skb - treat a received frame as the mode asks for
 * @ring: receive ring, of a port whose mode is or was not ZCG_OFF
 * @rx_desc: the frame's last descriptor, written back
 * @skb: the frame as ixgbe_process_skb_fields() left it; consumed if taken
 *
 * ZCG_ON: reports the checksums of a zero-checksum tunnel frame. Raises what
 * the in-box driver reported, never lowers it: a frame that it already reported
 * or that is none of the fork's business stays as it is. Level 1 says
 * that two checksums in a row hold, the outer UDP one (which is zero) and the
 * inner one, so it is reported only after the inner one was computed; see
 * CHECKSUM_UNNECESSARY in skbuff.h.
 *
 * ZCG_DEFER: such a frame is delivered without GRO, its outer checksum reported
 * if receive checksum offload is on. Other UDP frames are delivered, too, since
 * their order against those counts.
 *
 * Context: NAPI; takes no lock, allocates nothing.
 * Return: the frame was delivered; else the caller is to deliver it.
 */
bool zcg_rx_skb(struct ixgbe_ring *ring, union ixgbe_adv_rx_desc *rx_desc,
		struct sk_buff *skb)
{
	const struct ixgbe_adapter *adapter = ring->q_vector->adapter;
	enum zcg_reason reason;
	u32 state;

	if (!zcg_is_udp(rx_desc))
		return false;

	state = READ_ONCE(adapter->zcg.state);
	if (unlikely((state & ZCG_STATE_MODE) != ZCG_ON ||
		     skb->ip_summed != CHECKSUM_NONE))
		return zcg_rx_other(ring, rx_desc, skb, state);
	if (!zcg_is_candidate(rx_desc))
		return false;

	reason = zcg_plain_port(skb->data, skb_headlen(skb),
				&adapter->zcg.ports);
	if (reason == ZCG_NOT_OURS)
		return false;
	if (reason != ZCG_UNKNOWN_PORT || unlikely(!zcg_may_report(ring)))
		return zcg_judge(ring, skb, state, reason);
	zcg_count(ring, reason);
	return false;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * Delivery of the frames that are kept out of the port's GRO, and the order of
 * frames when the mode changes.
 *
 * NAPI has two places where packets wait: GRO holds those that it may still
 * merge others into, and a list holds those that are done, until there are
 * enough of them or the poll ends. A deferred frame joins that list, as a frame
 * does that GRO finds nothing to do with. So it is delivered in a batch, by RPS
 * where that is set, in order with all that is done already, and no later than
 * at the end of the poll.
 *
 * It overtakes what GRO holds. That may be frames of its own flow only if they
 * were not deferred: because the mode was another, or by a verdict of their own
 * (malformed, a checksum, a port unknown until now). Then GRO is asked to let
 * go of everything first. Otherwise other people's packets stay there.
 */
#include <linux/netdevice.h>
#include <net/busy_poll.h>

#include "ixgbe.h"
#include "zcg_compat.h"

static u32 *zcg_settled(const struct ixgbe_ring *ring)
{
	const struct ixgbe_q_vector *q_vector = ring->q_vector;

	return &q_vector->adapter->zcg.queues[q_vector->v_idx].settled;
}

/**
 * zcg_settle - before a frame is delivered that GRO does not merge
 * @ring: the receive ring it came from
 * @state: the port's state by which the frame was judged, or was not
 *
 * Nothing that came before it and must not be overtaken by it may be left in GRO.
 *
 * Context: NAPI of @ring's q_vector.
 */
void zcg_settle(const struct ixgbe_ring *ring, u32 state)
{
	u32 *settled = zcg_settled(ring);

	if (unlikely(*settled != state)) {
		napi_gro_flush(&ring->q_vector->napi, false);
		*settled = state;
	}
}

/* Every frame that a deferred one may overtake has to be seen from now on, those
 * that the card judged, too. What went to GRO without being seen has to leave it.
 */
static noinline void zcg_see_all(const struct ixgbe_ring *ring)
{
	struct ixgbe_q_vector *q_vector = ring->q_vector;
	struct ixgbe_ring *each;

	ixgbe_for_each_ring(each, q_vector->rx)
		set_bit(__IXGBE_RX_ZCG_ALL, zcg_ring_state(each));
	napi_gro_flush(&q_vector->napi, false);
}

/**
 * zcg_see_less - frames that the card judged need not be seen any longer
 * @ring: a receive ring in a mode that defers nothing
 *
 * Context: NAPI of @ring's q_vector.
 */
void zcg_see_less(const struct ixgbe_ring *ring)
{
	struct ixgbe_ring *each;

	ixgbe_for_each_ring(each, ring->q_vector->rx)
		clear_bit(__IXGBE_RX_ZCG_ALL, zcg_ring_state(each));
}

/**
 * zcg_deliver_deferred - hand a frame to the stack, past GRO
 * @ring: the receive ring it came from
 * @skb: the frame, ready for the stack; consumed
 * @state: the port's state by which the frame was judged
 *
 * Context: NAPI of @ring's q_vector.
 */
void zcg_deliver_deferred(struct ixgbe_ring *ring, struct sk_buff *skb,
			  u32 state)
{
	struct napi_struct *napi = &ring->q_vector->napi;

	if (unlikely(!test_bit(__IXGBE_RX_ZCG_ALL, zcg_ring_state(ring))))
		zcg_see_all(ring);
	zcg_settle(ring, state);
	skb_mark_napi_id(skb, napi);
	zcg_napi_normal(napi, skb);
}

/**
 * zcg_deliver_other - hand a UDP frame that is not to be deferred to GRO
 * @ring: the receive ring it came from
 * @skb: the frame, ready for the stack; consumed
 * @state: the port's state by which the frame was judged
 *
 * What ixgbe_rx_skb() does. If GRO keeps the frame, later ones of its flow that
 * are deferred have to wait for it.
 *
 * Context: NAPI of @ring's q_vector.
 */
void zcg_deliver_other(struct ixgbe_ring *ring, struct sk_buff *skb, u32 state)
{
	if (napi_gro_receive(&ring->q_vector->napi, skb) != GRO_NORMAL)
		*zcg_settled(ring) = ~state;
}

/**
 * zcg_leave - leave it all to the in-box driver again
 * @ring: a receive ring that finds the mode to be ZCG_OFF
 * @state: the port's state that says so
 *
 * On a gated core the next frame of a flow is refused by GRO without a look at
 * what is held of that flow, so that has to go first.
 *
 * Context: NAPI of @ring's q_vector.
 */
void zcg_leave(struct ixgbe_ring *ring, u32 state)
{
	zcg_settle(ring, state);
	zcg_see_less(ring);

	/* If the mode was changed again meanwhile, either that is seen here or
	 * zcg_switch() sets the bit after it is cleared here.
	 */
	clear_bit(__IXGBE_RX_ZCG, zcg_ring_state(ring));
	smp_mb__after_atomic();	/* pairs with the one in zcg_switch() */
	if (zcg_mode(ring->q_vector->adapter) != ZCG_OFF)
		set_bit(__IXGBE_RX_ZCG, zcg_ring_state(ring));
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the hooks need to know of the fork: the state it keeps in struct
 * ixgbe_adapter and the calls that are inserted into ixgbe. ixgbe.h includes
 * this file in front of struct ixgbe_adapter, so nothing here may look into a
 * structure of the driver.
 */
#ifndef ZCG_H
#define ZCG_H

#include <linux/cache.h>
#include <linux/netdev_features.h>
#include <linux/types.h>
#include <linux/u64_stats_sync.h>
#include <linux/workqueue.h>

#include "zcg_ports.h"
#include "zcg_reason.h"

struct devlink;
struct devlink_info_req;
struct ixgbe_adapter;
struct ixgbe_ring;
struct net_device;
struct netlink_ext_ack;
struct pci_dev;
struct sk_buff;
struct udp_tunnel_info;
struct zcg_announced;
union ixgbe_adv_rx_desc;

/* The private flags' names, the last two of ixgbe_priv_flags_strings. */
#define ZCG_FLAG_NAME	"zero-csum-gro"
#define ZCG_DEFER_NAME	"zero-csum-gro-defer"

/**
 * enum zcg_mode - what is done with zero-checksum tunnel frames
 * @ZCG_OFF: what the in-box driver does
 * @ZCG_ON: verify the inner checksum and say so, for GRO (ZCG_FLAG_NAME)
 * @ZCG_DEFER: keep them out of the port's GRO (ZCG_DEFER_NAME)
 */
enum zcg_mode {
	ZCG_OFF,
	ZCG_ON,
	ZCG_DEFER,
};

/* A port's state: the mode, and above it how often that, or what it depends on,
 * has changed. One word, so that NAPI never sees the one without the other.
 */
#define ZCG_STATE_MODE	0x3
#define ZCG_STATE_NEXT	0x4

/**
 * struct zcg_queue - what belongs to one receive queue
 * @syncp: makes the counts readable as a whole where u64 is not atomic
 * @count: number of frames by &enum zcg_reason; ZCG_NOT_OURS is not counted
 * @settled: of the q_vector with this number: the &zcg_adapter.state in which its
 *	GRO holds no frame that must not be overtaken
 *
 * Written by NAPI only, which does not run twice at a time for a queue or a
 * q_vector, so there is no lock and no atomic. Not a part of struct ixgbe_ring:
 * ixgbe frees its rings when the number of channels changes, and the counts are
 * to survive that.
 */
struct zcg_queue {
	struct u64_stats_sync syncp;
	u64 count[ZCG_REASONS];
	u32 settled;
} ____cacheline_aligned_in_smp;

/* What NAPI reads without a lock while somebody else, under rtnl, may write it,
 * and why that is right:
 *
 * zcg_adapter.state: one word, written with WRITE_ONCE() and read once for each
 *	frame. The frame is treated by the old mode or the new one, and either
 *	gives true claims. The order against what GRO holds from before hangs on
 *	the number in the same word, so mode and number are never of two times.
 * zcg_adapter.ports.slot[]: each one word, port and type together. Not yet
 *	there: the frame is reported as in-box. Still there: the frame is judged
 *	as the tunnel's that goes. Its checksums were computed, so the claim is
 *	true for that tunnel; and a socket is closed only after the stack has
 *	taken its port back, so no other tunnel has the port by then. A frame
 *	that somebody holds for longer (GRO's timer, a backlog) keeps the claim;
 *	the same is so for cards whose table of ports is in hardware.
 * zcg_adapter.ports.filter: one word, written after the slot that it tells of. With
 *	either of an older time the port counts as not yet there, or no longer.
 * The bit __IXGBE_RX_ZCG of ring->state: atomic operations only. NAPI clears it
 *	when it finds the mode to be ZCG_OFF, zcg_switch() sets it after it wrote
 *	the mode. Each has a barrier between its two accesses, so one of them sees
 *	what the other did, and the bit ends up set if the mode is not ZCG_OFF.
 * The bit __IXGBE_RX_ZCG_ALL of ring->state: NAPI's own; atomic operations for the
 *	sake of the other bits.
 * zcg_adapter.queues: written at probe, before the port can be opened, freed
 *	after the last poll. Not written in between.
 * zcg_queue.count: the other way round, NAPI writes and ethtool reads; syncp
 *	makes those reads whole.
 * zcg_queue.settled: NAPI only. When a queue's poll moves to another CPU, or the
 *	channels change, NAPI's own state bit orders the one against the other.
 * netdev->features: the core's, which NAPI reads as napi_gro_receive() does: one
 *	bit of it, so that half of a new value is no danger.
 *
 * All else here is for rtnl, probe and remove alone.
 */

/**
 * struct zcg_adapter - the fork's state of one port
 * @ports: known tunnel ports; written under rtnl, read in NAPI
 * @queues: counts by the receive rings' queue_index, as many as there can be;
 *	NULL if they could not be allocated
 * @announced: ports as the stack told them, where it keeps no table itself
 * @state: ZCG_STATE_*; written under rtnl, read in NAPI. A bit in ring->state
 *	says whether to read it, for the sake of frames that come in with the
 *	flags off.
 * @devlink: the instance that has the parameter, NULL while none has; under rtnl
 * @notify: tells devlink's listeners of a change
 */
struct zcg_adapter {
	struct zcg_ports ports;
	struct zcg_queue *queues;
	struct zcg_announced *announced;
	u32 state;
	struct devlink *devlink;
	struct work_struct notify;
};

/* The bits of a receive ring: one word, or an array of words in newer drivers,
 * which stands at the same address.
 */
#define zcg_ring_state(ring)	((unsigned long *)&(ring)->state)

/* Does the fork deliver this frame? Else the caller is to, as in-box.
 *
 * Of a frame with an outer UDP checksum of zero the card never says that its
 * checksum is good: nothing was checked, or the erratum has it bad. So all that the
 * in-box driver could report as good is other people's. To know that costs these
 * a look at the sk_buff, which is at hand. (Should silicon with the erratum add up
 * such a frame to what fits, that one frame is delivered as in-box.)
 *
 * The exception is a port whose NAPI keeps tunnel frames out of GRO: there it
 * needs to know what it has given to GRO, and asks for all with the second bit.
 */
#define zcg_takes(ring, rx_desc, skb) ({				\
	struct ixgbe_ring *_ring = (ring);				\
	struct sk_buff *_skb = (skb);					\
									\
	test_bit(__IXGBE_RX_ZCG, zcg_ring_state(_ring)) &&		\
		(_skb->ip_summed == CHECKSUM_NONE ||			\
		 test_bit(__IXGBE_RX_ZCG_ALL, zcg_ring_state(_ring))) &&	\
		zcg_rx_skb(_ring, rx_desc, _skb);			\
})

typedef u32 (*zcg_get_flags_t)(struct net_device *netdev);
typedef int (*zcg_set_flags_t)(struct net_device *netdev, u32 flags);
typedef int (*zcg_set_features_t)(struct net_device *netdev,
				  netdev_features_t features);

/* zcg_main.c */
void zcg_announce(void);
void zcg_probe(struct net_device *netdev);
void zcg_configure_rx_ring(struct ixgbe_adapter *adapter,
			   struct ixgbe_ring *ring);

/* zcg_mode.c */
int zcg_check_mode(struct net_device *netdev, enum zcg_mode mode,
		   struct netlink_ext_ack *extack);
void zcg_switch(struct net_device *netdev, enum zcg_mode mode);
void zcg_mode_anew(struct net_device *netdev);
enum zcg_mode zcg_mode(const struct ixgbe_adapter *adapter);

/* zcg_rx.c */
bool zcg_rx_skb(struct ixgbe_ring *ring, union ixgbe_adv_rx_desc *rx_desc,
		struct sk_buff *skb);

/* zcg_defer.c */
void zcg_deliver_deferred(struct ixgbe_ring *ring, struct sk_buff *skb,
			  u32 state);
void zcg_deliver_other(struct ixgbe_ring *ring, struct sk_buff *skb, u32 state);
void zcg_see_less(const struct ixgbe_ring *ring);
void zcg_leave(struct ixgbe_ring *ring, u32 state);
void zcg_settle(const struct ixgbe_ring *ring, u32 state);

/* zcg_devlink.c */
#ifdef CONFIG_NET_DEVLINK
void zcg_devlink_init(struct ixgbe_adapter *adapter);
void zcg_devlink_probe(struct pci_dev *pdev);
void zcg_devlink_remove(struct ixgbe_adapter *adapter);
void zcg_devlink_changed(struct ixgbe_adapter *adapter);
int zcg_devlink_info_put(struct devlink_info_req *req);
#else
static inline void zcg_devlink_init(struct ixgbe_adapter *adapter) { }
static inline void zcg_devlink_probe(struct pci_dev *pdev) { }
static inline void zcg_devlink_remove(struct ixgbe_adapter *adapter) { }
static inline void zcg_devlink_changed(struct ixgbe_adapter *adapter) { }
#endif

/* zcg_ethtool.c */
u32 zcg_get_priv_flags(struct net_device *netdev, unsigned int count,
		       zcg_get_flags_t inbox_get);
int zcg_set_priv_flags(struct net_device *netdev, u32 flags,
		       unsigned int count, zcg_get_flags_t inbox_get,
		       zcg_set_flags_t inbox_set);

/* zcg_stats.c */
void zcg_stats_probe(struct ixgbe_adapter *adapter);
int zcg_get_sset_count(struct net_device *netdev, int sset, int inbox);
void zcg_get_strings(struct net_device *netdev, u32 sset, u8 *data, int inbox);
void zcg_get_ethtool_stats(struct net_device *netdev, u64 *data, int inbox);

/* zcg_tunnel.c */
enum zcg_tunnel zcg_tunnel_type(const struct udp_tunnel_info *ti);
int zcg_set_features(struct net_device *netdev, netdev_features_t features,
		     zcg_set_features_t inbox_set);

/* zcg_tunnel_nic.c, or zcg_tunnel_ndo.c on older kernels */
void zcg_tunnel_probe(struct net_device *netdev);
void zcg_tunnel_sync(struct net_device *netdev);
void zcg_tunnel_add(struct net_device *netdev, const struct udp_tunnel_info *ti);
void zcg_tunnel_del(struct net_device *netdev, const struct udp_tunnel_info *ti);
void zcg_tunnel_reset(struct net_device *netdev);

#endif /* ZCG_H */

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

#include "zcg_ports.h"
#include "zcg_reason.h"

struct ixgbe_adapter;
struct ixgbe_ring;
struct net_device;
struct sk_buff;
struct udp_tunnel_info;
struct zcg_announced;
union ixgbe_adv_rx_desc;

/* The private flag's name, the last of ixgbe_priv_flags_strings. */
#define ZCG_FLAG_NAME	"zero-csum-gro"

/**
 * struct zcg_queue - verdicts counted on one receive queue
 * @syncp: makes the counts readable as a whole where u64 is not atomic
 * @count: number of frames by &enum zcg_reason; ZCG_NOT_OURS is not counted
 *
 * Written by that queue's NAPI only, so there is no lock and no atomic. Not a
 * part of struct ixgbe_ring: ixgbe frees its rings when the number of channels
 * changes, and the counts are to survive that.
 */
struct zcg_queue {
	struct u64_stats_sync syncp;
	u64 count[ZCG_REASONS];
} ____cacheline_aligned_in_smp;

/**
 * struct zcg_adapter - the fork's state of one port
 * @ports: known tunnel ports; written under rtnl, read in NAPI
 * @queues: counts by the receive rings' queue_index, as many as there can be;
 *	NULL if they could not be allocated
 * @announced: ports as the stack told them, where it keeps no table itself
 * @on: the private flag; under rtnl. NAPI reads a copy of it in ring->state.
 */
struct zcg_adapter {
	struct zcg_ports ports;
	struct zcg_queue *queues;
	struct zcg_announced *announced;
	bool on;
};

/* The bits of a receive ring: one word, or an array of words in newer drivers,
 * which stands at the same address.
 */
#define zcg_ring_state(ring)	((unsigned long *)&(ring)->state)

typedef u32 (*zcg_get_flags_t)(struct net_device *netdev);
typedef int (*zcg_set_flags_t)(struct net_device *netdev, u32 flags);
typedef int (*zcg_set_features_t)(struct net_device *netdev,
				  netdev_features_t features);

/* zcg_main.c */
void zcg_announce(void);
void zcg_probe(struct net_device *netdev);
void zcg_configure_rx_ring(struct ixgbe_adapter *adapter,
			   struct ixgbe_ring *ring);

/* zcg_rx.c */
void zcg_rx_checksum(struct ixgbe_ring *ring, union ixgbe_adv_rx_desc *rx_desc,
		     struct sk_buff *skb);

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

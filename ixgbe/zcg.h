/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the hooks need to know of the fork: the state it keeps in struct
 * ixgbe_adapter and the calls that are inserted into ixgbe. ixgbe.h includes
 * this file in front of struct ixgbe_adapter, so nothing here may look into a
 * structure of the driver.
 */
#ifndef ZCG_H
#define ZCG_H

#include <linux/netdev_features.h>
#include <linux/types.h>
#include <linux/u64_stats_sync.h>

#include "zcg_ports.h"
#include "zcg_reason.h"

struct ixgbe_adapter;
struct ixgbe_ring;
struct net_device;
struct sk_buff;
union ixgbe_adv_rx_desc;

/* The private flag's name, the last of ixgbe_priv_flags_strings. */
#define ZCG_FLAG_NAME	"zero-csum-gro"

/**
 * struct zcg_stats - verdicts counted on one CPU
 * @syncp: makes the counts readable as a whole where u64 is not atomic
 * @count: number of frames by &enum zcg_reason; ZCG_NOT_OURS is not counted
 *
 * Per CPU and not per ring: ixgbe frees its rings when the number of channels
 * changes, and a CPU's NAPI polls do not interrupt each other, so each
 * structure has one writer.
 */
struct zcg_stats {
	struct u64_stats_sync syncp;
	u64 count[ZCG_REASONS];
};

/**
 * struct zcg_totals - the counts as ethtool -S shows them, in frames
 * @seen: zero-checksum UDP to a known tunnel port
 * @verified: inner checksum holds, level 1 reported
 * @outer_only: inner checksum not checked, level 0 reported
 * @inner_bad: inner checksum wrong, level 0 reported
 * @malformed: lengths or tunnel header wrong, left as in-box reports it
 */
struct zcg_totals {
	u64 seen;
	u64 verified;
	u64 outer_only;
	u64 inner_bad;
	u64 malformed;
};

/**
 * struct zcg_adapter - the fork's state of one port
 * @ports: known tunnel ports; written under rtnl, read in NAPI
 * @stats: per-CPU counts, NULL if they could not be allocated
 * @totals: sums of @stats at the last zcg_update_stats(); under rtnl
 * @on: the private flag; under rtnl. NAPI reads a copy of it in ring->state.
 */
struct zcg_adapter {
	struct zcg_ports ports;
	struct zcg_stats __percpu *stats;
	struct zcg_totals totals;
	bool on;
};

/* The bits of a receive ring: one word, or an array of words in newer drivers,
 * which stands at the same address.
 */
#define zcg_ring_state(ring)	((unsigned long *)&(ring)->state)

/* A line of ixgbe_gstrings_stats that shows one of the totals. */
#define ZCG_STAT(name, total)	{name, IXGBE_STAT(zcg.totals.total)}

typedef u32 (*zcg_get_flags_t)(struct net_device *netdev);
typedef int (*zcg_set_flags_t)(struct net_device *netdev, u32 flags);

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
void zcg_update_stats(struct ixgbe_adapter *adapter);

/* zcg_tunnel.c */
void zcg_tunnel_probe(struct net_device *netdev);
void zcg_tunnel_sync(struct net_device *netdev);
int zcg_set_features(struct net_device *netdev, netdev_features_t changed);

#endif /* ZCG_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Differences between the kernels that the fork is built for, so that the rest
 * reads as if it were written for the newest. zcg_features.h is made by
 * scripts/kernel-features, which asks the kernel's headers and the driver's
 * source and not a version number: distributions backport.
 *
 * To be included after ixgbe.h.
 */
#ifndef ZCG_COMPAT_H
#define ZCG_COMPAT_H

#include <linux/netdevice.h>
#include <linux/u64_stats_sync.h>

#include "zcg_features.h"

#ifdef ZCG_HAVE_NET_GRO_H
#include <net/gro.h>
#endif

/* Until 6.2 a reader in process context whose writer is in NAPI needed a
 * variant that is safe on 32-bit uniprocessors; from then on there is only one.
 */
static inline unsigned int
zcg_stats_fetch_begin(const struct u64_stats_sync *syncp)
{
#ifdef ZCG_HAVE_U64_STATS_FETCH_IRQ
	return u64_stats_fetch_begin_irq(syncp);
#else
	return u64_stats_fetch_begin(syncp);
#endif
}

static inline bool zcg_stats_fetch_retry(const struct u64_stats_sync *syncp,
					 unsigned int start)
{
#ifdef ZCG_HAVE_U64_STATS_FETCH_IRQ
	return u64_stats_fetch_retry_irq(syncp, start);
#else
	return u64_stats_fetch_retry(syncp, start);
#endif
}

/* Where devlink allocates the adapter, the netdev only points at it. */
static inline struct ixgbe_adapter *zcg_adapter_of(struct net_device *netdev)
{
#ifdef ZCG_HAVE_IXGBE_FROM_NETDEV
	return ixgbe_from_netdev(netdev);
#else
	return netdev_priv(netdev);
#endif
}

#ifdef ZCG_HAVE_NAPI_GRO_NODE
#define zcg_rx_list(napi)	(&(napi)->gro.rx_list)
#define zcg_rx_count(napi)	((napi)->gro.rx_count)
#elif defined(ZCG_HAVE_NAPI_RX_LIST)
#define zcg_rx_list(napi)	(&(napi)->rx_list)
#define zcg_rx_count(napi)	((napi)->rx_count)
#endif

/* Hand over a packet behind those that napi_gro_receive() is done with. It
 * collects them in a list that is delivered when there are enough or the poll
 * ends; the core's own function for this is not exported everywhere, and neither
 * is how many are enough (net.core.gro_normal_batch): its default is taken.
 * Older kernels deliver them one by one and at once.
 */
#define ZCG_NORMAL_BATCH	8

static inline void zcg_napi_normal(struct napi_struct *napi,
				   struct sk_buff *skb)
{
#ifdef zcg_rx_list
	LIST_HEAD(batch);

	list_add_tail(&skb->list, zcg_rx_list(napi));
	if (++zcg_rx_count(napi) < ZCG_NORMAL_BATCH)
		return;
	list_splice_init(zcg_rx_list(napi), &batch);
	zcg_rx_count(napi) = 0;
	netif_receive_skb_list(&batch);
#else
	netif_receive_skb(skb);
#endif
}

#ifdef ZCG_HAVE_ETHTOOL_NOTIFY_DATA
#define zcg_ethtool_notify(netdev, cmd)	ethtool_notify(netdev, cmd, NULL)
#else
#define zcg_ethtool_notify(netdev, cmd)	ethtool_notify(netdev, cmd)
#endif

#endif /* ZCG_COMPAT_H */

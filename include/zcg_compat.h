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

#endif /* ZCG_COMPAT_H */

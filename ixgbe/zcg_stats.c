// SPDX-License-Identifier: GPL-2.0
/*
 * The counters: how often each verdict was given, by queue and for the port, and
 * ethtool -S, where they stand behind the in-box driver's.
 */
#include <linux/ethtool.h>
#include <linux/netdevice.h>
#include <linux/slab.h>

#include "ixgbe.h"
#include "zcg_compat.h"

/* What the verdicts are called in ethtool -S. All of them together are the
 * frames seen, and those take the place of the one that is not counted.
 */
#define ZCG_SEEN	ZCG_NOT_OURS

static const char zcg_names[ZCG_REASONS][ETH_GSTRING_LEN / 2] = {
	[ZCG_SEEN]		= "seen",
	[ZCG_VERIFIED]		= "verified",
	[ZCG_OUTER_PROTO]	= "outer_proto",
	[ZCG_OUTER_FRAG]	= "outer_fragment",
	[ZCG_OUTER_RCO]		= "outer_remcsum",
	[ZCG_OUTER_GRO_OFF]	= "outer_gro_off",
	[ZCG_INNER_BAD]		= "inner_bad",
	[ZCG_MALFORMED]		= "malformed",
	[ZCG_UNKNOWN_PORT]	= "unknown_port",
	[ZCG_DEFERRED]		= "deferred",
};

/* Receive queues that a port can have; macvlan's rings are among them. */
#define ZCG_MAX_QUEUES	(sizeof_field(struct ixgbe_adapter, rx_ring) / \
			 sizeof(struct ixgbe_ring *))

static void zcg_free_queues(void *queues)
{
	kfree(queues);
}

/**
 * zcg_stats_probe - make the counters of a port
 * @adapter: the port
 *
 * They go with the device's driver binding, after the last NAPI poll. Without
 * them the port works, but the private flags are refused.
 *
 * Context: PCI probe, sleepable.
 */
void zcg_stats_probe(struct ixgbe_adapter *adapter)
{
	struct zcg_queue *queues;
	unsigned int i;

	queues = kcalloc(ZCG_MAX_QUEUES, sizeof(*queues), GFP_KERNEL);
	if (!queues)
		return;
	if (devm_add_action_or_reset(&adapter->pdev->dev, zcg_free_queues,
				     queues))
		return;

	for (i = 0; i < ZCG_MAX_QUEUES; i++)
		u64_stats_init(&queues[i].syncp);
	adapter->zcg.queues = queues;
}

/* As many as ixgbe has lines for: that does not change with the channels. */
static unsigned int zcg_shown_queues(const struct net_device *netdev)
{
	return min_t(unsigned int, netdev->num_tx_queues, ZCG_MAX_QUEUES);
}

/**
 * zcg_get_sset_count - number of strings or values of a set
 * @netdev: the port
 * @sset: ETH_SS_*
 * @inbox: number of the in-box driver's, or its error
 *
 * Context: rtnl held.
 * Return: the number, ours included, or @inbox if it is an error.
 */
int zcg_get_sset_count(struct net_device *netdev, int sset, int inbox)
{
	if (sset != ETH_SS_STATS || inbox < 0)
		return inbox;

	return inbox + (1 + zcg_shown_queues(netdev)) * ZCG_REASONS;
}

/**
 * zcg_get_strings - name the counters
 * @netdev: the port
 * @sset: ETH_SS_*
 * @data: where the set's strings are; the in-box driver's are there already
 * @inbox: number of these
 *
 * Context: rtnl held.
 */
void zcg_get_strings(struct net_device *netdev, u32 sset, u8 *data, int inbox)
{
	char *p = (char *)data + inbox * ETH_GSTRING_LEN;
	unsigned int i, r;

	if (sset != ETH_SS_STATS)
		return;

	for (r = 0; r < ZCG_REASONS; r++, p += ETH_GSTRING_LEN)
		snprintf(p, ETH_GSTRING_LEN, "rx_zcg_%s", zcg_names[r]);
	for (i = 0; i < zcg_shown_queues(netdev); i++) {
		for (r = 0; r < ZCG_REASONS; r++, p += ETH_GSTRING_LEN)
			snprintf(p, ETH_GSTRING_LEN, "rx_queue_%u_zcg_%s", i,
				 zcg_names[r]);
	}
}

/* Read one queue's counts, all at one instant; frames seen are their sum. */
static void zcg_read_queue(const struct zcg_queue *queue, u64 *count)
{
	unsigned int start, r;

	do {
		start = zcg_stats_fetch_begin(&queue->syncp);
		memcpy(count, queue->count, sizeof(queue->count));
	} while (zcg_stats_fetch_retry(&queue->syncp, start));

	count[ZCG_SEEN] = 0;
	for (r = ZCG_SEEN + 1; r < ZCG_REASONS; r++)
		count[ZCG_SEEN] += count[r];
}

/**
 * zcg_get_ethtool_stats - read the counters
 * @netdev: the port, up or down
 * @data: where the values are; the in-box driver's are there already
 * @inbox: number of these
 *
 * The port's counts are the sums of what is read for the queues, so that both
 * agree under traffic, too. Queues without a line of their own count as well.
 *
 * Context: rtnl held.
 */
void zcg_get_ethtool_stats(struct net_device *netdev, u64 *data, int inbox)
{
	const struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);
	const struct zcg_queue *queues = adapter->zcg.queues;
	unsigned int shown = zcg_shown_queues(netdev);
	u64 *total = data + inbox;
	u64 count[ZCG_REASONS];
	unsigned int i, r;

	memset(total, 0, (1 + shown) * sizeof(count));
	if (!queues)
		return;

	for (i = 0; i < ZCG_MAX_QUEUES; i++) {
		zcg_read_queue(&queues[i], count);
		for (r = 0; r < ZCG_REASONS; r++)
			total[r] += count[r];
		if (i < shown)
			memcpy(total + (1 + i) * ZCG_REASONS, count,
			       sizeof(count));
	}
}

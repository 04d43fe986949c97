// SPDX-License-Identifier: GPL-2.0
/*
 * The private flag.
 */
#include <linux/bitops.h>
#include <linux/netdevice.h>

#include "ixgbe.h"
#include "zcg_compat.h"

/* The flag's bit: ZCG_FLAG_NAME is the last of the count strings. */
static u32 zcg_flag(unsigned int count)
{
	return BIT(count - 1);
}

/**
 * zcg_get_priv_flags - read the private flags, ours among them
 * @netdev: the port
 * @count: number of strings in ixgbe_priv_flags_strings
 * @inbox_get: reads the in-box flags
 *
 * Context: rtnl held.
 * Return: one bit per flag, in the order of the strings.
 */
u32 zcg_get_priv_flags(struct net_device *netdev, unsigned int count,
		       zcg_get_flags_t inbox_get)
{
	const struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);

	return inbox_get(netdev) | (adapter->zcg.on ? zcg_flag(count) : 0);
}

/* Can the flags be set? Says why not, and what to do, in the kernel log: this
 * ethtool operation has no other way to give a reason.
 */
static int zcg_check_flags(struct net_device *netdev, u32 flags,
			   unsigned int count)
{
	const struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);
	u32 unknown = flags & ~GENMASK(count - 1, 0);

	if (unknown) {
		netdev_err(netdev, "unknown private flags 0x%x; the last known one is %s, 0x%x\n",
			   unknown, ZCG_FLAG_NAME, zcg_flag(count));
		return -EINVAL;
	}

	if (!(flags & zcg_flag(count)) || adapter->zcg.on)
		return 0;

	if (!(netdev->features & NETIF_F_RXCSUM)) {
		netdev_err(netdev, "%s needs receive checksum offload, which is off; first: ethtool -K %s rx on\n",
			   ZCG_FLAG_NAME, netdev_name(netdev));
		return -EINVAL;
	}
	if (!adapter->zcg.queues) {
		netdev_err(netdev, "%s: no memory for its counters at probe; bind the driver again\n",
			   ZCG_FLAG_NAME);
		return -ENOMEM;
	}
	return 0;
}

/* No ring is stopped for this: a frame in flight is judged by the old setting
 * or the new one, and either is right.
 */
static void zcg_switch(struct ixgbe_adapter *adapter, bool on)
{
	int i;

	adapter->zcg.on = on;
	for (i = 0; i < adapter->num_rx_queues; i++)
		zcg_configure_rx_ring(adapter, adapter->rx_ring[i]);
}

/**
 * zcg_set_priv_flags - set the private flags, ours among them
 * @netdev: the port, up or down
 * @flags: one bit per flag, in the order of the strings
 * @count: number of strings in ixgbe_priv_flags_strings
 * @inbox_get: reads the in-box flags
 * @inbox_set: sets the in-box flags; resets the port if it has to
 *
 * All or nothing: everything is checked before anything is changed, and if the
 * in-box driver refuses its part, ours stays as it was. The in-box driver is
 * not called when none of its flags changes.
 *
 * Context: rtnl held, sleepable.
 * Return: 0; -EINVAL for an unknown flag or without receive checksum offload,
 * -ENOMEM, or what the in-box driver returned.
 */
int zcg_set_priv_flags(struct net_device *netdev, u32 flags,
		       unsigned int count, zcg_get_flags_t inbox_get,
		       zcg_set_flags_t inbox_set)
{
	struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);
	u32 inbox = flags & ~zcg_flag(count);
	int err;

	err = zcg_check_flags(netdev, flags, count);
	if (err)
		return err;

	if (inbox != inbox_get(netdev)) {
		err = inbox_set(netdev, inbox);
		if (err)
			return err;
	}

	zcg_switch(adapter, flags & zcg_flag(count));
	return 0;
}

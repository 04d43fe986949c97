// SPDX-License-Identifier: GPL-2.0
/*
 * The private flags.
 */
#include <linux/bitops.h>
#include <linux/netdevice.h>
#include <linux/netlink.h>

#include "ixgbe.h"
#include "zcg_compat.h"

/* The flags' bits: ZCG_FLAG_NAME and ZCG_DEFER_NAME are the last two of the
 * count strings.
 */
static u32 zcg_flag_on(unsigned int count)
{
	return BIT(count - 2);
}

static u32 zcg_flag_defer(unsigned int count)
{
	return BIT(count - 1);
}

static u32 zcg_flags_both(unsigned int count)
{
	return zcg_flag_on(count) | zcg_flag_defer(count);
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
	u32 flags = inbox_get(netdev);

	switch (zcg_mode(zcg_adapter_of(netdev))) {
	case ZCG_ON:
		return flags | zcg_flag_on(count);
	case ZCG_DEFER:
		return flags | zcg_flag_defer(count);
	case ZCG_OFF:
		break;
	}
	return flags;
}

/* Which mode do the flags ask for? Says what is wrong with them, and what to
 * do, in the kernel log: this ethtool operation has no other way to give a
 * reason. Returns a negative error, or the mode.
 */
static int zcg_wanted_mode(struct net_device *netdev, u32 flags,
			   unsigned int count)
{
	u32 unknown = flags & ~GENMASK(count - 1, 0);
	struct netlink_ext_ack extack = {};
	enum zcg_mode mode = ZCG_OFF;
	int err;

	if (unknown) {
		netdev_err(netdev, "unknown private flags 0x%x; the last known one is %s, 0x%x\n",
			   unknown, ZCG_DEFER_NAME, zcg_flag_defer(count));
		return -EINVAL;
	}
	if ((flags & zcg_flags_both(count)) == zcg_flags_both(count)) {
		netdev_err(netdev, "%s and %s exclude each other; switch one off with the other: ethtool --set-priv-flags %s %s off %s on\n",
			   ZCG_FLAG_NAME, ZCG_DEFER_NAME, netdev_name(netdev),
			   ZCG_FLAG_NAME, ZCG_DEFER_NAME);
		return -EINVAL;
	}

	if (flags & zcg_flag_on(count))
		mode = ZCG_ON;
	else if (flags & zcg_flag_defer(count))
		mode = ZCG_DEFER;

	err = zcg_check_mode(netdev, mode, &extack);
	if (err) {
		netdev_err(netdev, "%s: %s\n",
			   mode == ZCG_ON ? ZCG_FLAG_NAME : ZCG_DEFER_NAME,
			   extack._msg);
		return err;
	}
	return mode;
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
 * Return: 0; -EINVAL for an unknown flag, for both of ours, or without receive
 * checksum offload; -ENOMEM; or what the in-box driver returned.
 */
int zcg_set_priv_flags(struct net_device *netdev, u32 flags,
		       unsigned int count, zcg_get_flags_t inbox_get,
		       zcg_set_flags_t inbox_set)
{
	u32 inbox = flags & ~zcg_flags_both(count);
	int mode, err;

	mode = zcg_wanted_mode(netdev, flags, count);
	if (mode < 0)
		return mode;

	if (inbox != inbox_get(netdev)) {
		err = inbox_set(netdev, inbox);
		if (err)
			return err;
	}

	zcg_switch(netdev, mode);
	return 0;
}

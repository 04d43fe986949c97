// SPDX-License-Identifier: GPL-2.0
/*
 * Switching between the three ways to treat zero-checksum tunnel frames. The
 * private flags and the devlink parameter are two handles of the same switch.
 */
#include <linux/netdevice.h>
#include <linux/netlink.h>

#include "ixgbe.h"
#include "zcg_compat.h"

/**
 * zcg_mode - the mode that a port is in
 * @adapter: the port
 *
 * Context: any; it may change at any time unless rtnl is held.
 * Return: the mode.
 */
enum zcg_mode zcg_mode(const struct ixgbe_adapter *adapter)
{
	return READ_ONCE(adapter->zcg.state) & ZCG_STATE_MODE;
}

/**
 * zcg_check_mode - can the port be switched to a mode?
 * @netdev: the port
 * @mode: the mode
 * @extack: told the reason if not; not NULL
 *
 * Context: rtnl held.
 * Return: 0; -EINVAL without receive checksum offload, -ENOMEM without counters.
 */
int zcg_check_mode(struct net_device *netdev, enum zcg_mode mode,
		   struct netlink_ext_ack *extack)
{
	const struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);

	/* That it is on already says that it could be: whatever went since then
	 * costs the effect, but is no reason to refuse what changes nothing.
	 */
	if (mode == ZCG_OFF || mode == zcg_mode(adapter))
		return 0;

	if (mode == ZCG_ON && !(netdev->features & NETIF_F_RXCSUM)) {
		NL_SET_ERR_MSG(extack,
			       "needs receive checksum offload; first: ethtool -K <port> rx on");
		return -EINVAL;
	}
	if (!adapter->zcg.queues) {
		NL_SET_ERR_MSG(extack,
			       "no memory for its counters at probe; bind the driver again");
		return -ENOMEM;
	}
	return 0;
}

/**
 * zcg_mode_anew - begin the port's mode anew
 * @netdev: the port
 *
 * Each queue will have GRO let go of what it holds before it delivers a frame that
 * would overtake it, as after a change of the mode; see zcg_settle().
 *
 * Context: rtnl held.
 */
void zcg_mode_anew(struct net_device *netdev)
{
	struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);

	WRITE_ONCE(adapter->zcg.state, adapter->zcg.state + ZCG_STATE_NEXT);
}

/**
 * zcg_switch - switch the port to a mode
 * @netdev: the port, up or down
 * @mode: the mode; zcg_check_mode() allows it
 *
 * No ring is stopped for this: a frame in flight is treated by the old mode or
 * the new one, and either is right.
 *
 * Context: rtnl held.
 */
void zcg_switch(struct net_device *netdev, enum zcg_mode mode)
{
	struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);
	enum zcg_mode was = zcg_mode(adapter);
	u32 state = adapter->zcg.state;
	int i;

	if (mode == was)
		return;

	state = ((state & ~ZCG_STATE_MODE) + ZCG_STATE_NEXT) | mode;
	WRITE_ONCE(adapter->zcg.state, state);
	if (was == ZCG_ON || mode == ZCG_ON)
		zcg_devlink_changed(adapter);

	/* When it is switched off, each ring's NAPI finds that out with the next
	 * frame and clears the bit then; see zcg_leave().
	 */
	if (mode == ZCG_OFF)
		return;
	smp_mb__before_atomic();	/* pairs with the one in zcg_leave() */
	for (i = 0; i < adapter->num_rx_queues; i++)
		zcg_configure_rx_ring(adapter, adapter->rx_ring[i]);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The fork's identity, and its state as ports and rings come and go.
 */
#include <linux/module.h>
#include <linux/netdevice.h>

#include "ixgbe.h"
#include "zcg_build.h"
#include "zcg_compat.h"

MODULE_INFO(fork, "ixgbe-zcg " ZCG_VERSION
	    ": ixgbe with private flags " ZCG_FLAG_NAME
	    " and " ZCG_DEFER_NAME);
/* What the core of the kernel that this is built for does with a zero outer
 * checksum: "gated" needs the flag to aggregate, "open" does not, "unknown" where
 * the build had no source to look at.
 */
MODULE_INFO(core, ZCG_CORE);

/* Some drivers have a version of their own; a module has one. */
#ifndef ZCG_HAVE_MODULE_VERSION
MODULE_VERSION(ZCG_VERSION "-zcg");
#endif

#if ZCG_TEST_CLAIM < 1
MODULE_INFO(test_build, "claims csum_level 0 at most, aggregates nothing");
#endif
#ifdef ZCG_TEST_WITHOUT
MODULE_INFO(test_build, "makes no use of " ZCG_TEST_WITHOUT);
#endif

/**
 * zcg_announce - say in the kernel log that this ixgbe is the fork
 *
 * Context: module load, sleepable.
 */
void zcg_announce(void)
{
	pr_info("this is the fork ixgbe-zcg %s for a core of kind %s, private flags %s and %s are off\n",
		ZCG_VERSION, ZCG_CORE, ZCG_FLAG_NAME, ZCG_DEFER_NAME);
	if (ZCG_TEST_CLAIM < 1)
		pr_warn("test build: claims csum_level 0 at most\n");
}

/**
 * zcg_probe - set up the fork's state of a port
 * @netdev: the port, complete but not yet registered
 *
 * Context: PCI probe, sleepable.
 */
void zcg_probe(struct net_device *netdev)
{
	struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);

	zcg_stats_probe(adapter);
	zcg_devlink_init(adapter);
	zcg_tunnel_probe(netdev);
}

/**
 * zcg_configure_rx_ring - tell a receive ring whether a flag is on
 * @adapter: the port
 * @ring: one of its receive rings, about to be started
 *
 * Rings are made anew when the number of channels changes; all of them pass
 * here on down/up, MTU change and reset, too, and while they run when a flag is
 * set.
 *
 * Context: rtnl held.
 */
void zcg_configure_rx_ring(struct ixgbe_adapter *adapter,
			   struct ixgbe_ring *ring)
{
	if (zcg_mode(adapter) != ZCG_OFF)
		set_bit(__IXGBE_RX_ZCG, zcg_ring_state(ring));
	else
		clear_bit(__IXGBE_RX_ZCG, zcg_ring_state(ring));
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests/hooks/test: the seams as a driver has them that serves many kernels
 * from one source, with #ifdef through functions and initializers.
 */
enum ixgbe_ring_state_t {
#ifdef HAVE_BUILD_SKB
	__IXGBE_RX_BUILD_SKB_ENABLED,
#endif
	__IXGBE_RX_CSUM_UDP_ZERO_ERR,
	__IXGBE_TX_DISABLED
};

struct ixgbe_ring {
	unsigned long state;
#ifdef HAVE_NETDEV_IN_RING
	struct net_device *netdev;
#endif
};

struct ixgbe_adapter {
#ifdef HAVE_VLAN_GROUPS
	struct vlan_group *groups;
#endif
	struct net_device *netdev;
	unsigned long flags2;
};

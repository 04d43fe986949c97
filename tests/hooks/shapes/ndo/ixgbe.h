/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests/hooks/test: the seams as drivers for 4.18 to 5.8 have them, and
 * nothing behind them. A ring's state is one word and ports are told one by one.
 */
enum ixgbe_ring_state_t {
	__IXGBE_RX_BUILD_SKB_ENABLED,
	__IXGBE_RX_CSUM_UDP_ZERO_ERR,
	__IXGBE_TX_DISABLED
};

struct ixgbe_ring {
	unsigned long state;
	struct net_device *netdev;
};

struct ixgbe_adapter {
	struct net_device *netdev;
	struct pci_dev *pdev;
	unsigned long flags2;
	__be16 vxlan_port;
};

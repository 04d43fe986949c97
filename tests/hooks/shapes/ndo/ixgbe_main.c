// SPDX-License-Identifier: GPL-2.0
/* For tests/hooks/test, see ixgbe.h. */
#include "ixgbe.h"

static void ixgbe_process_skb_fields(struct ixgbe_ring *ring,
				     union ixgbe_adv_rx_desc *desc,
				     struct sk_buff *skb)
{
	ixgbe_rx_checksum(ring, desc, skb);
	skb->protocol = eth_type_trans(skb, ring->netdev);
}

static void ixgbe_configure_rx_ring(struct ixgbe_adapter *port,
				    struct ixgbe_ring *ring)
{
	ixgbe_configure_srrctl(port, ring);
	clear_bit(__IXGBE_TX_DISABLED, &ring->state);
}

static int ixgbe_open(struct net_device *dev)
{
	udp_tunnel_get_rx_info(dev);
	return 0;
}

static void ixgbe_service(struct work_struct *work)
{
	struct ixgbe_adapter *port = container_of(work, struct ixgbe_adapter, service);

	if (port->flags2 & IXGBE_FLAG2_UDP_TUN_REREG_NEEDED) {
		port->flags2 &= ~IXGBE_FLAG2_UDP_TUN_REREG_NEEDED;
		udp_tunnel_get_rx_info(port->netdev);
	}
}

static int ixgbe_set_features(struct net_device *dev, netdev_features_t wanted)
{
	if (wanted & NETIF_F_LRO)
		return -EINVAL;
	dev->features = wanted;
	return 0;
}

static void ixgbe_add_udp_tunnel_port(struct net_device *dev,
				      struct udp_tunnel_info *info)
{
	struct ixgbe_adapter *port = netdev_priv(dev);

	if (info->sa_family != AF_INET)
		return;
	port->vxlan_port = info->port;
}

static void ixgbe_del_udp_tunnel_port(struct net_device *dev,
				      struct udp_tunnel_info *info)
{
	struct ixgbe_adapter *port = netdev_priv(dev);

	if (port->vxlan_port == info->port)
		port->vxlan_port = 0;
}

static const struct net_device_ops ixgbe_netdev_ops = {
	.ndo_open		= ixgbe_open,
	.ndo_udp_tunnel_add	= ixgbe_add_udp_tunnel_port,
	.ndo_udp_tunnel_del	= ixgbe_del_udp_tunnel_port,
	.ndo_set_features	= ixgbe_set_features,
	.ndo_fix_features	= ixgbe_fix_features,
};

static int ixgbe_probe(struct pci_dev *pdev, const struct pci_device_id *ent)
{
	struct net_device *dev = alloc_etherdev(sizeof(struct ixgbe_adapter));
	int rc;

	dev->netdev_ops = &ixgbe_netdev_ops;
	rc = register_netdev(dev);
	if (rc)
		free_netdev(dev);
	return rc;
}

static int __init ixgbe_init_module(void)
{
	int rc;

	rc = pci_register_driver(&ixgbe_driver);
	return rc;
}

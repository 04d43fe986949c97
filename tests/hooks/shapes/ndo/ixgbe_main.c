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

static int ixgbe_clean_rx_irq(struct ixgbe_q_vector *vector,
			      struct ixgbe_ring *ring, int budget)
{
	union ixgbe_adv_rx_desc *desc;
	struct sk_buff *skb;
	int done = 0;

	while (done < budget) {
		desc = ixgbe_next_desc(ring);
		skb = ixgbe_next_skb(ring, desc);
		if (!skb)
			break;
		ixgbe_process_skb_fields(ring, desc, skb);
		ixgbe_rx_skb(vector, skb);
		done++;
	}
	return done;
}

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

static void ixgbe_remove(struct pci_dev *pdev)
{
	struct ixgbe_adapter *adapter = pci_get_drvdata(pdev);
	struct net_device *dev;

	dev = adapter->netdev;
	unregister_netdev(dev);
	free_netdev(dev);
}

static struct pci_driver ixgbe_driver = {
	.name	= "ixgbe",
	.probe	= ixgbe_probe,
	.remove	= ixgbe_remove,
};

static int __init ixgbe_init_module(void)
{
	int rc;

	rc = pci_register_driver(&ixgbe_driver);
	return rc;
}

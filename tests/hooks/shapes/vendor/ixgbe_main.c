// SPDX-License-Identifier: GPL-2.0
/* For tests/hooks/test, see ixgbe.h. */
#include "ixgbe.h"

MODULE_VERSION("1.2.3");

void ixgbe_process_skb_fields(struct ixgbe_ring *ring,
			      union ixgbe_adv_rx_desc *desc,
			      struct sk_buff *skb)
{
#ifdef HAVE_HASH
	ixgbe_rx_hash(ring, desc, skb);
#endif
	ixgbe_rx_checksum(ring, desc, skb);
#ifdef HAVE_TIMESTAMPS
	ixgbe_rx_timestamp(ring, desc, skb);
#endif
}

void ixgbe_configure_rx_ring(struct ixgbe_adapter *port, struct ixgbe_ring *ring)
{
#ifdef HAVE_NO_SRRCTL
	return;
#endif
	ixgbe_configure_srrctl(port, ring);
}

static int ixgbe_open(struct net_device *dev)
{
#ifdef HAVE_UDP_TUNNEL_NIC_INFO
	udp_tunnel_nic_reset_ntf(dev);
#else
	udp_tunnel_get_rx_info(dev);
#endif
	return 0;
}

#ifdef HAVE_RHEL6_NET_DEVICE_OPS_EXT
static int ixgbe_set_features(struct net_device *dev, u32 wanted)
#else
static int ixgbe_set_features(struct net_device *dev, netdev_features_t wanted)
#endif
{
	dev->features = wanted;
	return 0;
}

static void ixgbe_add_udp_tunnel_port(struct net_device *dev,
				      struct udp_tunnel_info *info)
{
	netdev_dbg(dev, "%u comes\n", ntohs(info->port));
}

static void ixgbe_del_udp_tunnel_port(struct net_device *dev,
				      struct udp_tunnel_info *info)
{
	netdev_dbg(dev, "%u goes\n", ntohs(info->port));
}

#ifdef HAVE_UDP_TUNNEL_NIC_INFO
static int ixgbe_udp_tunnel_set(struct net_device *dev, unsigned int table,
				unsigned int entry, struct udp_tunnel_info *info)
{
	ixgbe_add_udp_tunnel_port(dev, info);
	return 0;
}
#endif

static const struct net_device_ops ixgbe_netdev_ops = {
	.ndo_open		= ixgbe_open,
#ifndef HAVE_UDP_TUNNEL_NIC_INFO
	.ndo_udp_tunnel_add	= ixgbe_add_udp_tunnel_port,
	.ndo_udp_tunnel_del	= ixgbe_del_udp_tunnel_port,
#endif
#ifdef HAVE_RHEL6_NET_DEVICE_OPS_EXT
};

static const struct net_device_ops_ext ixgbe_netdev_ops_ext = {
	.size			= sizeof(struct net_device_ops_ext),
#endif
	.ndo_set_features	= ixgbe_set_features,
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
		ixgbe_rx_skb(vector, ring, desc, skb);
		done++;
	}
	return done;
}

static int ixgbe_probe(struct pci_dev *pdev, const struct pci_device_id *ent)
{
	struct net_device *dev = alloc_etherdev(sizeof(struct ixgbe_adapter));
	int rc;

#ifdef HAVE_DEVLINK
	ixgbe_register_devlink(dev);
#endif
	rc = register_netdev(dev);
	return rc;
}

#ifdef HAVE_HOTPLUG
static void __devexit ixgbe_remove(struct pci_dev *pdev)
#else
static void ixgbe_remove(struct pci_dev *pdev)
#endif
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

#ifdef HAVE_PROC
	ixgbe_procfs_init();
#endif
	rc = pci_register_driver(&ixgbe_driver);
	return rc;
}

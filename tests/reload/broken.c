// SPDX-License-Identifier: GPL-2.0
/*
 * A driver for the X520 that fails, at one of three moments:
 * BROKEN_init  its init function returns an error, so it can't be loaded;
 * BROKEN_probe it loads, but no port can be bound to it;
 * BROKEN_link  ports get a network device whose link never comes up.
 */
#include <linux/etherdevice.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>

static netdev_tx_t broken_xmit(struct sk_buff *skb, struct net_device *dev)
{
	dev_kfree_skb_any(skb);
	return NETDEV_TX_OK;
}

static const struct net_device_ops broken_ops = {
	.ndo_start_xmit = broken_xmit,
};

static int broken_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct net_device *dev;
	int err;

	if (IS_ENABLED(BROKEN_probe))
		return -EIO;
	dev = alloc_etherdev(0);
	if (!dev)
		return -ENOMEM;
	SET_NETDEV_DEV(dev, &pdev->dev);
	dev->netdev_ops = &broken_ops;
	eth_hw_addr_random(dev);
	netif_carrier_off(dev);
	err = register_netdev(dev);
	if (err) {
		free_netdev(dev);
		return err;
	}
	pci_set_drvdata(pdev, dev);
	return 0;
}

static void broken_remove(struct pci_dev *pdev)
{
	struct net_device *dev = pci_get_drvdata(pdev);

	unregister_netdev(dev);
	free_netdev(dev);
}

static const struct pci_device_id broken_ids[] = {
	{ PCI_DEVICE(PCI_VENDOR_ID_INTEL, 0x10fb) },
	{ }
};

static struct pci_driver broken_driver = {
	.name = "ixgbe",
	.id_table = broken_ids,
	.probe = broken_probe,
	.remove = broken_remove,
};

static int __init broken_init(void)
{
	if (IS_ENABLED(BROKEN_init))
		return -EIO;
	return pci_register_driver(&broken_driver);
}
module_init(broken_init);

static void __exit broken_exit(void)
{
	pci_unregister_driver(&broken_driver);
}
module_exit(broken_exit);

MODULE_DESCRIPTION("ixgbe that does not work, to test a rollback");
MODULE_LICENSE("GPL");

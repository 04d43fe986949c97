// SPDX-License-Identifier: GPL-2.0
// Seam: set-up and tear-down
// File: ixgbe_main.c
// Adds: 1 zcg_probe
// Adds: 1 zcg_devlink_probe
// Adds: 1 zcg_devlink_remove
// Needs: ixgbe_probe register_netdev ixgbe_remove
//
// Just before the port is registered all that the in-box driver sets is set,
// and the stack has not yet looked at it. What zcg_probe() allocates is freed by
// the device core when the driver lets go.
//
// What is offered to others goes around the whole: it comes when the port is
// complete and goes before anything of it does.

@@
expression ret, netdev;
@@
ixgbe_probe(...)
{
	<...
+	zcg_probe(netdev);
	ret = register_netdev(netdev);
	...>
}

@@
identifier driver;
@@
+static int zcg_pci_probe(struct pci_dev *pdev, const struct pci_device_id *ent)
+{
+	int err = ixgbe_probe(pdev, ent);
+
+	if (!err)
+		zcg_devlink_probe(pdev);
+	return err;
+}
+
static struct pci_driver driver = {
	...,
-	.probe = ixgbe_probe,
+	.probe = zcg_pci_probe,
	...,
};

@@
symbol netdev;
expression dev, adapter;
@@
ixgbe_remove(...)
{
	<...
	dev = adapter->netdev;
+	zcg_devlink_remove(adapter);
	...>
}

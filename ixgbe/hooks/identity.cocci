// SPDX-License-Identifier: GPL-2.0
// Seam: identity
// File: ixgbe_main.c
// Adds: 1 zcg_announce
// Needs: ixgbe_init_module pci_register_driver
//
// One line in the kernel log at load, in front of the ports' own lines.

@@
expression ret, driver;
@@
ixgbe_init_module(...)
{
	<...
+	zcg_announce();
	ret = pci_register_driver(driver);
	...>
}

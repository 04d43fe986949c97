// SPDX-License-Identifier: GPL-2.0
// Seam: set-up and tear-down
// File: ixgbe_main.c
// Adds: 1 zcg_probe
// Needs: ixgbe_probe register_netdev
//
// Just before the port is registered all that the in-box driver sets is set,
// and the stack has not yet looked at it. There is no hook for tear-down: what
// zcg_probe() allocates is freed by the device core when the driver lets go.

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

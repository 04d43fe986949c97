// SPDX-License-Identifier: GPL-2.0
// Seam: ring set-up
// File: ixgbe_main.c
// Adds: 1 zcg_configure_rx_ring
// Needs: ixgbe_configure_rx_ring ixgbe_configure_srrctl
//
// Every receive ring passes through ixgbe_configure_rx_ring() before it is
// started, whatever stopped it: down/up, MTU, channels, reset, AF_XDP. There it
// gets its copy of the private flag.

@@
expression adapter, ring;
@@
ixgbe_configure_rx_ring(...)
{
	<...
	ixgbe_configure_srrctl(adapter, ring);
+	zcg_configure_rx_ring(adapter, ring);
	...>
}

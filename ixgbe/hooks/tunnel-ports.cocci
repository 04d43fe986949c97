// SPDX-License-Identifier: GPL-2.0
// Seam: tunnel ports
// File: ixgbe_main.c
// Adds: 1 zcg_tunnel_sync
// Needs: ixgbe_udp_tunnel_sync udp_tunnel_nic_get_port
//
// X550 and later: the stack tells the driver to bring its hardware table up to
// date, and the fork takes over the ports from there. The older MACs have no
// table and get one from zcg_probe(), without a hook.

@@
expression netdev, table, entry, ti;
@@
ixgbe_udp_tunnel_sync(...)
{
	<...
	udp_tunnel_nic_get_port(netdev, table, entry, ti);
+	zcg_tunnel_sync(netdev);
	...>
}

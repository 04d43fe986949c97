// SPDX-License-Identifier: GPL-2.0
// Seam: tunnel ports
// File: ixgbe_main.c
// Shape: the stack has a table in hardware brought up to date (udp_tunnel_nic)
// Adds: 1 zcg_tunnel_sync
// Needs: ixgbe_udp_tunnel_sync udp_tunnel_nic_get_port
// Shape: the stack tells each port as it comes and goes (ndo_udp_tunnel_add)
// Adds: 1 zcg_tunnel_add
// Adds: 1 zcg_tunnel_del
// Adds: 1+ zcg_tunnel_reset
// Needs: ixgbe_add_udp_tunnel_port ixgbe_del_udp_tunnel_port udp_tunnel_get_rx_info
//
// The first: X550 and later have a table in hardware, and the fork takes over
// the ports from there. The older MACs have none and get one from zcg_probe(),
// without a hook.
//
// The second, in drivers for kernels before 5.9, and where it serves newer ones
// as well: the in-box functions step back behind new ones of their old names, and
// whenever the driver asks for all ports again the fork forgets its own first.

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

@@
identifier dev, ti;
@@
-ixgbe_add_udp_tunnel_port
+zcg_inbox_add_port
 (struct net_device *dev, struct udp_tunnel_info *ti) { ... }
+
+static void ixgbe_add_udp_tunnel_port(struct net_device *netdev,
+				      struct udp_tunnel_info *ti)
+{
+	zcg_tunnel_add(netdev, ti);
+	zcg_inbox_add_port(netdev, ti);
+}

@@
identifier dev, ti;
@@
-ixgbe_del_udp_tunnel_port
+zcg_inbox_del_port
 (struct net_device *dev, struct udp_tunnel_info *ti) { ... }
+
+static void ixgbe_del_udp_tunnel_port(struct net_device *netdev,
+				      struct udp_tunnel_info *ti)
+{
+	zcg_tunnel_del(netdev, ti);
+	zcg_inbox_del_port(netdev, ti);
+}

@@
expression netdev;
@@
+zcg_tunnel_reset(netdev);
 udp_tunnel_get_rx_info(netdev);

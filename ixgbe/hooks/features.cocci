// SPDX-License-Identifier: GPL-2.0
// Seam: features
// File: ixgbe_main.c
// Adds: 1 zcg_set_features
// Needs: ixgbe_set_features netdev_features_t
//
// The in-box driver tells the core that it has set all features by itself (it
// returns 1), and the core then leaves out what it does when
// rx-udp_tunnel-port-offload is switched: take all ports back, or push them.

@@
typedef netdev_features_t;
identifier netdev, features, changed;
expression E;
@@
ixgbe_set_features(struct net_device *netdev, netdev_features_t features)
{
	...
	netdev_features_t changed = E;
	<...
-	return 1;
+	return zcg_set_features(netdev, changed);
	...>
}

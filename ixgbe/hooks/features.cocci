// SPDX-License-Identifier: GPL-2.0
// Seam: features
// File: ixgbe_main.c
// Undefined: HAVE_RHEL6_NET_DEVICE_OPS_EXT
// Adds: 2 zcg_ndo_set_features
// Adds: 1 zcg_set_features
// Needs: ndo_set_features net_device_ops
//
// The in-box driver sets all features by itself, and the core then leaves out
// what it does when rx-udp_tunnel-port-offload is switched: take all ports back,
// or push them. How it sets them differs, and what it returns, so the whole
// operation is wrapped.

@@
identifier ops, inbox;
@@
+static int zcg_ndo_set_features(struct net_device *netdev,
+				netdev_features_t features)
+{
+	return zcg_set_features(netdev, features, inbox);
+}
+
 struct net_device_ops ops = {
	...,
	.ndo_set_features =
-	inbox
+	zcg_ndo_set_features
	,...,
};

// SPDX-License-Identifier: GPL-2.0
// Seam: private flags
// File: ixgbe_ethtool.c
// Adds: 1 ZCG_FLAG_NAME
// Adds: 1 ZCG_DEFER_NAME
// Adds: 1 zcg_get_priv_flags
// Adds: 1 zcg_set_priv_flags
// Needs: ixgbe_priv_flags_strings ixgbe_get_priv_flags ixgbe_set_priv_flags
//
// The flags' names go to the end of the list of names. The in-box functions
// step back behind new ones of their old names, so that the ethtool operations
// need no change and nothing depends on what stands in the functions: the set
// function differs most between kernels.

@@
symbol ixgbe_priv_flags_strings;
@@
static const char ixgbe_priv_flags_strings[][ETH_GSTRING_LEN] = {
	...,
+	ZCG_FLAG_NAME,
+	ZCG_DEFER_NAME,
};

@@
typedef u32;
identifier dev;
@@
-ixgbe_get_priv_flags
+zcg_inbox_get_flags
 (struct net_device *dev) { ... }
+
+static u32 ixgbe_get_priv_flags(struct net_device *netdev)
+{
+	return zcg_get_priv_flags(netdev, IXGBE_PRIV_FLAGS_STR_LEN,
+				  zcg_inbox_get_flags);
+}

@@
typedef u32;
identifier dev, flags;
@@
-ixgbe_set_priv_flags
+zcg_inbox_set_flags
 (struct net_device *dev, u32 flags) { ... }
+
+static int ixgbe_set_priv_flags(struct net_device *netdev, u32 priv_flags)
+{
+	return zcg_set_priv_flags(netdev, priv_flags, IXGBE_PRIV_FLAGS_STR_LEN,
+				  zcg_inbox_get_flags, zcg_inbox_set_flags);
+}

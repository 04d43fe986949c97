// SPDX-License-Identifier: GPL-2.0
// Seam: statistics
// File: ixgbe_ethtool.c
// Adds: 1 zcg_get_sset_count
// Adds: 1 zcg_get_strings
// Adds: 1 zcg_get_ethtool_stats
// Needs: ixgbe_get_sset_count ixgbe_get_ethtool_stats ixgbe_get_strings
//
// The fork's counters follow the in-box driver's, whatever those are: number,
// values and names come from functions that ask the in-box ones first. These
// step back behind new ones of their old names.

@@
@@
-ixgbe_get_sset_count
+zcg_inbox_get_sset_count
 (...) { ... }
+
+static int ixgbe_get_sset_count(struct net_device *netdev, int sset)
+{
+	return zcg_get_sset_count(netdev, sset,
+				  zcg_inbox_get_sset_count(netdev, sset));
+}

@@
@@
-ixgbe_get_ethtool_stats
+zcg_inbox_get_ethtool_stats
 (...) { ... }
+
+static void ixgbe_get_ethtool_stats(struct net_device *netdev,
+				    struct ethtool_stats *stats, u64 *data)
+{
+	zcg_inbox_get_ethtool_stats(netdev, stats, data);
+	zcg_get_ethtool_stats(netdev, data,
+			      zcg_inbox_get_sset_count(netdev, ETH_SS_STATS));
+}

// In front of the function and not behind it: in some drivers its end lies on
// paths that differ by #ifdef.
@@
@@
+static void zcg_inbox_get_strings(struct net_device *netdev, u32 stringset,
+				  u8 *data);
+
+static void ixgbe_get_strings(struct net_device *netdev, u32 stringset,
+			      u8 *data)
+{
+	zcg_inbox_get_strings(netdev, stringset, data);
+	zcg_get_strings(netdev, stringset, data,
+			zcg_inbox_get_sset_count(netdev, stringset));
+}
+
static void
-ixgbe_get_strings
+zcg_inbox_get_strings
 (...) { ... }

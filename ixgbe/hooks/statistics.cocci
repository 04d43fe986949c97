// SPDX-License-Identifier: GPL-2.0
// Seam: statistics
// File: ixgbe_ethtool.c
// Adds: 5 ZCG_STAT
// Adds: 1 zcg_update_stats
// Needs: ixgbe_gstrings_stats rx_csum_offload_errors ixgbe_get_ethtool_stats ixgbe_update_stats
//
// The counters stand next to the one for checksum errors. They are added up
// when ethtool -S asks, and not in ixgbe_update_stats() itself: that returns
// early while the port is down, and runs every two seconds for nothing.

@@
symbol ixgbe_gstrings_stats;
expression where;
@@
static const struct ixgbe_stats ixgbe_gstrings_stats[] = {
	...,
	{"rx_csum_offload_errors", where},
+	ZCG_STAT("rx_zcg_seen", seen),
+	ZCG_STAT("rx_zcg_verified", verified),
+	ZCG_STAT("rx_zcg_outer_only", outer_only),
+	ZCG_STAT("rx_zcg_inner_bad", inner_bad),
+	ZCG_STAT("rx_zcg_malformed", malformed),
	...,
};

@@
expression adapter;
@@
ixgbe_get_ethtool_stats(...)
{
	<...
	ixgbe_update_stats(adapter);
+	zcg_update_stats(adapter);
	...>
}

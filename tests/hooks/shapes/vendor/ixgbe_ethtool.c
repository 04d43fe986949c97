// SPDX-License-Identifier: GPL-2.0
/* For tests/hooks/test, see ixgbe.h. */
#include "ixgbe.h"

static const char ixgbe_priv_flags_strings[][ETH_GSTRING_LEN] = {
	#ifdef HAVE_BUILD_SKB
	"legacy-rx",
#endif
	"mdd",
};

#define IXGBE_PRIV_FLAGS_STR_LEN ARRAY_SIZE(ixgbe_priv_flags_strings)

static int ixgbe_get_sset_count(struct net_device *dev, int what)
{
	switch (what) {
	case ETH_SS_STATS:
		return IXGBE_STATS_LEN;
	case ETH_SS_PRIV_FLAGS:
		return IXGBE_PRIV_FLAGS_STR_LEN;
	}
	return -EOPNOTSUPP;
}

static void ixgbe_get_ethtool_stats(struct net_device *dev,
				    struct ethtool_stats *stats, u64 *values)
{
	values[0] = dev->stats.rx_packets;
}

static void ixgbe_get_strings(struct net_device *dev, u32 what, u8 *names)
{
	if (what == ETH_SS_PRIV_FLAGS)
		memcpy(names, ixgbe_priv_flags_strings, sizeof(ixgbe_priv_flags_strings));
}

static u32 ixgbe_get_priv_flags(struct net_device *dev)
{
	struct ixgbe_adapter *port = netdev_priv(dev);

	return port->flags2 & IXGBE_FLAG2_RX_LEGACY ? 1 : 0;
}

static int ixgbe_set_priv_flags(struct net_device *dev, u32 wanted)
{
	struct ixgbe_adapter *port = netdev_priv(dev);

	if (!(wanted & 1))
		return 0;
	port->flags2 |= IXGBE_FLAG2_RX_LEGACY;
	return ixgbe_reinit(port);
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The tunnel ports, learned from the stack: what is the same on all kernels. How
 * the stack tells them is in zcg_tunnel_nic.c and, for older kernels, in
 * zcg_tunnel_ndo.c; the build takes one of the two.
 */
#include <linux/netdevice.h>
#include <net/udp_tunnel.h>

#include "ixgbe.h"
#include "zcg_compat.h"

/**
 * zcg_tunnel_type - the stack's word for a tunnel in ours
 * @ti: what the stack tells of a port
 *
 * Context: any.
 * Return: the type, ZCG_TUNNEL_NONE if it is none that the parser knows.
 */
enum zcg_tunnel zcg_tunnel_type(const struct udp_tunnel_info *ti)
{
	switch (ti->type) {
	case UDP_TUNNEL_TYPE_VXLAN:
		return ZCG_TUNNEL_VXLAN;
	case UDP_TUNNEL_TYPE_VXLAN_GPE:
		return ZCG_TUNNEL_VXLAN_GPE;
	case UDP_TUNNEL_TYPE_GENEVE:
		return ZCG_TUNNEL_GENEVE;
	default:
		return ZCG_TUNNEL_NONE;
	}
}

/**
 * zcg_set_features - set the device's features, tunnel ports with them
 * @netdev: the port
 * @features: the new features
 * @inbox_set: the in-box driver's ndo_set_features()
 *
 * When rx-udp_tunnel-port-offload is switched, the core takes all ports back or
 * announces them, but only if it finds the feature still to be set, and the
 * in-box driver sets everything by itself. So that one is left to the core.
 *
 * Without receive checksum offload frames are no longer judged, and what a gated
 * core held of their flows before has to go first; see zcg_rx_skb().
 *
 * Context: rtnl held.
 * Return: what ndo_set_features() is to return: below 0 if the in-box driver
 * failed, 0 if the core is to set what it asked for, 1 if all is set.
 */
int zcg_set_features(struct net_device *netdev, netdev_features_t features,
		     zcg_set_features_t inbox_set)
{
	netdev_features_t changed = netdev->features ^ features;
	int err;

	err = inbox_set(netdev, features);
	if (err >= 0 && changed & NETIF_F_RXCSUM)
		zcg_mode_anew(netdev);
	if (err < 0 || !(changed & NETIF_F_RX_UDP_TUNNEL_PORT))
		return err;

	if (!((netdev->features ^ features) & NETIF_F_RX_UDP_TUNNEL_PORT))
		netdev->features ^= NETIF_F_RX_UDP_TUNNEL_PORT;
	return 0;
}

# SPDX-License-Identifier: GPL-2.0
#
# Takes ixgbe_main.c of 5.10 back to how drivers learned tunnel ports before
# udp_tunnel_nic, so that what the fork does there can be run on a kernel that has
# both. What X550 did with a port is not needed for that and left out.
/^static int ixgbe_udp_tunnel_sync(/,/^}/d
/^static const struct udp_tunnel_nic_info /,/^};/d
/netdev->udp_tunnel_nic_info = /d
s/\budp_tunnel_nic_reset_ntf\b/udp_tunnel_get_rx_info/
s/\budp_tunnel_nic_\(add\|del\)_port\b/ixgbe_\1_udp_tunnel_port/
/^static const struct net_device_ops ixgbe_netdev_ops = {/i\
static void ixgbe_add_udp_tunnel_port(struct net_device *dev,\
				      struct udp_tunnel_info *ti)\
{\
	netdev_dbg(dev, "tunnel port %u comes\\n", ntohs(ti->port));\
}\
\
static void ixgbe_del_udp_tunnel_port(struct net_device *dev,\
				      struct udp_tunnel_info *ti)\
{\
	netdev_dbg(dev, "tunnel port %u goes\\n", ntohs(ti->port));\
}\


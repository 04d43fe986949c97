// SPDX-License-Identifier: GPL-2.0
/*
 * The tunnel ports, learned from the stack (udp_tunnel_nic). X550 and later
 * have a table of their own in hardware; the older MACs get one in software,
 * which costs nothing as long as the flag is off.
 */
#include <linux/netdevice.h>
#include <net/udp_tunnel.h>

#include "ixgbe.h"
#include "zcg_compat.h"

static enum zcg_tunnel zcg_tunnel_type(const struct udp_tunnel_info *ti)
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

static int zcg_tunnel_set_port(struct net_device *netdev, unsigned int table,
			       unsigned int entry, struct udp_tunnel_info *ti)
{
	struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);

	return zcg_ports_set(&adapter->zcg.ports, ti->port,
			     zcg_tunnel_type(ti));
}

static int zcg_tunnel_unset_port(struct net_device *netdev, unsigned int table,
				 unsigned int entry, struct udp_tunnel_info *ti)
{
	struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);

	return zcg_ports_clear(&adapter->zcg.ports, ti->port,
			       zcg_tunnel_type(ti));
}

/* No OPEN_ONLY: a table in software is there with the interface down, too. */
static const struct udp_tunnel_nic_info zcg_udp_tunnels = {
	.set_port	= zcg_tunnel_set_port,
	.unset_port	= zcg_tunnel_unset_port,
	.tables		= {
		{
			.n_entries	= ZCG_MAX_PORTS,
			.tunnel_types	= UDP_TUNNEL_TYPE_VXLAN |
					  UDP_TUNNEL_TYPE_VXLAN_GPE |
					  UDP_TUNNEL_TYPE_GENEVE,
		},
	},
};

/**
 * zcg_tunnel_probe - ask the stack for tunnel ports
 * @netdev: the port, complete but not yet registered
 *
 * register_netdevice() adds NETIF_F_RX_UDP_TUNNEL_PORT for whoever has a table,
 * and the ports that are already in use are pushed then.
 *
 * Context: PCI probe, sleepable.
 */
void zcg_tunnel_probe(struct net_device *netdev)
{
	if (!netdev->udp_tunnel_nic_info)
		netdev->udp_tunnel_nic_info = &zcg_udp_tunnels;
}

/**
 * zcg_tunnel_sync - take over the ports of a device with a table in hardware
 * @netdev: the port
 *
 * Reads back all tables, since the in-box driver is told only which of them
 * has changed. A frame that arrives meanwhile may find its port missing and is
 * then reported as the in-box driver does.
 *
 * Context: rtnl held, called from the driver's sync_table operation.
 */
void zcg_tunnel_sync(struct net_device *netdev)
{
	const struct udp_tunnel_nic_info *info = netdev->udp_tunnel_nic_info;
	struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);
	struct zcg_ports *ports = &adapter->zcg.ports;
	struct udp_tunnel_info ti;
	unsigned int table, entry;

	zcg_ports_reset(ports);
	for (table = 0; table < ARRAY_SIZE(info->tables); table++) {
		for (entry = 0; entry < info->tables[table].n_entries; entry++) {
			udp_tunnel_nic_get_port(netdev, table, entry, &ti);
			if (ti.port)
				zcg_ports_set(ports, ti.port,
					      zcg_tunnel_type(&ti));
		}
	}
}

/**
 * zcg_set_features - let the core push or take back the tunnel ports
 * @netdev: the port, its features just set by ixgbe_set_features()
 * @changed: the features that are new
 *
 * When rx-udp_tunnel-port-offload is switched, the core does that, but only if
 * it finds the feature still to be set. So that one is left to it.
 *
 * Context: rtnl held.
 * Return: what ndo_set_features() is to return: 1 if all is set, 0 if the core
 * is to set what it asked for.
 */
int zcg_set_features(struct net_device *netdev, netdev_features_t changed)
{
	if (!(changed & NETIF_F_RX_UDP_TUNNEL_PORT))
		return 1;

	netdev->features ^= NETIF_F_RX_UDP_TUNNEL_PORT;
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The tunnel ports on kernels where the stack keeps each device's tables
 * (udp_tunnel_nic). X550 and later have a table of their own in hardware; the
 * older MACs get one in software, which costs nothing as long as the flag is
 * off.
 */
#include <linux/netdevice.h>
#include <net/udp_tunnel.h>

#include "ixgbe.h"
#include "zcg_compat.h"

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
 * zcg_tunnel_add - a port that goes into the device's table in hardware
 * @netdev: the port
 * @ti: the tunnel's UDP port and type
 *
 * In drivers that are told each port of X550 and later; the stack keeps count
 * of who uses it.
 *
 * Context: rtnl held, called from the driver's set_port operation.
 */
void zcg_tunnel_add(struct net_device *netdev, const struct udp_tunnel_info *ti)
{
	struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);

	zcg_ports_set(&adapter->zcg.ports, ti->port, zcg_tunnel_type(ti));
}

/**
 * zcg_tunnel_del - a port that goes from the device's table in hardware
 * @netdev: the port
 * @ti: the tunnel's UDP port and type
 *
 * Context: rtnl held, called from the driver's unset_port operation.
 */
void zcg_tunnel_del(struct net_device *netdev, const struct udp_tunnel_info *ti)
{
	struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);

	zcg_ports_clear(&adapter->zcg.ports, ti->port, zcg_tunnel_type(ti));
}

/**
 * zcg_tunnel_reset - the driver asks for all ports again
 * @netdev: the port
 *
 * Nothing to do: the stack's table is not announced anew from outside.
 *
 * Context: rtnl held.
 */
void zcg_tunnel_reset(struct net_device *netdev)
{
}

// SPDX-License-Identifier: GPL-2.0
/*
 * The tunnel ports on kernels before udp_tunnel_nic (5.9). There the stack tells
 * each device with NETIF_F_RX_UDP_TUNNEL_PORT of every tunnel socket that comes
 * or goes, and keeps no table: who listens must know when a port's last socket
 * has gone, and what to do with more ports than fit.
 */
#include <linux/netdevice.h>
#include <net/udp_tunnel.h>

#include "ixgbe.h"
#include "zcg_compat.h"

/* More than this many different ports are forgotten beyond recall. */
#define ZCG_ANNOUNCED	64

/**
 * struct zcg_announced - the ports that the stack has announced
 * @ports: all of them, whether or not they fit into the table
 * @ports.port: UDP port, network order; 0 if the entry is free
 * @ports.type: &enum zcg_tunnel
 * @ports.families: the sockets that are there, ZCG_INET and ZCG_INET6
 *
 * By family and not by number of sockets: a tunnel has at most one of each, and
 * an announcement that is repeated does not count twice. The exception, sockets
 * of one port that are bound to different VRFs, goes with the first of them; its
 * frames are then reported as the in-box driver does.
 */
struct zcg_announced {
	struct {
		__be16 port;
		u8 type;
		u8 families;
#define ZCG_INET	BIT(0)
#define ZCG_INET6	BIT(1)
	} ports[ZCG_ANNOUNCED];
};

static u8 zcg_family(const struct udp_tunnel_info *ti)
{
	return ti->sa_family == AF_INET6 ? ZCG_INET6 : ZCG_INET;
}

/* The index of a port of some type, or of a free entry for port 0; below 0 if
 * there is none.
 */
static int zcg_find(const struct zcg_announced *a, __be16 port, u8 type)
{
	int i;

	for (i = 0; i < ZCG_ANNOUNCED; i++) {
		if (a->ports[i].port == port && a->ports[i].type == type)
			return i;
	}
	return -ENOENT;
}

/* Put what did not fit so far where there is room now. */
static void zcg_fill(struct zcg_ports *table, const struct zcg_announced *a)
{
	int i;

	for (i = 0; i < ZCG_ANNOUNCED; i++) {
		__be16 port = a->ports[i].port;

		if (port && zcg_ports_lookup(table, port) == ZCG_TUNNEL_NONE)
			zcg_ports_set(table, port, a->ports[i].type);
	}
}

/**
 * zcg_tunnel_probe - ask the stack for tunnel ports
 * @netdev: the port, complete but not yet registered
 *
 * The ports that are already in use are announced when the interface is opened.
 * Without memory for the list no port is ever known, and every frame is reported
 * as the in-box driver does.
 *
 * Context: PCI probe, sleepable.
 */
void zcg_tunnel_probe(struct net_device *netdev)
{
	struct ixgbe_adapter *adapter = zcg_adapter_of(netdev);

	adapter->zcg.announced = devm_kzalloc(&adapter->pdev->dev,
					      sizeof(*adapter->zcg.announced),
					      GFP_KERNEL);
	netdev->hw_features |= NETIF_F_RX_UDP_TUNNEL_PORT;
	netdev->features |= NETIF_F_RX_UDP_TUNNEL_PORT;
}

/**
 * zcg_tunnel_add - a tunnel socket has come
 * @netdev: the port
 * @ti: its UDP port, family and type
 *
 * Context: rtnl held, perhaps with a lock of the tunnel driver; atomic.
 */
void zcg_tunnel_add(struct net_device *netdev, const struct udp_tunnel_info *ti)
{
	struct zcg_adapter *zcg = &zcg_adapter_of(netdev)->zcg;
	struct zcg_announced *a = zcg->announced;
	u8 type = zcg_tunnel_type(ti);
	int i;

	if (!a || !ti->port || type == ZCG_TUNNEL_NONE)
		return;

	i = zcg_find(a, ti->port, type);
	if (i < 0)
		i = zcg_find(a, 0, ZCG_TUNNEL_NONE);
	if (i < 0)
		return;

	a->ports[i].port = ti->port;
	a->ports[i].type = type;
	a->ports[i].families |= zcg_family(ti);
	zcg_ports_set(&zcg->ports, ti->port, type);
}

/**
 * zcg_tunnel_del - a tunnel socket goes
 * @netdev: the port
 * @ti: its UDP port, family and type
 *
 * Context: rtnl held, perhaps with a lock of the tunnel driver; atomic.
 */
void zcg_tunnel_del(struct net_device *netdev, const struct udp_tunnel_info *ti)
{
	struct zcg_adapter *zcg = &zcg_adapter_of(netdev)->zcg;
	struct zcg_announced *a = zcg->announced;
	u8 type = zcg_tunnel_type(ti);
	int i;

	if (!a || !ti->port)
		return;

	i = zcg_find(a, ti->port, type);
	if (i < 0)
		return;

	a->ports[i].families &= ~zcg_family(ti);
	if (a->ports[i].families)
		return;

	memset(&a->ports[i], 0, sizeof(a->ports[i]));
	zcg_ports_clear(&zcg->ports, ti->port, type);
	zcg_fill(&zcg->ports, a);
}

/**
 * zcg_tunnel_reset - the driver asks for all ports again
 * @netdev: the port
 *
 * What was missed meanwhile, such as a tunnel that went while the device was in
 * another namespace, is forgotten so.
 *
 * Context: rtnl held.
 */
void zcg_tunnel_reset(struct net_device *netdev)
{
	struct zcg_adapter *zcg = &zcg_adapter_of(netdev)->zcg;

	if (zcg->announced)
		memset(zcg->announced, 0, sizeof(*zcg->announced));
	zcg_ports_reset(&zcg->ports);
}

/**
 * zcg_tunnel_sync - the table in hardware has changed
 * @netdev: the port
 *
 * Not called: only drivers for kernels with udp_tunnel_nic are told so.
 *
 * Context: rtnl held.
 */
void zcg_tunnel_sync(struct net_device *netdev)
{
}

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The UDP ports behind which tunnels are known to end on this device.
 *
 * Written under rtnl only, read in NAPI context without a lock: a slot is one
 * 32-bit word that holds port and type together, so a reader sees the old
 * entry or the new one and never a mixture. A port keeps its slot until it is
 * cleared. Most UDP frames go to ports that no tunnel has, so a filter of one
 * word says of those, in most cases, that no slot need be looked at.
 */
#ifndef ZCG_PORTS_H
#define ZCG_PORTS_H

#include "zcg_types.h"

#define ZCG_MAX_PORTS	16

/**
 * enum zcg_tunnel - what is expected behind the UDP header
 * @ZCG_TUNNEL_NONE: nothing known: no slot holds the port
 * @ZCG_TUNNEL_VXLAN: RFC 7348
 * @ZCG_TUNNEL_VXLAN_GPE: draft-ietf-nvo3-vxlan-gpe
 * @ZCG_TUNNEL_GENEVE: RFC 8926
 * @ZCG_TUNNELS: number of the above
 */
enum zcg_tunnel {
	ZCG_TUNNEL_NONE,
	ZCG_TUNNEL_VXLAN,
	ZCG_TUNNEL_VXLAN_GPE,
	ZCG_TUNNEL_GENEVE,
	ZCG_TUNNELS,
};

/**
 * struct zcg_ports - the table; all zero is the empty one
 * @slot: enum zcg_tunnel in the upper 16 bits, the port as it lies in the UDP
 *	header in the lower; 0 is a free slot
 * @filter: the bits zcg_ports_bit() of the ports in @slot
 *
 * Where a reader sees a slot and the filter of different times, the port counts
 * as not yet there, or no longer.
 */
struct zcg_ports {
	u32 slot[ZCG_MAX_PORTS];
	unsigned long filter;
};

/* A port's bit in the filter: neighbours have different ones. */
static __always_inline unsigned long zcg_ports_bit(__be16 port)
{
	return 1UL << (be16_to_cpu(port) % (8 * sizeof(unsigned long)));
}

static __always_inline u32 zcg_ports_entry(__be16 port, enum zcg_tunnel type)
{
	return (u32)type << 16 | (__force u16)port;
}

static __always_inline enum zcg_tunnel zcg_ports_type(u32 entry)
{
	return (enum zcg_tunnel)(entry >> 16);
}

/**
 * zcg_ports_may_have - can there be a tunnel at a UDP port?
 * @p: the table
 * @port: UDP destination port, network order
 *
 * Context: any; needs no lock.
 * Return: false if not, true if a slot may have it: zcg_ports_find().
 */
static __always_inline bool zcg_ports_may_have(const struct zcg_ports *p,
					       __be16 port)
{
	return READ_ONCE(p->filter) & zcg_ports_bit(port);
}

/**
 * zcg_ports_find - which tunnel ends at a UDP port that the filter passes
 * @p: the table
 * @port: UDP destination port, network order
 *
 * Context: any; needs no lock.
 * Return: the type, ZCG_TUNNEL_NONE if the port is not in the table.
 */
static __always_inline enum zcg_tunnel
zcg_ports_find(const struct zcg_ports *p, __be16 port)
{
	unsigned int i;

	for (i = 0; i < ZCG_MAX_PORTS; i++) {
		u32 entry = READ_ONCE(p->slot[i]);

		/* Port 0 finds a free slot, which says ZCG_TUNNEL_NONE. */
		if ((u16)entry == (__force u16)port)
			return zcg_ports_type(entry);
	}
	return ZCG_TUNNEL_NONE;
}

/**
 * zcg_ports_lookup - which tunnel ends at a UDP port
 * @p: the table
 * @port: UDP destination port, network order
 *
 * Context: any; needs no lock.
 * Return: the type, ZCG_TUNNEL_NONE if the port is not in the table.
 */
static __always_inline enum zcg_tunnel
zcg_ports_lookup(const struct zcg_ports *p, __be16 port)
{
	return zcg_ports_may_have(p, port) ? zcg_ports_find(p, port) :
					     ZCG_TUNNEL_NONE;
}

/**
 * zcg_ports_set - put a port into the table
 * @p: the table
 * @port: UDP port, network order
 * @type: the tunnel that ends there
 *
 * A port that is already there gets the new type in its old slot: the stack's
 * last word counts.
 *
 * Context: rtnl held (one writer).
 * Return: 0; -EINVAL for port 0 or no proper type; -ENOSPC if all
 * ZCG_MAX_PORTS slots hold other ports, and the table is then unchanged.
 */
static inline int zcg_ports_set(struct zcg_ports *p, __be16 port,
				enum zcg_tunnel type)
{
	int slot = -1;
	int i;

	if (!port || type <= ZCG_TUNNEL_NONE || type >= ZCG_TUNNELS)
		return -EINVAL;

	for (i = ZCG_MAX_PORTS - 1; i >= 0; i--) {
		u32 entry = p->slot[i];

		if (entry && (u16)entry == (__force u16)port) {
			slot = i;
			break;
		}
		if (!entry)
			slot = i;
	}
	if (slot < 0)
		return -ENOSPC;

	WRITE_ONCE(p->slot[slot], zcg_ports_entry(port, type));
	WRITE_ONCE(p->filter, p->filter | zcg_ports_bit(port));
	return 0;
}

/* The filter, after a port went. */
static inline void zcg_ports_refilter(struct zcg_ports *p)
{
	unsigned long filter = 0;
	unsigned int i;

	for (i = 0; i < ZCG_MAX_PORTS; i++) {
		if (p->slot[i])
			filter |= zcg_ports_bit((__force __be16)(u16)p->slot[i]);
	}
	WRITE_ONCE(p->filter, filter);
}

/**
 * zcg_ports_clear - take a port out of the table
 * @p: the table
 * @port: UDP port, network order
 * @type: the type it was set with
 *
 * An entry that has another type by now stays: when a port changes hands, the
 * stack may announce the new tunnel before it takes back the old one.
 *
 * Context: rtnl held (one writer).
 * Return: 0, or -ENOENT if there is no such pair.
 */
static inline int zcg_ports_clear(struct zcg_ports *p, __be16 port,
				  enum zcg_tunnel type)
{
	u32 entry = zcg_ports_entry(port, type);
	unsigned int i;

	if (type <= ZCG_TUNNEL_NONE || type >= ZCG_TUNNELS)
		return -ENOENT;

	for (i = 0; i < ZCG_MAX_PORTS; i++) {
		if (p->slot[i] == entry) {
			WRITE_ONCE(p->slot[i], 0);
			zcg_ports_refilter(p);
			return 0;
		}
	}
	return -ENOENT;
}

/**
 * zcg_ports_reset - forget all ports
 * @p: the table
 *
 * Context: rtnl held (one writer).
 */
static inline void zcg_ports_reset(struct zcg_ports *p)
{
	unsigned int i;

	for (i = 0; i < ZCG_MAX_PORTS; i++)
		WRITE_ONCE(p->slot[i], 0);
	WRITE_ONCE(p->filter, 0);
}

#endif /* ZCG_PORTS_H */

# SPDX-License-Identifier: GPL-2.0
"""Everything that goes when a driver is unloaded: found, and kept as plain values.

Unregistering a port takes its addresses, routes, neighbours, settings and membership
in bridges and bonds with it, and deletes every VLAN, macvlan, ipvlan and vxlan above it
with all that they have. A port in another network namespace is gone from there, and
its successor turns up in the first one.
"""
import glob
import json
import os
import re
import shutil
import subprocess
import time

from . import netlink as n
from .ethtool import Ethtool, differences

# Kinds of devices that the kernel deletes with the one below, and that can be made
# anew from what the kernel tells of them.
REMADE = ("vlan", "macvlan", "ipvlan", "vxlan")
# Deleted too, but keys, open files or peers are not told.
DELETED = ("macvtap", "ipvtap", "macsec", "hsr", "rmnet", "ipoib", "lowpan", "bareudp")
MASTERS = ("bridge", "bond", "vrf")
SYSCTLS = ("/proc/sys/net/ipv4/conf", "/proc/sys/net/ipv6/conf",
           "/proc/sys/net/ipv4/neigh", "/proc/sys/net/ipv6/neigh")
SYSFS = ("gro_flush_timeout", "napi_defer_hard_irqs", "threaded", "queues/rx-*/rps_cpus",
         "queues/rx-*/rps_flow_cnt", "queues/tx-*/xps_cpus", "queues/tx-*/xps_rxqs",
         "queues/tx-*/byte_queue_limits/limit_m*")


def read(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as src:
            return src.read().strip()
    except OSError:
        return None


def pci_ports(driver):
    """PCI addresses that the driver is bound to."""
    return sorted(os.path.basename(p) for p in glob.glob(f"/sys/bus/pci/drivers/{driver}/*:*"))


class Snapshot:
    """devices: a dict each, lower ones first; losses: what nothing here brings back;
    notes: what somebody else has to see to; unseen: ports that have no device."""

    def __init__(self, driver, namespaces, scratch):
        self.driver, self.namespaces, self.scratch = driver, namespaces, scratch
        self.when = time.time()
        self.links = [n.links(ns.nl) for ns in namespaces]
        self.devices, self.losses, self.notes = [], [], []
        self._member = {}               # (namespace, ifindex) of what goes: number of device
        self._find()
        self.unseen = sorted(set(pci_ports(driver)) - {d["pci"] for d in self.devices})
        self.addresses, self.routes, self.nexthops, self.neighbours = [], [], [], []
        for i, ns in enumerate(namespaces):
            if any(d["ns"] == i for d in self.devices):
                self._layer3(i, ns)
        self._look_for_losses()

    # --- which devices -----------------------------------------------------------

    def _find(self):
        for i, ns in enumerate(self.namespaces):
            with ns.inside():
                for link in self.links[i].values():
                    if not link.kind:
                        tool = Ethtool(link.name)
                        who = tool.driver()
                        if who and who[0] == self.driver:
                            self._add(i, link, who[1], tool)
                        tool.close()
        grown = True
        while grown:
            grown = False
            for i, links in enumerate(self.links):
                for link in links.values():
                    if link.kind in REMADE and link.link_nsid is None and \
                            (i, link.link) in self._member and (i, link.index) not in self._member:
                        with self.namespaces[i].inside():
                            self._add(i, link)
                        grown = True

    def _add(self, i, link, pci=None, tool=None):
        sysfs = self.namespaces[i].sysfs(self.scratch) + f"/class/net/{link.name}"
        master = self.links[i].get(link.master)
        device = {
            "ns": i, "name": link.name, "index": link.index, "pci": pci, "kind": link.kind,
            "data": link.data.hex(), "lower": self._member.get((i, link.link)),
            "flags": link.flags & n.IFF_KEPT, "mtu": link.mtu, "txqlen": link.txqlen,
            "group": link.group, "alias": link.alias, "address": link.address.hex(),
            "master": master.name if master else None, "master_kind": master.kind if master else None,
            "slave_data": link.slave_data.hex(), "altnames": link.altnames,
            "gen_mode": link.gen_mode, "carrier": link.carrier,
            "sysctls": self._sysctls(link.name), "sysfs": self._sysfs(sysfs), "vlans": None,
        }
        # NET_ADDR_STOLEN: of the device below, as with most VLANs. NET_ADDR_PERM: the card's.
        assigned = read(sysfs + "/addr_assign_type")
        device["address_set"] = assigned not in ("0", "2")
        if tool:
            device["ethtool"] = tool.save()
            device["address_set"] = tool.perm_address() != link.address
        if master and master.kind == "bond":
            device["master_address"] = master.address.hex()
        self._member[i, link.index] = len(self.devices)
        self.devices.append(device)

    @staticmethod
    def _sysctls(name):
        found = {}
        for folder in SYSCTLS:
            for path in glob.glob(f"{folder}/{glob.escape(name)}/*"):
                value = read(path)
                if value is not None:
                    found[path] = value
        return found

    @staticmethod
    def _sysfs(folder):
        found = {}
        for pattern in SYSFS:
            for path in glob.glob(f"{folder}/{pattern}"):
                value = read(path)
                if value is not None:
                    found[path[len(folder) + 1:]] = value
        return found

    # --- addresses, routes, neighbours ---------------------------------------------

    def _layer3(self, i, ns):
        nl = ns.nl
        raw = []
        for address in n.addresses(nl):
            if (i, address.index) in self._member:
                raw.append(address.local)
                self.addresses.append((self._member[i, address.index], address))
        mine = [d["index"] for d in self.devices if d["ns"] == i]
        ids = set()
        for ident, group, oif, message in n.nexthops(nl):
            if oif in mine or ids.intersection(group):
                ids.add(ident)
                self.nexthops.append((i, message))
        for route in n.routes(nl):
            if not route.made_by_kernel() and \
                    (set(mine).intersection(route.oifs) or route.prefsrc in raw or route.nh_id in ids):
                self.routes.append((i, route))
        for neighbour in n.neighbours(nl):
            if (i, neighbour.index) in self._member and neighbour.kept():
                self.neighbours.append((self._member[i, neighbour.index], neighbour))
        for index, spec in n.bridge_vlans(nl).items():
            if (i, index) in self._member and self.devices[self._member[i, index]]["master_kind"] == "bridge":
                self.devices[self._member[i, index]]["vlans"] = spec.hex()

    # --- what can't be kept -------------------------------------------------------------

    def _lose(self, device, what):
        where = self.namespaces[device["ns"]]
        self.losses.append(f"{device['name']}: {what}" + (f" (in {where})" if where.name else ""))

    def _look_for_losses(self):
        for device in self.devices:
            i = device["ns"]
            link = self.links[i][device["index"]]
            numvfs = read(f"/sys/bus/pci/devices/{device['pci']}/sriov_numvfs") if device["pci"] else None
            if numvfs not in (None, "0"):
                self._lose(device, f"virtual functions are enabled ({numvfs}); they and their settings go")
            for what, why in device.get("ethtool", {}).get("unread", {}).items():
                self._lose(device, f"{what}: can't be read ({why})")
            if link.xdp:
                self._lose(device, "an XDP program is attached; attach it again afterwards")
            if device["master"] and device["master_kind"] not in MASTERS:
                self._lose(device, f"it belongs to {device['master']} ({device['master_kind'] or 'a device'}), "
                                   "which has to take it in again by its own tools")
            if device["kind"] == "macvlan" and 5 in dict(n.attrs(link.data)):
                self._lose(device, "the list of source addresses of a macvlan")     # MACADDR_DATA
            self._above(device, i)
        for i, ns in enumerate(self.namespaces):
            here = {d["index"]: d for d in self.devices if d["ns"] == i}
            if not here:
                continue
            for index, kind, handle, parent in n.qdiscs(ns.nl):
                # Handle 0 is what the kernel attaches by itself.
                if index in here and handle and (parent == 0xffffffff or handle == 0xffff0000):
                    self._lose(here[index], f"qdisc {kind} with its classes and filters")
            self._firewall(ns, here.values())
            self._sockets(ns, here)
        for number, address in self.addresses:
            if address.temporary or address.valid != n.FOREVER:
                self.notes.append(f"{self.devices[number]['name']}: {address.show()} has a limited lifetime; "
                                  "who gave it (DHCP client, router advertisements) renews it, or not")

    def _above(self, device, i):
        """Devices on top of this one that are not made anew."""
        for j, links in enumerate(self.links):
            nsid = None if j == i else n.nsid_of(self.namespaces[j].nl, self.namespaces[i].fd)
            for link in links.values():
                if link.link != device["index"] or (j, link.index) in self._member:
                    continue
                if j == i and (link.link_nsid is not None or link.index == device["index"]):
                    continue
                if j != i and (link.link_nsid is None or link.link_nsid != nsid):
                    continue
                where = f" in {self.namespaces[j]}" if j != i else ""
                if link.kind in REMADE + DELETED:
                    self._lose(device, f"{link.kind} {link.name}{where} on top of it is deleted by the kernel "
                                       "and can't be made anew from here")
                else:
                    self._lose(device, f"{link.kind or 'device'} {link.name}{where} on top of it stays, but "
                                       "refers to a device that is gone")

    def _firewall(self, ns, devices):
        if not shutil.which("nft"):
            return
        with ns.inside():
            rules = subprocess.run(["nft", "list", "ruleset"], capture_output=True, text=True, check=False).stdout
        hooked = _hooked(rules)
        for device in devices:
            name = re.escape(device["name"])
            if device["name"] in hooked:
                self._lose(device, "an nftables chain or flowtable is hooked to it")
            if re.search(rf'\b[io]if (\{{[^}}]*)?"{name}"', rules):
                self._lose(device, "an nftables rule names it by iif or oif, which means the number of the "
                                   "device that goes; iifname and oifname would not mind")

    def _sockets(self, ns, here):
        with ns.inside():
            lines = (read("/proc/thread-self/net/packet") or "").splitlines()[1:]
        for index in sorted({int(line.split()[4]) for line in lines if len(line.split()) > 4}):
            if index in here:
                self.notes.append(f"{here[index]['name']}: packet sockets are bound to it (DHCP client, LLDP, "
                                  "tcpdump); restart what has them")

    # --- as a file ------------------------------------------------------------------------

    def dump(self):
        return {
            "when": self.when, "driver": self.driver,
            "namespaces": [{"path": ns.path, "name": ns.name, "inode": ns.inode} for ns in self.namespaces],
            "names": [{k: v.name for k, v in links.items()} for links in self.links],
            "devices": self.devices,
            "addresses": [[d, self._hex(a, "BBBBI", a.family, a.plen, a.flags & 0xff, a.scope, a.index)]
                          for d, a in self.addresses],
            "routes": [[i, self._hex(r, "BBBBBBBBI", r.family, r.dst_len, r.src_len, r.tos, min(r.table, 252),
                                     r.proto, r.scope, r.type, r.flags)] for i, r in self.routes],
            "nexthops": [[i, m.hex()] for i, m in self.nexthops],
            "neighbours": [[d, self._hex(e, "BxxxiHBB", e.family, e.index, e.state, e.flags, e.type)]
                           for d, e in self.neighbours],
            "losses": self.losses, "notes": self.notes,
        }

    @staticmethod
    def _hex(message, layout, *fields):
        return (n.struct.pack(layout, *fields) + n.pack(*message.attrs)).hex()


def _hooked(rules):
    """Names of the devices that nftables chains and flowtables are hooked to. A list of
    devices has them with quotes or without, as nft's version is."""
    lists = re.findall(r"\bhook (?:ingress|egress) (?:device (\S+)|devices = \{([^}]*)\})", rules)
    lists += re.findall(r"\bflowtable ()\S+ \{[^{}]*\bdevices = \{([^}]*)\}", rules)
    return {name for one, several in lists for name in re.split(r'[\s,"]+', several or one) if name}


def write(path, saved):
    """Whole or not at all, and on the disk when this returns."""
    tmp = path + ".new"
    with open(os.open(tmp, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
        json.dump(saved, out, indent=1)
        out.flush()
        os.fsync(out.fileno())
    os.rename(tmp, path)


def compare(saved, now):
    """What of a saved state (dump()) another one lacks, a line of text each."""
    lacking = []

    def tell(device, what):
        where = saved["namespaces"][device["ns"]]["name"]
        lacking.append(f"{device['name']}{' in namespace ' + where if where else ''}: {what}")

    inodes = {ns["inode"]: i for i, ns in enumerate(now["namespaces"])}
    place = {i: inodes.get(ns["inode"]) for i, ns in enumerate(saved["namespaces"])}
    there = {(d["ns"], d["name"]): d for d in now["devices"]}
    for device in saved["devices"]:
        other = there.get((place[device["ns"]], device["name"]))
        if not other:
            tell(device, "is not there")
            continue
        for field in ("mtu", "txqlen", "group", "alias", "master", "kind", "gen_mode", "vlans", "flags"):
            if device[field] != other[field]:
                tell(device, f"{field} {other[field]} and not {device[field]}")
        if device["address_set"] and not device.get("master_address") and device["address"] != other["address"]:
            tell(device, "its MAC address")
        if device["kind"] and _data(device) != _data(other):
            tell(device, f"properties of its kind, {device['kind']}")
        if set(device["altnames"]) - set(other["altnames"]):
            tell(device, "alternative names")
        for what in differences(device.get("ethtool", {}), other.get("ethtool", {})):
            tell(device, what)
        for path, value in device["sysctls"].items():
            if other["sysctls"].get(path, value) != value and not path.endswith("/stable_secret"):
                tell(device, path)
        for path, value in device["sysfs"].items():
            if other["sysfs"].get(path, value) != value and "byte_queue_limits" not in path:
                tell(device, path)

    def addresses(state):
        found = {}
        for number, message in state["addresses"]:
            address = n.Address(bytes.fromhex(message))
            device = state["devices"][number]
            inode = state["namespaces"][device["ns"]]["inode"]
            found[inode, device["name"], address.show(), address.flags & ~n.IFA_STATE] = (device, address)
        return found

    have = addresses(now)
    for key, (device, address) in addresses(saved).items():
        if key not in have and not address.temporary and \
                (address.valid == n.FOREVER or time.time() - saved["when"] < address.valid):
            tell(device, f"address {address.show()}")

    def routes(state):
        found = {}
        for i, message in state["routes"]:
            route = n.Route(bytes.fromhex(message))
            names = {int(k): v for k, v in state["names"][i].items()}
            found[(state["namespaces"][i]["inode"], *route.key(names))] = route
        return found

    have = routes(now)
    lacking += [f"route {route.show()} of table {route.table}" for key, route in routes(saved).items()
                if key not in have]
    return lacking


def _data(device):
    return sorted((k, v) for k, v in n.attrs(bytes.fromhex(device["data"]))
                  if not (device["kind"] == "vxlan" and k == n.VXLAN_LINK) and
                  not (device["kind"] == "macvlan" and k not in n.MACVLAN_SET))

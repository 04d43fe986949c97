# SPDX-License-Identifier: GPL-2.0
"""Brings a saved state back onto the ports of a driver that was loaded anew.

Everything here can be done twice: what is there already is left alone, so it can be
called again until nothing is lacking.
"""
import errno
import glob
import os
import struct
import time

from . import netlink as n
from . import netns
from .ethtool import Ethtool

_THERE = (errno.EEXIST,)
_BOND_SLAVE = (5, 9)            # queue id, priority; all else is told and never asked
_BRPORT_STATE = 1


def port_of(pci):
    """Name in the first namespace of the device of a PCI function, or None."""
    found = glob.glob(f"/sys/bus/pci/devices/{pci}/net/*")
    return os.path.basename(found[0]) if found else None


class Restore:
    def __init__(self, saved, scratch):
        self.saved, self.first, self.scratch = saved, netns.first(), scratch
        self.failed = []
        self.spaces = {}
        there = {space.inode: space for space in netns.every()}
        for i, ns in enumerate(saved["namespaces"]):
            space = netns.first() if not ns["name"] else there.get(ns["inode"])
            if space:
                self.spaces[i] = space
        self.devices = saved["devices"]
        self.indices = {i: {} for i in self.spaces}     # old ifindex: new one
        self.age = time.time() - saved["when"]

    def _fail(self, device, what, err):
        why = err.strerror if isinstance(err, OSError) else str(err)
        self.failed.append(f"{device['name']}: {what}: {why}")

    def _set(self, ns, index, *attrs, flags=0, change=0):
        ns.nl.request(n.NEWLINK, 0, n.ifinfo(index, flags, change) + n.pack(*attrs))

    @staticmethod
    def _named(ns, name):
        return next((link for link in n.links(ns.nl).values() if link.name == name), None)

    # --- ports: name and namespace ------------------------------------------------

    def place_ports(self):
        """Gives every port its name and namespace back."""
        ports = [d for d in self.devices if d["pci"]]
        away = []
        for number, device in enumerate(ports):
            name = port_of(device["pci"])
            if name is None:
                continue        # in its namespace already, or not there at all
            if name != device["name"] or device["ns"] not in self.spaces or \
                    self.spaces[device["ns"]] is not self.first:
                link = self._named(self.first, name)
                if link:
                    away.append((device, link.index, f"zcg{number}"))
        # Names may have changed hands, so first all get one that nobody has.
        for device, index, temporary in away:
            self._try(device, "take it down", self.first, index, change=n.IFF_UP)
            if device["ns"] not in self.spaces:
                self._fail(device, "namespace", "it is gone")
            else:
                self._try(device, "rename it", self.first, index, (n.IFLA_IFNAME, temporary))
        for device, index, temporary in away:
            ns = self.spaces.get(device["ns"])
            if ns is self.first:
                self._try(device, f"rename {temporary}", ns, index, (n.IFLA_IFNAME, device["name"]))
            elif ns:
                self._try(device, f"move {temporary} to {ns}", self.first, index,
                          (n.IFLA_NET_NS_FD, ns.fd), (n.IFLA_IFNAME, device["name"]))

    def _try(self, device, what, ns, index, *attrs, flags=0, change=0):
        try:
            self._set(ns, index, *attrs, flags=flags, change=change)
            return True
        except n.Refused as err:
            self._fail(device, what, err)
            return False

    # --- one device ------------------------------------------------------------------

    def _make(self, device, ns):
        """A VLAN, macvlan, ipvlan or vxlan, from what the kernel told of it."""
        lower = self.indices[device["ns"]].get(self.devices[device["lower"]]["index"])
        if lower is None:
            self._fail(device, "make it", "the device below is not there")
            return
        data = self._properties(device["kind"], n.attrs(bytes.fromhex(device["data"])), lower)
        body = [(n.IFLA_IFNAME, device["name"]), (n.IFLA_MTU, device["mtu"]),
                n.nest(n.IFLA_LINKINFO, (n.INFO_KIND, device["kind"]), n.nest(n.INFO_DATA, *data))]
        if device["kind"] != "vxlan":
            body.append((n.IFLA_LINK, lower))
        if device["address_set"] and device["kind"] != "ipvlan":
            body.append((n.IFLA_ADDRESS, bytes.fromhex(device["address"])))
        try:
            ns.nl.request(n.NEWLINK, n.CREATE | n.EXCL, n.ifinfo(0) + n.pack(*body))
        except n.Refused as err:
            if err.errno not in _THERE:
                self._fail(device, "make it", err)

    @staticmethod
    def _properties(kind, told, lower):
        """What is told of a device of a kind, as it has to be asked for."""
        asked = []
        for attr, value in told:
            if kind == "vlan" and attr == 2:            # IFLA_VLAN_FLAGS: all bits of the mask are set
                flags = n.u32(value)
                value = struct.pack("II", flags, flags | 1)
            elif kind == "vxlan" and attr == n.VXLAN_LINK:
                value = lower
            elif kind == "vxlan" and attr == 28:        # IFLA_VXLAN_TTL_INHERIT: told as a byte
                if not value[0]:
                    continue
                value = b""
            elif kind == "vxlan" and attr == 22 and not value[0]:
                # IFLA_VXLAN_REMCSUM_RX: to new kernels even "off" is a use of bits that
                # IFLA_VXLAN_RESERVED_BITS says are reserved.
                continue
            elif kind == "macvlan" and attr not in n.MACVLAN_SET:
                continue
            asked.append((attr, value))
        return asked

    def _device(self, device, ns):
        link = self._named(ns, device["name"])
        if not link and not device["pci"]:
            self._make(device, ns)
            link = self._named(ns, device["name"])
        if not link:
            self._fail(device, "find it", "there is no such device")
            return
        self.indices[device["ns"]][device["index"]] = link.index
        with ns.inside():
            if "ethtool" in device:
                tool = Ethtool(device["name"])
                for what, why in tool.restore(device["ethtool"]):
                    # A flag that only the former driver had is found in the comparison.
                    if what != "private flags" or not why.startswith("this driver"):
                        self._fail(device, what, why)
                tool.close()
            for path, value in device["sysctls"].items():
                self._write(path, value)
        # Ring buffers were made anew with the channels, so after those.
        for path, value in device["sysfs"].items():
            self._write(f"{ns.sysfs(self.scratch)}/class/net/{device['name']}/{path}", value)
        self._attributes(device, ns, self._named(ns, device["name"]))
        if device["master"]:
            self._enslave(device, ns, link.index)
        link = self._named(ns, device["name"])
        if (link.flags ^ device["flags"]) & n.IFF_KEPT:
            self._try(device, "flags and state", ns, link.index, flags=device["flags"], change=n.IFF_KEPT)

    @staticmethod
    def _write(path, value):
        """What can't be written back shows in the comparison afterwards."""
        try:
            with open(path, "r+", encoding="utf-8") as out:
                if out.read().strip() != value:
                    out.seek(0)
                    out.write(value)
                    out.flush()
        except OSError:
            pass

    def _attributes(self, device, ns, link):
        wanted = []
        if link.mtu != device["mtu"]:
            wanted.append((n.IFLA_MTU, device["mtu"]))
        if link.txqlen != device["txqlen"]:
            wanted.append((n.IFLA_TXQLEN, device["txqlen"]))
        if link.group != device["group"]:
            wanted.append((n.IFLA_GROUP, device["group"]))
        if link.alias != device["alias"]:
            wanted.append((n.IFLA_IFALIAS, device["alias"].encode()))
        # A bond gives its ports their address.
        if device["address_set"] and link.address.hex() != device["address"] and "master_address" not in device:
            wanted.append((n.IFLA_ADDRESS, bytes.fromhex(device["address"])))
        if link.gen_mode != device["gen_mode"]:
            mode = n.nest(n.AF_INET6, (8, bytes([device["gen_mode"]])))
            wanted.append(n.nest(n.IFLA_AF_SPEC, mode))
        for attr in wanted:
            self._try(device, f"attribute {attr[0] & 0x3fff}", ns, link.index, attr)
        missing = [name for name in device["altnames"] if name not in link.altnames]
        for name in missing:
            try:
                ns.nl.request(n.NEWLINKPROP, n.CREATE | n.EXCL | n.APPEND, n.ifinfo(link.index) +
                              n.pack(n.nest(n.IFLA_PROP_LIST, (n.IFLA_ALT_IFNAME, name))))
            except n.Refused as err:
                self._fail(device, f"alternative name {name}", err)

    def _enslave(self, device, ns, index):
        master = self._named(ns, device["master"])
        if not master:
            self._fail(device, device["master"], "there is no such device")
            return
        if self._named(ns, device["name"]).master != master.index:
            if device["master_kind"] == "bond":
                # It lost its address with its last port, and takes none that is up.
                self._try(device, "take it down", ns, index, change=n.IFF_UP)
                if master.address.hex() != device["master_address"]:
                    self._try(device, f"address of {master.name}", ns, master.index,
                              (n.IFLA_ADDRESS, bytes.fromhex(device["master_address"])))
            if not self._try(device, f"add it to {master.name}", ns, index, (n.IFLA_MASTER, master.index)):
                return
        now = dict(n.attrs(self._named(ns, device["name"]).slave_data))
        for kind, value in n.attrs(bytes.fromhex(device["slave_data"])):
            if now.get(kind) == value or (device["master_kind"] == "bridge" and kind == _BRPORT_STATE) or \
                    (device["master_kind"] == "bond" and kind not in _BOND_SLAVE):
                continue
            try:
                self._set(ns, index, n.nest(n.IFLA_LINKINFO, (n.INFO_SLAVE_KIND, device["master_kind"]),
                                            n.nest(n.INFO_SLAVE_DATA, (kind, value))))
            except n.Refused:
                pass            # one of those that are only told
        if device["vlans"]:
            self._vlans(device, ns, index)

    def _vlans(self, device, ns, index):
        wanted = n.attrs(bytes.fromhex(device["vlans"]))
        there = n.attrs(n.bridge_vlans(ns.nl).get(index, b""))
        surplus = [pair for pair in there if pair not in wanted and pair[0] == 2]
        try:
            # IFLA_BRIDGE_VLAN_INFO is 2, IFLA_BRIDGE_FLAGS and its SELF 0 and 2.
            if surplus:
                ns.nl.request(n.DELLINK, 0, n.ifinfo(index, family=n.AF_BRIDGE) +
                              n.pack(n.nest(n.IFLA_AF_SPEC, *surplus)))
            missing = [pair for pair in wanted if pair not in there and pair[0] == 2]
            if missing:
                ns.nl.request(n.SETLINK, 0, n.ifinfo(index, family=n.AF_BRIDGE) +
                              n.pack(n.nest(n.IFLA_AF_SPEC, *missing)))
        except n.Refused as err:
            self._fail(device, "VLANs in its bridge", err)

    # --- all of it ---------------------------------------------------------------------

    def run(self):
        """Everything, as far as it goes; what failed is in .failed afterwards."""
        self.failed = []
        self.place_ports()
        for device in self.devices:
            ns = self.spaces.get(device["ns"])
            if ns:
                self._device(device, ns)
        for number, message in self.saved["addresses"]:
            self._address(self.devices[number], n.Address(bytes.fromhex(message)))
        for number, message in self.saved["neighbours"]:
            self._neighbour(self.devices[number], n.Neighbour(bytes.fromhex(message)))
        for i, message in self.saved["nexthops"]:
            if i in self.spaces:
                self._quietly(i, n.NEWNEXTHOP, n.CREATE | n.EXCL,
                              n.nexthop_message(bytes.fromhex(message), self.indices[i]))
        self._routes()
        return self.failed

    def _quietly(self, i, kind, flags, message):
        """Why it failed, or None."""
        try:
            self.spaces[i].nl.request(kind, flags, message)
        except n.Refused as err:
            if err.errno not in _THERE:
                return err
        return None

    def _address(self, device, address):
        index = self.indices.get(device["ns"], {}).get(device["index"])
        if index is None or address.temporary:
            return
        if address.valid != n.FOREVER and address.valid <= self.age + 1:
            return              # it has expired meanwhile
        err = self._quietly(device["ns"], n.NEWADDR, n.CREATE | n.EXCL, address.message(index, self.age))
        if err:
            self._fail(device, f"address {address.show()}", err)

    def _neighbour(self, device, neighbour):
        index = self.indices.get(device["ns"], {}).get(device["index"])
        if index is None:
            return
        flags = n.CREATE | (n.APPEND if neighbour.family == n.AF_BRIDGE else n.REPLACE)
        err = self._quietly(device["ns"], n.NEWNEIGH, flags,
                            neighbour.message(index, self.indices[device["ns"]]))
        # The entry that a bridge makes for the port's own address is there by itself.
        if err and neighbour.family != n.AF_BRIDGE:
            self._fail(device, "a neighbour", err)

    def _routes(self):
        """Routes need others to reach their gateways by: again while that helps."""
        left = [(i, n.Route(bytes.fromhex(m))) for i, m in self.saved["routes"] if i in self.spaces]
        while left:
            stuck = []
            for i, route in left:
                flags = n.CREATE | (n.REPLACE if route.multipath else n.EXCL)
                err = self._quietly(i, n.NEWROUTE, flags, route.message(self.indices[i], self.age))
                if err:
                    stuck.append((i, route, err))
            if len(stuck) == len(left):
                for _, route, err in stuck:
                    self.failed.append(f"route {route.show()}: {err.strerror}")
                return
            left = [(i, route) for i, route, _ in stuck]

# SPDX-License-Identifier: GPL-2.0
"""Would unloading the driver cut this machine, or the one who asks, off?"""
import glob
import ipaddress
import json
import os
import re
import socket
import struct
import subprocess

from . import netlink as n

_TUNNELS = ("vxlan", "geneve", "gre", "gretap", "ip6gre", "ip6gretap", "ipip", "sit", "ip6tnl", "wireguard")


def _route_device(ns, address):
    """Name of the device that packets to address leave by, or None."""
    with ns.inside():
        out = subprocess.run(["ip", "-j", "route", "get", str(address)], capture_output=True, text=True,
                             check=False).stdout
    try:
        return json.loads(out)[0].get("dev")
    except (ValueError, IndexError):
        return None


def _remotes(link):
    """Addresses that a tunnel device sends to."""
    if link.kind not in _TUNNELS:
        return
    for _, value in n.attrs(link.data):
        if len(value) in (4, 16):
            address = ipaddress.ip_address(value)
            if not (address.is_unspecified or address.is_loopback):
                yield address


def carried_by(snapshot, i, name, seen=None):
    """Ports of the driver that device name of namespace i stands on, whatever is in
    between: bond, bridge, VLAN, tunnel."""
    seen = seen if seen is not None else set()
    links = snapshot.links[i]
    link = next((x for x in links.values() if x.name == name), None)
    if link is None or link.index in seen:
        return []
    seen.add(link.index)
    port = next((d for d in snapshot.devices if d["pci"] and d["ns"] == i and d["index"] == link.index), None)
    if port:
        return [port["name"]]
    below = [x.name for x in links.values() if x.master == link.index]
    if link.link and link.link_nsid is None and link.link in links:
        below.append(links[link.link].name)
    elif link.kind in _TUNNELS:
        # An attribute that happens to look like an address leads nowhere.
        below += [dev for dev in (_route_device(snapshot.namespaces[i], a) for a in _remotes(link)) if dev]
    return [p for dev in below for p in carried_by(snapshot, i, dev, seen)]


def default_routes(snapshot):
    """A line for each default route that stands on a port."""
    found = []
    for i, ns in enumerate(snapshot.namespaces):
        if not any(d["ns"] == i for d in snapshot.devices):
            continue
        for route in n.routes(ns.nl):
            if not route.default():
                continue
            for index in route.oifs:
                link = snapshot.links[i].get(index)
                for port in carried_by(snapshot, i, link.name) if link else []:
                    family = "IPv4" if route.family == socket.AF_INET else "IPv6"
                    over = f" (through {link.name})" if link.name != port else ""
                    where = f" of {ns}" if ns.name else ""
                    found.append(f"{port} carries the {family} default route{where}{over}")
    return sorted(set(found))


# --- the session that this was called from ----------------------------------------

def _ancestors():
    pid = os.getpid()
    while pid > 1:
        yield pid
        try:
            with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as src:
                pid = int(src.read().rsplit(")", 1)[1].split()[1])
        except (OSError, ValueError, IndexError):
            return


def _from_environment(pid):
    """The client's address in SSH_CONNECTION; sudo drops the variable, its parent has it."""
    try:
        with open(f"/proc/{pid}/environ", "rb") as src:
            match = re.search(rb"(?:^|\0)SSH_CONNECTION=(\S+) ", src.read())
    except OSError:
        return None
    return match.group(1).decode() if match else None


def _from_sockets(pid):
    """Peers of the established TCP connections of an ssh server."""
    try:
        with open(f"/proc/{pid}/comm", encoding="utf-8") as src:
            if not re.match(r"sshd|dropbear", src.read()):
                return []
        inodes = {m.group(1) for m in (re.match(r"socket:\[(\d+)\]", os.readlink(fd))
                                       for fd in glob.glob(f"/proc/{pid}/fd/*")) if m}
    except OSError:
        return []
    found = []
    for path in (f"/proc/{pid}/net/tcp", f"/proc/{pid}/net/tcp6"):
        try:
            with open(path, encoding="utf-8") as src:
                lines = [line.split() for line in src][1:]
        except OSError:
            continue
        for words in lines:
            if words[3] == "01" and words[9] in inodes:
                raw = bytes.fromhex(words[2].split(":")[0])
                # Words of 32 bits, each in the machine's byte order.
                raw = b"".join(struct.pack("!I", w[0]) for w in struct.iter_unpack("=I", raw))
                found.append(str(ipaddress.ip_address(raw)))
    return found


def ssh_peers():
    found = []
    for pid in _ancestors():
        address = _from_environment(pid)
        found += [address] if address else []
        found += _from_sockets(pid)
    peers = []
    for address in found:
        try:
            address = ipaddress.ip_address(address.split("%")[0])
        except ValueError:
            continue
        address = getattr(address, "ipv4_mapped", None) or address
        if address not in peers and not address.is_loopback:
            peers.append(address)
    return peers


def ssh_sessions(snapshot):
    """A line for each ssh connection this was called from that goes over a port."""
    found = []
    first = next(i for i, ns in enumerate(snapshot.namespaces) if not ns.name)
    for peer in ssh_peers():
        dev = _route_device(snapshot.namespaces[first], peer)
        for port in carried_by(snapshot, first, dev) if dev else []:
            over = f" (through {dev})" if dev != port else ""
            found.append(f"{port} carries the ssh session from {peer}{over}")
    return sorted(set(found))

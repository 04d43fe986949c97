# SPDX-License-Identifier: GPL-2.0
"""Just enough rtnetlink: dump what the kernel has, and hand it back later.

Messages are kept as the kernel gave them and sent again with a few attributes left
out or replaced, so that nothing that this file doesn't know of gets lost on the way
through a command's options. Numbers are those of linux/rtnetlink.h and its relatives.
"""
import os
import socket
import struct

NEWLINK, DELLINK, GETLINK, SETLINK = 16, 17, 18, 19
NEWADDR, GETADDR = 20, 22
NEWROUTE, GETROUTE = 24, 26
NEWNEIGH, GETNEIGH = 28, 30
GETQDISC = 38
GETNSID = 90
NEWNEXTHOP, GETNEXTHOP = 104, 106
NEWLINKPROP = 108

REQUEST, ACK, DUMP = 0x1, 0x4, 0x300
REPLACE, EXCL, CREATE, APPEND = 0x100, 0x200, 0x400, 0x800
_ERROR, _DONE = 2, 3
_MULTI, _DUMP_INTR, _ACK_TLVS = 0x2, 0x10, 0x200
_NESTED = 0x8000


class Refused(OSError):
    """The kernel refused a request; its extended message is part of the text."""


def attrs(data):
    """[(type, payload), ...] of a run of attributes, the nested bit taken off."""
    found = []
    while len(data) >= 4:
        length, kind = struct.unpack_from("HH", data)
        if length < 4:
            break
        found.append((kind & 0x3fff, data[4:length]))
        data = data[length + 3 & ~3:]
    return found


def pack(*pairs):
    """The reverse; a payload is bytes, a str (NUL is added) or an int (32 bits)."""
    out = b""
    for kind, value in pairs:
        if isinstance(value, str):
            value = value.encode() + b"\0"
        elif isinstance(value, int):
            value = struct.pack("I", value)
        out += struct.pack("HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)
    return out


def nest(kind, *pairs):
    return kind | _NESTED, pack(*pairs)


def text(value):
    return value.split(b"\0")[0].decode(errors="replace")


def u32(value):
    return struct.unpack_from("I", value)[0]


class Netlink:
    """A NETLINK_ROUTE socket in the network namespace it was made in."""

    def __init__(self):
        self._sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self._sock.setsockopt(270, 11, 1)       # SOL_NETLINK, NETLINK_EXT_ACK
        self._sock.bind((0, 0))
        self._seq = 0

    def _exchange(self, kind, flags, body):
        self._seq += 1
        self._sock.send(struct.pack("IHHII", 16 + len(body), kind, REQUEST | flags, self._seq, 0) + body)
        replies, interrupted = [], False
        while True:
            data = self._sock.recv(1 << 20)
            while len(data) >= 16:
                length, kind, got, seq, _ = struct.unpack_from("IHHII", data)
                payload, data = data[16:length], data[length + 3 & ~3:]
                if seq != self._seq:
                    continue
                interrupted |= bool(got & _DUMP_INTR)
                if kind == _ERROR:
                    self._check(payload, got)
                    return replies, interrupted
                if kind == _DONE:
                    return replies, interrupted
                replies.append(payload)
                if not got & _MULTI and not flags & ACK:
                    return replies, interrupted

    @staticmethod
    def _check(payload, flags):
        err = -struct.unpack_from("i", payload)[0]
        if not err:
            return
        said = os.strerror(err)
        if flags & _ACK_TLVS:
            # The request follows, cut to its header unless it is sent back whole.
            inner = struct.unpack_from("I", payload, 4)[0]
            at = 4 + (16 if flags & 0x100 else inner)
            said = ", ".join([said] + [text(v) for k, v in attrs(payload[at + 3 & ~3:]) if k == 1])
        raise Refused(err, said)

    def request(self, kind, flags, body):
        """One request that is acknowledged; raises Refused."""
        return self._exchange(kind, flags | ACK, body)[0]

    def dump(self, kind, body):
        """All messages of a dump; made again if something changed meanwhile."""
        for _ in range(10):
            replies, interrupted = self._exchange(kind, DUMP, body)
            if not interrupted:
                break
        return replies


# --- links ----------------------------------------------------------------------

IFF_UP, IFF_NOARP, IFF_PROMISC, IFF_ALLMULTI = 0x1, 0x80, 0x100, 0x200
IFF_KEPT = IFF_UP | IFF_NOARP | IFF_PROMISC | IFF_ALLMULTI
IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU, IFLA_LINK, IFLA_MASTER = 1, 3, 4, 5, 10
IFLA_TXQLEN, IFLA_LINKINFO, IFLA_NET_NS_PID, IFLA_IFALIAS, IFLA_AF_SPEC = 13, 18, 19, 20, 26
IFLA_GROUP, IFLA_NET_NS_FD, IFLA_EXT_MASK, IFLA_CARRIER = 27, 28, 29, 33
IFLA_LINK_NETNSID, IFLA_XDP, IFLA_PROP_LIST, IFLA_ALT_IFNAME = 37, 43, 52, 53
INFO_KIND, INFO_DATA, INFO_SLAVE_KIND, INFO_SLAVE_DATA = 1, 2, 4, 5
VXLAN_LINK = 3
# Of a macvlan: mode, flags, length of the broadcast queue, broadcast cutoff.
MACVLAN_SET = (1, 2, 7, 9)
AF_BRIDGE, AF_INET6 = 7, 10


class Link:
    """One network device as RTM_GETLINK shows it."""

    def __init__(self, message):
        _, self.type, self.index, self.flags, _ = struct.unpack_from("BxHiII", message)
        a = dict(attrs(message[16:]))
        self.name = text(a[IFLA_IFNAME])
        self.mtu = u32(a[IFLA_MTU])
        self.txqlen = u32(a.get(IFLA_TXQLEN, bytes(4)))
        self.group = u32(a.get(IFLA_GROUP, bytes(4)))
        self.address = a.get(IFLA_ADDRESS, b"")
        self.alias = text(a.get(IFLA_IFALIAS, b""))
        self.master = u32(a.get(IFLA_MASTER, bytes(4)))
        self.link = u32(a.get(IFLA_LINK, bytes(4)))
        self.link_nsid = struct.unpack("i", a[IFLA_LINK_NETNSID])[0] if IFLA_LINK_NETNSID in a else None
        self.carrier = a.get(IFLA_CARRIER, b"\0")[0] == 1
        self.altnames = [text(v) for k, v in attrs(a.get(IFLA_PROP_LIST, b"")) if k == IFLA_ALT_IFNAME]
        xdp = dict(attrs(a.get(IFLA_XDP, b"")))
        self.xdp = bool(xdp.get(2, b"\0")[0])           # IFLA_XDP_ATTACHED
        info = dict(attrs(a.get(IFLA_LINKINFO, b"")))
        self.kind = text(info.get(INFO_KIND, b""))
        self.data = info.get(INFO_DATA, b"")
        self.slave_kind = text(info.get(INFO_SLAVE_KIND, b""))
        self.slave_data = info.get(INFO_SLAVE_DATA, b"")
        if self.kind == "vxlan":
            self.link = u32(dict(attrs(self.data)).get(VXLAN_LINK, bytes(4)))
        inet6 = dict(attrs(dict(attrs(a.get(IFLA_AF_SPEC, b""))).get(AF_INET6, b"")))
        self.gen_mode = inet6.get(8, b"\0")[0]          # IFLA_INET6_ADDR_GEN_MODE

    def __repr__(self):
        return self.name


def ifinfo(index, flags=0, change=0, family=0):
    return struct.pack("BxHiII", family, 0, index, flags, change)


def links(nl):
    """{ifindex: Link} of the socket's namespace."""
    found = (Link(m) for m in nl.dump(GETLINK, ifinfo(0)))
    return {link.index: link for link in found}


# --- addresses, routes, neighbours ----------------------------------------------

IFA_CACHEINFO, IFA_FLAGS = 6, 8
FOREVER = 0xffffffff
# Temporary (of IPv6's privacy addresses; in IPv4 the same bit says secondary),
# optimistic, deprecated, tentative, permanent: the kernel's to set.
IFA_STATE = 0x01 | 0x04 | 0x08 | 0x20 | 0x40 | 0x80 | 0x800
RTA_DST, RTA_OIF, RTA_PRIORITY, RTA_PREFSRC, RTA_MULTIPATH = 1, 4, 6, 7, 9
RTA_CACHEINFO, RTA_TABLE, RTA_EXPIRES, RTA_NH_ID = 12, 15, 23, 30
RTN_UNICAST, RTPROT_REDIRECT, RTPROT_KERNEL = 1, 1, 2
# Dead, offloaded, link down, trapped: the kernel's to find out.
RTNH_STATE = 1 | 8 | 16 | 32 | 64
NHA_ID, NHA_GROUP, NHA_OIF = 1, 2, 5
NUD_KEPT = 0x40 | 0x80                                  # NUD_NOARP, NUD_PERMANENT


class Address:
    def __init__(self, message):
        self.family, self.plen, flags, self.scope, self.index = struct.unpack_from("BBBBI", message)
        self.attrs = attrs(message[8:])
        a = dict(self.attrs)
        self.flags = u32(a[IFA_FLAGS]) if IFA_FLAGS in a else flags
        # IFA_LOCAL where there is a peer, else IFA_ADDRESS
        self.local = a.get(2, a.get(1))
        self.temporary = self.family == AF_INET6 and bool(self.flags & 1)
        self.preferred, self.valid = struct.unpack_from("II", a.get(IFA_CACHEINFO, b"\xff" * 8))

    def show(self):
        family = socket.AF_INET if self.family == socket.AF_INET else socket.AF_INET6
        return f"{socket.inet_ntop(family, self.local)}/{self.plen}"

    def message(self, index, age):
        """To add it to device index after age seconds."""
        flags = self.flags & ~IFA_STATE
        life = [t if t == FOREVER else max(t - int(age), 0) for t in (self.preferred, self.valid)]
        body = [(k, v) for k, v in self.attrs if k not in (IFA_CACHEINFO, IFA_FLAGS)]
        body += [(IFA_FLAGS, flags), (IFA_CACHEINFO, struct.pack("IIII", *life, 0, 0))]
        return struct.pack("BBBBI", self.family, self.plen, flags & 0xff, self.scope, index) + pack(*body)


class Route:
    def __init__(self, message):
        (self.family, self.dst_len, self.src_len, self.tos, table, self.proto, self.scope,
         self.type, self.flags) = struct.unpack_from("BBBBBBBBI", message)
        self.attrs = attrs(message[12:])
        a = dict(self.attrs)
        self.table = u32(a[RTA_TABLE]) if RTA_TABLE in a else table
        self.oifs = [u32(a[RTA_OIF])] if RTA_OIF in a else []
        self.oifs += [hop[2] for hop in self._hops(a.get(RTA_MULTIPATH, b""))]
        self.multipath = RTA_MULTIPATH in a
        self.prefsrc = a.get(RTA_PREFSRC)
        self.nh_id = u32(a.get(RTA_NH_ID, bytes(4)))

    @staticmethod
    def _hops(data):
        """(flags, hops, ifindex, rest) of each struct rtnexthop."""
        found = []
        while len(data) >= 8:
            length, flags, hops, index = struct.unpack_from("HBBi", data)
            if length < 8:
                break
            found.append((flags, hops, index, data[8:length]))
            data = data[length + 3 & ~3:]
        return found

    def default(self):
        return self.type == RTN_UNICAST and not self.dst_len

    def made_by_kernel(self):
        """Comes by itself with an address or an up device, or is a cached answer."""
        return self.proto in (RTPROT_KERNEL, RTPROT_REDIRECT) or bool(self.flags & 0x200) or \
            self.type not in (RTN_UNICAST, 6, 7, 8, 9)

    def show(self):
        dst = dict(self.attrs).get(RTA_DST)
        if dst is None:
            return "default"
        return f"{socket.inet_ntop(socket.AF_INET if self.family == 2 else socket.AF_INET6, dst)}/{self.dst_len}"

    def key(self, names):
        """To find it again: what tells it from others, devices by name."""
        a = dict(self.attrs)
        hops = sorted(names.get(i, str(i)) for i in self.oifs)
        return (self.family, self.table, self.tos, self.dst_len, a.get(RTA_DST, b"").hex(),
                u32(a.get(RTA_PRIORITY, bytes(4))), tuple(hops))

    def message(self, indices, age):
        """To add it, with devices numbered as indices says."""
        body = []
        for kind, value in self.attrs:
            if kind == RTA_CACHEINFO:
                # struct rta_cacheinfo: expires, in hundredths of a second, is the third.
                left = struct.unpack_from("IIi", value)[2] // 100 - int(age)
                if left > 0:
                    body.append((RTA_EXPIRES, left))
            elif kind == RTA_OIF:
                if not self.nh_id:
                    body.append((kind, indices.get(u32(value), u32(value))))
            elif kind == RTA_MULTIPATH:
                packed = b""
                for flags, hops, index, rest in self._hops(value):
                    packed += struct.pack("HBBi", 8 + len(rest), flags & ~RTNH_STATE, hops,
                                          indices.get(index, index)) + rest + bytes(-len(rest) % 4)
                if not self.nh_id:
                    body.append((kind, packed))
            elif not self.nh_id or kind not in (5, 18):         # RTA_GATEWAY, RTA_VIA
                body.append((kind, value))
        # RTM_F_* flags of the message are the dump's.
        return struct.pack("BBBBBBBBI", self.family, self.dst_len, self.src_len, self.tos,
                           min(self.table, 252), self.proto, self.scope, self.type,
                           self.flags & ~RTNH_STATE & 0xff) + pack(*body)


class Neighbour:
    def __init__(self, message):
        self.family, self.index, self.state, self.flags, self.type = struct.unpack_from("BxxxiHBB", message)
        self.attrs = attrs(message[12:])

    def kept(self):
        """Was put there by somebody, and was not learned from traffic."""
        return bool(self.state & NUD_KEPT) and not self.flags & 0x10    # NTF_EXT_LEARNED

    def message(self, index, indices):
        # NDA_CACHEINFO, NDA_PROBES and NDA_MASTER are told, never asked; 8 is NDA_IFINDEX.
        body = [(k, indices.get(u32(v), u32(v)) if k == 8 else v)
                for k, v in self.attrs if k not in (3, 4, 9)]
        return struct.pack("BxxxiHBB", self.family, index, self.state, self.flags, self.type) + pack(*body)


def addresses(nl):
    return [Address(m) for m in nl.dump(GETADDR, struct.pack("BBBBI", 0, 0, 0, 0, 0))]


def routes(nl):
    return [Route(m) for family in (2, 10)
            for m in nl.dump(GETROUTE, struct.pack("BBBBBBBBI", family, 0, 0, 0, 0, 0, 0, 0, 0))]


def neighbours(nl):
    """Of IPv4 and IPv6, and the forwarding entries of bridges and tunnels."""
    found = []
    for family in (2, 10, AF_BRIDGE):
        try:
            body = ifinfo(0, family=family) if family == AF_BRIDGE else struct.pack("BxxxiHBB", family, 0, 0, 0, 0)
            found += [Neighbour(m) for m in nl.dump(GETNEIGH, body)]
        except Refused:
            pass                                        # no bridge module, no entries
    return found


def qdiscs(nl):
    """(ifindex, kind, handle, parent) of each queueing discipline."""
    found = []
    for m in nl.dump(GETQDISC, struct.pack("BxxxiIII", 0, 0, 0, 0, 0)):
        _, index, handle, parent, _ = struct.unpack_from("BxxxiIII", m)
        found.append((index, text(dict(attrs(m[20:])).get(1, b"?")), handle, parent))
    return found


def nexthops(nl):
    """[(id, group, oif, message), ...]; none on kernels without nexthop objects."""
    found = []
    try:
        dump = nl.dump(GETNEXTHOP, struct.pack("BBBBI", 0, 0, 0, 0, 0))
    except Refused:
        return found
    for m in dump:
        a = dict(attrs(m[8:]))
        group = [g[0] for g in struct.iter_unpack("IBBH", a.get(NHA_GROUP, b""))]
        found.append((u32(a[NHA_ID]), group, u32(a.get(NHA_OIF, bytes(4))), m))
    return found


def nexthop_message(message, indices):
    family, scope, proto = struct.unpack_from("BBB", message)
    flags = u32(message[4:8]) & ~RTNH_STATE
    body = [(k, indices.get(u32(v), u32(v)) if k == NHA_OIF else v) for k, v in attrs(message[8:])]
    return struct.pack("BBBBI", family, scope, proto, 0, flags) + pack(*body)


def bridge_vlans(nl):
    """{ifindex: the IFLA_AF_SPEC of its VLANs in its bridge}."""
    found = {}
    try:
        dump = nl.dump(GETLINK, ifinfo(0, family=AF_BRIDGE) + pack((IFLA_EXT_MASK, 2)))
    except Refused:
        return found
    for m in dump:
        spec = dict(attrs(m[16:])).get(IFLA_AF_SPEC)
        if spec:
            found[struct.unpack_from("BxHi", m)[2]] = spec
    return found


def nsid_of(nl, fd):
    """The number under which the socket's namespace knows the one of fd, or None."""
    try:
        reply = nl.request(GETNSID, 0, struct.pack("Bxxx", 0) + pack((3, fd)))
    except OSError:
        return None
    found = dict(attrs(reply[0][4:])).get(1) if reply else None
    number = struct.unpack("i", found)[0] if found else -1
    return number if number >= 0 else None

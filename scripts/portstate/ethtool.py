# SPDX-License-Identifier: GPL-2.0
"""The settings of a port that ethtool changes, read and written by its ioctls.

A setting is kept as the structure that the kernel filled in (linux/ethtool.h) and
handed back as it is. The kernel is the same before and after, only the driver is
not; private flags, which may differ, go by name.
"""
import ctypes
import errno
import fcntl
import socket
import struct

SIOCETHTOOL, SIOCSHWTSTAMP, SIOCGHWTSTAMP = 0x8946, 0x89b0, 0x89b1
_GDRVINFO, _GSTRINGS, _GSSET_INFO, _GPERMADDR = 0x03, 0x1b, 0x37, 0x20
_GPFLAGS, _SPFLAGS, _GFEATURES, _SFEATURES = 0x27, 0x28, 0x3a, 0x3b
_GRXFH, _SRXFH, _GRSSH, _SRSSH = 0x29, 0x2a, 0x46, 0x47
_GRXCLSRLCNT, _GRXCLSRULE, _GRXCLSRLALL, _SRXCLSRLINS = 0x2e, 0x2f, 0x30, 0x32
_GLINKSETTINGS, _SLINKSETTINGS = 0x4c, 0x4d
_SS_PRIV_FLAGS, _SS_FEATURES = 2, 4
_FLOWS = {"tcp4": 1, "udp4": 2, "sctp4": 3, "tcp6": 5, "udp6": 6, "sctp6": 7}
# struct ethtool_rxnfc: cmd, flow_type, data, struct ethtool_rx_flow_spec, rule_cnt
_RXNFC = struct.Struct("=IIQ168sI4x")

# name: (get, set, size of the structure). In this order, for one may depend on another.
_PLAIN = {
    "channels": (0x3c, 0x3d, 36),
    "rings": (0x10, 0x11, 36),
    "coalescing": (0x0e, 0x0f, 92),
    "pause": (0x12, 0x13, 16),
    "wake-on-lan": (0x05, 0x06, 20),
    "eee": (0x44, 0x45, 40),
    "message level": (0x07, 0x08, 8),
}


class Ethtool:
    """Of one device; made within its network namespace."""

    def __init__(self, device):
        self._sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._device = device.encode()

    def close(self):
        self._sock.close()

    def _ioctl(self, number, buf):
        data = (ctypes.c_char * len(buf)).from_buffer(buf)
        try:
            fcntl.ioctl(self._sock, number, struct.pack("16sP16x", self._device, ctypes.addressof(data)))
        finally:
            del data
        return buf

    def call(self, command, size, fields=b""):
        """An ETHTOOL_* command with fields behind its number; the whole structure."""
        buf = bytearray(struct.pack("I", command) + fields)
        return bytes(self._ioctl(SIOCETHTOOL, buf + bytes(max(size - len(buf), 0))))

    def driver(self):
        """(driver, bus address) as ethtool -i tells them; None for what has neither."""
        try:
            info = self.call(_GDRVINFO, 196)
        except OSError:
            return None
        return tuple(info[at:at + 32].split(b"\0")[0].decode() for at in (4, 100))

    def perm_address(self):
        return self.call(_GPERMADDR, 40, struct.pack("I", 32))[8:14]

    def _strings(self, which):
        info = self.call(_GSSET_INFO, 20, struct.pack("=IQ", 0, 1 << which))
        if not struct.unpack_from("Q", info, 8)[0]:
            return []
        number = struct.unpack_from("I", info, 16)[0]
        buf = self.call(_GSTRINGS, 12 + 32 * number, struct.pack("II", which, number))
        return [buf[12 + 32 * i:44 + 32 * i].split(b"\0")[0].decode() for i in range(number)]

    # --- private flags -----------------------------------------------------------

    def priv_flags(self):
        names = self._strings(_SS_PRIV_FLAGS)
        bits = struct.unpack_from("I", self.call(_GPFLAGS, 8), 4)[0] if names else 0
        return {name: bool(bits >> i & 1) for i, name in enumerate(names)}

    def set_priv_flags(self, wanted):
        """Sets those that the driver has; the names of those that it has not."""
        now = self.priv_flags()
        bits = sum(wanted.get(name, on) << i for i, (name, on) in enumerate(now.items()))
        if any(wanted.get(name, on) != on for name, on in now.items()):
            self.call(_SPFLAGS, 8, struct.pack("I", bits))
        return [name for name, on in wanted.items() if name not in now and on]

    # --- features ----------------------------------------------------------------

    def features(self):
        """{name: wanted} of all that can be changed."""
        names = self._strings(_SS_FEATURES)
        blocks = (len(names) + 31) // 32
        buf = self.call(_GFEATURES, 8 + 16 * blocks, struct.pack("I", blocks))
        found = {}
        for i, name in enumerate(names):
            available, requested, _, never = struct.unpack_from("IIII", buf, 8 + 16 * (i // 32))
            bit = 1 << i % 32
            if available & ~never & bit:
                found[name] = bool(requested & bit)
        return found

    def set_features(self, wanted):
        names = self._strings(_SS_FEATURES)
        now = self.features()
        blocks = [[0, 0] for _ in range((len(names) + 31) // 32)]
        for i, name in enumerate(names):
            if name in wanted and name in now and wanted[name] != now[name]:
                blocks[i // 32][0] |= 1 << i % 32
                blocks[i // 32][1] |= wanted[name] << i % 32
        if any(valid for valid, _ in blocks):
            self.call(_SFEATURES, 0, struct.pack("I", len(blocks)) +
                      b"".join(struct.pack("II", *b) for b in blocks))

    # --- receive classification -----------------------------------------------------

    def rss(self):
        """struct ethtool_rxfh with indirection table and key."""
        head = self.call(_GRSSH, 24)
        indir, key = struct.unpack_from("II", head, 8)
        return self.call(_GRSSH, 24 + 4 * indir + key, head[4:16])

    def set_rss(self, wanted):
        now = self.rss()
        if now != wanted and now[8:16] == wanted[8:16]:
            self.call(_SRSSH, 0, wanted[4:])
        return now[8:16] == wanted[8:16]

    def flow_hash(self):
        found = {}
        for name, flow in _FLOWS.items():
            try:
                found[name] = struct.unpack_from("Q", self.call(_GRXFH, 192, struct.pack("I", flow)), 8)[0]
            except OSError:
                pass
        return found

    def set_flow_hash(self, wanted):
        now = self.flow_hash()
        for name, fields in wanted.items():
            if now.get(name) != fields:
                self.call(_SRXFH, 192, struct.pack("=IQ", _FLOWS[name], fields))

    def rules(self):
        """ntuple rules, a struct ethtool_rx_flow_spec each."""
        count = _RXNFC.unpack(self.call(_GRXCLSRLCNT, _RXNFC.size))[4]
        if not count:
            return []
        asked = struct.pack("=IQ168sI", 0, 0, b"", count)
        places = self.call(_GRXCLSRLALL, _RXNFC.size + 4 * count, asked)
        found = []
        for i in range(count):
            place = struct.unpack_from("I", places, 188 + 4 * i)[0]
            asked = struct.pack("=IQ168s", 0, 0, bytes(160) + struct.pack("I", place))
            found.append(_RXNFC.unpack(self.call(_GRXCLSRULE, _RXNFC.size, asked))[3])
        return found

    def set_rules(self, wanted):
        there = self.rules()
        for spec in wanted:
            if spec not in there:
                self.call(_SRXCLSRLINS, _RXNFC.size, struct.pack("=IQ168s", 0, 0, spec))

    # --- link ---------------------------------------------------------------------

    def link_modes(self):
        """What is asked of the link: autonegotiation, speed or advertised modes."""
        head = self.call(_GLINKSETTINGS, 48)
        words = -struct.unpack_from("b", head, 15)[0]
        buf = self.call(_GLINKSETTINGS, 48 + 12 * words,
                        bytes(11) + struct.pack("b", words))
        autoneg, advertised = buf[11], buf[48 + 4 * words:48 + 8 * words]
        return {"autoneg": autoneg, "advertised": advertised.hex(), "all": buf.hex()}

    def set_link_modes(self, wanted):
        now = self.link_modes()
        if all(now[k] == wanted[k] for k in ("autoneg", "advertised")):
            return
        self.call(_SLINKSETTINGS, 0, bytes.fromhex(wanted["all"])[4:])

    def timestamping(self):
        """struct hwtstamp_config."""
        return bytes(self._ioctl(SIOCGHWTSTAMP, bytearray(12)))

    def set_timestamping(self, wanted):
        if self.timestamping() != wanted:
            self._ioctl(SIOCSHWTSTAMP, bytearray(wanted))

    # --- all of it ------------------------------------------------------------------

    def save(self):
        """Everything as plain values that JSON can hold; what the driver has not is left out."""
        kept = {}
        for name, (get, _, size) in _PLAIN.items():
            self._keep(kept, name, lambda g=get, s=size: self.call(g, s).hex())
        self._keep(kept, "private flags", self.priv_flags)
        self._keep(kept, "features", self.features)
        self._keep(kept, "RSS", lambda: self.rss().hex())
        self._keep(kept, "flow hash", self.flow_hash)
        self._keep(kept, "ntuple rules", lambda: [spec.hex() for spec in self.rules()])
        self._keep(kept, "link modes", self.link_modes)
        self._keep(kept, "time stamping", lambda: self.timestamping().hex())
        return kept

    @staticmethod
    def _keep(kept, name, read):
        try:
            kept[name] = read()
        except OSError as err:
            if err.errno != errno.EOPNOTSUPP:
                kept.setdefault("unread", {})[name] = err.strerror

    def restore(self, kept):
        """Sets what differs; [(what, why not), ...] of what could not be set."""
        failed = []

        def attempt(name, write, value):
            if name not in kept:
                return
            try:
                why = write(value)
                if why:
                    failed.append((name, why))
            except OSError as err:
                failed.append((name, err.strerror or str(err)))

        def flags(wanted):
            unknown = self.set_priv_flags(wanted)
            return f"this driver has no flag {', '.join(unknown)}" if unknown else None

        def plain(name, value):
            get, put, size = _PLAIN[name]
            if self._stripped(name, self.call(get, size)) != self._stripped(name, value):
                self.call(put, 0, value[4:])

        def rss(value):
            return None if self.set_rss(value) else "this driver has a table of another size"

        attempt("private flags", flags, kept.get("private flags"))
        for name in _PLAIN:
            attempt(name, lambda v, n=name: plain(n, bytes.fromhex(v)), kept.get(name))
        attempt("features", self.set_features, kept.get("features"))
        attempt("RSS", lambda v: rss(bytes.fromhex(v)), kept.get("RSS"))
        attempt("flow hash", self.set_flow_hash, kept.get("flow hash"))
        attempt("ntuple rules", lambda v: self.set_rules([bytes.fromhex(s) for s in v]), kept.get("ntuple rules"))
        attempt("link modes", self.set_link_modes, kept.get("link modes"))
        attempt("time stamping", lambda v: self.set_timestamping(bytes.fromhex(v)), kept.get("time stamping"))
        return failed

    @staticmethod
    def _stripped(name, value):
        """Without what the driver tells and nobody sets."""
        if name in ("channels", "rings"):
            return value[20:]           # maxima come first
        if name == "eee":
            return value[8:12] + value[20:32]
        if name == "wake-on-lan":
            return value[8:]
        return value


def differences(before, after):
    """Names of the settings in which two results of save() differ."""
    found = []
    for name, value in before.items():
        other = after.get(name)
        if name == "unread":
            continue
        if name == "private flags":
            other = other or {}
            found += [f"{name}: {k} is not there" for k, v in value.items() if k not in other and v]
            found += [f"flag {k}" for k, v in value.items() if other.get(k, v) != v]
        elif name == "features":
            found += [f"{name}: {k}" for k, v in value.items() if other and other.get(k, v) != v]
        elif name == "link modes":
            if other and any(other[k] != value[k] for k in ("autoneg", "advertised")):
                found.append(name)
        elif name in _PLAIN:
            # pylint: disable=protected-access
            if other and Ethtool._stripped(name, bytes.fromhex(value)) != \
                    Ethtool._stripped(name, bytes.fromhex(other)):
                found.append(name)
        elif value != other:
            found.append(name)
    return found

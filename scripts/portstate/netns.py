# SPDX-License-Identifier: GPL-2.0
"""Network namespaces, and what a process sees in each: netlink, sysfs, sysctls."""
import ctypes
import functools
import glob
import os
from contextlib import contextmanager

from . import netlink

_CLONE_NEWNS, _CLONE_NEWNET = 0x20000, 0x40000000
_MS_REC, _MS_PRIVATE = 0x4000, 1 << 18
_libc = ctypes.CDLL(None, use_errno=True)


def _call(what, result):
    if result:
        err = ctypes.get_errno()
        raise OSError(err, f"{what}: {os.strerror(err)}")


def private_mounts():
    """From here on what this process mounts is its own and ends with it."""
    _call("unshare", _libc.unshare(_CLONE_NEWNS))
    _call("mount", _libc.mount(b"none", b"/", None, _MS_REC | _MS_PRIVATE, None))


class Namespace:
    """path: a file that stands for it, which has to last until the end."""

    def __init__(self, path, name):
        self.path, self.name = path, name
        self.fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        self.inode = os.fstat(self.fd).st_ino
        with self.inside():
            self.nl = netlink.Netlink()
        self._sys = None

    def __str__(self):
        return f"namespace {self.name}" if self.name else "the first namespace"

    @contextmanager
    def inside(self):
        home = os.open("/proc/self/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            _call("setns", _libc.setns(self.fd, _CLONE_NEWNET))
            yield
        finally:
            _call("setns", _libc.setns(home, _CLONE_NEWNET))
            os.close(home)

    def sysfs(self, scratch):
        """Where this namespace's sysfs is; mounted below scratch when first asked for."""
        if not self.name:
            return "/sys"
        if not self._sys:
            where = os.path.join(scratch, f"sys.{self.inode}")
            os.makedirs(where, exist_ok=True)
            with self.inside():
                _call("mount sysfs", _libc.mount(b"sysfs", where.encode(), b"sysfs", 0, None))
            self._sys = where
        return self._sys


@functools.lru_cache(maxsize=None)
def first():
    """That of process 1; in a container that hides it, our own."""
    try:
        return Namespace("/proc/1/ns/net", "")
    except PermissionError:
        return Namespace("/proc/self/ns/net", "")


@functools.lru_cache(maxsize=None)
def every():
    """All that can be found: the first, those that ip netns named, those of processes.
    Held open, so that none goes while this runs."""
    found = {first().inode: first()}
    paths = [(path, os.path.basename(path)) for path in sorted(glob.glob("/run/netns/*"))]
    paths += [(path, f"of process {path.split('/')[2]}") for path in glob.glob("/proc/[0-9]*/ns/net")]
    for path, name in paths:
        try:
            if os.stat(path).st_ino not in found:
                namespace = Namespace(path, name)
                found[namespace.inode] = namespace
        except OSError:
            continue                    # gone meanwhile, or a name without a namespace
    return list(found.values())


def is_first():
    return os.stat("/proc/self/ns/net").st_ino == first().inode

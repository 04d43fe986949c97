# SPDX-License-Identifier: GPL-2.0
"""The driver's module files: which there are, which is loaded, loading and unloading."""
import glob
import gzip
import lzma
import os
import re
import subprocess

from .state import read

DRIVER = "ixgbe"
RELEASE = os.uname().release
TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


class Failed(Exception):
    """What went wrong, as one text."""


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode:
        raise Failed(f"{' '.join(command)}: {done.stdout.strip() or done.returncode}")
    return done.stdout.strip()


def info(path, field):
    try:
        return run("modinfo", "-F", field, path)
    except Failed:
        return ""


def is_fork(path):
    return bool(info(path, "fork"))


def loaded():
    return os.path.isdir(f"/sys/module/{DRIVER}")


def built_in():
    return loaded() and not os.path.exists(f"/sys/module/{DRIVER}/initstate")


def users():
    """What keeps the module from being unloaded."""
    return sorted(os.path.basename(h) for h in glob.glob(f"/sys/module/{DRIVER}/holders/*"))


def inbox():
    """The kernel's own module, also while another takes precedence."""
    found = glob.glob(f"/lib/modules/{RELEASE}/kernel/drivers/net/ethernet/intel/ixgbe/ixgbe.ko*")
    if not found:
        raise Failed(f"kernel {RELEASE} has no ixgbe of its own below /lib/modules/{RELEASE}/kernel; "
                     "reinstall its package")
    return found[0]


def ours():
    """The build in this checkout, else the installed one."""
    built = os.path.join(TOP, "build", RELEASE, "ixgbe.ko")
    if os.path.exists(built):
        return built
    installed = info(DRIVER, "filename")
    if installed and is_fork(installed):
        return installed
    raise Failed(f"there is no {built}, and the fork is not installed for kernel {RELEASE}; first: make")


def choose(word):
    if word == "ours":
        return ours()
    if word == "inbox":
        return inbox()
    if not os.path.isfile(word):
        raise Failed(f"{word}: there is no such file (say ours, inbox or a module file)")
    return os.path.abspath(word)


def _content(path):
    """Of a module file, whatever it is packed with; nothing if it can't be unpacked."""
    with open(path, "rb") as src:
        data = src.read()
    try:
        if path.endswith(".xz"):
            return lzma.decompress(data)
        if path.endswith(".gz"):
            return gzip.decompress(data)
        if path.endswith(".zst"):
            return subprocess.run(["zstd", "-dcq"], input=data, capture_output=True, check=True).stdout
    except (lzma.LZMAError, OSError, subprocess.CalledProcessError):
        return b""
    return data


def running():
    """The file that the loaded module came from, or None if it can't be found (again).

    Its build id, as an ELF note, is in sysfs and in the file."""
    try:
        with open(f"/sys/module/{DRIVER}/notes/.note.gnu.build-id", "rb") as src:
            note = src.read()
    except OSError:
        return None
    files = [info(DRIVER, "filename")]
    for find in (inbox, ours):
        try:
            files.append(find())
        except Failed:
            pass
    return next((f for f in dict.fromkeys(files) if f and note in _content(f)), None)


def problem(path):
    """Why this file can't be loaded into this kernel, as far as can be told before."""
    if info(path, "name") != DRIVER:
        return f"{path} is not a module called {DRIVER}"
    magic = info(path, "vermagic")
    if magic.split(" ")[:1] != [RELEASE]:
        return f"{path} is for kernel {magic.split(' ')[0] or '?'}, this is {RELEASE}; build it for this one: make"
    return None


def describe(path):
    if is_fork(path):
        return f"the fork, {path}"
    return f"{'in-box' if path.startswith(f'/lib/modules/{RELEASE}/kernel/') else 'another'} ixgbe, {path}"


def parameters(path):
    """What the loaded module was given, and modprobe's options, as far as path knows them.

    The configuration comes first, for the kernel doesn't show every parameter."""
    given = {}
    try:
        config = run("modprobe", "--showconfig")
    except Failed:
        config = ""
    for match in re.finditer(rf"^options {DRIVER} (.*)$", config, re.M):
        given.update(word.split("=", 1) for word in match.group(1).split() if "=" in word)
    for file in glob.glob(f"/sys/module/{DRIVER}/parameters/*"):
        given[os.path.basename(file)] = read(file)
    known = {line.split(":")[0] for line in info(path, "parm").splitlines()}
    return [f"{k}={v}" for k, v in sorted(given.items()) if k in known and v is not None]


def load(path, given):
    for name in filter(None, info(path, "depends").split(",")):
        run("modprobe", name)
    run("insmod", path, *given)


def unload():
    run("rmmod", DRIVER)

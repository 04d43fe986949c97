#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""names.py: the names in the man page ixgbe-zcg(7) and those that the driver exports.

usage: names.py page              what the page documents, as JSON
       names.py source            what the driver's source exports
       names.py driver            what the loaded driver shows of NETIF
       names.py compare PAGE FORK [INBOX]   files with the above; INBOX: what is not ours

Four kinds of names: private flags, counters (without rx_zcg_), devlink parameters and
devlink info keys. compare wants each documented name to be exported, and each exported
one, unless the in-box driver exports it as well, to be documented. The driver's counters
per queue have to be those of the port. Exit status: 0 equal, 1 not, 2 bad usage.
"""
import json
import os
import re
import subprocess
import sys

TREE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
KINDS = ("flags", "counters", "params", "info")


def read(path):
    with open(os.path.join(TREE, path)) as src:
        return src.read()


def items(section):
    """The names of each list of a section: the first word behind .It and its macro."""
    return [re.findall(r"^\.It (?:Cm|Va) (\S+)$", part, re.M)
            for part in re.findall(r"^\.Bl -tag.*?^\.El", section, re.M | re.S)]


def page():
    text = read("ixgbe/ixgbe-zcg.7")
    sections = dict(re.findall(r"^\.Sh (.*?)\n(.*?)(?=^\.Sh |\Z)", text, re.M | re.S))
    devlink = items(sections.get("DEVLINK", "")) + [[], []]
    names = {"flags": items(sections["PRIVATE FLAGS"])[0],
             "counters": [n.replace("rx_zcg_", "", 1) for n in items(sections["COUNTERS"])[0]],
             "params": devlink[0], "info": devlink[1]}
    # What is mentioned elsewhere is documented, too.
    for pattern, kind in ((r"\brx_zcg_(\w+)", "counters"), (r"\b(zero-csum-gro[\w-]*)", "flags"),
                          (r"\b(zero_csum_gro\w*)", "params")):
        stray = set(re.findall(pattern, text)) - set(names[kind])
        if stray:
            raise SystemExit(f"the page mentions {' '.join(stray)} without an entry of its own")
    return names


def source():
    files = "".join(read("ixgbe/" + name) for name in sorted(os.listdir(TREE + "/ixgbe"))
                    if re.fullmatch(r"zcg\w*\.[ch]", name))
    table = re.search(r"zcg_names\[.*?\{(.*?)\};", files, re.S)[1]
    generic = {"BOARD_ID": "board.id", "FW_UNDI": "fw.undi", "FW_BUNDLE_ID": "fw.bundle_id"}
    info = re.findall(r'info_version_\w+_put\(req,\s*(?:"([^"]+)"|DEVLINK_INFO_VERSION_GENERIC_(\w+))',
                      files)
    return {"flags": re.findall(r'#define ZCG_\w+_NAME\s+"([^"]+)"', files),
            "counters": re.findall(r'=\s*"(\w+)"', table),
            "params": re.findall(r'DEVLINK_PARAM_DRIVER\([^"]*"([^"]+)"', files),
            "info": [name or generic.get(g, g) for name, g in info]}


def ask(*command):
    # The port is in a namespace; devlink's instance stays where the driver was loaded.
    if command[0] != "devlink":
        command = ["ip", "netns", "exec", os.environ["NS_RX"], *command]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    return done.stdout if done.returncode == 0 else ""


def driver():
    netif = os.environ["NETIF"]
    stats = re.findall(r"^ *(\S+): \d+$", ask("ethtool", "-S", netif), re.M)
    queues = {}
    for name in stats:
        match = re.match(r"rx_queue_(\d+)_(\w+)$", name)
        if match:
            queues.setdefault(int(match[1]), []).append(match[2])
    flags = re.findall(r"^(\S+) *: (?:on|off)$", ask("ethtool", "--show-priv-flags", netif), re.M)
    function = os.environ["NETIF_PCI"]
    params = json.loads(ask("devlink", "-j", "dev", "param", "show") or '{"param": {}}')["param"]
    info = json.loads(ask("devlink", "-j", "dev", "info") or '{"info": {}}')["info"]
    versions = info.get(function, {}).get("versions", {})
    return {"flags": flags,
            "counters": [n[len("rx_zcg_"):] for n in stats if n.startswith("rx_zcg_")],
            "queues": {q: [n[len("zcg_"):] for n in names if n.startswith("zcg_")]
                       for q, names in queues.items()},
            "params": [p["name"] for p in params.get(function, [])],
            "info": sorted({key for group in versions.values() for key in group})}


def compare(*paths):
    page_, fork, *inbox = [json.loads(read(os.path.abspath(path))) for path in paths]
    problems = []
    for kind in KINDS:
        # Its own names may be left out of the page, wherever else they stand.
        theirs = set(inbox[0][kind]) if inbox else set()
        want, got = set(page_[kind]), set(fork[kind])
        print(f"{kind}: {' '.join(page_[kind]) or 'none'}")
        problems += [f"{kind}: {name} is documented, not exported" for name in sorted(want - got)]
        problems += [f"{kind}: {name} is exported, not documented"
                     for name in sorted(got - want - theirs)]
        problems += [f"{kind}: {name} is there twice" for names in (page_[kind], fork[kind])
                     for name in sorted(set(names)) if names.count(name) > 1]
    for queue, names in fork.get("queues", {}).items():
        if names != fork["counters"]:
            problems.append(f"queue {queue} has other counters than the port: {' '.join(names)}")
    if "queues" in fork:
        print(f"{len(fork['queues'])} queues")
        if not fork["queues"]:
            problems.append("no queue has counters")
    print(*problems, sep="\n", end="\n" if problems else "")
    return int(bool(problems))


def main():
    job, args = sys.argv[1:2], sys.argv[2:]
    if job == ["--help"]:
        print(__doc__)
        return 0
    if job == ["compare"] and len(args) in (2, 3):
        return compare(*args)
    jobs = {"page": page, "source": source, "driver": driver}
    if not job or job[0] not in jobs or args:
        print(__doc__, file=sys.stderr)
        return 2
    print(json.dumps(jobs[job[0]]()))
    return 0


if __name__ == "__main__":
    sys.exit(main())

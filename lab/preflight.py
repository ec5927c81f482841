"""Whether this machine can carry a lab; everything that is missing is said at once."""

from __future__ import annotations

import os
import shutil
import sys
from pathlib import Path

from lab.commands import environment
from lab.errors import NotPossibleHere

PROGRAMS = {
    "systemd-nspawn": "systemd-container",
    "mmdebstrap": "mmdebstrap",
    "docker-registry": "docker-registry",
    "ip": "iproute2",
    "tc": "iproute2",
    "iptables": "iptables",
    "mkfs.ext4": "e2fsprogs",
    "ssh": "openssh-client",
    "ssh-keygen": "openssh-client",
    "unshare": "util-linux",
    "busybox": "busybox-static",
}


def check() -> None:
    """Raise NotPossibleHere unless nodes can be booted here."""
    if sys.platform != "linux":
        raise NotPossibleHere("a lab needs Linux", "run it in a Linux virtual machine")
    if os.geteuid():
        raise NotPossibleHere(
            "a lab needs root: it makes namespaces, mounts and network interfaces",
            "run it with sudo",
        )
    packages = missing_packages()
    if packages:
        raise NotPossibleHere(
            f"programs of these packages are missing: {', '.join(packages)}",
            f"apt-get install {' '.join(packages)}",
        )
    lacks = kernel_lacks()
    if lacks:
        raise NotPossibleHere(
            f"this kernel or container gives no {' and no '.join(lacks)}",
            "use a machine or virtual machine of its own",
        )


def missing_packages() -> list[str]:
    path = environment()["PATH"]
    return sorted(
        {package for name, package in PROGRAMS.items() if not shutil.which(name, path=path)}
    )


def kernel_lacks() -> list[str]:
    """What a restricted container typically withholds."""
    needed = {"loop devices": Path("/dev/loop-control"), "control groups": Path("/sys/fs/cgroup")}
    return [what for what, path in needed.items() if not path.exists()]

"""What the base system of a node is made of. A change here, or in the role, makes a new base."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

SUITE = "trixie"

# Nodes have no way out, so all they will need is in the base. What runs containers is named with
# what it only recommends: minimal systems install no recommendations.
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "sudo", "python3"),
    *("iproute2", "iptables", "nftables", "procps", "ca-certificates", "curl"),
    *("podman", "netavark", "aardvark-dns", "conmon", "crun", "docker-compose"),
)

# Nobody reads manuals on a lab node; without them the base is a third smaller.
LEFT_OUT = ("/usr/share/man/*", "/usr/share/doc/*", "/usr/share/locale/*", "/usr/share/info/*")

# What looks for a kernel or a screen of its own would fail at each start.
MASKED = (
    "systemd-modules-load.service",
    "console-getty.service",
    "getty@.service",
    "sys-kernel-debug.mount",
    "sys-kernel-tracing.mount",
    "netavark-dhcp-proxy.service",
    "apt-daily.timer",
    "apt-daily-upgrade.timer",
    "dpkg-db-backup.timer",
    "fstrim.timer",
    "e2scrub_all.timer",
)

ROLE_VARIABLES = {
    # The lab's processes may lack the right to raise limits; higher defaults stop every container.
    "edge_node_default_ulimits": ["nofile=1024:1024", "nproc=1024:1024"],
    # Below old control groups crun takes a container's whole node for the container, and with one
    # that stops it kills all others; cgroupfs gives each a group of its own.
    "edge_node_cgroup_manager": "cgroupfs",
    "edge_node_insecure_registries": ["registry.margrave.lab:5000"],
    "edge_node_quiet_cgroup_warning": True,
}

NODE_FILES = Path(__file__).with_name("node_files")


def bootstrap(mirror: str, target: Path, apt_options: Iterable[str] = ()) -> list[str]:
    """The command that fills the target with an unconfigured Debian."""
    return [
        *("mmdebstrap", "--quiet", "--variant=minbase", f"--include={','.join(PACKAGES)}"),
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
        # A base that is half written after a crash is thrown away, so nothing needs to be flushed.
        "--dpkgopt=force-unsafe-io",
        *(f"--aptopt={option}" for option in apt_options),
        *(SUITE, str(target), mirror),
    ]


def identity(folders: Iterable[Path], architecture: str) -> str:
    """Twelve digits that change when anything of the recipe changes."""
    digest = hashlib.sha256(
        repr((SUITE, PACKAGES, LEFT_OUT, MASKED, ROLE_VARIABLES, architecture)).encode()
    )
    for folder in folders:
        for file in sorted(one for one in folder.rglob("*") if one.is_file()):
            digest.update(f"\0{file.relative_to(folder)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]

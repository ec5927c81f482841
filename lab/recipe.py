"""What the base system of a node is made of. A change here, or in the role, makes a new base."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lab.engines import Kind

# Nodes have no way out, so all they will need is in the base, the engine's own packages among it.
# What runs containers is named with what it only recommends: minimal systems install no
# recommendations.
PACKAGES = (
    *("systemd", "systemd-sysv", "dbus", "openssh-server", "sudo", "python3"),
    *("iproute2", "iptables", "nftables", "procps", "ca-certificates", "curl"),
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

NODE_FILES = Path(__file__).with_name("node_files")


def bootstrap(mirror: str, target: Path, kind: Kind, apt_options: Iterable[str] = ()) -> list[str]:
    """The command that fills the target with an unconfigured Debian."""
    packages = ",".join((*PACKAGES, *kind.packages))
    return [
        *("mmdebstrap", "--quiet", "--variant=minbase", f"--include={packages}"),
        *(f"--dpkgopt=path-exclude={pattern}" for pattern in LEFT_OUT),
        # A base that is half written after a crash is thrown away, so nothing needs to be flushed.
        "--dpkgopt=force-unsafe-io",
        *(f"--aptopt={option}" for option in apt_options),
        *(kind.suite, str(target), mirror),
    ]


def identity(folders: Iterable[Path], kind: Kind, architecture: str) -> str:
    """Twelve digits that change when anything of the recipe changes."""
    packages = (*PACKAGES, *kind.packages)
    digest = hashlib.sha256(
        repr((kind.suite, packages, LEFT_OUT, MASKED, kind.role, architecture)).encode()
    )
    for folder in folders:
        for file in sorted(one for one in folder.rglob("*") if one.is_file()):
            digest.update(f"\0{file.relative_to(folder)}\0".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()[:12]

"""The files that make a node this node (name, hosts, keys), as a layer over the base."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lab.commands import run

if TYPE_CHECKING:
    from pathlib import Path

REGISTRY_HOST = "registry.margrave.lab"
HOST_KEY = "etc/ssh/ssh_host_ed25519_key"


def hosts(node: str, gateway: str) -> str:
    """The node's /etc/hosts: itself, and the registry, which has no other name anywhere."""
    return f"127.0.0.1 localhost\n127.0.1.1 {node}\n::1 localhost\n{gateway} {REGISTRY_HOST}\n"


def write(folder: Path, node: str, gateway: str, authorized: str) -> None:
    """Write the layer; the host key is made once and kept."""
    files = {
        "etc/hostname": f"{node}\n",
        "etc/hosts": hosts(node, gateway),
        "etc/resolv.conf": "# No name server here: what a node may reach stands in /etc/hosts.\n",
        "root/.ssh/authorized_keys": authorized,
    }
    for name, text in files.items():
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    host_key = folder / HOST_KEY
    host_key.parent.mkdir(parents=True, exist_ok=True)
    if not host_key.exists():
        make_key(host_key, node)
    _set_modes(folder)


def _set_modes(folder: Path) -> None:
    """The topmost layer decides a folder's mode, and the caller's umask must not."""
    for found in (folder, *folder.rglob("*")):
        private = found.name == "ssh_host_ed25519_key" or "root" in found.relative_to(folder).parts
        found.chmod((0o700 if private else 0o755) & (0o777 if found.is_dir() else 0o666))


def make_key(path: Path, comment: str) -> None:
    run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", comment, "-f", path])


def public_host_key(folder: Path) -> str:
    """Kind and key, without the comment."""
    kind, key = (folder / f"{HOST_KEY}.pub").read_text().split()[:2]
    return f"{kind} {key}"

"""The container engines that a node can have: what each adds to the base system, and where it
keeps its containers. A row here is a kind of node.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

FILES = Path(__file__).parent


class Engine(StrEnum):
    PODMAN = "podman"
    DOCKER = "docker"
    KUBERNETES = "kubernetes"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Kind:
    """What makes a node of this engine; folders are laid over the base in their order."""

    packages: tuple[str, ...]
    # Container layers cannot lie on an overlay, which a node's root is: this is a real folder.
    storage: str
    # The folder of its base in the cache begins so.
    base: str
    files: tuple[Path, ...] = ()
    suite: str = "trixie"
    # What the role edge_node is told; None leaves the node as its packages and files make it.
    role: Mapping[str, Any] | None = field(default=None)


ROLE = {
    # The lab's processes may lack the right to raise limits; higher defaults stop every container.
    "edge_node_default_ulimits": ["nofile=1024:1024", "nproc=1024:1024"],
    # Below old control groups crun takes a container's whole node for the container, and with one
    # that stops it kills all others; cgroupfs gives each a group of its own.
    "edge_node_cgroup_manager": "cgroupfs",
    "edge_node_insecure_registries": ["registry.margrave.lab:5000"],
    "edge_node_quiet_cgroup_warning": True,
}

KINDS: Mapping[Engine, Kind] = {
    Engine.PODMAN: Kind(
        packages=(
            "podman",
            "netavark",
            "aardvark-dns",
            "conmon",
            "crun",
            "catatonit",
            "docker-compose",
        ),
        storage="/var/lib/containers",
        base="base",
        role=ROLE,
    ),
    Engine.DOCKER: Kind(
        packages=("docker.io", "docker-cli", "docker-compose"),
        storage="/var/lib/docker",
        base="docker-base",
        role={**ROLE, "edge_node_engine": "docker"},
    ),
    # Its own programs come from lab.kubernetes: they are not Debian's, and are built first.
    Engine.KUBERNETES: Kind(
        packages=("containerd", "runc", "containernetworking-plugins", "conntrack"),
        storage="/var/lib/containerd",
        base="kubernetes-base",
        files=(FILES / "kubernetes_files",),
    ),
    # A machine as it comes, for roles to prepare: the older Debian. Docker keeps its layers there.
    Engine.NONE: Kind(packages=(), storage="/var/lib/docker", base="bare-base", suite="bookworm"),
}

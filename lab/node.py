"""A node: what is said about it, and the command line that boots it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from lab.engines import KINDS, Engine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lab.layout import NodeLayout

START = Path(__file__).with_name("start_node.sh")

# systemd 257 boots on the old control groups only when it is told so twice.
OLD_CGROUPS = ("systemd.unified_cgroup_hierarchy=0", "SYSTEMD_CGROUP_ENABLE_LEGACY_FORCE=1")


class State(StrEnum):
    RUNNING = "running"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Node:
    """A node of a lab, as it is at this moment."""

    name: str
    address: str
    state: State
    lab: str
    engine: Engine = Engine.PODMAN


@dataclass(frozen=True, slots=True)
class Boot:
    """All that the start of a node needs to know."""

    machine: str
    namespace: str
    base: Path
    places: NodeLayout
    groups: Sequence[Path] = ()
    storage: str = KINDS[Engine.PODMAN].storage
    layered: bool = True
    old_cgroups: bool = False
    own_scope: bool = False

    @property
    def marker(self) -> str:
        """The word by which the node's process is found again."""
        return f"--machine={self.machine}"

    def command(self) -> list[str]:
        """Leave the caller's session, take a private mount namespace, mount, boot."""
        places = self.places
        mode = "layered" if self.layered else "bare"
        groups = ":".join(str(one) for one in self.groups)
        return [
            *("setsid", "--fork", "unshare", "--mount", "--propagation", "slave", "sh", str(START)),
            *(
                str(one)
                for one in (places.image, places.mount, places.seed, self.base, places.root)
            ),
            *(mode, groups, *self._nspawn()),
        ]

    def _nspawn(self) -> list[str]:
        places = self.places
        return [
            *("systemd-nspawn", "--quiet", "--register=no"),
            # A host with systemd gives the node a scope; elsewhere it stays where it is.
            *([] if self.own_scope else ["--keep-unit"]),
            self.marker,
            f"--directory={places.root}",
            f"--network-namespace-path=/run/netns/{self.namespace}",
            f"--bind={places.mount / 'containers'}:{self.storage}",
            # Containers inside need what an ordinary machine may do.
            *("--capability=all", "--system-call-filter=@known", "--boot"),
            *(OLD_CGROUPS if self.old_cgroups else ()),
        ]


ENVIRONMENT = {"SYSTEMD_NSPAWN_API_VFS_WRITABLE": "yes"}

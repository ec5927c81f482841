"""Where a lab keeps its things."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

# Runtime may vanish with a reboot, disks may not. Both are machine-wide, because namespaces,
# bridges and addresses are: two users' labs must see each other to stay out of each other's way.
RUN = Path("/run/margrave-lab")
DISKS = Path("/var/lib/margrave-lab")


def cache_folder() -> Path:
    """Where base systems are kept for every lab to come."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "margrave" / "lab"


@dataclass(frozen=True, slots=True)
class NodeLayout:
    """The places of one node."""

    run: Path
    kept: Path

    @property
    def mount(self) -> Path:
        """Where the node's own process sees its disk; nobody else sees anything mounted here."""
        return self.run / "disk"

    @property
    def root(self) -> Path:
        return self.run / "root"

    @property
    def console(self) -> Path:
        return self.run / "console.log"

    @property
    def image(self) -> Path:
        return self.kept / "disk.img"

    @property
    def seed(self) -> Path:
        return self.kept / "seed"


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of one lab."""

    name: str

    @property
    def run(self) -> Path:
        return RUN / self.name

    @property
    def kept(self) -> Path:
        return DISKS / self.name

    @property
    def record(self) -> Path:
        return self.kept / "lab.json"

    @property
    def key(self) -> Path:
        return self.kept / "key"

    @property
    def known_hosts(self) -> Path:
        return self.kept / "known_hosts"

    @property
    def registry(self) -> Path:
        return self.kept / "registry"

    @property
    def lock(self) -> Path:
        return RUN / ".locks" / self.name

    def node(self, name: str) -> NodeLayout:
        return NodeLayout(self.run / "nodes" / name, self.kept / "nodes" / name)


SUBNET_LOCK = RUN / ".locks" / ".subnets"
BASE_LOCK = RUN / ".locks" / ".base"

"""Where everything of the demo lies, and what it is called."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from lab.errors import LabError

LAB: Final = "demo"
HOST: Final = "127.0.0.1"
CONTROLLER_PORT: Final = 8800
RUNNER_PORTS: Final = {"harbor": 8801, "depot": 8802}
SITES: Final = {
    "harbor": {"kind": "shop", "region": "north"},
    "depot": {"kind": "warehouse", "region": "south"},
}
SMALLEST: Final = ("harbor-1", "harbor-2", "depot-1")
APPLICATION: Final = "storefront"
VERSION: Final = "1.0.0"


class DemoError(LabError):
    """The demo cannot do what was asked."""


def node_names(count: int) -> list[str]:
    """So many nodes, spread over the sites: two and one, then each site in turn."""
    names = list(SMALLEST)
    for index in range(len(SMALLEST), count):
        turn, site = divmod(index - len(SMALLEST), 2)
        names.append(f"harbor-{turn + 3}" if site else f"depot-{turn + 2}")
    return names[: max(count, len(SMALLEST))]


def site_of(node: str) -> str:
    """The site in a node's name."""
    return node.rsplit("-", 1)[0]


@dataclass(frozen=True, slots=True)
class Places:
    """The checkout and the demo's folder in it."""

    checkout: Path

    @property
    def base(self) -> Path:
        """All that the demo writes, but for the lab's disks."""
        return self.checkout / "var" / "demo"

    @property
    def apps(self) -> Path:
        """The registry of example applications."""
        return self.checkout / "examples" / "apps"

    @property
    def controller(self) -> Path:
        """The controller's folder."""
        return self.base / "controller"

    def runner(self, site: str) -> Path:
        """A runner's folder."""
        return self.base / site

    @property
    def memory(self) -> Path:
        """What the demo has to remember between two calls: credentials and tokens."""
        return self.base / "memory.json"

    @property
    def env(self) -> Path:
        """For whoever wants to go on from here."""
        return self.base / "demo.env"

    @property
    def command(self) -> Path:
        """The command `margrave` of the environment that runs this."""
        return Path(sys.executable).parent / "margrave"


def here() -> Places:
    """The checkout that this package lies in."""
    checkout = Path(__file__).resolve().parent.parent
    if not (checkout / "examples" / "apps").is_dir():
        raise DemoError(f"{checkout} has no examples/apps", "run the demo from a checkout")
    return Places(checkout)

# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a profile needs of a node, behind one interface: Compose on podman or Docker, and Helm.

The story of an operation is told once, for all of them; a conformance test holds each to it.
"""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError, EngineError
from ansible_collections.margrave.edge.plugins.module_utils._types import (
    TYPE_CHECKING,
    Any,
    Protocol,
)

if TYPE_CHECKING:
    from ansible_collections.margrave.edge.plugins.module_utils._baseline import (
        Baseline,
        Disturbance,
    )
    from ansible_collections.margrave.edge.plugins.module_utils._call import Call
    from ansible_collections.margrave.edge.plugins.module_utils._compare import Drift
    from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
    from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release
    from ansible_collections.margrave.edge.plugins.module_utils._request import Wanted


class Driver(Protocol):
    """One deployment on what runs its profile here. What it sees is opaque to whoever calls."""

    profile: str

    @property
    def engine_name(self) -> str:
        """What it runs on: an installed deployment stays there."""

    def look(self, closely: bool = False) -> list[Any]:
        """All that runs, or should run, for the deployment; closely, with what it is made of."""

    def drift(self, release: Release, seen: Iterable[Any]) -> list[Drift]:
        """How what was seen differs from a release that ran healthy."""

    def health(self, release: Release | None, seen: Iterable[Any]) -> str:
        """healthy, degraded or unknown."""

    def restarts(self, release: Release, seen: Iterable[Any] | None = None) -> dict[str, int]:
        """How often each container has restarted: of what was seen, else of what was made run."""

    def disturbances(
        self, release: Release, seen: Iterable[Any], baseline: Baseline | None
    ) -> list[Disturbance]:
        """What happened to containers since the release was found healthy."""

    def kept(self, stored: Release) -> dict[str, bytes]:
        """What of a release was fetched and is still what was noted then, by component."""

    def stage(self, folder: Folder, one: Wanted, archive: bytes, current: Release | None) -> Part:
        """Make a component ready below the folder, and refuse it when policy does."""

    def refuse(self, folder: Folder, release: Release, part: Part) -> None:
        """Hold a component that is ready against the policy of now."""

    def mounted(self, names: Iterable[str]) -> set[str]:
        """Return those of the releases whose folders are still in use by what runs."""

    def missing(self, release: Release) -> list[str]:
        """What would have to be fetched before the release can run."""

    def check_images(self, release: Release) -> None:
        """Ask registries for what would have to be fetched; raise what fetching would fail with."""

    def fetch(self, release: Release) -> bool:
        """Fetch all that the release needs and is not here; tells whether something was."""

    def end_others(self, release: Release, seen: Iterable[Any]) -> None:
        """End components that the release does not have, of what was seen."""

    def run(self, release: Release, part: Part, seen: Iterable[Any]) -> None:
        """Make a component run and prove its health."""

    def proven(self) -> None:
        """The release that was made to run is healthy, and there is no going back from it."""

    def end(self, projects: Iterable[str]) -> None:
        """End components by their names on the node; data stays."""

    def discard(self, projects: Iterable[str]) -> None:
        """End components that this call alone has made, with data that nothing else can reach."""

    def remains(self) -> Remains:
        """What the deployment has on the node."""

    def sweep(self, volumes: Iterable[str]) -> None:
        """Remove all that is the deployment's own, and these volumes."""

    def spare(self) -> list[str]:
        """What only the deployment's own releases need, and goes with it."""

    def tidy(self, dropped: Iterable[Release], ending: bool = False) -> list[str]:
        """Remove what only these releases needed, and return its names.

        Of a deployment that is `ending`, releases that are still here need nothing.
        """


class Remains:
    """What a deployment has on the node: whether anything is there, and its volumes."""

    def __init__(self, anything: bool, volumes: list[str]) -> None:
        self.anything = anything
        self.volumes = volumes


def of(call: Call, profile: str) -> Driver:
    """The driver of a profile; each is imported where it is needed alone."""
    if profile == "helm":
        from ansible_collections.margrave.edge.plugins.module_utils._helm_driver import HelmDriver

        return HelmDriver(call)
    from ansible_collections.margrave.edge.plugins.module_utils._compose_driver import (
        ComposeDriver,
    )

    return ComposeDriver(call)


def here() -> list[str]:
    """The profiles that this node has a program for; EngineError when there is none."""
    from ansible_collections.margrave.edge.plugins.module_utils import _engines, _kubernetes

    there = {"compose": _engines.all_here(), "helm": _kubernetes.detect()}
    found = [profile for profile, one in there.items() if one]
    if not found:
        raise EngineError(
            "no-engine",
            "no container engine: neither podman nor Docker has a socket here, nor is there Helm",
            "install podman and docker-compose, then: systemctl enable --now podman.socket",
        )
    return found


def same_profile(wanted: str, runs: str | None) -> None:
    """A deployment keeps its profile: what runs could not be gone back to otherwise."""
    if runs is not None and runs != wanted:
        raise ConfigError(
            "profile-changed",
            f"profile: the deployment runs as {runs} here, not as {wanted}",
            "delete it first, or install the other profile as another deployment",
        )

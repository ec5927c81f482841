"""A site of twenty nodes, some with podman and some with Docker Engine, changed all at once."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from lab import Engine, Lab
from tests.support.clients import Client
from tests.support.repository import STOREFRONT, Repository, storefront_component
from tests.support.runner_process import RunnerProcess
from tests.support.waiting import eventually

pytestmark = [pytest.mark.lab, pytest.mark.full]

NODES = {
    f"fleet-{number:02}": Engine.DOCKER if number % 5 == 0 else Engine.PODMAN
    for number in range(1, 21)
}
LATE = "fleet-21"
LIMIT = 600  # twenty nodes share the processors of one machine


class Site:
    """The repository, the runner, and the nodes as the runner knows them."""

    def __init__(self, lab: Lab, base: Path) -> None:
        self.lab = lab
        self.repository = Repository(base)
        self.components = {
            version: storefront_component(self.repository.tree, version, every="10s")
            for version in ("1.0.0", "1.1.0")
        }
        self.repository.push()
        self.runner = RunnerProcess(base / "runner", str(self.repository.bare))

    def add(self, node: str) -> None:
        """Onboard a node."""
        address = self.lab.node(node).address
        self.runner.add(node, address, self.lab.key, self.lab.host_key(node))

    def want(self, version: str) -> None:
        """Push a version for all nodes at once."""
        self.repository.deploy(
            version,
            component=self.components[version],
            timeout="5m00s",
            strategy={"batch": "all"},
        )
        self.repository.push()
        self.runner.hint()

    def standing(self) -> dict[str, tuple[str, str, str | None]]:
        """State, outcome and version by node."""
        found = self.runner.placements(STOREFRONT)
        return {name: (one["state"], one["outcome"], one["version"]) for name, one in found.items()}

    def pages(self) -> dict[str, str | None]:
        """What the application answers on each node that the runner knows."""
        return {name: Client(self.lab.node(name).address).ask() for name in self.standing()}


@pytest.fixture(scope="module")
def site(needs_lab: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """Twenty nodes of a lab of their own, added to a site."""
    lab = Lab("fleet")
    lab.up(NODES)
    made = Site(lab, tmp_path_factory.mktemp("site"))
    made.runner.start()
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(made.add, NODES))
    yield made
    made.runner.kill(signal.SIGTERM)
    lab.down()


def test_twenty_nodes_install_and_update_at_once(site: Site) -> None:
    """One push each; every node ends right, whichever engine it has, none worked on twice."""
    for version in ("1.0.0", "1.1.0"):
        site.want(version)
        wanted = dict.fromkeys(NODES, ("INSTALLED", "succeeded", version))
        eventually(lambda w=wanted: site.standing() == w, LIMIT, f"{version} everywhere", 0.2)  # type: ignore[misc]
        assert site.pages() == dict.fromkeys(NODES, version)
    moves = [(one["node"], one["to"]) for one in site.runner.told(STOREFRONT)]
    assert len(moves) == len(set(moves)) + len(NODES)  # INSTALLED twice on each, all else once


def test_a_node_comes_and_one_goes_while_all_are_at_work(site: Site) -> None:
    """The new one gets what the others have; the one that leaves is left alone from then on."""
    gone = "fleet-01"
    site.lab.up([LATE])
    site.want("1.0.0")
    eventually(
        lambda: any(one[0] == "UPDATING" for one in site.standing().values()), 60, "it begins", 0.02
    )
    site.add(LATE)
    site.runner.remove(gone, "--forget")

    staying = [name for name in [*NODES, LATE] if name != gone]
    wanted = dict.fromkeys(staying, ("INSTALLED", "succeeded", "1.0.0"))

    def right() -> bool:
        standing = site.standing()
        return {name: standing.get(name) for name in staying} == wanted

    eventually(right, LIMIT, "1.0.0 on all that are there", 0.2)
    assert {name: site.pages()[name] for name in staying} == dict.fromkeys(staying, "1.0.0")
    known = {one["name"] for one in site.runner.status()["nodes"]}
    assert known == set(staying)

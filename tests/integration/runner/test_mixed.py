"""One site with a node of each engine: the same deployment, the same life, the same words."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from tests.support.clients import Client
from tests.support.repository import STOREFRONT, Repository, storefront_component
from tests.support.runner_process import RunnerProcess
from tests.support.shop import clean
from tests.support.waiting import eventually

pytestmark = [pytest.mark.lab, pytest.mark.full]

PODMAN = "harbor-2"
LIMIT = 180
WELL = ("INSTALLED", "succeeded")
LIFE = (
    ("1.0.0", (*WELL, "1.0.0"), "1.0.0"),
    ("1.1.0", (*WELL, "1.1.0"), "1.1.0"),
    ("1.2.0", ("INSTALLED", "rolled-back", "1.1.0"), "1.1.0"),
    ("1.0.0", (*WELL, "1.0.0"), "1.0.0"),
)


@pytest.fixture
def nodes(lab: Lab, docker_node: str) -> Iterator[dict[str, str]]:
    """A podman node and a Docker node, by the name of what runs there; clean before and after."""
    found = {PODMAN: "podman", docker_node: "docker"}
    for name, engine in found.items():
        clean(lab, name, engine)
    yield found
    for name, engine in found.items():
        clean(lab, name, engine)


def test_a_site_has_nodes_of_both_engines(lab: Lab, nodes: dict[str, str], tmp_path: Path) -> None:
    """Installed, updated, gone back from a bad release, taken back by an operator, deleted."""
    repository = Repository(tmp_path)
    components = {
        version: storefront_component(repository.tree, version)
        for version in ("1.0.0", "1.1.0", "1.2.0")
    }
    repository.push()
    runner = RunnerProcess(tmp_path / "runner", str(repository.bare))
    runner.start()
    try:
        for name in nodes:
            runner.add(name, lab.node(name).address, lab.key, lab.host_key(name))
        known = {one["name"]: one["capabilities"] for one in runner.status()["nodes"]}
        assert {name: one["engines"][0]["name"] for name, one in known.items()} == nodes
        for version, ends, serves in LIFE:
            repository.deploy(
                version,
                component=components[version],
                timeout="0m20s" if version == "1.2.0" else "2m00s",
                strategy={"batch": "all"},
                failure={"retries": {"health": 0}, "backoff": "1s", "then": "rollback"},
            )
            commit = repository.push()
            runner.hint()
            eventually(lambda c=commit, e=ends: through(runner, nodes, c, e), LIMIT, version, 0.1)  # type: ignore[misc]
            assert {name: Client(lab.node(name).address).ask() for name in nodes} == dict.fromkeys(
                nodes, serves
            )
        repository.remove(f"deployments/harbor/{STOREFRONT}.yaml")
        repository.push()
        runner.hint()
        eventually(lambda: states(runner) == dict.fromkeys(nodes, "DELETED"), LIMIT, "deleted", 0.1)
        for name, engine in nodes.items():
            left = f"{engine} ps -aq --filter label=margrave.deployment={STOREFRONT}"
            assert lab.ssh(name, left, check=True).stdout == ""
    finally:
        runner.kill(signal.SIGTERM)


def through(
    runner: RunnerProcess, nodes: dict[str, str], commit: str, ends: tuple[str, str, str]
) -> bool:
    """Whether this commit came to that end on every node."""
    told = {one["node"] for one in runner.told(STOREFRONT) if one["commit"] == commit}
    standing = runner.placements(STOREFRONT).items()
    found = {name: (one["state"], one["outcome"], one["version"]) for name, one in standing}
    return told == set(nodes) and found == dict.fromkeys(nodes, ends)


def states(runner: RunnerProcess) -> dict[str, str]:
    """Each node's state."""
    return {name: one["state"] for name, one in runner.placements(STOREFRONT).items()}

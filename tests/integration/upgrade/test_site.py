"""A whole site after an upgrade: its controller, its runner and its nodes start as they were."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import subprocess
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from lab import Lab
from runner.nodes import scripts
from runner.nodes.keys import public_line
from tests.support import fixture_sets
from tests.support.controller_process import CLI, ControllerProcess
from tests.support.fixture_sets import FixtureSet
from tests.support.registry import FakeRegistry
from tests.support.restored_node import RestoredNode
from tests.support.runner_process import RunnerProcess, free_port
from tests.support.shop import Shop
from tests.support.waiting import eventually

pytestmark = [pytest.mark.lab, pytest.mark.full]


class RestoredRunner(RunnerProcess):
    """`margrave runner serve` on the folder of an earlier version."""

    def __init__(self, fixture_set: FixtureSet, site: str, base: Path, controller: str) -> None:
        self.port = free_port()
        remote = f"{controller}/git/deployments.git"
        self.base = fixture_set.restore_runner(site, base, remote, controller, self.port)
        self.site = site
        self.url = f"http://127.0.0.1:{self.port}"
        self.config = self.base / "margrave.toml"
        self.state = self.base / "state"
        self.process = None

    def admit(self, lab: Lab, node: str) -> None:
        """Give the node the runner's key, and the runner the node's address and host key."""
        key = public_line(self.state / "ssh/id_ed25519")
        lab.ssh(node, scripts.prepare("margrave", key))
        line = lab.ssh(node, "cat /etc/ssh/ssh_host_ed25519_key.pub").stdout
        values = (lab.node(node).address, " ".join(line.split()[:2]), node)
        with closing(sqlite3.connect(self.state / "runner.db")) as connection:
            connection.execute("UPDATE nodes SET address = ?, host_key = ? WHERE name = ?", values)
            connection.commit()

    def operations(self) -> list[str]:
        """Return the ids of all operations, in their order."""
        return [
            str(operation)
            for (operation,) in self._rows("select id from operations order by epoch, seq")
        ]


@dataclass
class RestoredSite:
    """The processes and nodes of a site."""

    controller: ControllerProcess
    runner: RestoredRunner
    nodes: list[RestoredNode]

    def lives(self) -> list[dict[str, tuple[str, str]]]:
        """Return id and start time of each container on each node."""
        return [node.lives() for node in self.nodes]

    def wait_for_a_look(self) -> None:
        """Return when the runner inspected each node, and then decided what to do."""
        begun = datetime.now(UTC)

        def looked() -> bool:
            status = self.runner.status()
            last_seen = [datetime.fromisoformat(node["last_seen"]) for node in status["nodes"]]
            ticked = datetime.fromisoformat(status["last_tick"])
            assert status["git"]["state"] not in ("waiting", "stalled"), status["git"]
            return begun < min(last_seen) and max(last_seen) < ticked

        eventually(looked, 120, "the runner inspected its nodes", 0.2)

    def head(self) -> str:
        """Return the newest commit of the deployments repository."""
        repository = self.controller.folder / "state/git/deployments.git"
        return fixture_sets.git(repository, "rev-parse", "main")

    def shop(self) -> Any:
        """Return the storefront at this site."""
        (deployment,) = (
            deployment
            for deployment in self.items("/deployments")
            if (deployment["name"], deployment["site"]) == ("storefront", self.runner.site)
        )
        return deployment

    def items(self, path: str) -> list[Any]:
        """Return a list of the API."""
        with self.controller.api as api:
            items: list[Any] = api.get(path, params={"limit": "200"}).json()["items"]
        return items


@pytest.fixture(params=["harbor", "depot"])
def site(
    request: pytest.FixtureRequest, fixture_set: FixtureSet, lab: Lab, tmp_path: Path
) -> Iterator[RestoredSite]:
    """A site of the set, upgraded and started."""
    if request.param == "depot":
        request.getfixturevalue("docker_node")
    controller = _controller(fixture_set, lab, tmp_path)
    runner = RestoredRunner(fixture_set, request.param, tmp_path, controller.url)
    nodes = [
        RestoredNode(
            fixture_set, Shop(lab, tmp_path, {}, node=name, engine=about["engine"]), tmp_path / name
        )
        for name, about in fixture_set.nodes(request.param).items()
    ]
    try:
        for node in nodes:
            node.restore()
            runner.admit(lab, node.name)
        controller.start()
        yield RestoredSite(controller, runner, nodes)
    finally:
        runner.kill(signal.SIGTERM)
        controller.stop()
        for node in nodes:
            node.shop.clean()


def _controller(fixture_set: FixtureSet, lab: Lab, base: Path) -> ControllerProcess:
    port, credentials = free_port(), fixture_set.json("sqlite/credentials.json")
    home = fixture_set.restore_controller("sqlite", base, port)
    fixture_sets.move_sources(f"sqlite:///{home / 'state/margrave.db'}", base)
    words = [str(CLI), "controller", "migrate", "--config", str(home / "margrave.toml")]
    subprocess.run(words, check=True, env={**os.environ})
    registry = {"host": fixture_sets.REGISTRY, "address": lab.registry_address, "insecure": True}
    return ControllerProcess(
        folder=home,
        url=f"http://127.0.0.1:{port}",
        user=credentials["user"],
        password=credentials["password"],
        token=credentials["tokens"]["admin"],
        registry=FakeRegistry(),  # not started: the lab has a real one
        settings={"MARGRAVE_REGISTRIES__JSON": json.dumps([registry]), **fixture_sets.KEEP_HISTORY},
    )


def test_nothing_is_deployed_again_and_the_next_change_works(site: RestoredSite) -> None:
    """No operation begins and no container restarts; a new greeting then reaches each node."""
    lives, operations, head = site.lives(), site.runner.operations(), site.head()

    site.runner.start()
    site.wait_for_a_look()
    site.wait_for_a_look()

    assert site.runner.operations() == operations
    assert site.lives() == lives
    assert site.head() == head
    (shown,) = [item for item in site.items("/sites") if item["name"] == site.runner.site]
    assert (shown["freshness"], shown["halted"]) == ("fresh", None), shown

    shop = site.shop()
    with site.controller.api as api:
        change = {"version": "1.0.0", "parameters": {"greeting": "upgraded"}}
        api.patch(f"/deployments/{shop['id']}", json=change).raise_for_status()

    def updated() -> bool:
        wanted = site.shop()["revision"]
        assert wanted != shop["revision"], "the change is not published yet"
        placements = site.items(f"/deployments/{shop['id']}/placements")
        states = {(placement["revision"], placement["outcome"]) for placement in placements}
        assert states == {(wanted, "succeeded")}, placements
        return True

    eventually(updated, 120, "the update arrived", 0.5)
    for before, node in zip(lives, site.nodes, strict=True):
        after = node.lives()
        changed = {name.split("-")[-2] for name in after if after[name] != before[name]}
        assert changed == {"web"}
        assert [workload["drift"] for workload in node.workloads()] == [[], []]

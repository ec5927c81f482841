"""The runner on the state directories of earlier versions, with fake nodes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml

from margrave.lifecycle import Outcome, State
from runner import settings
from runner.app import Runner, build
from runner.reconcile import stability
from runner.store import Placement, outbox, placements
from tests.support import fixture_sets
from tests.support.edge import FakeExecutor, FakeNode
from tests.support.fixture_sets import FixtureSet

OUTBOX_LIMIT = 10_000


@dataclass
class RestoredSite:
    """A site with an upgraded runner, and nodes that run the same as before."""

    fixture_set: FixtureSet
    name: str
    home: Path
    remote: Path
    now: datetime
    executor: FakeExecutor = field(init=False)
    runner: Runner = field(init=False)

    def __post_init__(self) -> None:
        nodes = self.fixture_set.nodes(self.name)
        self.executor = FakeExecutor(*nodes)
        self.executor.now = lambda: self.now
        for name, node in nodes.items():
            _fill(self.executor.nodes[name], node)
            self.executor.volumes |= {
                workload["deployment"] for workload in node["workloads"] if workload["volumes"]
            }
        loaded = settings.load(self.home / "margrave.toml", {})
        self.runner = build(loaded, self.executor, lambda: self.now)
        self.runner.work.operations.resume()

    def settle(self) -> None:
        """Let the runner read Git, look at its nodes, and work until nothing is due."""
        self.runner.work.observer.look()
        self.runner.work.reconciler.once(10)

    def placements(self) -> dict[tuple[str, str], Placement]:
        """Return the newest placements by deployment and node."""
        with self.runner.ground.store.read() as tx:
            return {
                (placement.deployment, placement.node): placement
                for placement in placements.newest(tx)
            }

    def transitions(self) -> list[dict[str, Any]]:
        """Return the transitions that the controller has not acknowledged."""
        with self.runner.ground.store.read() as tx:
            rows = outbox.waiting(tx, OUTBOX_LIMIT)
        return [row.data for row in rows if row.kind == "placement" and row.data["to"]]

    def change(self, name: str, greeting: str) -> None:
        """Push another greeting for the deployments of this name."""
        clone = self.home / "clone"
        fixture_sets.git(self.home, "clone", "--quiet", str(self.remote), str(clone))
        for path in clone.glob(f"deployments/{self.name}/*.yaml"):
            document = yaml.safe_load(path.read_text())
            if document["metadata"]["name"] == name:
                document["spec"]["parameters"]["greeting"]["value"] = greeting
                path.write_text(yaml.safe_dump(document, sort_keys=True))
        person = ("-c", "user.name=Ann", "-c", "user.email=ann@harbor.example")
        fixture_sets.git(clone, *person, "commit", "--quiet", "--all", "--message", "Greet")
        fixture_sets.git(clone, "push", "--quiet", "origin", "HEAD")


def _fill(node: FakeNode, about: dict[str, Any]) -> None:
    """Give a fake node the releases and the fence of the real one."""
    fence = about["fence"]
    node.runner, node.epoch = fence["runner"], fence["epoch"]
    for workload in about["workloads"]:
        names = ("release", "revision", "version")
        node.running[workload["deployment"]] = {name: workload[name] for name in names}
        node.fences[workload["deployment"]] = ((fence["epoch"], fence["seq"]), {})


@pytest.fixture(params=["harbor", "depot"])
def site(
    request: pytest.FixtureRequest, fixture_set: FixtureSet, tmp_path: Path
) -> Iterator[RestoredSite]:
    """Each site of a set, an hour after its runner was stopped."""
    remote = fixture_set.restore_repository("sqlite", tmp_path / "deployments.git")
    home = fixture_set.restore_runner(request.param, tmp_path, str(remote))
    now = fixture_set.made_at + timedelta(hours=1)
    restored = RestoredSite(fixture_set, request.param, home, remote, now)
    yield restored
    restored.runner.close()


def test_an_upgraded_runner_changes_nothing(site: RestoredSite) -> None:
    """Running releases are left alone, and a held one stays held: no call, no transition."""
    before = site.placements()
    held = {placement.outcome for placement in before.values()} - {Outcome.SUCCEEDED}
    assert held == ({Outcome.ROLLED_BACK} if site.name == "depot" else set())

    site.settle()
    site.now += timedelta(days=1)
    site.settle()

    assert site.executor.calls == []
    assert site.transitions() == []
    assert _comparable(site.placements()) == _comparable(before)


def test_what_was_installed_before_counts_as_proven(site: RestoredSite) -> None:
    """A crash after the upgrade is no failure of the release: nothing goes back."""
    installed = [one for one in site.placements().values() if one.state is State.INSTALLED]
    assert installed
    assert not any(stability.is_open(placement) for placement in installed)
    site.executor.crashing_versions |= {one.version for one in installed if one.version}
    site.settle()
    site.now += timedelta(days=1)
    site.settle()
    assert site.executor.calls == []
    healths = {one.health for one in site.placements().values() if one.state is State.INSTALLED}
    assert healths == {"degraded"}


def _comparable(by_node: dict[tuple[str, str], Placement]) -> dict[tuple[str, str], Any]:
    return {
        key: (
            placement.state,
            placement.outcome,
            placement.release,
            placement.revision,
            placement.version,
            placement.attempt,
            placement.health,
        )
        for key, placement in by_node.items()
    }


def test_the_next_change_reaches_only_what_it_is_for(site: RestoredSite) -> None:
    """After the upgrade a new greeting updates the shop on each node, and nothing else."""
    site.settle()
    site.change("storefront", "upgraded")
    site.settle()

    shop = {
        placement.deployment
        for placement in site.placements().values()
        if placement.name == "storefront"
    }
    assert {call.arguments["deployment"] for call in site.executor.calls} == shop
    reached = {call.node.name for call in site.executor.calls}
    assert reached == set(site.executor.nodes)


def test_another_secret_is_an_update(site: RestoredSite) -> None:
    """The site's key came along: a secret that is the same is known again, another one is not."""
    site.settle()
    assert site.executor.calls == []
    secret = site.home / "secrets/ledger-password"
    secret.write_text("another one\n")
    site.settle()

    ledger = {
        placement.deployment
        for placement in site.placements().values()
        if placement.name == "ledger"
    }
    assert {call.arguments["deployment"] for call in site.executor.calls} == ledger

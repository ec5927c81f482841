"""Comparison of each kind of claim with an observation."""

from __future__ import annotations

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from tests.faults.truth.claims import Claim, Kind, Look
from tests.faults.truth.delays import Pace
from tests.faults.truth.observed import Container, NodeView, Release, SiteView, Truth
from tests.faults.truth.rules import Rules
from tests.faults.truth.waits import Waits
from tests.faults.truth.world import Condition, Presence, Ran

SHOP = "7f0c"
OLD, NEW = Release("1.0.0", "hello"), Release("1.1.0", "hello")
NOW = time.time()


class Fleet:
    """One site with one node, and the observation of both."""

    def __init__(self) -> None:
        self.sites = {"harbor": ("harbor-1",)}
        self.pace = Pace(heartbeat=5, drift=10, connect_timeout=5)
        self.presence = {name: Presence() for name in ("controller", "harbor", "harbor-1")}
        self.last_answer = {"harbor-1": (NOW + 60, OLD)}
        self.runner = Condition.UP
        self.reachable: bool | None = True
        self.answer: Release | None = OLD
        self.wanted: Mapping[str, Release] = {SHOP: OLD}
        self.containers = {"web": "running", "cache": "running"}

    def contains(self, commit: str, head: str, site: str) -> bool:
        """Only the newest commit has everything."""
        return commit == head

    def truth(self) -> Truth:
        """A look at it."""
        containers = tuple(
            Container(name, name, state, "healthy") for name, state in self.containers.items()
        )
        view = NodeView(self.reachable, {SHOP: containers} if containers else {}, self.answer)
        site = SiteView(self.runner, self.wanted)
        return Truth(NOW, {"harbor-1": view}, {"harbor": site}, "c2")

    def false(self, kind: Kind, **fields: str) -> set[str]:
        """Return the delays of the false fields of a claim."""
        node = "harbor-1" if kind in (Kind.NODE, Kind.PLACEMENT) else ""
        claim = Claim(kind, "harbor", fields, node, SHOP)
        rules = Rules(cast(Any, self), cast(Any, self))
        statements = rules.statements(Look("API", NOW, (claim,)), self.truth(), fresh=True)
        return {one.delay.name for one in statements if not one.holds}


@pytest.fixture
def fleet() -> Fleet:
    """A fleet on which all is well."""
    return Fleet()


GOOD = {"state": "INSTALLED", "outcome": "succeeded", "freshness": "fresh", "version": "1.0.0"}
GOOD |= {"health": "healthy"}


def _ago(seconds: float) -> str:
    return datetime.fromtimestamp(NOW - seconds, UTC).isoformat()


def test_nothing_is_false_where_all_is_well(fleet: Fleet) -> None:
    """Each kind of claim holds for a healthy fleet."""
    assert fleet.false(Kind.SITE, freshness="fresh", applied_commit="c2", behind="False") == set()
    assert fleet.false(Kind.NODE, status="active", last_seen=_ago(8)) == set()
    assert fleet.false(Kind.DEPLOYMENT, **GOOD) == set()
    assert fleet.false(Kind.PLACEMENT, **GOOD) == set()


def test_a_dead_runner_leaves_nothing_fresh(fleet: Fleet) -> None:
    """Site, nodes and placements are all unknown without their runner."""
    fleet.runner = Condition.DOWN

    assert fleet.false(Kind.SITE, freshness="fresh") == {"site-silent"}
    assert fleet.false(Kind.NODE, status="active") == {"site-silent"}
    assert fleet.false(Kind.PLACEMENT, **GOOD) == {"site-silent"}
    assert fleet.false(Kind.PLACEMENT, **{**GOOD, "freshness": "unknown"}) == set()


def test_a_node_that_is_away_is_not_active(fleet: Fleet) -> None:
    """It becomes stale, then offline, and never answers at a time when it was away."""
    fleet.reachable = False
    fleet.presence["harbor-1"].condition = Condition.DOWN
    fleet.presence["harbor-1"].since = NOW - 60

    assert fleet.false(Kind.NODE, status="active") == {"node-silent", "node-offline"}
    assert fleet.false(Kind.NODE, status="stale") == {"node-offline"}
    assert fleet.false(Kind.NODE, status="offline", last_seen=_ago(70)) == set()
    assert fleet.false(Kind.NODE, status="offline", last_seen=_ago(30)) == {"last-seen"}


def test_a_node_that_answers_is_active_and_was_seen(fleet: Fleet) -> None:
    """Neither an old status nor an old time of the last answer stays."""
    assert fleet.false(Kind.NODE, status="offline", last_seen=_ago(5)) == {"node-back"}
    assert fleet.false(Kind.NODE, status="active", last_seen=_ago(120)) == {"node-back"}


def test_health_is_that_of_the_containers(fleet: Fleet) -> None:
    """A container that has ended, or is gone, is no healthy one; nor is a healthy one degraded."""
    assert fleet.false(Kind.PLACEMENT, **{**GOOD, "health": "degraded"}) == {"health"}

    for fleet.containers in ({"web": "exited", "cache": "running"}, {"cache": "running"}, {}):
        assert fleet.false(Kind.PLACEMENT, **GOOD) == {"health"}


def test_an_old_release_has_not_succeeded_when_git_wants_another(fleet: Fleet) -> None:
    """Success is that of the release that Git wants."""
    fleet.wanted = {SHOP: NEW}

    assert fleet.false(Kind.PLACEMENT, **GOOD) == {"outcome"}
    assert fleet.false(Kind.DEPLOYMENT, **GOOD) == {"index"}
    assert fleet.false(Kind.PLACEMENT, **{**GOOD, "outcome": "pending"}) == set()


def test_a_release_that_runs_is_not_pending_for_ever(fleet: Fleet) -> None:
    """The operation of a release that runs and is healthy has to end."""
    working = {**GOOD, "state": "UPDATING", "outcome": "pending"}
    assert fleet.false(Kind.PLACEMENT, **working) == {"completion"}


def test_another_version_than_the_one_that_answers_is_false(fleet: Fleet) -> None:
    """The application's own answer counts."""
    fleet.answer = NEW
    assert "version" in fleet.false(Kind.PLACEMENT, **GOOD)


def test_what_is_deleted_leaves_no_container(fleet: Fleet) -> None:
    """It is gone from Git, and from all nodes."""
    fleet.wanted = {}
    assert fleet.false(Kind.DEPLOYMENT, **GOOD) == {"outcome"}
    assert fleet.false(Kind.DEPLOYMENT, state="DELETED") == {"deleted"}

    fleet.containers = {}
    assert fleet.false(Kind.DEPLOYMENT, state="DELETED") == set()


@pytest.mark.parametrize(
    ("code", "seconds", "version", "problem"),
    [
        (0, 5, "1.0.0", ""),
        (0, 5, "1.1.0", "answer otherwise"),
        (0, 5, "1.2.0", "never gets healthy"),
        (1, 5, "1.2.0", ""),
        (1, 5, "1.0.0", "all nodes run the requested release"),
        (124, 60, "1.1.0", ""),
        (124, 5, "1.1.0", "exit 124 after 5 s"),
        (6, 5, "1.1.0", "although the controller was there"),
        (None, 95, "1.1.0", "did not end"),
        (2, 1, "1.1.0", "exit 2"),
    ],
)
def test_a_wait_ends_with_the_code_of_what_happened(
    fleet: Fleet, code: int | None, seconds: float, version: str, problem: str
) -> None:
    """A call that waits ends in time, and its code fits what answers on the nodes."""
    fleet.presence["controller"].since = NOW - 600
    ran = Ran(("deploy",), code, "", NOW - seconds, NOW)
    world = SimpleNamespace(
        sites=fleet.sites, presence=fleet.presence, note=print, margrave=lambda *_, limit: ran
    )
    waits = Waits(cast(Any, world), cast(Any, fleet))

    waits.deploy("harbor", version, "hello", 60)

    assert problem in waits.endings[0].problem
    assert bool(problem) == bool(waits.endings[0].problem)

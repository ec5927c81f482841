"""A release is proven by its stable window: what crashes in it fails, what crashes later drifts."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from margrave.lifecycle import Kind, Outcome, State
from runner.store import Placement, operations, outbox, placements, transitions
from tests.support.edge import FakeNode
from tests.support.repository import STOREFRONT
from tests.support.site import World

MINUTE = timedelta(seconds=61)


@pytest.fixture
def alone(tmp_path: Path) -> World:
    """A site of one node, with nothing wanted yet."""
    world = World(tmp_path)
    world.runner.ground.nodes.remove("harbor-2")
    return world


def _want(world: World, version: str, **extensions: object) -> None:
    world.repository.deploy(version, **extensions)
    world.repository.push()
    world.settle()


def _later(world: World, span: timedelta = MINUTE) -> None:
    """Let time go by, and look at the nodes."""
    world.later += span
    world.settle()


def _placement(world: World) -> Placement:
    return world.placements()["harbor-1"]


def _node(world: World) -> FakeNode:
    return world.executor.nodes["harbor-1"]


def _proven(world: World) -> str | None:
    return _placement(world).good_version


def test_a_release_is_proven_when_its_window_is_over(alone: World) -> None:
    """It is INSTALLED at once, and the one to go back to only after the window."""
    _want(alone, "1.0.0")
    assert (_placement(alone).state, _placement(alone).outcome) == (
        State.INSTALLED,
        Outcome.SUCCEEDED,
    )
    assert _proven(alone) is None
    _later(alone, timedelta(seconds=30))
    assert _proven(alone) is None
    _later(alone)
    assert _proven(alone) == "1.0.0"
    assert len(alone.executor.calls) == 1


def test_a_release_that_crashes_in_its_window_goes_back(alone: World) -> None:
    """Another attempt of it fails, the former release runs again, and it is quarantined."""
    _want(alone, "1.0.0")
    _later(alone)
    alone.executor.crashing_versions.add("1.1.0")
    _want(alone, "1.1.0")
    for _ in range(2):
        _later(alone, timedelta(seconds=20))
    found = _placement(alone)
    assert (found.state, found.outcome, found.version) == (
        State.INSTALLED,
        Outcome.ROLLED_BACK,
        "1.0.0",
    )
    told = [(frm, to) for _node, frm, to in alone.told()]
    assert told[-6:] == [
        ("INSTALLED", "UPDATING"),
        ("UPDATING", "INSTALLED"),
        ("INSTALLED", "UPDATING"),
        ("UPDATING", "FAILED"),
        ("FAILED", "ROLLINGBACK"),
        ("ROLLINGBACK", "INSTALLED"),
    ]
    attempt = alone.executor.calls[-2]
    assert attempt.arguments["prove"] == 60
    assert attempt.arguments["proven"] == alone.executor.calls[0].arguments["release"]
    with alone.runner.ground.store.read() as tx:
        assert len(placements.quarantined(tx)) == 1
        reasons = [one.reason for one in operations.unfinished(tx)]
    assert reasons == []
    _later(alone, timedelta(minutes=10))
    assert len(alone.executor.calls) == 4


def test_a_first_install_that_crashes_stays_failed(alone: World) -> None:
    """There is nothing to go back to: it ends FAILED, and waits for a person."""
    alone.executor.crashing_versions.add("1.0.0")
    _want(alone, "1.0.0")
    for _ in range(3):
        _later(alone, timedelta(seconds=20))
    found = _placement(alone)
    assert (found.state, found.outcome, found.version) == (State.FAILED, Outcome.FAILED, None)
    assert found.waiting is not None
    assert found.waiting["for"] == "person"
    assert [call.kind for call in alone.executor.calls] == [Kind.INSTALL, Kind.UPDATE]


def test_a_proven_release_that_crashes_is_degraded_and_stays(alone: World) -> None:
    """After its window nothing is rolled back: the placement shows how it fares."""
    _want(alone, "1.0.0")
    _later(alone)
    _want(alone, "1.1.0")
    _later(alone)
    assert _proven(alone) == "1.1.0"
    alone.executor.crashing_versions.add("1.1.0")
    _later(alone)
    found = _placement(alone)
    assert (found.state, found.health, found.version) == (State.INSTALLED, "degraded", "1.1.0")
    assert len(alone.executor.calls) == 2
    alone.executor.crashing_versions.clear()
    _later(alone)
    assert _placement(alone).health == "healthy"


def test_a_restart_after_the_window_is_not_the_releases_failure(alone: World) -> None:
    """A look that comes late sees one restart, and that it was after the window."""
    _want(alone, "1.0.0")
    _node(alone).disturbed[STOREFRONT] = [{"detail": "web restarted once", "after": 75.0}]
    _later(alone, timedelta(seconds=80))
    assert _proven(alone) == "1.0.0"
    assert len(alone.executor.calls) == 1


def test_the_runner_killed_within_the_window_judges_it_all_the_same(alone: World) -> None:
    """The node has counted: neither is the release proven too early, nor never."""
    _want(alone, "1.0.0")
    _later(alone, timedelta(seconds=40))
    alone.restart()
    alone.settle()
    assert _proven(alone) is None
    _later(alone, timedelta(seconds=25))
    assert _proven(alone) == "1.0.0"
    alone.executor.crashing_versions.add("1.1.0")
    _want(alone, "1.1.0")
    alone.restart()
    for _ in range(2):
        alone.settle()
    assert _placement(alone).outcome is Outcome.ROLLED_BACK


def test_a_window_whose_clock_is_lost_begins_anew(alone: World) -> None:
    """A node that restarted has no count: the runner waits for a whole window once more."""
    _want(alone, "1.0.0")
    _node(alone).counts = False
    _later(alone)
    assert _proven(alone) is None
    _later(alone, timedelta(seconds=30))
    assert _proven(alone) is None
    _later(alone, timedelta(seconds=35))
    assert _proven(alone) == "1.0.0"


def test_a_clock_that_is_set_proves_nothing(alone: World) -> None:
    """An hour on the wall is no hour on the node."""
    _want(alone, "1.0.0")
    alone.stepped += timedelta(hours=1)
    alone.settle()
    assert _proven(alone) is None


def test_an_unproven_release_is_not_gone_back_to_when_it_was_disturbed(alone: World) -> None:
    """The next update fails before the window is over: the proven release comes back."""
    _want(alone, "1.0.0")
    _later(alone)
    alone.executor.crashing_versions.add("1.1.0")
    alone.executor.broken_versions.add("1.2.0")
    _want(alone, "1.1.0")
    alone.repository.deploy("1.2.0")
    alone.repository.push()
    for _ in range(3):
        alone.settle()
        alone.hurry()
    found = _placement(alone)
    assert (found.version, found.outcome) == ("1.0.0", Outcome.ROLLED_BACK)


def test_what_ran_undisturbed_comes_back_and_is_proven_then(alone: World) -> None:
    """An update that fails soon after another one goes back to that, whose window begins anew."""
    _want(alone, "1.0.0")
    _later(alone)
    alone.executor.broken_versions.add("1.2.0")
    _want(alone, "1.1.0")
    _want(alone, "1.2.0")
    for _ in range(3):
        alone.settle()
        alone.hurry()
    found = _placement(alone)
    assert (found.version, found.outcome, found.good_version) == (
        "1.1.0",
        Outcome.ROLLED_BACK,
        "1.0.0",
    )
    _later(alone)
    assert _proven(alone) == "1.1.0"


def test_what_was_gone_back_to_and_crashes_leads_to_the_proven_release(alone: World) -> None:
    """It had no time to prove itself either."""
    _want(alone, "1.0.0")
    _later(alone)
    alone.executor.broken_versions.add("1.2.0")
    _want(alone, "1.1.0")
    _want(alone, "1.2.0")
    for _ in range(3):
        alone.settle()
        alone.hurry()
    alone.executor.crashing_versions.add("1.1.0")
    for _ in range(4):
        _later(alone, timedelta(seconds=10))
        alone.hurry()
    found = _placement(alone)
    assert (found.state, found.version, found.outcome) == (
        State.INSTALLED,
        "1.0.0",
        Outcome.ROLLED_BACK,
    )
    calls = len(alone.executor.calls)
    _later(alone, timedelta(minutes=10))
    assert len(alone.executor.calls) == calls


def test_an_update_soon_after_the_first_install_can_go_back(alone: World) -> None:
    """Nothing is proven yet: what ran undisturbed is the best there is."""
    _want(alone, "1.0.0")
    alone.executor.crashing_versions.add("1.1.0")
    _want(alone, "1.1.0")
    for _ in range(2):
        _later(alone, timedelta(seconds=20))
    found = _placement(alone)
    assert (found.version, found.outcome) == ("1.0.0", Outcome.ROLLED_BACK)


def test_attempts_are_counted_within_the_budget(alone: World) -> None:
    """With three retries there are four attempts in all, and then it goes back."""
    _want(alone, "1.0.0")
    _later(alone)
    alone.executor.crashing_versions.add("1.1.0")
    _want(alone, "1.1.0", failure={"retries": {"health": 3}})
    for _ in range(8):
        _later(alone, timedelta(seconds=20))
        alone.hurry()
    assert _placement(alone).outcome is Outcome.ROLLED_BACK
    tried = [one for one in alone.executor.calls if one.arguments.get("version") == "1.1.0"]
    assert len(tried) == 4


def test_zero_switches_the_window_off(alone: World) -> None:
    """With `stable: 0s` a release counts as proven at INSTALLED."""
    _want(alone, "1.0.0", health={"stable": "0s"})
    assert _proven(alone) == "1.0.0"


def test_an_attempt_that_stays_healthy_proves_the_release(alone: World) -> None:
    """A release that was disturbed once runs through its attempt, and is proven by it."""
    _want(alone, "1.0.0")
    _node(alone).disturbed[STOREFRONT] = [{"detail": "web restarted once", "after": 12.0}]
    _later(alone, timedelta(seconds=20))
    found = _placement(alone)
    assert (found.state, found.outcome, found.good_version) == (
        State.INSTALLED,
        Outcome.SUCCEEDED,
        "1.0.0",
    )
    assert [call.arguments.get("prove") for call in alone.executor.calls] == [0, 60]


def test_the_end_of_a_window_is_looked_at_once(alone: World) -> None:
    """One look at that node is asked for, whatever else ticks meanwhile."""
    asked: list[frozenset[str]] = []
    alone.runner.work.reconciler._parts.look_at = asked.append
    _want(alone, "1.0.0")
    tick = alone.runner.work.reconciler.tick
    tick()
    assert asked == []
    alone.later += MINUTE
    for _ in range(3):
        tick()
    assert asked == [frozenset({"harbor-1"})]


def test_the_next_batch_does_not_wait_for_the_window(world: World) -> None:
    """The canary is INSTALLED, so the other node follows."""
    world.repository.deploy("1.0.0")
    world.repository.push()
    world.settle()
    assert set(world.versions().values()) == {"1.0.0"}


def test_what_an_earlier_version_installed_is_proven(alone: World) -> None:
    """Its row names the release as good: no window is opened for it."""
    _want(alone, "1.0.0")
    with alone.runner.ground.store.write() as tx:
        one = placements.newest(tx)[0]
        good = {"good_release": one.release, "good_version": one.version}
        transitions.note(tx, one, **good)
    alone.restart()
    alone.executor.crashing_versions.add("1.0.0")
    _later(alone)
    found = _placement(alone)
    assert (found.state, found.health) == (State.INSTALLED, "degraded")
    assert len(alone.executor.calls) == 1


def test_the_attempt_names_its_reason(alone: World) -> None:
    """INSTALLED to UPDATING has the reason `unstable`."""
    alone.executor.crashing_versions.add("1.0.0")
    _want(alone, "1.0.0")
    reasons: list[str] = []
    alone.executor.before_answer = lambda _: reasons.append(_placement(alone).reason)
    _later(alone, timedelta(seconds=20))
    assert reasons == ["unstable"]


def test_a_proof_is_no_report(alone: World) -> None:
    """Nothing of it is shown anywhere, so nothing of it travels."""
    _want(alone, "1.0.0")
    before = alone.told()
    with alone.runner.ground.store.read() as tx:
        reports = len(outbox.waiting(tx, 1000))
    _later(alone)
    assert _proven(alone) == "1.0.0"
    with alone.runner.ground.store.read() as tx:
        assert len(outbox.waiting(tx, 1000)) == reports
    assert alone.told() == before


def test_a_report_that_cannot_be_read_holds_no_other(alone: World) -> None:
    """A node that counts in words proves nothing, and nothing fails."""
    _want(alone, "1.0.0")
    _node(alone).disturbed[STOREFRONT] = ["odd"]  # type: ignore[list-item]
    _later(alone)
    assert _proven(alone) is None
    assert len(alone.executor.calls) == 1

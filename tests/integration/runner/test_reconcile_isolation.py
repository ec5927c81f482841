"""A defect of one placement does not stop the others at the site; nodes are only pretended."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from margrave import planner
from margrave.lifecycle import Kind, Outcome, State
from runner.reconcile import settlement, view
from runner.reconcile.calls import Calls
from runner.store import OperationState, Placement, operations, placements, transitions
from tests.support.repository import STOREFRONT
from tests.support.site import World

OTHER = "9d0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d99"
ENDLESS = "99999999h"
SECONDS = 99_999_999 * 3600


def want(world: World, version: str, **ours: Any) -> None:
    """Push the version of the first deployment, and 1.1.0 of another one that is well."""
    world.repository.deploy(version, **ours)
    world.repository.deploy("1.1.0", name="other", identifier=OTHER, number=7)
    world.repository.push()


def placed(world: World, deployment: str) -> dict[str, Placement]:
    """Return the newest placements of a deployment by node."""
    with world.runner.ground.store.read() as tx:
        return {one.node: one for one in placements.newest(tx) if one.deployment == deployment}


def reasons(world: World, deployment: str = STOREFRONT) -> set[tuple[str, str]]:
    """Return the waiting reasons of a deployment's placements."""
    found = [one.waiting for one in placed(world, deployment).values()]
    return {(one["for"], one["detail"]) for one in found if one}


def well(world: World, deployment: str) -> bool:
    """Return whether both of its placements are in sync and wait for nothing."""
    found = placed(world, deployment).values()
    return len(found) == 2 and all(
        (one.state, one.outcome, one.waiting) == (State.INSTALLED, Outcome.SUCCEEDED, None)
        for one in found
    )


def test_a_time_out_out_of_bounds_holds_its_own_deployment_alone(running: World) -> None:
    """It says why on its placements; what runs stays, others go on, a mended document goes on."""
    want(running, "1.1.0", health={"timeout": ENDLESS})
    running.settle()
    running.settle()
    assert running.halted() == ""
    assert well(running, OTHER)
    assert set(running.versions().values()) == {"1.0.0"}
    [(waits_for, why)] = reasons(running)
    assert waits_for == "person"
    assert "/spec/x-margrave-extensions/health/timeout" in why
    assert "is longer than a day (write such as 90s, 5m or 2h, at most 24h)" in why
    want(running, "1.1.0", health={"timeout": "24h"})
    running.settle()
    assert well(running, STOREFRONT)
    assert set(running.versions().values()) == {"1.1.0"}


def test_a_new_deployment_that_is_out_of_bounds_is_shown_with_its_reason(world: World) -> None:
    """Each of its placements is PENDING and says why; nothing was sent to a node."""
    want(world, "1.0.0", failure={"backoff": ENDLESS})
    world.settle()
    assert {one.state for one in placed(world, STOREFRONT).values()} == {State.PENDING}
    assert {waits_for for waits_for, _ in reasons(world)} == {"person"}
    assert well(world, OTHER)
    assert {call.arguments["deployment"] for call in world.executor.calls} == {OTHER}


def test_a_deployment_that_is_out_of_bounds_can_be_removed(running: World) -> None:
    """Its removal needs nothing of what is wrong with it."""
    want(running, "1.0.0", health={"timeout": ENDLESS})
    running.settle()
    running.repository.remove(f"deployments/harbor/{STOREFRONT}.yaml")
    running.repository.push()
    running.settle()
    assert {one.state for one in placed(running, STOREFRONT).values()} == {State.DELETED}


def test_an_operation_of_an_earlier_version_without_bounds_ends(running: World) -> None:
    """Its deadline lies beyond every calendar: it is called again with one that does not."""
    node = running.executor.nodes["harbor-1"]
    node.away = True
    running.repository.deploy("1.1.0")
    running.repository.push()
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    running.settle()
    with running.runner.ground.store.write() as tx:
        [one] = operations.unfinished(tx)
        operations.change(tx, one.id, deadline=SECONDS, state=OperationState.RUNNING)
    running.restart()
    node.away = False
    want(running, "1.1.0")
    running.hurry()
    running.settle()
    running.settle()
    assert well(running, OTHER)
    assert well(running, STOREFRONT)
    again = [call for call in running.executor.calls if call.operation == one.id]
    assert again[-1].deadline <= 7 * 24 * 3600


class Ill(Exception):
    """Something that nobody foresaw."""


def fails(monkeypatch: pytest.MonkeyPatch, where: object, name: str, ill: Any) -> None:
    """Let a function fail for the arguments that are ill, and do its work for all others."""
    work = getattr(where, name)

    def broken(*given: Any, **options: Any) -> Any:
        if ill(*given):
            raise Ill("with a secret in its text")
        return work(*given, **options)

    monkeypatch.setattr(where, name, broken)


STAGES = {
    "release": lambda patch, world: patch.setattr(
        world.runner.work.reconciler._parts, "release_of", _no_release
    ),
    "record": lambda patch, _: fails(
        patch, view, "standing", lambda one, *_: one.deployment == STOREFRONT
    ),
    "placing": lambda patch, _: fails(
        patch, planner, "_placed", lambda _, wanted, *__: wanted.document.id == STOREFRONT
    ),
    "plan": lambda patch, _: fails(
        patch, planner, "proposal", lambda wanted, *_: wanted.document.id == STOREFRONT
    ),
    "beginning": lambda patch, _: fails(
        patch, Calls, "arguments", lambda _, step, *__: step.deployment == STOREFRONT
    ),
}


def _no_release(document: Any) -> str:
    if document.id == STOREFRONT:
        raise Ill("with a secret in its text")
    return view.plain_release(document)


@pytest.mark.parametrize("stage", STAGES)
def test_a_defect_that_one_deployment_meets_holds_no_other(
    running: World, monkeypatch: pytest.MonkeyPatch, stage: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Its placements say so, and the log has the details once; it goes on when that is over."""
    want(running, "1.1.0", strategy={"batch": "all"})
    STAGES[stage](monkeypatch, running)
    running.settle()
    running.settle()
    assert well(running, OTHER)
    assert set(running.versions().values()) == {"1.0.0"}
    [(waits_for, why)] = reasons(running)
    assert (waits_for, why) == (
        "person",
        "Ill, which is a defect: the runner's log has the details",
    )
    stalled = [one for one in caplog.records if f"{STOREFRONT}" in one.getMessage()]
    assert 1 <= len(stalled) <= 2  # one for each node at most, not one for each tick
    assert stalled[0].exc_info
    monkeypatch.undo()
    running.settle()
    assert well(running, STOREFRONT)
    assert set(running.versions().values()) == {"1.1.0"}


@pytest.mark.full
def test_a_result_that_cannot_be_made_a_state_holds_no_other(
    running: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The placement stays at work and says why; the same call asks for the answer again."""
    fails(monkeypatch, settlement, "_runs", lambda case: case.operation.deployment == STOREFRONT)
    want(running, "1.1.0")
    running.settle()
    running.runner.work.reconciler.tick()
    assert well(running, OTHER)
    one = next(one for one in placed(running, STOREFRONT).values() if one.waiting)
    assert one.state is State.UPDATING
    assert one.waiting is not None and one.waiting["for"] == "person"
    monkeypatch.undo()
    running.later += timedelta(minutes=5)
    running.settle()
    assert well(running, STOREFRONT)
    assert [call.kind for call in running.executor.calls].count(Kind.UPDATE) == 3


def test_what_waits_cannot_be_written_for_one_and_is_for_the_others(
    running: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each placement is written by itself."""
    running.repository.deploy("1.0.0", name="other", identifier=OTHER, number=7)
    running.repository.push()
    running.settle()
    running.repository.write("sites/harbor.yaml", "paused: {reason: audit, by: ann}\n")
    want(running, "1.1.0")
    running.repository.deploy("1.2.0", name="other", identifier=OTHER, number=8)
    running.repository.push()
    fails(monkeypatch, transitions, "note", lambda _, one, **__: one.deployment == STOREFRONT)
    running.settle()
    assert {one for one, _ in reasons(running, OTHER)} == {"pause"}
    monkeypatch.undo()
    running.settle()
    assert {one for one, _ in reasons(running)} == {"pause"}


def test_a_report_that_nobody_can_read_holds_no_tick(running: World) -> None:
    """A node that tells of its workloads what makes no sense is looked at again the next time."""
    observer = running.runner.work.observer
    observer.look()
    for name, found in observer._found.items():
        workloads = [{**one, "drift": 7} for one in found.data["workloads"]]
        observer._found[name] = replace(found, data={"workloads": workloads})
    want(running, "1.1.0")
    running.runner.work.watch.look(hinted=True)
    running.runner.work.reconciler.tick()
    running.settle()
    assert well(running, OTHER)

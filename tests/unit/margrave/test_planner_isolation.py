"""What stands in the way of one deployment holds no other, and takes nothing off."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from margrave import planner
from margrave.lifecycle import Kind, Outcome, State
from margrave.planner import plan
from margrave.planning import SiteView, Standing, Waiting, Wanted
from tests.unit.margrave.making import ID, NOW, deployment, nodes

OLD, NEW = "0" * 64, "1" * 64
SECOND = "0b7c8d9e-1f20-4a31-8b42-c5d6e7f80912"


def two(**ours: Any) -> tuple[Wanted, ...]:
    """Two deployments, of which the second is well."""
    first = Wanted(deployment(), NEW, **ours)
    return first, Wanted(deployment(id=SECOND, name="second"), NEW)


def test_an_obstacle_holds_its_own_deployment_alone() -> None:
    """It is told on each node that the deployment stands on or is to stand on; nothing is begun."""
    obstacle = Waiting("secrets", detail="they cannot be read now")
    stands = Standing(
        ID, "n1", State.INSTALLED, Outcome.SUCCEEDED, release=OLD, drift="web is gone"
    )
    seen = replace(
        SiteView("harbor", NOW, (), (), nodes("n1", "n2")),
        wanted=two(obstacle=obstacle),
        standing=(stands,),
    )
    found = plan(seen).steps
    held = [one for one in found if one.deployment == ID]
    assert [(one.node, one.kind, one.waiting, one.new_placement) for one in held] == [
        ("n1", None, obstacle, False),
        ("n2", None, obstacle, True),
    ]
    assert [one.deployment for one in found if one.due] == [SECOND]


def test_an_obstacle_leaves_what_is_at_work_and_what_is_removed() -> None:
    """A call comes to its end, and what Git no longer has is taken off."""
    obstacle = Waiting("person", detail="a time-out is out of bounds")
    wanted = two(obstacle=obstacle)[:1]
    busy = Standing(ID, "n1", State.UPDATING, release=OLD, busy=True, leads_to=OLD)
    gone = Standing(SECOND, "n1", State.INSTALLED, Outcome.SUCCEEDED, release=OLD)
    seen = replace(
        SiteView("harbor", NOW, (), (), nodes("n1")), wanted=wanted, standing=(busy, gone)
    )
    assert [(one.deployment, one.kind) for one in plan(seen).steps] == [(SECOND, Kind.DELETE)]


def test_a_deployment_whose_planning_fails_is_not_taken_off_and_holds_no_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It has no steps at all, and its error comes with the plan."""

    def broken(_: object, wanted: Wanted, *others: Any) -> Any:
        if wanted.document.id == ID:
            raise ValueError("made so")
        return placed(_, wanted, *others)

    placed = planner._placed
    monkeypatch.setattr(planner, "_placed", broken)
    stands = Standing(ID, "n1", State.INSTALLED, Outcome.SUCCEEDED, release=OLD)
    seen = replace(SiteView("harbor", NOW, (), (), nodes("n1")), wanted=two(), standing=(stands,))
    found = plan(seen)
    assert {one.deployment for one in found.steps} == {SECOND}
    assert [str(error) for error in found.failed.values()] == ["made so"]

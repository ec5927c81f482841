"""Plans for releases that did not stay healthy until they were proven."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from margrave.error_classes import ErrorClass
from margrave.lifecycle import Kind, Outcome, State
from margrave.placement import Node
from margrave.planner import plan
from margrave.planning import SiteView, Standing, Step, Wanted
from tests.unit.margrave.making import CAPABLE, ID, NOW, deployment

OLD, NEW, NEWER = "a" * 64, "b" * 64, "c" * 64
RUNS = Standing(
    ID,
    "n1",
    State.INSTALLED,
    Outcome.SUCCEEDED,
    release=NEW,
    good_release=OLD,
    wanted_release=NEW,
    attempt=1,
)


def _plan(standing: Standing, wanted: str = NEW, **extensions: Any) -> tuple[Step, ...]:
    document = deployment(extensions=extensions) if extensions else deployment()
    nodes = (Node("n1", capabilities=CAPABLE),)
    return plan(SiteView("harbor", NOW, (Wanted(document, wanted),), (standing,), nodes)).steps


def test_a_release_in_its_window_rests() -> None:
    """Nothing is done before something happens."""
    assert _plan(RUNS) == ()


@pytest.mark.parametrize("drift", ["", "web is exited"])
def test_an_unstable_release_gets_another_attempt(drift: str) -> None:
    """Its attempts go on counting, and it is no heal: its failure is the release's."""
    (step,) = _plan(replace(RUNS, unstable=True, drift=drift))
    assert (step.kind, step.why, step.attempt) == (Kind.UPDATE, "unstable", 2)
    assert (step.to_release, step.prove, step.heal, step.due) == (NEW, True, False, True)


def test_the_attempt_that_fails_goes_back_to_what_the_node_runs() -> None:
    """The node has gone back within the call."""
    failed = replace(
        RUNS,
        state=State.FAILED,
        outcome=Outcome.FAILED,
        release=OLD,
        attempt=2,
        failed_kind=Kind.UPDATE,
        error=ErrorClass.HEALTH,
    )
    (step,) = _plan(failed)
    assert (step.kind, step.to_release) == (Kind.ROLLBACK, OLD)


def test_without_a_release_to_go_back_to_it_waits_for_a_person() -> None:
    """A first install that was unstable stays FAILED."""
    failed = replace(
        RUNS,
        state=State.FAILED,
        outcome=Outcome.FAILED,
        release=None,
        good_release=None,
        attempt=2,
        failed_kind=Kind.UPDATE,
        error=ErrorClass.HEALTH,
    )
    (step,) = _plan(failed)
    assert step.kind is None
    assert step.waiting is not None
    assert step.waiting.reason == "person"


def test_a_newer_release_goes_before_another_attempt() -> None:
    """What Git wants now is tried, not what failed."""
    (step,) = _plan(replace(RUNS, unstable=True), wanted=NEWER)
    assert (step.kind, step.to_release, step.prove) == (Kind.UPDATE, NEWER, False)


def test_what_was_gone_back_to_proves_itself_as_a_heal() -> None:
    """The wanted release stays quarantined."""
    back = replace(RUNS, unstable=True, outcome=Outcome.ROLLED_BACK, wanted_release=NEWER)
    (step,) = _plan(back, wanted=NEWER)
    assert (step.to_release, step.heal, step.prove) == (NEW, True, True)

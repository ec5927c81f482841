"""`requires`: what a deployment needs stands healthy at the site before it is begun there."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from margrave.lifecycle import Kind, Outcome, State
from margrave.planner import plan
from margrave.planning import SiteView, Standing, Step, Wanted
from tests.unit.margrave.making import ID, NOW, deployment, nodes

DATABASE = "0b7c8d9e-1f20-4a31-8b42-c5d6e7f80912"
OLD, NEW = "0" * 64, "1" * 64


def stands(state: State = State.INSTALLED, node: str = "n1", **changes: Any) -> Standing:
    """The database on a node."""
    well = Standing(
        DATABASE, node, state, Outcome.SUCCEEDED, "database",
        release=OLD, good_release=OLD, wanted_release=OLD,
    )  # fmt: skip
    return replace(well, **changes)


def steps(
    *standing: Standing,
    ours: Standing | None = None,
    gone: bool = False,
    database: str = OLD,
    needs: tuple[str, ...] = (),
    held: bool = False,
) -> list[Step]:
    """What is planned for the storefront, which needs a database, at a site with both."""
    store = Wanted(deployment(requires=["database"]), NEW)
    below = Wanted(deployment(id=DATABASE, name="database", requires=list(needs)), database)
    wanted = (below,) if gone else (store, below)
    there = (*standing, ours) if ours else standing
    quarantine = frozenset({(DATABASE, database)} if held else ())
    view = SiteView("harbor", NOW, wanted, there, nodes("n1"), quarantine=quarantine)
    return [one for one in plan(view).steps if one.deployment == ID]


def ours(**changes: Any) -> Standing:
    """The storefront as it runs."""
    return stands(deployment=ID, name="storefront", **changes)


@pytest.mark.parametrize(
    "there",
    [
        (),
        (stands(State.PENDING),),
        (stands(State.INSTALLING),),
        (stands(State.FAILED),),
        (stands(State.DELETED),),
        (stands(degraded=True),),
        (stands(), stands(State.UPDATING, "n2")),
    ],
    ids=["nowhere", "pending", "installing", "failed", "deleted", "ill", "on one of two"],
)
def test_who_needs_something_waits_until_it_is_healthy(there: tuple[Standing, ...]) -> None:
    """The reason names what is awaited."""
    [step] = steps(*there)
    assert step.waiting is not None
    assert step.waiting.reason == "requires"
    assert step.waiting.detail == "database is not healthy at this site yet"


def test_when_it_is_healthy_who_needs_it_begins() -> None:
    """In the same tick that learns of it."""
    [step] = steps(stands())
    assert (step.kind, step.due) == (Kind.INSTALL, True)


def test_an_update_waits_too_and_going_back_does_not() -> None:
    """What failed goes back whatever else is ill: the order is about what begins."""
    [update] = steps(stands(State.FAILED), ours=ours())
    assert (update.kind, update.due) == (Kind.UPDATE, False)
    cancelled = ours(state=State.FAILED, failed_kind=Kind.UPDATE, cancelled=True)
    cancelled = replace(cancelled, wanted_release=NEW)
    [back] = steps(stands(State.FAILED), ours=cancelled)
    assert (back.kind, back.due) == (Kind.ROLLBACK, True)


def test_what_ran_already_is_healed_however_what_it_needs_stands() -> None:
    """One ill application does not keep the others of the site down."""
    broken = ours(release=NEW, good_release=NEW, wanted_release=NEW, drift="web is gone")
    [heal] = steps(stands(State.FAILED), ours=broken)
    assert (heal.heal, heal.due) == (True, True)


def test_what_is_removed_waits_for_nobody() -> None:
    """A delete is taken up however what it needed stands."""
    [step] = steps(stands(State.FAILED), ours=ours(), gone=True)
    assert (step.kind, step.due) == (Kind.DELETE, True)


def test_what_one_commit_changes_is_updated_in_order() -> None:
    """Both run and both are wanted newer: who needs the other waits until it is through."""
    [step] = steps(stands(), ours=ours(), database=NEW)
    assert step.waiting is not None
    assert (step.waiting.reason, step.waiting.detail) == (
        "requires",
        "database is updated before it",
    )
    through = stands(release=NEW, good_release=NEW, wanted_release=NEW)
    [step] = steps(through, ours=ours(), database=NEW)
    assert (step.kind, step.due) == (Kind.UPDATE, True)


@pytest.mark.parametrize(
    ("back", "quarantined"),
    [
        (stands(outcome=Outcome.ROLLED_BACK, wanted_release=NEW), False),
        (stands(outcome=Outcome.HELD, wanted_release=NEW), False),
        (stands(outcome=Outcome.HELD), True),
    ],
    ids=["rolled back", "cancelled", "held, as it failed elsewhere"],
)
def test_what_is_held_back_is_waited_for_by_nobody(back: Standing, quarantined: bool) -> None:
    """It is healthy with what it has, and nothing more is going to happen to it."""
    [step] = steps(back, ours=ours(), database=NEW, held=quarantined)
    assert (step.kind, step.due) == (Kind.UPDATE, True)


def test_of_two_that_require_each_other_none_waits_for_the_update_of_the_other() -> None:
    """Nothing could ever begin."""
    [step] = steps(stands(), ours=ours(), database=NEW, needs=("storefront",))
    assert (step.kind, step.due) == (Kind.UPDATE, True)


def test_what_is_taken_off_a_drained_node_waits_for_nobody() -> None:
    """Its document is still there, and what it needs is ill: it goes all the same."""
    fleet = (*nodes("n1"), *nodes("n2", drain=True))
    store = Wanted(deployment(requires=["database"]), OLD)
    there = (ours(node="n1"), ours(node="n2"), stands(State.FAILED))
    found = plan(SiteView("harbor", NOW, (store,), there, fleet)).steps
    assert [
        (one.node, one.due) for one in found if one.kind is Kind.DELETE and one.deployment == ID
    ] == [("n2", True)]

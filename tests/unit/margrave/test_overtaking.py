"""What is wanted now overtakes the call that is at work for something else, when it may begin."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from margrave.documents.site import read_site
from margrave.lifecycle import Kind, Outcome, State
from margrave.planner import plan
from margrave.planning import SiteView, Standing, Step, Wanted
from tests.unit.margrave.making import ID, NOW, deployment, nodes

OLD, BROKEN, FIX = "0" * 64, "1" * 64, "2" * 64


def at_work(node: str = "n1", state: State = State.UPDATING, **changes: Any) -> Standing:
    """A node at work on the way from the old release to the broken one."""
    busy = Standing(
        ID, node, state, Outcome.PENDING, "storefront", release=OLD, good_release=OLD,
        wanted_release=BROKEN, busy=True, leads_to=BROKEN,
    )  # fmt: skip
    return replace(busy, **changes)


def rests(node: str) -> Standing:
    """A node with the old release."""
    return at_work(node, State.INSTALLED, busy=False, leads_to=None, wanted_release=OLD)


def steps(
    *standing: Standing, release: str | None = FIX, site: bytes = b"{}", **changes: Any
) -> list[Step]:
    """What is planned at a site with two nodes that wants this release, or nothing."""
    wanted = (Wanted(deployment(), release),) if release else ()
    fleet = changes.pop("nodes", nodes(*(one.node for one in standing)))
    view = SiteView("harbor", NOW, wanted, standing, fleet, document=read_site(site), **changes)
    return list(plan(view).steps)


@pytest.mark.parametrize(
    ("one", "kind"),
    [
        (at_work(), Kind.UPDATE),
        (at_work(attempt=2), Kind.UPDATE),
        (at_work(healing=True, leads_to=OLD), Kind.UPDATE),
        (at_work(state=State.INSTALLING, release=None, good_release=None), Kind.INSTALL),
    ],
    ids=["an update", "its retry", "a heal", "a first install"],
)
def test_the_newest_revision_takes_the_place_of_the_call_at_work(one: Standing, kind: Kind) -> None:
    """Whatever that call does for a release that nobody wants any more."""
    [step] = steps(one)
    assert (step.kind, step.due, step.overtakes, step.attempt) == (kind, True, True, 1)
    assert (step.to_release, step.why) == (FIX, "a newer revision is wanted")


def test_going_back_to_what_ran_before_is_a_newer_revision_too() -> None:
    """A revert in Git is the quickest fix."""
    [step] = steps(at_work(), release=OLD)
    assert (step.kind, step.to_release, step.overtakes) == (Kind.UPDATE, OLD, True)


@pytest.mark.parametrize(
    "one",
    [
        at_work(leads_to=FIX, wanted_release=FIX),
        at_work(state=State.ROLLINGBACK, leads_to=None),
        at_work(state=State.DELETING, leads_to=None),
    ],
    ids=["it is wanted", "it goes back", "it goes away"],
)
def test_what_leads_where_it_should_or_back_is_finished(one: Standing) -> None:
    """It gets no step."""
    assert steps(one) == []


CLOSED: dict[str, dict[str, Any]] = {
    "window": {"site": b'windows: [{cron: "0 2 * * *", duration: 1h}]\n'},
    "pause": {"site": b"paused: {reason: audit, by: ann}\n"},
    "lock": {"locked": "by ann"},
    "node": {"nodes": nodes("n1", active=False)},
}


@pytest.mark.parametrize("closed", CLOSED)
@pytest.mark.parametrize("release", [FIX, None], ids=["a newer one", "removed"])
def test_a_call_goes_on_while_nothing_may_begin_in_its_place(
    closed: str, release: str | None
) -> None:
    """Half an update is worse than the wrong one: what started is finished until then."""
    assert steps(at_work(), release=release, **CLOSED[closed]) == []


def test_a_quarantined_revision_overtakes_nothing() -> None:
    """It failed here before: what is at work goes on."""
    assert steps(at_work(), quarantine=frozenset({(ID, FIX)})) == []


def test_one_node_is_overtaken_first_and_the_others_wait_for_it() -> None:
    """The batch counts what overtakes like anything that begins."""
    found = steps(at_work("n1"), at_work("n2"), rests("n3"))
    assert [(one.node, one.due, one.overtakes) for one in found] == [
        ("n1", True, True),
        ("n3", False, False),
    ]


def test_what_is_removed_does_not_wait_for_its_update_to_end() -> None:
    """Nor what stands on a node that is drained."""
    [gone] = steps(at_work(), release=None)
    assert (gone.kind, gone.due, gone.overtakes, gone.why) == (
        Kind.DELETE, True, True, "removed from Git",
    )  # fmt: skip
    [drained] = steps(at_work(), release=BROKEN, nodes=nodes("n1", drain=True))
    assert (drained.kind, drained.overtakes, drained.why) == (Kind.DELETE, True, "it is drained")

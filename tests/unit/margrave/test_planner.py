"""The planner, as situations with their plan, and as promises that hold in all of them."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from margrave.documents.site import read_site
from margrave.error_classes import ErrorClass
from margrave.lifecycle import Kind, Outcome, State
from margrave.planner import plan
from margrave.planning import SiteView, Standing, Step, Wanted
from tests.unit.margrave.making import ID, NOW, deployment, nodes

OLD, NEW = "0" * 64, "1" * 64


def view(*standing: Standing, release: str = NEW, **changes: Any) -> SiteView:
    """The site harbor with two nodes and one wanted deployment."""
    ours = changes.pop("ours", {})
    wanted = () if changes.pop("gone", False) else (Wanted(deployment(**ours), release),)
    fleet = changes.pop("nodes", nodes("n1", "n2"))
    return SiteView("harbor", NOW, wanted, standing, fleet, **changes)


def runs(node: str, release: str = OLD, **changes: Any) -> Standing:
    """A placement that runs a release and is well."""
    well = Standing(
        ID, node, State.INSTALLED, Outcome.SUCCEEDED, "storefront",
        release=release, good_release=release, wanted_release=release,
    )  # fmt: skip
    return replace(well, **changes)


def failed(node: str, kind: Kind = Kind.UPDATE, **changes: Any) -> Standing:
    """A placement whose last attempt at NEW failed."""
    return runs(
        node,
        **{
            "state": State.FAILED, "outcome": Outcome.PENDING, "wanted_release": NEW,
            "failed_kind": kind, "error": ErrorClass.HEALTH, "attempt": 1, **changes,
        },
    )  # fmt: skip


def told(steps: tuple[Step, ...]) -> list[tuple[str, str | None, str | None]]:
    """Node, kind and what is waited for."""
    return [(s.node, s.kind, s.waiting.reason if s.waiting else None) for s in steps]


def test_a_canary_goes_first_and_the_rest_waits_for_it() -> None:
    """One node is changed; the others wait for the batch."""
    assert told(plan(view(runs("n1"), runs("n2"))).steps) == [
        ("n1", Kind.UPDATE, None),
        ("n2", Kind.UPDATE, "batch"),
    ]
    assert told(plan(view(runs("n1", NEW), runs("n2"))).steps) == [("n2", Kind.UPDATE, None)]


def test_what_runs_as_wanted_gets_no_step() -> None:
    """A plan applied to its own result is empty."""
    assert plan(view(runs("n1", NEW), runs("n2", NEW))).steps == ()


def test_a_new_node_gets_a_new_placement() -> None:
    """What is wanted and nowhere begins at PENDING, also while it waits."""
    steps = plan(view()).steps

    assert [(s.node, s.kind, s.new_placement) for s in steps] == [
        ("n1", Kind.INSTALL, True),
        ("n2", Kind.INSTALL, True),
    ]


def test_a_failed_update_is_retried_by_its_class_then_goes_back() -> None:
    """Health is retried once after a backoff, then the previous revision is proved."""
    later = NOW + timedelta(seconds=5)
    waiting = plan(view(failed("n1", next_attempt_at=later), runs("n2"))).steps
    spent = plan(view(failed("n1", attempt=2), runs("n2"))).steps

    assert told(waiting)[0] == ("n1", Kind.UPDATE, "backoff")
    assert told(spent)[0] == ("n1", Kind.ROLLBACK, None)
    assert spent[0].to_release == OLD


def test_a_revision_that_failed_here_is_held_elsewhere() -> None:
    """After a rollback the other nodes keep what they have, and nothing is tried again."""
    back = runs("n1", outcome=Outcome.ROLLED_BACK, wanted_release=NEW)
    steps = plan(view(back, runs("n2"), quarantine=frozenset({(ID, NEW)}))).steps

    assert [(s.node, s.kind, s.outcome) for s in steps] == [("n2", None, Outcome.HELD)]
    held = runs("n2", outcome=Outcome.HELD)
    assert plan(view(back, held, quarantine=frozenset({(ID, NEW)}))).steps == ()


def test_the_newest_revision_wins_over_retries() -> None:
    """A fix does not wait for the backoff of what it replaces, nor for its failure."""
    later = NOW + timedelta(hours=1)
    steps = plan(view(failed("n1", next_attempt_at=later), runs("n2"), release="2" * 64)).steps

    assert told(steps)[0] == ("n1", Kind.UPDATE, None)


def test_a_failed_install_stays_failed_when_its_retries_are_spent() -> None:
    """Without a previous revision there is nowhere to go back to; a person is asked for."""
    spent = failed(
        "n1", Kind.INSTALL, attempt=2, release=None, good_release=None, outcome=Outcome.FAILED
    )

    steps = plan(view(spent, nodes=nodes("n1"))).steps

    assert told(steps) == [("n1", None, "person")]


def test_the_sites_trouble_never_leads_back() -> None:
    """A registry that is away is asked again without end."""
    ill = failed("n1", error=ErrorClass.REGISTRY, attempt=99)

    assert told(plan(view(ill, nodes=nodes("n1"))).steps) == [("n1", Kind.UPDATE, None)]


def test_removed_from_git_is_taken_off() -> None:
    """Whatever state it is in, and again after a failed delete."""
    half = failed("n2", Kind.DELETE, wanted_release=None)
    steps = plan(view(runs("n1"), half, gone=True)).steps

    assert [(s.node, s.kind, s.attempt) for s in steps] == [
        ("n1", Kind.DELETE, 1),
        ("n2", Kind.DELETE, 2),
    ]


def test_a_node_that_is_back_from_a_drain_takes_nothing_from_the_one_that_runs() -> None:
    """Its delete had failed, and what moved away runs well: the delete is finished."""
    half = failed("n1", Kind.DELETE, wanted_release=None)
    ours = {"placement": {"nodes": 1}}
    steps = plan(view(half, runs("n2", NEW), ours=ours)).steps

    assert [(s.node, s.kind) for s in steps] == [("n1", Kind.DELETE)]


def test_an_offline_node_blocks_nobody() -> None:
    """It waits by itself; the canary is another one."""
    fleet = (*nodes("n1", active=False), *nodes("n2"))
    steps = plan(view(runs("n1"), runs("n2"), nodes=fleet)).steps

    assert told(steps) == [("n1", Kind.UPDATE, "node"), ("n2", Kind.UPDATE, None)]


def test_pause_and_lock_hold_new_work_with_their_reason() -> None:
    """Nothing new is started at a paused or locked site."""
    paused = read_site(b"paused: {reason: audit, by: ann}\n")
    [step, _] = plan(view(runs("n1"), runs("n2"), document=paused)).steps

    assert step.waiting is not None
    assert (step.waiting.reason, step.waiting.detail) == ("pause", "audit (ann)")
    assert told(plan(view(runs("n1"), locked="by ann")).steps)[0][2] == "lock"


def test_a_lock_says_when_it_ends() -> None:
    """So that the next look comes then."""
    end = NOW + timedelta(hours=1)
    found = plan(view(runs("n1"), locked="by ann", locked_until=end))

    assert found.next_look == end


def test_drift_is_healed_within_its_budget() -> None:
    """What a person removed comes back; too often, it waits with the reason."""
    gone = runs("n1", NEW, drift="web is missing")
    spent = replace(gone, heal_after=NOW + timedelta(minutes=3))

    assert plan(view(gone, nodes=nodes("n1"))).steps[0].heal
    assert told(plan(view(spent, nodes=nodes("n1"))).steps) == [("n1", Kind.UPDATE, "budget")]


def test_what_was_gone_back_to_is_kept_right_too() -> None:
    """After a rollback, or where the wanted revision is held, drift is healed to what runs."""
    back = runs("n1", outcome=Outcome.ROLLED_BACK, wanted_release=NEW, drift="web is missing")
    held = runs("n2", outcome=Outcome.HELD, drift="web is missing")
    steps = plan(view(back, held, quarantine=frozenset({(ID, NEW)}))).steps

    assert [(s.node, s.kind, s.heal, s.to_release) for s in steps] == [
        ("n1", Kind.UPDATE, True, OLD),
        ("n2", Kind.UPDATE, True, OLD),
    ]


def test_a_cancelled_update_goes_back_and_stays_held() -> None:
    """After a cancel the previous revision is proved; nothing is tried again by itself."""
    cancelled = failed("n1", cancelled=True)
    held = runs("n1", outcome=Outcome.HELD, wanted_release=NEW)

    assert told(plan(view(cancelled, nodes=nodes("n1"))).steps) == [("n1", Kind.ROLLBACK, None)]
    assert plan(view(held, nodes=nodes("n1"))).steps == ()


def test_a_cancelled_heal_waits_for_a_person() -> None:
    """It is not begun again at once; another revision is."""
    ill = failed("n1", healing=True, cancelled=True, wanted_release=NEW)
    [step] = plan(view(ill, nodes=nodes("n1"))).steps

    assert told((step,)) == [("n1", None, "person")]
    assert step.waiting is not None
    assert step.waiting.detail == "cancelled: retry, release or another revision goes on"
    assert told(plan(view(ill, nodes=nodes("n1"), release="2" * 64)).steps) == [
        ("n1", Kind.UPDATE, None)
    ]


def test_a_drained_node_is_emptied_with_the_reason() -> None:
    """What stands on a drained node is taken off it."""
    drained = (*nodes("n1", drain=True), *nodes("n2"))
    steps = plan(view(runs("n1", NEW), runs("n2", NEW), nodes=drained)).steps

    assert [(s.node, s.kind, s.why) for s in steps] == [("n1", Kind.DELETE, "it is drained")]


_standing = st.builds(
    Standing,
    deployment=st.just(ID),
    node=st.sampled_from(["n1", "n2", "n3"]),
    state=st.sampled_from(State),
    outcome=st.sampled_from(Outcome),
    release=st.sampled_from([None, OLD, NEW]),
    good_release=st.sampled_from([None, OLD, NEW]),
    wanted_release=st.sampled_from([None, OLD, NEW]),
    attempt=st.integers(0, 4),
    failed_kind=st.sampled_from(Kind),
    error=st.sampled_from(ErrorClass),
    cancelled=st.booleans(),
    healing=st.booleans(),
    busy=st.booleans(),
)
_sites = st.lists(_standing, unique_by=lambda one: one.node)


@given(_sites, st.booleans())
def test_a_quarantined_revision_is_never_planned(standing: list[Standing], gone: bool) -> None:
    """Whatever the site looks like, what failed here is not begun anew on another node."""
    result = plan(
        view(*standing, gone=gone, nodes=nodes("n1", "n2", "n3"), quarantine=frozenset({(ID, NEW)}))
    )
    fresh = {one.node for one in standing if one.wanted_release != NEW and not one.healing}

    assert not any(
        step.due and step.to_release == NEW and not step.heal and step.node in fresh
        for step in result.steps
        if step.kind in (Kind.INSTALL, Kind.UPDATE) and step.from_release != NEW
    )


@given(_sites, st.booleans())
def test_one_step_a_placement_and_each_with_its_reason(
    standing: list[Standing], gone: bool
) -> None:
    """No placement gets two steps, none that is at work gets any, and each says why."""
    steps = plan(view(*standing, gone=gone, nodes=nodes("n1", "n2", "n3"))).steps
    places = [step.node for step in steps]
    busy = {one.node for one in standing if one.busy}

    assert len(places) == len(set(places))
    assert not busy & set(places)
    assert all(step.why for step in steps)

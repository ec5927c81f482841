"""Which state follows a result: for every kind, every status, every error class."""

from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrave.documents.extensions import Extensions, Failure
from margrave.error_classes import POLICY, ErrorClass
from margrave.lifecycle import WORKING_STATE, Kind, Outcome, State, allowed
from runner.ports import Result, Status
from runner.reconcile.settlement import Case, settle
from runner.store.values import Operation, OperationState, Placement

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
OLD, NEW = "sha256:" + "a" * 64, "sha256:" + "b" * 64
RUNS_OLD = {"release": "a" * 64, "revision": OLD, "version": "1.0.0"}
RUNS_NEW = {"release": "b" * 64, "revision": NEW, "version": "1.1.0"}


def case(
    kind: Kind,
    status: Status,
    data: dict[str, Any] | None = None,
    *,
    attempt: int = 1,
    tries: int = 0,
    cancelled: bool = False,
    retries: dict[str, int] | None = None,
) -> Case:
    """An operation from OLD to NEW that came to this."""
    placement = Placement(
        deployment="d",
        node="n",
        incarnation=1,
        name="storefront",
        state=WORKING_STATE[kind],
        outcome=Outcome.PENDING,
        since=NOW,
        good_release="a" * 64,
        good_revision=OLD,
        good_version="1.0.0",
        tried_release="b" * 64,
        cancelled=cancelled,
        error={"class": "health", "code": "x", "message": "was ill", "cure": ""},
    )
    operation = Operation(
        id="o",
        deployment="d",
        node="n",
        incarnation=1,
        kind=kind,
        state=OperationState.RUNNING,
        reason="test",
        attempt=attempt,
        epoch=1,
        seq=7,
        deadline=60,
        started_at=NOW,
        tries=tries,
        **RUNS_NEW,
    )
    extensions = Extensions(failure=Failure(retries=retries or {}))
    return Case(
        placement,
        operation,
        Result("o", status, data or {}, NOW, NOW),
        extensions,
        NOW,
        lambda: 0.5,
    )


def error(kind: ErrorClass) -> dict[str, Any]:
    """A failure of this class, as a module tells it."""
    told = {"class": kind.value, "code": "code", "message": "what happened", "cure": "do this"}
    return {"error": told, **RUNS_OLD}


EVERY = tuple(itertools.product(Kind, Status, ErrorClass, (1, 3), (True, False)))


@pytest.mark.parametrize(("kind", "status", "cls", "attempt", "cancelled"), EVERY)
def test_every_settlement_is_a_transition_of_the_table(
    kind: Kind, status: Status, cls: ErrorClass, attempt: int, cancelled: bool
) -> None:
    """Whatever a call comes to, the runner makes no irregular transition and loses nothing."""
    data = dict(RUNS_NEW) if status is Status.OK else error(cls)
    made = settle(case(kind, status, data, attempt=attempt, cancelled=cancelled))
    if made.anew:
        assert (kind, cancelled) == (Kind.INSTALL, True)
        assert (made.to, made.operation["next_try_at"]) == (None, NOW)
        assert made.operation["arguments"] == {"deployment": "d", "volumes": "keep"}
    elif made.to is None:
        assert made.operation["state"] is OperationState.WAITING
        assert made.operation["next_try_at"] > NOW
        assert made.placement["waiting"]["for"] == "node"
    else:
        assert allowed(WORKING_STATE[kind], made.to)
        assert made.operation["ended_at"] == NOW
        assert made.operation["state"] is not OperationState.RUNNING


@given(
    st.sampled_from(Kind),
    st.sampled_from(Status),
    st.dictionaries(
        st.sampled_from(["error", "release", "revision", "version", "health", "components", "msg"]),
        st.none() | st.text(max_size=5) | st.just({}) | st.just([]),
    ),
)
def test_no_answer_of_a_node_breaks_the_runner(
    kind: Kind, status: Status, data: dict[str, Any]
) -> None:
    """A node may say anything: what cannot be understood is a defect, and ends as one."""
    if not isinstance(data.get("error"), (dict, type(None))):
        data["error"] = None
    made = settle(case(kind, status, data))
    assert made.to is None or allowed(WORKING_STATE[kind], made.to)


def test_an_update_that_went_back_tells_what_really_runs() -> None:
    """FAILED, with the revision of what runs."""
    made = settle(case(Kind.UPDATE, Status.FAILED, error(ErrorClass.HEALTH)))
    assert made.to is State.FAILED
    assert made.placement["revision"] == OLD
    assert made.placement["version"] == "1.0.0"
    assert made.placement["outcome"] is Outcome.PENDING
    assert not made.quarantine


def test_the_last_failed_attempt_is_a_failure() -> None:
    """While an attempt follows the outcome is open; after the last one it is not."""
    made = settle(case(Kind.UPDATE, Status.FAILED, error(ErrorClass.HEALTH), attempt=2))
    assert made.placement["outcome"] is Outcome.FAILED


@pytest.mark.parametrize("status", [Status.OK, Status.FAILED])
def test_what_ends_for_an_older_wish_tells_no_outcome_of_the_newer(status: Status) -> None:
    """Git was pushed to while the call was on its way: whoever waits for that has to wait on."""
    data = dict(RUNS_NEW) if status is Status.OK else error(ErrorClass.HEALTH)
    older = case(Kind.UPDATE, status, data, attempt=2)
    made = settle(replace(older, placement=replace(older.placement, commit="c" * 40)))
    assert made.placement["outcome"] is Outcome.PENDING


def test_a_rollback_that_succeeds_quarantines_what_failed() -> None:
    """INSTALLED on the old revision is never shown as success."""
    made = settle(case(Kind.ROLLBACK, Status.OK, dict(RUNS_OLD)))
    assert (made.to, made.placement["outcome"]) == (State.INSTALLED, Outcome.ROLLED_BACK)
    assert made.quarantine
    assert made.placement["error"]["message"] == "was ill"


def test_a_cancelled_update_that_went_back_is_held_not_quarantined() -> None:
    """Cancelling says nothing about the revision."""
    made = settle(case(Kind.ROLLBACK, Status.OK, dict(RUNS_OLD), cancelled=True))
    assert (made.to, made.placement["outcome"]) == (State.INSTALLED, Outcome.HELD)
    assert not made.quarantine


def test_a_call_whose_process_dies_again_and_again_ends() -> None:
    """Five times lost is the site's trouble: a new attempt follows, with a new fence."""
    assert settle(case(Kind.UPDATE, Status.LOST)).to is None
    made = settle(case(Kind.UPDATE, Status.LOST, tries=4))
    assert made.to is State.FAILED
    assert made.placement["error"]["class"] == "link"
    assert made.placement["outcome"] is Outcome.PENDING


@pytest.mark.parametrize("cls", [one for one in ErrorClass if POLICY[one].site_trouble])
def test_the_sites_trouble_leaves_the_outcome_open(cls: ErrorClass) -> None:
    """Retried without end, however often it failed."""
    made = settle(case(Kind.UPDATE, Status.FAILED, error(cls), attempt=99))
    assert made.placement["outcome"] is Outcome.PENDING
    wait = made.placement["next_attempt_at"] - NOW
    assert timedelta(seconds=240) <= wait <= timedelta(seconds=360)


def test_a_document_may_ask_for_more_retries() -> None:
    """Retries by class stand over the defaults."""
    data = error(ErrorClass.HEALTH)
    made = settle(case(Kind.UPDATE, Status.FAILED, data, attempt=2, retries={"health": 3}))
    assert made.placement["outcome"] is Outcome.PENDING


def test_another_runners_mark_is_told_apart_from_other_conflicts() -> None:
    """Only that one makes this runner stand down."""
    data = error(ErrorClass.CONFLICT)
    assert not settle(case(Kind.UPDATE, Status.FAILED, data)).other_runner
    data["error"]["code"] = "other-runner"
    assert "what happened" in settle(case(Kind.UPDATE, Status.FAILED, data)).other_runner
    data["error"]["code"] = "fence-passed"
    assert "is an older copy" in settle(case(Kind.UPDATE, Status.FAILED, data)).other_runner


@pytest.mark.parametrize(
    ("status", "to"),
    [(Status.OK, State.FAILED), (Status.LOST, None), (Status.FAILED, State.FAILED)],
)
def test_taking_off_a_cancelled_install_is_seen_through(status: Status, to: State | None) -> None:
    """Done, it is cancelled; not answered, it is called again with the same fence."""
    made = case(Kind.INSTALL, status, cancelled=True)
    arguments = {"deployment": "d", "volumes": "keep"}
    settled = settle(replace(made, operation=replace(made.operation, arguments=arguments)))
    assert (settled.to, settled.anew) == (to, False)
    if to is not None:
        assert (settled.reason, settled.placement["outcome"]) == ("cancelled", Outcome.HELD)


@pytest.mark.parametrize("status", [Status.LOST, Status.UNREACHABLE])
def test_a_call_that_was_told_to_stop_ends_cancelled_and_is_no_error(status: Status) -> None:
    """What an operator cancelled is FAILED with the reason `cancelled`, not with an error."""
    made = settle(case(Kind.UPDATE, status, cancelled=True))
    assert (made.to, made.reason) == (State.FAILED, "cancelled")
    assert made.placement["error"] is None and made.operation["error"] is None
    assert made.placement["outcome"] is Outcome.HELD


@pytest.mark.parametrize("kept", [["data"], []])
def test_a_delete_tells_whether_data_is_left_on_the_node(kept: list[str]) -> None:
    """That binds the deployment to the node, also where it was never looked at while it ran."""
    made = settle(case(Kind.DELETE, Status.OK, {"deleted": True, "volumes_kept": kept}))
    assert (made.to, made.placement["keeps_data"]) == (State.DELETED, bool(kept))

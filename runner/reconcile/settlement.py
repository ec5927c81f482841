"""Which state follows a result: a pure function, tested as a table.

A failed update has gone back within its call: the placement is FAILED with what really runs.
Unreachable and lost are no failures: nobody knows how far the call came, so the same call, with
the same fence, is made again; the node answers what it did, or finishes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from margrave import durations
from margrave.documents.extensions import Extensions
from margrave.error_classes import ErrorClass, retries_left
from margrave.lifecycle import Kind, Outcome, State
from runner.ports import Result, Status
from runner.reconcile import arguments, claims, stability
from runner.store.types import rfc3339
from runner.store.values import Operation, OperationState, Placement

Jitter = Callable[[], float]  # between 0 and 1

_LONGEST_BACKOFF: Final = 300.0
_SHORTEST_BACKOFF: Final = 1
# A node that is away is asked again soon at first: most absences are a cable or a restart.
_FIRST_RETRY: Final = 2.0
_LONGEST_RETRY: Final = 60.0
# A call whose process dies again and again is not saved by making it again.
_LOST_LIMIT: Final = 5
_NODE: Final = "node"


@dataclass(frozen=True)
class Settlement:
    """What is to be written after a result."""

    to: State | None  # None: the operation has not ended, the state stays
    reason: str
    placement: Mapping[str, Any] = field(default_factory=dict)
    operation: Mapping[str, Any] = field(default_factory=dict)
    quarantine: bool = False  # the release that was tried is not to be tried again here
    other_runner: str = ""  # another runner's mark was met: what it says
    anew: bool = False  # the operation goes on with another call, which needs a fence of its own


@dataclass(frozen=True)
class Case:
    """Everything that a settlement depends on."""

    placement: Placement
    operation: Operation
    result: Result
    extensions: Extensions
    now: datetime
    jitter: Jitter
    epoch: int = 0  # that the site is held with now

    @property
    def outlived(self) -> bool:
        """Whether a node refused a call that went out before the site was taken over: it speaks of
        a claim that is over, and the same with the epoch that holds now is another matter."""
        older = self.operation.epoch < self.epoch and self.result.status is Status.FAILED
        return older and bool(claims.refused(self.operation.node, self.error))

    @property
    def error(self) -> dict[str, Any]:
        """The error as it is told, always with all four keys."""
        told = self.result.data.get("error") or {}
        fallback = self.result.message or f"the call ended {self.result.status}"
        return {
            "class": _class_of(told).value,
            "code": str(told.get("code") or "unknown"),
            "message": str(told.get("message") or self.result.data.get("msg") or fallback),
            "cure": str(told.get("cure") or ""),
        }


def settle(case: Case) -> Settlement:
    """The one place where results become states."""
    if case.result.status in (Status.UNREACHABLE, Status.LOST) or case.outlived:
        return _not_ended(case)
    if case.result.status is Status.OK and arguments.takes_off(case.operation):
        return _cancelled(case)
    if case.result.status is Status.OK:
        return _SUCCESS[case.operation.kind](case)
    return _failed(case, case.error)


def _not_ended(case: Case) -> Settlement:
    on_its_way_off = arguments.takes_off(case.operation)
    if case.placement.cancelled and case.operation.kind is Kind.INSTALL and not on_its_way_off:
        return taking_off(case.operation, case.placement, case.now)
    if case.placement.cancelled and not on_its_way_off:
        return _cancelled(case)
    tries = case.operation.tries + 1
    if case.result.status is Status.LOST and tries >= _LOST_LIMIT:
        return _failed(case, case.error | {"class": ErrorClass.LINK.value})
    wait = min(_FIRST_RETRY * 2 ** min(tries - 1, 10), _LONGEST_RETRY)
    until = case.now + timedelta(seconds=wait * (0.8 + 0.4 * case.jitter()))
    waiting = {"for": _NODE, "until": rfc3339(until), "detail": case.error["message"]}
    return Settlement(
        to=None,
        reason=case.placement.reason,
        placement={"waiting": waiting, "error": case.error},
        operation={
            "state": OperationState.WAITING,
            "tries": tries,
            "next_try_at": until,
            "error": case.error,
        },
    )


def taking_off(operation: Operation, placement: Placement, now: datetime) -> Settlement:
    """A cancelled install has nothing to go back to: the call that takes it off also asks the one
    that is at work on the node to stop at its next safe point, over a connection of its own."""
    trace = arguments.trace_of(operation)
    goes_on = {
        "state": OperationState.WAITING,
        "next_try_at": now,
        "arguments": arguments.traced(arguments.delete_arguments(placement), trace),
        "phase": "going back",
    }
    changes = {"reason": "cancelled", "cancelled": True}
    return Settlement(None, "cancelled", changes, goes_on, anew=True)


def _cancelled(case: Case) -> Settlement:
    """It was told to stop and did: that is no error, and what runs is for the way back to tell."""
    changes = {
        "error": None,
        "waiting": None,
        "next_attempt_at": case.now,
        "outcome": _of_the_wish(case, Outcome.HELD),
    }
    return Settlement(State.FAILED, "cancelled", changes, _ended(case, OperationState.CANCELLED))


def _installed(case: Case) -> Settlement:
    """An install, an update or a heal is through; the release is good as soon as it is proven."""
    runs = _runs(case)
    good = _good(case, runs)
    healed = case.placement.healing
    words = "healed" if healed else f"{case.operation.kind} succeeded"
    kept = _keeps_outcome(case)
    outcome = case.placement.outcome if kept else _of_the_wish(case, Outcome.SUCCEEDED)
    changes = _rest(case) | runs | good | {"outcome": outcome, "cancelled": False}
    return Settlement(State.INSTALLED, words, changes, _ended(case, OperationState.SUCCEEDED))


def _good(case: Case, runs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the release to go back to from now on, where that is another one than before.

    Where none is proven, what ran before is the best there is, as long as the node keeps it.
    """
    before = case.placement
    stable = durations.parse(case.extensions.health.stable)
    if stable == 0 or arguments.proves(case.operation):
        names = ("release", "revision", "version")
        return {f"good_{name}": runs[name] for name in names}
    kept = before.revision and case.result.data.get("previous_revision") == before.revision
    if before.good_release is None and kept and before.release != runs["release"]:
        return stability.proven(before)
    return {}


def _rolled_back(case: Case) -> Settlement:
    """The previous release runs and is healthy; the one that failed is not tried again."""
    cancelled = case.placement.cancelled
    changes = _rest(case) | _runs(case) | {"cancelled": False, "error": case.placement.error}
    changes["outcome"] = Outcome.HELD if cancelled else _of_the_wish(case, Outcome.ROLLED_BACK)
    return Settlement(
        State.INSTALLED,
        "cancelled, gone back" if cancelled else "rolled back",
        changes,
        _ended(case, OperationState.SUCCEEDED),
        quarantine=not cancelled,
    )


def _deleted(case: Case) -> Settlement:
    gone = {"release": None, "revision": None, "version": None, "health": "unknown"}
    changes = _rest(case) | gone | {"outcome": Outcome.SUCCEEDED, "components": []}
    # What was left on the node is what binds the deployment to it, should it be drained.
    if "volumes_kept" in case.result.data:
        changes["keeps_data"] = bool(case.result.data["volumes_kept"])
    return Settlement(State.DELETED, "deleted", changes, _ended(case, OperationState.SUCCEEDED))


_SUCCESS: Final[Mapping[Kind, Callable[[Case], Settlement]]] = {
    Kind.INSTALL: _installed,
    Kind.UPDATE: _installed,
    Kind.ROLLBACK: _rolled_back,
    Kind.DELETE: _deleted,
}


def _failed(case: Case, error: Mapping[str, Any]) -> Settlement:
    cancelled = case.placement.cancelled
    again = retries_left(
        ErrorClass(error["class"]), case.operation.attempt, case.extensions.failure.retries
    )
    changes = {
        "error": dict(error),
        "waiting": None,
        "next_attempt_at": _next_attempt(case),
        "health": str(case.result.data.get("health") or "unknown"),
    }
    if not _keeps_outcome(case):
        outcome = _outcome_of_failure(case.operation.kind, again=again, cancelled=cancelled)
        changes["outcome"] = _of_the_wish(case, outcome)
    told = case.result.data.get("release") or case.result.data.get("revision")
    named = "release" in case.result.data or "revision" in case.result.data
    # A heal that fails leaves what runs, also where the node did not come to look at it.
    if told or (named and (not case.placement.healing or arguments.proves(case.operation))):
        changes |= _runs(case)
    state = OperationState.CANCELLED if cancelled else OperationState.FAILED
    return Settlement(
        State.FAILED,
        "cancelled" if cancelled else f"{error['class']}: {error['message']}",
        changes,
        _ended(case, state) | {"error": dict(error)},
        other_runner=claims.refused(case.operation.node, error),
    )


def _keeps_outcome(case: Case) -> bool:
    """Whether a release was healed that was gone back to: that tells nothing of the wanted one."""
    gone_back = case.placement.outcome in (Outcome.ROLLED_BACK, Outcome.HELD)
    return case.placement.healing and gone_back


def _outcome_of_failure(kind: Kind, *, again: bool, cancelled: bool) -> Outcome:
    """While an attempt follows, nothing is lost yet: pending."""
    if cancelled:
        return Outcome.HELD
    if kind is Kind.ROLLBACK:
        return Outcome.ROLLBACK_FAILED
    return Outcome.PENDING if again else Outcome.FAILED


def _of_the_wish(case: Case, outcome: Outcome) -> Outcome:
    """An outcome speaks of what Git wants now: of a wish that has been replaced while the call was
    on its way it tells nothing, and whoever waits for the newer one has to wait on."""
    replaced = case.operation.commit != case.placement.commit
    return Outcome.PENDING if replaced else outcome


def _next_attempt(case: Case) -> datetime:
    base = max(durations.parse(case.extensions.failure.backoff), _SHORTEST_BACKOFF)
    wait = min(base * 2 ** min(case.operation.attempt - 1, 10), _LONGEST_BACKOFF)
    return case.now + timedelta(seconds=wait * (0.8 + 0.4 * case.jitter()))


def _runs(case: Case) -> dict[str, Any]:
    """What really runs, as the node says; what was attempted fills in what it leaves out."""
    data = case.result.data
    ok = case.result.status is Status.OK
    release = data.get("release", case.operation.release if ok else None)
    revision = data.get("revision", case.operation.revision if ok else None)
    version = data.get("version")
    if version is None and revision is not None:
        version = _known_version(case, revision)
    return {"release": release, "revision": revision, "version": version}


def _known_version(case: Case, revision: str) -> str | None:
    for known, version in (
        (case.operation.revision, case.operation.version),
        (case.placement.good_revision, case.placement.good_version),
        (case.placement.revision, case.placement.version),
    ):
        if known == revision:
            return version
    return None


def _rest(case: Case) -> dict[str, Any]:
    """What is the same after every success."""
    data = case.result.data
    return {
        "error": None,
        "waiting": None,
        "next_attempt_at": None,
        "drift": [],
        "health": str(data.get("health") or "healthy"),
        "components": list(data.get("components") or []),
    }


def _ended(case: Case, state: OperationState) -> dict[str, Any]:
    return {
        "state": state,
        "phase": str(case.result.data.get("phase") or ""),
        "ended_at": case.result.ended,
        "next_try_at": None,
        "error": None,
    }


def _class_of(told: Mapping[str, Any]) -> ErrorClass:
    """A class that this version does not know is a defect, and handled as one."""
    try:
        return ErrorClass(told.get("class", ""))
    except ValueError:
        return ErrorClass.INTERNAL

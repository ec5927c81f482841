"""What one placement needs, by its state alone, whatever stands in the way of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from margrave.error_classes import POLICY, ErrorClass, retries_left
from margrave.gates import Cause
from margrave.lifecycle import Kind, Outcome, State
from margrave.planning import Standing, Step, Waiting, Wanted

if TYPE_CHECKING:
    from margrave.documents.extensions import Extensions

Proposal = tuple[Cause, Step] | None
SETTLED: Final = (Outcome.HELD, Outcome.ROLLED_BACK)


def proposal(wanted: Wanted, node: str, one: Standing | None, extensions: Extensions) -> Proposal:
    """What a placement needs, whatever stands in the way; None when it rests."""
    if one is not None and _rests(one, wanted.release):
        return None
    blank = Step(wanted.document.id, node, None, "", to_release=wanted.release)
    if one is None or one.state is State.DELETED:
        why = "wanted here" if one is None else "wanted here again"
        return Cause.NEW, replace(blank, kind=Kind.INSTALL, why=why, new_placement=True)
    return _BY_STATE[one.state](replace(blank, from_release=one.release), one, extensions)


def overtaking(wanted: Wanted, one: Standing) -> Proposal:
    """What is wanted now does not wait for the end of a call that is at work for another."""
    if one.leads_to in (None, wanted.release):
        return None
    kind = Kind.UPDATE if one.release or one.good_release else Kind.INSTALL
    why = "a newer revision is wanted"
    return Cause.NEW, Step(
        one.deployment, one.node, kind, why, one.release, wanted.release, overtakes=True
    )


def _rests(one: Standing, release: str) -> bool:
    """It runs as wanted and was told so: the common case, decided without making a step."""
    return (
        one.release == release
        and one.state is State.INSTALLED
        and one.outcome is Outcome.SUCCEEDED
        and not one.drift
        and not one.unstable
    )


def _pending(step: Step, one: Standing, _: Extensions) -> Proposal:
    if one.outcome is Outcome.HELD and one.wanted_release == step.to_release:
        return None  # cancelled before it began: a person or a newer one goes on
    return Cause.NEW, replace(step, kind=Kind.INSTALL, why="wanted here", attempt=one.attempt + 1)


def _installed(step: Step, one: Standing, extensions: Extensions) -> Proposal:
    if one.release != step.to_release:
        if one.wanted_release != step.to_release or one.outcome not in SETTLED:
            return Cause.NEW, replace(step, kind=Kind.UPDATE, why="wanted revision changed")
        if one.unstable:
            return _once_more(replace(step, to_release=one.release, heal=True), one)
        # Tried here and gone back, or cancelled: a person or a newer revision goes on. Until
        # then what runs is kept as it should be, like any other.
        return heal(step, one, extensions)
    if one.unstable:
        return _once_more(step, one)
    if one.drift and extensions.drift == "heal":
        return heal(step, one, extensions)
    if one.outcome is not Outcome.SUCCEEDED:
        return Cause.TOLD, replace(step, outcome=Outcome.SUCCEEDED, why="it runs already")
    return None


def _once_more(step: Step, one: Standing) -> Proposal:
    """Another attempt of a release that did not stay healthy until it was proven.

    No window holds it: what it leads to is that the release runs stable, or that it is gone.
    """
    again = replace(step, kind=Kind.UPDATE, why="unstable", attempt=one.attempt + 1, prove=True)
    return Cause.REPAIR, again


def heal(step: Step, one: Standing, extensions: Extensions) -> Proposal:
    """Put what runs right again, whichever release that is."""
    if not one.drift or extensions.drift != "heal":
        return None
    why = f"drift: {one.drift}"
    return Cause.REPAIR, replace(step, kind=Kind.UPDATE, to_release=one.release, why=why, heal=True)


def _failed(step: Step, one: Standing, extensions: Extensions) -> Proposal:
    runs = one.release or one.good_release
    if one.failed_kind is Kind.DELETE:
        # The way back leads through DELETED: what is half taken off is no ground to update.
        return Cause.RETRY, replace(
            step, kind=Kind.DELETE, why="finish the delete", attempt=one.attempt + 1
        )
    if one.wanted_release != step.to_release:
        kind = Kind.UPDATE if runs else Kind.INSTALL
        return Cause.NEW, replace(step, kind=kind, why="a newer revision is wanted")
    retry = replace(step, kind=one.failed_kind, why=f"retry after {one.error or 'a cancel'}")
    retry = replace(retry, attempt=one.attempt + 1, heal=one.healing)
    cls = one.error or ErrorClass.INTERNAL
    if one.healing:
        if one.cancelled:
            return _for_a_person(step, "cancelled")
        return Cause.REPAIR, replace(retry, to_release=runs or step.to_release)
    if not one.cancelled and retries_left(cls, one.attempt, extensions.failure.retries):
        if one.failed_kind is Kind.ROLLBACK:
            retry = replace(retry, to_release=_way_back(one))
            return Cause.REPAIR, retry
        return Cause.RETRY, retry
    return _going_back(step, one, extensions, cls)


def _going_back(step: Step, one: Standing, extensions: Extensions, cls: ErrorClass) -> Proposal:
    """Prove the previous revision, when there is one and the policy says so."""
    wanted_back = one.cancelled or (
        POLICY[cls].rolls_back and extensions.failure.then == "rollback"
    )
    back = _way_back(one)
    if one.failed_kind is Kind.UPDATE and back and wanted_back:
        why = "cancelled" if one.cancelled else f"retries are spent after {cls}"
        return Cause.REPAIR, replace(step, kind=Kind.ROLLBACK, to_release=back, why=why)
    return _for_a_person(step, "cancelled" if one.cancelled else cls)


def _way_back(one: Standing) -> str | None:
    """The release that the node has gone back to within the call, else the last proven one."""
    reverted = one.release if one.release != one.wanted_release else None
    return reverted or one.good_release


def _for_a_person(step: Step, what: str) -> Proposal:
    waiting = Waiting("person", detail=f"{what}: retry, release or another revision goes on")
    return Cause.TOLD, replace(step, why=f"{what} is not retried", waiting=waiting)


_BY_STATE: Final[Mapping[State, Callable[[Step, Standing, Extensions], Proposal]]] = {
    State.PENDING: _pending,
    State.INSTALLED: _installed,
    State.FAILED: _failed,
}

"""Waiting reasons of placements: from the steps of a plan to the stored form. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from margrave.lifecycle import WORKING, State
from margrave.planning import Step, Waiting
from runner.reconcile.stalls import WAITS_FOR, Key
from runner.store import Placement
from runner.store.resources import moment


def resting(
    standing: Mapping[tuple[str, str], Placement],
    busy: set[tuple[str, str]],
    steps: Sequence[Step],
) -> list[Placement]:
    """Return the placements that wait for nothing any more."""
    stepped = {(step.deployment, step.node) for step in steps}
    return [
        placement
        for key, placement in standing.items()
        if placement.waiting
        and key not in busy
        and key not in stepped
        and placement.state not in WORKING
    ]


def waiting_of(step: Step) -> dict[str, str | None] | None:
    """Return the waiting reason of a step in the form that a placement stores."""
    if step.waiting is None:
        return None
    until: datetime | None = step.waiting.until
    return {"for": step.waiting.reason, "until": moment(until), "detail": step.waiting.detail}


def differs(placement: Placement | None, step: Step) -> bool:
    """Return whether a step that is not due changes anything of its placement."""
    if placement is None or placement.state is State.DELETED:
        return step.new_placement
    outcome = step.outcome or placement.outcome
    return (placement.outcome, placement.waiting) != (outcome, waiting_of(step))


def with_stalled(
    steps: Sequence[Step], reasons: Mapping[Key, str], standing: Mapping[Key, Placement]
) -> list[Step]:
    """Return the steps, those of stalled placements replaced by their reason."""
    stalled = {
        key: _stalled(key, reason)
        for key, placement in standing.items()
        if placement.state is not State.DELETED
        and (reason := reasons.get(key) or reasons.get((key[0], "")))
    }
    others = [step for step in steps if (step.deployment, step.node) not in stalled]
    return [*others, *stalled.values()]


def _stalled(key: Key, reason: str) -> Step:
    deployment, node = key
    return Step(deployment, node, None, reason, waiting=Waiting(WAITS_FOR, detail=reason))

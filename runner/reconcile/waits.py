"""What placements wait for, as steps tell it and as it is written. Pure."""

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
    stepped = {(one.deployment, one.node) for one in steps}
    return [
        one
        for key, one in standing.items()
        if one.waiting and key not in busy and key not in stepped and one.state not in WORKING
    ]


def waiting_of(step: Step) -> dict[str, str | None] | None:
    """Return what a step waits for as a placement keeps it."""
    if step.waiting is None:
        return None
    until: datetime | None = step.waiting.until
    return {"for": step.waiting.reason, "until": moment(until), "detail": step.waiting.detail}


def differs(one: Placement | None, step: Step) -> bool:
    """Return whether a step that is not due changes anything of its placement."""
    if one is None or one.state is State.DELETED:
        return step.new_placement
    outcome = step.outcome or one.outcome
    return (one.outcome, one.waiting) != (outcome, waiting_of(step))


def with_stalled(
    steps: Sequence[Step], reasons: Mapping[Key, str], standing: Mapping[Key, Placement]
) -> list[Step]:
    """Return the steps, those of stalled placements replaced by their reason."""
    stalled = {
        key: _stalled(key, reason)
        for key, one in standing.items()
        if one.state is not State.DELETED
        and (reason := reasons.get(key) or reasons.get((key[0], "")))
    }
    others = [one for one in steps if (one.deployment, one.node) not in stalled]
    return [*others, *stalled.values()]


def _stalled(key: Key, reason: str) -> Step:
    deployment, node = key
    return Step(deployment, node, None, reason, waiting=Waiting(WAITS_FOR, detail=reason))

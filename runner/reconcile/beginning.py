"""What an operation begins with: its goal, its reason, what its placement notes. Pure but for one.

`new_placement` writes: a placement begins with the step that asks for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from margrave.lifecycle import Kind, Outcome
from margrave.planning import Step
from runner.reconcile import view
from runner.source import Desired
from runner.store import Operation, Placement, Transaction, transitions


@dataclass(frozen=True)
class Goal:
    """What an operation is to lead to (of a delete: what it takes off)."""

    release: str | None
    revision: str | None
    version: str | None


def reason_of(step: Step, placement: Placement, goal: Goal) -> str:
    """The reason as it is told: the planner knows releases, not what made them differ."""
    anew = step.kind is Kind.UPDATE and not step.heal and step.attempt == 1
    same = placement.revision is not None and placement.revision == goal.revision
    return "secret changed" if anew and same and placement.release != goal.release else step.why


def new_placement(tx: Transaction, step: Step, desired: Desired | None) -> Placement:
    """A placement begins at PENDING, for a document that is wanted."""
    document = desired.deployment(step.deployment) if desired else None
    assert document is not None and desired is not None, "a placement begins with a document"
    return transitions.create(
        tx,
        step.deployment,
        step.node,
        document.name,
        step.why,
        application=document.application_id,
        wanted_revision=document.revision,
        wanted_version=document.version,
        commit=desired.commit,
    )


def noted(step: Step, operation: Operation, placement: Placement, now: datetime) -> dict[str, Any]:
    """What a placement notes when an operation begins."""
    changes: dict[str, Any] = {
        "operation": operation.id,
        "kind": step.kind,
        "attempt": step.attempt,
        "waiting": None,
        "next_attempt_at": None,
        "healing": step.heal,
    }
    if step.kind in (Kind.INSTALL, Kind.UPDATE) and not step.heal:
        # The way back keeps what was tried: it tells which release is to be quarantined. A heal
        # keeps it too, so that what was tried here and gone back is not tried again after it.
        # What went wrong before is told by the attempt that it ended, not by the one that begins.
        changes |= {"tried_release": operation.release, "cancelled": False, "error": None}
    if step.kind is Kind.DELETE:
        changes["keeps_data"] = step.keeps_data
    if step.heal:
        recent = view.recent_heals(placement.heals, now)
        changes["heals"] = [*recent, now.isoformat()]
    elif step.kind is not Kind.ROLLBACK:
        changes["outcome"] = Outcome.PENDING
    return changes

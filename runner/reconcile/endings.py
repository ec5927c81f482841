"""How operations end, written down: by a result, by a cancel, or by a newer revision."""

from __future__ import annotations

from collections.abc import Sequence

from margrave.lifecycle import Kind, Outcome, State
from margrave.planning import Step
from runner.reconcile.arguments import takes_off
from runner.reconcile.settlement import Settlement, taking_off
from runner.store import (
    Operation,
    OperationState,
    Placement,
    Transaction,
    placements,
    site,
    transitions,
)
from runner.store import operations as rows
from runner.store.reporting import stand_down


def write(
    tx: Transaction, operation: Operation, placement: Placement, settlement: Settlement
) -> None:
    """What a settlement changes of the operation, its placement and the site."""
    fence = {"seq": site.take_fence_seq(tx)} if settlement.anew else {}
    rows.change(tx, operation.id, **settlement.operation, **fence)
    if settlement.to is None:
        transitions.note(tx, placement, **settlement.placement)
        return
    tried = placement.tried_release
    transitions.move(tx, placement, settlement.to, settlement.reason, **settlement.placement)
    if settlement.quarantine and tried is not None:
        revision = placement.wanted_revision or ""
        placements.put_in_quarantine(tx, operation.deployment, tried, revision, settlement.reason)
    if settlement.other_runner:
        stand_down(tx, settlement.other_runner)


def cancel(tx: Transaction, operation: Operation, placement: Placement) -> None:
    """Cancel one whose call did not end: nobody knows how far it came.

    For an update the way back tells. An install has none: it is taken off as soon as the node
    answers, however late that is.
    """
    if operation.kind is not Kind.INSTALL:
        _end(tx, operation)
        changes = {"outcome": Outcome.HELD, "waiting": None, "error": None}
        transitions.move(tx, placement, State.FAILED, "cancelled", **changes)
    elif not takes_off(operation):
        write(tx, operation, placement, taking_off(operation, placement, tx.now))


def give_way(tx: Transaction, operation: Operation) -> None:
    """A newer revision wins over a call that did not end: neither failed nor cancelled by anybody,
    so its release is neither quarantined nor held."""
    _end(tx, operation)
    placement = placements.get(tx, operation.deployment, operation.node)
    why = "a newer revision is wanted"
    transitions.move(tx, placement, State.FAILED, why, waiting=None, next_attempt_at=None)


def make_way(tx: Transaction, steps: Sequence[Step]) -> tuple[list[Step], list[str]]:
    """The steps that may begin, and the operations that gave way to them.

    A call that ended since the plan was made is overtaken by nobody: its end is planned for next.
    """
    at_work = {(one.deployment, one.node): one for one in rows.unfinished(tx)}
    free, gone = [], []
    for step in steps:
        operation = at_work.get((step.deployment, step.node))
        if step.overtakes and operation is None:
            continue
        free.append(step)
        if step.overtakes and operation is not None:
            gone.append(operation.id)
            if step.kind is Kind.DELETE:
                _end(tx, operation)
            else:
                give_way(tx, operation)
    return free, gone


def _end(tx: Transaction, operation: Operation) -> None:
    ended = {"state": OperationState.CANCELLED, "ended_at": tx.now, "next_try_at": None}
    rows.change(tx, operation.id, **ended)

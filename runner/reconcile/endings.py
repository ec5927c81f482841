"""How operations end, written down: by a result, by a cancel, or by a newer revision."""

from __future__ import annotations

from collections.abc import Container, Mapping

from margrave.lifecycle import Kind, Outcome, State
from margrave.planning import Step
from runner.reconcile.arguments import leads_on, takes_off
from runner.reconcile.settlement import Settlement, taking_off
from runner.reconcile.stalls import Stalls
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


def make_way(tx: Transaction, step: Step, operation: Operation) -> None:
    """End the operation that a step overtakes."""
    if step.kind is Kind.DELETE:
        _end(tx, operation)
    else:
        give_way(tx, operation)


def resume(tx: Transaction, stalls: Stalls) -> int:
    """After a start: what was running is to be called again; how many there are."""
    cut = [one for one in rows.unfinished(tx) if one.state is OperationState.RUNNING]
    for one in cut:
        with stalls.guard(one.deployment, one.node), tx.savepoint():
            waiting = rows.change(tx, one.id, state=OperationState.WAITING, next_try_at=tx.now)
            placement = placements.get(tx, one.deployment, one.node)
            if placement.cancelled and one.kind is not Kind.ROLLBACK:
                cancel(tx, waiting, placement)
    return len(cut)


def supersede(
    tx: Transaction, wanted: Mapping[str, str], unknown: Container[str], stalls: Stalls
) -> int:
    """End what waits for its node and leads to a release that is not wanted; how many."""
    ended = 0
    for one in rows.unfinished(tx):
        outdated = leads_on(one) and wanted.get(one.deployment) != one.release
        waits = one.state is OperationState.WAITING and one.deployment not in unknown
        if waits and outdated:
            with stalls.guard(one.deployment, one.node), tx.savepoint():
                give_way(tx, one)
                ended += 1
    return ended


def _end(tx: Transaction, operation: Operation) -> None:
    ended = {"state": OperationState.CANCELLED, "ended_at": tx.now, "next_try_at": None}
    rows.change(tx, operation.id, **ended)

"""The one way in which a placement changes, with its report in the same transaction."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from margrave.errors import Conflict
from margrave.lifecycle import TRANSITIONS, Actor, Outcome, State, allowed
from runner.store import operations, outbox, placements
from runner.store.engine import Transaction
from runner.store.resources import placement_resource
from runner.store.values import Placement


def create(
    tx: Transaction, deployment: str, node: str, name: str, reason: str, **fields: Any
) -> Placement:
    """A new placement at PENDING; a later incarnation where an earlier one is DELETED."""
    before = placements.find(tx, deployment, node)
    if before is not None and before.state is not State.DELETED:
        raise Conflict(f"{name} already has a placement on {node}")
    made = Placement(
        deployment=deployment,
        node=node,
        incarnation=before.incarnation + 1 if before else 1,
        name=name,
        state=State.PENDING,
        outcome=Outcome.PENDING,
        since=tx.now,
        reason=reason,
        # Named volumes outlive a delete: what begins again on the node finds them there.
        keeps_data=before is not None and before.keeps_data,
        **fields,
    )
    placements.write(tx, made)
    tx.order.change(made.key)
    _report(tx, made, None, State.PENDING, Actor.RUNNER, reason)
    return made


def move(tx: Transaction, placement: Placement, to: State, reason: str, **fields: Any) -> Placement:
    """Take a transition of the life cycle's table; any other is refused before it is written."""
    if not allowed(placement.state, to):
        raise Conflict(f"{placement.name} on {placement.node}: {placement.state} to {to}")
    moved = replace(placement, state=to, reason=reason, since=tx.now, **fields)
    placements.write(tx, moved)
    tx.order.change(moved.key)
    actor = TRANSITIONS[(placement.state, to)].actor
    _report(tx, moved, placement.state, to, actor, reason)
    return moved


def note(tx: Transaction, placement: Placement, **fields: Any) -> Placement:
    """Change what stands beside the state (outcome, waiting, drift …); silent when it is equal."""
    noted = replace(placement, **fields)
    if noted != placement:
        placements.write(tx, noted)
        _report(tx, noted, None, None, Actor.RUNNER, noted.reason)
    return noted


def record(tx: Transaction, placement: Placement, **fields: Any) -> None:
    """Change what the runner alone needs; nothing of it is reported."""
    placements.write(tx, replace(placement, **fields))


def _report(
    tx: Transaction,
    placement: Placement,
    frm: State | None,
    to: State | None,
    actor: Actor,
    reason: str,
) -> None:
    """`to` is null in an event that is no transition."""
    tried = operations.find(tx, placement.operation)
    data = placement_resource(placement) | {
        "from": frm,
        "to": to,
        "actor": actor,
        "reason": reason,
        "operation": placement.operation,
        "commit": placement.commit,
        "attempted_revision": tried.revision if tried else None,
        "attempted_version": tried.version if tried else None,
    }
    outbox.append(tx, "placement", data)

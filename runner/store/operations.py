"""Operations: attempts to change a placement, from begin to end."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import delete, select, update

from margrave.errors import NotFound
from runner.store import outbox
from runner.store.engine import Transaction
from runner.store.resources import operation_resource
from runner.store.rows import columns, value_of, values_of
from runner.store.schema import operations
from runner.store.values import UNFINISHED, Operation


def add(tx: Transaction, operation: Operation) -> None:
    """Begin an operation, and report it."""
    tx.connection.execute(operations.insert().values(**columns(operation)))
    outbox.append(tx, "operation", operation_resource(operation))


def numbers(tx: Transaction, identifiers: Iterable[str | None]) -> dict[str, tuple[int, int]]:
    """Return epoch and number of these operations, by id; those that were dropped are left out."""
    wanted = [identifier for identifier in identifiers if identifier]
    if not wanted:
        return {}
    query = select(*operations.c["id", "epoch", "seq"]).where(operations.c.id.in_(wanted))
    return {row.id: (row.epoch, row.seq) for row in tx.connection.execute(query)}


def find(tx: Transaction, identifier: str | None) -> Operation | None:
    """The operation, or None."""
    row = tx.connection.execute(
        select(operations).where(operations.c.id == identifier)
    ).one_or_none()
    return None if row is None else value_of(Operation, row)


def get(tx: Transaction, identifier: str) -> Operation:
    """The operation, or NotFound."""
    found = find(tx, identifier)
    if found is None:
        raise NotFound(f"no operation {identifier}")
    return found


def change(tx: Transaction, identifier: str, **changes: Any) -> Operation:
    """Set some fields; the operation after it. A change of state or phase is reported."""
    before = get(tx, identifier)
    tx.connection.execute(update(operations).where(operations.c.id == identifier).values(**changes))
    after = get(tx, identifier)
    if (before.state, before.phase) != (after.state, after.phase):
        outbox.append(tx, "operation", operation_resource(after))
    return after


def unfinished(tx: Transaction) -> tuple[Operation, ...]:
    """Operations that run or wait, oldest attempt first."""
    query = (
        select(operations)
        .where(operations.c.state.in_([state.value for state in UNFINISHED]))
        .order_by(operations.c.epoch, operations.c.seq)
    )
    return values_of(Operation, tx.connection.execute(query))


def forget_before(tx: Transaction, moment: datetime) -> int:
    """Drop operations that ended before this time; how many."""
    done = tx.connection.execute(delete(operations).where(operations.c.ended_at < moment))
    return int(done.rowcount)


def latest(tx: Transaction, limit: int) -> tuple[Operation, ...]:
    """The newest attempts first."""
    query = select(operations).order_by(operations.c.epoch.desc(), operations.c.seq.desc())
    return values_of(Operation, tx.connection.execute(query.limit(limit)))

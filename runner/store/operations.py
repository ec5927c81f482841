"""Operations: attempts to change a placement, from begin to end."""

from __future__ import annotations

from typing import Any

from sqlalchemy import select, update

from margrave.errors import NotFound
from runner.store.engine import Transaction
from runner.store.rows import columns, value_of
from runner.store.schema import operations
from runner.store.values import UNFINISHED, Operation


def add(tx: Transaction, operation: Operation) -> None:
    """Begin an operation."""
    tx.connection.execute(operations.insert().values(**columns(operation)))


def get(tx: Transaction, identifier: str) -> Operation:
    """The operation, or NotFound."""
    row = tx.connection.execute(
        select(operations).where(operations.c.id == identifier)
    ).one_or_none()
    if row is None:
        raise NotFound(f"no operation {identifier}")
    return value_of(Operation, row)


def change(tx: Transaction, identifier: str, **changes: Any) -> Operation:
    """Set some fields; the operation after it."""
    tx.connection.execute(update(operations).where(operations.c.id == identifier).values(**changes))
    return get(tx, identifier)


def unfinished(tx: Transaction) -> tuple[Operation, ...]:
    """Operations that run or wait, oldest attempt first."""
    query = (
        select(operations)
        .where(operations.c.state.in_([state.value for state in UNFINISHED]))
        .order_by(operations.c.epoch, operations.c.seq)
    )
    return tuple(value_of(Operation, row) for row in tx.connection.execute(query))


def latest(tx: Transaction, limit: int) -> tuple[Operation, ...]:
    """The newest attempts first."""
    query = select(operations).order_by(operations.c.epoch.desc(), operations.c.seq.desc())
    return tuple(value_of(Operation, row) for row in tx.connection.execute(query.limit(limit)))

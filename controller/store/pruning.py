"""Delete old history, operations and audit entries of a fleet that lives on.

Each table is read in the order of its key, a bounded number of rows in each sweep: the next sweep
goes on behind them and begins again at the end. Rows come in the order of time, so a batch without
an old row is the end.
"""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import delete, func, select

from controller.store import audit, facts
from controller.store.columns import table
from controller.store.models import AuditEntry, History, Operation
from controller.store.shapes import stamp
from controller.store.words import OperationState

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy import Column

    from controller.store import Session, Store
    from controller.store.columns import Base

KEPT: Final = 50  # newest transitions and operations of each deployment: they stay at any age
ROWS: Final = 2_000  # read or deleted at once
LOOKS: Final = 100_000  # rows of a table that one sweep looks at
_ENDED: Final = (OperationState.SUCCEEDED, OperationState.FAILED, OperationState.CANCELLED)


def history(store: Store, before: datetime) -> int:
    """Delete old transitions behind the newest of their deployment; return how many."""
    return _behind_the_newest(store, History, "at", before)


def operations(store: Store, before: datetime) -> int:
    """Delete old operations that ended, behind the newest of their deployment, with their logs."""
    return _behind_the_newest(store, Operation, "updated_at", before)


def audit_entries(store: Store, before: datetime) -> int:
    """Delete old entries of the audit but the newest; return how many.

    The hash of the last deleted entry is kept: the chain is verified from there on.
    """
    gone = 0
    while True:
        with store.write() as session:
            newest = select(func.max(AuditEntry.id)).scalar_subquery()
            query = select(AuditEntry.id, AuditEntry.at, AuditEntry.hash)
            query = query.where(AuditEntry.id < newest).order_by(AuditEntry.id).limit(ROWS)
            old = list(takewhile(lambda row: row.at < before, session.execute(query)))
            if not old:
                return gone
            known = facts.get(session, audit.PRUNED) or {"entries": 0}
            pruned = {
                "hash": old[-1].hash,
                "before": stamp(old[-1].at),
                "entries": known["entries"] + len(old),
            }
            facts.put(session, audit.PRUNED, pruned)
            delete_ids(session, AuditEntry, [row.id for row in old])
        gone += len(old)


def delete_ids(session: Session, kind: type[Base], ids: Sequence[int]) -> int:
    """Delete rows by their numbers; return how many."""
    if ids:
        session.connection().execute(delete(table(kind)).where(_key(kind).in_(ids)))
    return len(ids)


def _behind_the_newest(store: Store, kind: type[Base], at: str, before: datetime) -> int:
    gone = looked = 0
    place = f"pruning.{kind.__tablename__}"
    with store.session() as session:
        behind = (facts.get(session, place) or {"key": 0})["key"]
    ended = False
    while looked < LOOKS and not ended:
        # Read outside of the transaction that deletes: newer rows may only come to these.
        with store.session() as session:
            rows = _batch(session, kind, at, behind)
            old = [row for row in rows if row.at < before]
            keys = _superfluous(session, kind, old)
        if keys:
            with store.write() as session:
                gone += delete_ids(session, kind, keys)
        ended = len(rows) < ROWS or not old
        behind = 0 if ended else rows[-1].key
        looked += len(rows)
    with store.write() as session:
        facts.put(session, place, {"key": behind})
    return gone


def _batch(session: Session, kind: type[Base], at: str, behind: int) -> Sequence[Any]:
    key, columns = _key(kind), table(kind).columns
    query = select(key.label("key"), columns["deployment"], columns[at].label("at"))
    return session.execute(query.where(key > behind).order_by(key).limit(ROWS)).all()


def _superfluous(session: Session, kind: type[Base], old: Sequence[Any]) -> list[int]:
    """Return the keys of old rows that their deployment has enough newer ones of."""
    key, deployment = _key(kind), table(kind).columns["deployment"]
    place = func.row_number().over(partition_by=deployment, order_by=key.desc())
    ranked = (
        select(deployment.label("deployment"), key.label("key"), place.label("place"))
        .where(deployment.in_({row.deployment for row in old}))
        .subquery()
    )
    found = session.execute(
        select(ranked.c.deployment, ranked.c.key).where(ranked.c.place == KEPT + 1)
    )
    newest_to_go = {row.deployment: row.key for row in found}
    keys = [row.key for row in old if row.key <= newest_to_go.get(row.deployment, 0)]
    if kind is not Operation or not keys:
        return keys
    ended = select(Operation.number).where(Operation.number.in_(keys), Operation.state.in_(_ENDED))
    return list(session.scalars(ended))


def _key(kind: type[Base]) -> Column[Any]:
    (key,) = table(kind).primary_key.columns
    return key

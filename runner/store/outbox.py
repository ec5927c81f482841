"""What has still to be told to the controller, in order, each once."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select, update

from runner.store.engine import Transaction
from runner.store.rows import values_of
from runner.store.schema import outbox
from runner.store.site import identity_of, take_report_seq
from runner.store.values import OutboxRow


def append(tx: Transaction, kind: str, data: Mapping[str, Any]) -> int:
    """Put an event at the end; it is told once the transaction is in."""
    who = identity_of(tx)
    seq = take_report_seq(tx)
    tx.connection.execute(
        outbox.insert().values(epoch=who.epoch, seq=seq, at=tx.now, kind=kind, data=dict(data))
    )
    tx.reported = True
    return seq


def waiting(tx: Transaction, limit: int) -> tuple[OutboxRow, ...]:
    """The oldest events that nobody acknowledged, of one epoch."""
    oldest = select(func.min(outbox.c.epoch)).where(outbox.c.acked_at.is_(None))
    query = (
        select(*outbox.c["epoch", "seq", "at", "kind", "data"])
        .where(outbox.c.acked_at.is_(None), outbox.c.epoch == oldest.scalar_subquery())
        .order_by(outbox.c.seq)
        .limit(limit)
    )
    return values_of(OutboxRow, tx.connection.execute(query))


def count_waiting(tx: Transaction) -> int:
    """How many events nobody acknowledged yet."""
    query = select(func.count()).select_from(outbox).where(outbox.c.acked_at.is_(None))
    return int(tx.connection.execute(query).scalar_one())


def acknowledge(tx: Transaction, epoch: int, upto: int) -> None:
    """The controller has everything of this epoch up to and with this number."""
    tx.connection.execute(
        update(outbox)
        .where(outbox.c.epoch == epoch, outbox.c.seq <= upto, outbox.c.acked_at.is_(None))
        .values(acked_at=tx.now)
    )


def rewind(tx: Transaction, epoch: int, expected: int) -> bool:
    """Make everything from a number on waiting again; False when that is no longer kept."""
    oldest = tx.connection.execute(
        select(func.min(outbox.c.seq)).where(outbox.c.epoch == epoch)
    ).scalar()
    if oldest is None or expected < oldest:
        return False
    tx.connection.execute(
        update(outbox)
        .where(outbox.c.epoch == epoch, outbox.c.seq >= expected)
        .values(acked_at=None)
    )
    acknowledge(tx, epoch, expected - 1)
    return True


def shorten_logs(tx: Transaction, most: int) -> int:
    """Leave out the oldest log lines that wait beyond so many; how many events were shortened.

    Their numbers stay: a gap in them would stop the line. States are never left out.
    """
    # By its word in the data, which JSON in SQL need not be asked for: a shortened event is known
    # by it, and is not shortened again.
    full = [
        outbox.c.acked_at.is_(None),
        outbox.c.kind == "log",
        outbox.c.data["left_out"].as_integer().is_(None),
    ]
    count = select(func.count()).select_from(outbox).where(*full)
    beyond = int(tx.connection.execute(count).scalar_one()) - most
    if beyond <= 0:
        return 0
    oldest = select(*outbox.c["epoch", "seq", "data"]).where(*full)
    rows = tx.connection.execute(oldest.order_by(outbox.c.epoch, outbox.c.seq).limit(beyond)).all()
    for row in rows:
        number = len(row.data.get("lines") or ())
        told = f"… {number} lines are left out: the line to the controller was cut for too long"
        tx.connection.execute(
            update(outbox)
            .where(outbox.c.epoch == row.epoch, outbox.c.seq == row.seq)
            .values(data={**row.data, "lines": [told], "left_out": number})
        )
    return len(rows)


def forget_before(tx: Transaction, moment: datetime) -> int:
    """Drop acknowledged events that are older; how many."""
    done = tx.connection.execute(delete(outbox).where(outbox.c.acked_at < moment))
    return int(done.rowcount)


def drop_waiting(tx: Transaction) -> None:
    """Forget what waits: a snapshot that follows says it all."""
    tx.connection.execute(delete(outbox).where(outbox.c.acked_at.is_(None)))

"""Placements and the revisions that are quarantined here. States change in `transitions` only."""

from __future__ import annotations

from sqlalchemy import delete, func, select

from runner.store.engine import Transaction
from runner.store.rows import columns, value_of
from runner.store.schema import placements, quarantine
from runner.store.values import Placement


def newest(tx: Transaction) -> tuple[Placement, ...]:
    """Of each deployment on each node the newest incarnation."""
    last = (
        select(
            placements.c.deployment,
            placements.c.node,
            func.max(placements.c.incarnation).label("incarnation"),
        )
        .group_by(placements.c.deployment, placements.c.node)
        .subquery()
    )
    query = (
        select(placements)
        .join(
            last,
            (placements.c.deployment == last.c.deployment)
            & (placements.c.node == last.c.node)
            & (placements.c.incarnation == last.c.incarnation),
        )
        .order_by(placements.c.deployment, placements.c.node)
    )
    return tuple(value_of(Placement, row) for row in tx.connection.execute(query))


def find(tx: Transaction, deployment: str, node: str) -> Placement | None:
    """The newest incarnation of a deployment on a node, or None."""
    query = (
        select(placements)
        .where(placements.c.deployment == deployment, placements.c.node == node)
        .order_by(placements.c.incarnation.desc())
        .limit(1)
    )
    row = tx.connection.execute(query).one_or_none()
    return None if row is None else value_of(Placement, row)


def write(tx: Transaction, placement: Placement) -> None:
    """Store every field; only `transitions` calls this."""
    same = (
        (placements.c.deployment == placement.deployment)
        & (placements.c.node == placement.node)
        & (placements.c.incarnation == placement.incarnation)
    )
    values = columns(placement)
    done = tx.connection.execute(placements.update().where(same).values(**values))
    if done.rowcount == 0:
        tx.connection.execute(placements.insert().values(**values))


def quarantined(tx: Transaction) -> frozenset[tuple[str, str, str]]:
    """(deployment, revision, HMAC of its secrets) that failed here and went back."""
    rows = tx.connection.execute(select(*quarantine.c["deployment", "revision", "secrets"]))
    return frozenset((row[0], row[1], row[2]) for row in rows)


def put_in_quarantine(
    tx: Transaction, deployment: str, revision: str, why: str, secrets: str = ""
) -> None:
    """This revision is not tried again here by itself."""
    if (deployment, revision, secrets) in quarantined(tx):
        return
    tx.connection.execute(
        quarantine.insert().values(
            deployment=deployment, revision=revision, secrets=secrets, why=why, since=tx.now
        )
    )


def release(tx: Transaction, deployment: str) -> int:
    """Lift the deployment's quarantines; how many there were."""
    done = tx.connection.execute(delete(quarantine).where(quarantine.c.deployment == deployment))
    return int(done.rowcount)

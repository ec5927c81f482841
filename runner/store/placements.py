"""Placements and the revisions that are quarantined here. States change in `transitions` only."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from sqlalchemy import delete, func, select

from margrave.lifecycle import State
from runner.store.engine import Transaction
from runner.store.rows import columns, value_of, values_of
from runner.store.schema import placements, quarantine
from runner.store.values import Placement

# What is gone for longer is of no interest to plans, reports and pages. Its row stays for the
# number of its incarnation: a deployment that returns must not get one that was used.
_GONE_SHOWN: Final = timedelta(days=30)


def newest(tx: Transaction) -> tuple[Placement, ...]:
    """Of each deployment on each node the newest incarnation; not what is gone since long."""
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
        .where((placements.c.state != State.DELETED) | (placements.c.since > tx.now - _GONE_SHOWN))
        .order_by(placements.c.deployment, placements.c.node)
    )
    return values_of(Placement, tx.connection.execute(query))


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


def get(tx: Transaction, deployment: str, node: str) -> Placement:
    """The newest incarnation of one that has to be there, because an operation is about it."""
    found = find(tx, deployment, node)
    assert found is not None, "an operation has a placement"
    return found


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


def tidy(tx: Transaction) -> int:
    """Drop incarnations that a later one followed; how many. The newest keeps its number, and
    little else when it is gone since long."""
    later = placements.alias()
    followed = (
        select(later.c.incarnation)
        .where(
            later.c.deployment == placements.c.deployment,
            later.c.node == placements.c.node,
            later.c.incarnation > placements.c.incarnation,
        )
        .exists()
    )
    gone = placements.c.state == State.DELETED
    dropped = tx.connection.execute(delete(placements).where(gone, followed))
    small: dict[str, Any] = {"components": [], "drift": [], "heals": [], "error": None}
    old = placements.c.since <= tx.now - _GONE_SHOWN
    tx.connection.execute(placements.update().where(gone, old).values(**small))
    return int(dropped.rowcount)


def quarantined(tx: Transaction) -> frozenset[tuple[str, str]]:
    """(deployment, release) that failed here and went back."""
    rows = tx.connection.execute(select(*quarantine.c["deployment", "release"]))
    return frozenset((row[0], row[1]) for row in rows)


def put_in_quarantine(
    tx: Transaction, deployment: str, release: str, revision: str, why: str
) -> None:
    """This release is not tried again here by itself."""
    if (deployment, release) not in quarantined(tx):
        tx.connection.execute(
            quarantine.insert().values(
                deployment=deployment, release=release, revision=revision, why=why, since=tx.now
            )
        )


def lift_quarantine(tx: Transaction, deployment: str, but: str = "") -> int:
    """Release the deployment's quarantined releases, all but one; how many there were."""
    same = (quarantine.c.deployment == deployment) & (quarantine.c.release != but)
    return int(tx.connection.execute(delete(quarantine).where(same)).rowcount)

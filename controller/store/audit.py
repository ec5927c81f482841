"""The audit: who did what, from where, with which outcome; every entry covers the one before."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, select

from controller.store import facts
from controller.store.models import AuditEntry
from controller.store.shapes import stamp
from margrave.digest import canonical_json

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session

BEGINNING: Final = "0" * 64
PRUNED: Final = "audit.pruned"  # {entries, before, hash}: of the last entry that was deleted by age
RECENT: Final = 2000  # entries in which wrong sign-ins are looked for: no query grows with time


@dataclass(frozen=True, slots=True)
class Refusal:
    """A sign-in with a wrong password."""

    at: datetime
    target: str
    address: str | None


@dataclass(frozen=True, slots=True)
class Deed:
    """What is written down."""

    actor: str
    action: str
    target: str
    outcome: str
    address: str | None = None
    trace: str | None = None
    detail: Mapping[str, Any] = field(default_factory=dict)


def add(session: Session, deed: Deed, at: datetime) -> None:
    """Append an entry. Times are kept to the millisecond, so both databases hash alike."""
    at = at.replace(microsecond=at.microsecond // 1000 * 1000)
    query = select(AuditEntry.hash).order_by(AuditEntry.id.desc()).limit(1)
    previous = session.scalar(query) or BEGINNING
    entry = AuditEntry(
        at=at,
        actor=deed.actor,
        address=deed.address,
        action=deed.action,
        target=deed.target,
        outcome=deed.outcome,
        trace=deed.trace,
        detail=dict(deed.detail),
        previous=previous,
        hash="",
    )
    entry.hash = _hash(entry)
    session.add(entry)
    session.flush()


def refusals(session: Session, since: datetime) -> list[Refusal]:
    """Return the wrong sign-ins since then, the newest first."""
    newest = select(func.max(AuditEntry.id)).scalar_subquery()
    recent = select(AuditEntry.at, AuditEntry.target, AuditEntry.address).where(
        AuditEntry.id > newest - RECENT,
        AuditEntry.at > since,
        AuditEntry.action == "login",
        AuditEntry.outcome == "refused",
    )
    rows = session.execute(recent.order_by(AuditEntry.id.desc()))
    return [Refusal(*row) for row in rows]


def listing(
    session: Session, *, after: int | None, limit: int
) -> list[tuple[tuple[int], dict[str, Any]]]:
    """Entries, newest first."""
    query = select(AuditEntry).order_by(AuditEntry.id.desc()).limit(limit)
    if after is not None:
        query = query.where(AuditEntry.id < after)
    return [((row.id,), _shape(row)) for row in session.scalars(query)]


def verified(session: Session) -> dict[str, Any]:
    """The chain read from its beginning: {entries, newest, broken_at, pruned}.

    `broken_at` is the first entry that is not what was written, or that another one is missing
    before. That entries at the end were cut off shows only to who noted the newest hash. `pruned`
    tells how many older ones were deleted by age: the chain begins with the last one's hash.
    """
    before = facts.get(session, PRUNED)
    pruned = {key: before[key] for key in ("entries", "before")} if before else None
    previous, entries = before["hash"] if before else BEGINNING, 0
    query = select(AuditEntry).order_by(AuditEntry.id).execution_options(yield_per=1000)
    for row in session.scalars(query):
        if row.previous != previous or row.hash != _hash(row):
            found = {"entries": entries, "newest": previous, "broken_at": row.id}
            return {**found, "pruned": pruned}
        previous, entries = row.hash, entries + 1
    newest = previous if entries else None
    return {"entries": entries, "newest": newest, "broken_at": None, "pruned": pruned}


def _hash(row: AuditEntry) -> str:
    told = (row.previous, stamp(row.at), row.actor, row.address, row.action, row.target)
    return hashlib.sha256(canonical_json([*told, row.outcome, row.trace, row.detail])).hexdigest()


def _shape(row: AuditEntry) -> dict[str, Any]:
    return {
        "id": row.id,
        "at": stamp(row.at),
        "actor": row.actor,
        "address": row.address,
        "action": row.action,
        "target": row.target,
        "outcome": row.outcome,
        "request_id": row.trace,
        "detail": row.detail,
        "hash": row.hash,
    }

"""Forgetting what is older than it has to be kept; what is forgotten is deleted for real.

A little at a time, each part a transaction of its own: reports and requests get in between.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from sqlalchemy import delete, func, or_, select, tuple_

from controller.store import pruning
from controller.store.columns import table
from controller.store.models import (
    Command,
    Component,
    Deployment,
    Event,
    OperationLog,
    RejectedReport,
    Request,
    SiteToken,
    Token,
    VersionComponent,
)
from margrave.lifecycle import State

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import ColumnElement

    from controller.store import Store
    from controller.store.columns import Base

ROWS: Final = 2_000  # deleted at once: some ten milliseconds
DEPLOYMENTS: Final = 20  # the same: their placements, history and operations go with them


@dataclass(frozen=True, slots=True)
class Horizon:
    """Before these times nothing is kept."""

    events: datetime
    logs: datetime
    deleted: datetime
    history: datetime
    audit: datetime


def sweep(store: Store, horizon: Horizon) -> int:
    """Delete what is old: events, logs, unreadable reports, requests and commands that ended,
    tokens that are not valid any more, contents that no version has, deleted deployments, and of
    the others what `pruning` deletes.

    The rows that were deleted; on SQLite the disk has their space back afterwards.
    """
    # What was asked for last is told with its deployment as long as there is one.
    last = select(Deployment.request).where(Deployment.request.is_not(None))
    named = select(VersionComponent.digest)
    # The newest event stays whatever its age: ids count on from it and are never given twice.
    newest = select(func.max(Event.id)).scalar_subquery()
    ended = (Deployment.state == State.DELETED, Deployment.deleted_at < horizon.deleted)
    gone = sum(
        (
            _delete(store, Event, ROWS, Event.at < horizon.events, Event.id < newest),
            _delete(store, RejectedReport, ROWS, RejectedReport.at < horizon.events),
            _delete(store, OperationLog, ROWS, OperationLog.at < horizon.logs),
            _delete(store, Deployment, DEPLOYMENTS, *ended, Deployment.in_git.is_(False)),
            _delete(
                store, Request, ROWS, Request.ended_at < horizon.events, Request.id.not_in(last)
            ),
            _delete(store, Command, ROWS, Command.ended_at < horizon.events),
            _delete(store, Token, ROWS, _over(Token, horizon.events)),
            _delete(store, SiteToken, ROWS, _over(SiteToken, horizon.events)),
            _delete(
                store,
                Component,
                ROWS,
                Component.created_at < horizon.deleted,
                Component.digest.not_in(named),
            ),
            pruning.history(store, horizon.history),
            pruning.operations(store, horizon.history),
            pruning.audit_entries(store, horizon.audit),
        )
    )
    if gone:
        store.give_back()
    return gone


def _over(kind: type[Token | SiteToken], before: datetime) -> ColumnElement[bool]:
    """Revoked or expired before then; until then the audit's readers may look it up."""
    return or_(kind.revoked_at < before, kind.expires_at < before)


def _delete(store: Store, kind: type[Base], at_once: int, *which: ColumnElement[bool]) -> int:
    key = table(kind).primary_key.columns
    some = select(*key).where(*which).limit(at_once)
    statement = delete(table(kind)).where(tuple_(*key).in_(some))
    gone = 0
    while True:
        with store.write() as session:
            deleted = session.connection().execute(statement).rowcount
        gone += deleted
        if deleted < at_once:
            return gone

"""Queries of the stages of publishing: what each takes next, and how it is handed on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, select

from controller.store import queue, requests, turns
from controller.store.models import Deployment, Request, RequestDeployment
from controller.store.words import OPEN, RequestState

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session

_AT_WORK: Final = (*queue.INSIDE, Request.state == RequestState.PUBLISHING)


def interrupted(session: Session) -> list[str]:
    """Ids of requests that were being published when the process ended."""
    query = select(Request.id).where(*_AT_WORK, Request.commit.is_(None))
    return list(session.scalars(query.order_by(Request.number)))


def landed(session: Session) -> dict[str, str]:
    """Commits by request of those that stand in Git and are not shown yet."""
    query = select(Request.id, Request.commit).where(*_AT_WORK, Request.commit.is_not(None))
    rows = session.execute(query.order_by(Request.number))
    return {name: commit for name, commit in rows if commit is not None}


def land(session: Session, request_id: str, commit: str | None) -> None:
    """Note the commit that holds a request; it is published once that is shown."""
    row = session.scalars(select(Request).where(Request.id == request_id)).one()
    if row.state in OPEN:
        row.state, row.commit, row.error = RequestState.PUBLISHING, commit, None


def next_queued(
    session: Session, but: Iterable[str] = (), only: Collection[str] | None = None
) -> dict[str, Any] | None:
    """The request whose turn it is, as the publisher needs it; None when none is due.

    `but` are not due yet, `only` (if given) are ready. `tried`: it went back to the queue with an
    error, and its push may have come through.
    """
    rows = turns.first_of_each(session, but, only)
    return requests.as_work(session, turns.pick(session, rows)) if rows else None


def queued(session: Session) -> list[str]:
    """Ids of all requests that wait for their turn, in the order of the queue."""
    query = select(Request.id).where(Request.state == RequestState.QUEUED)
    return list(session.scalars(query.order_by(Request.rank, Request.number)))


def work(session: Session, request_id: str) -> dict[str, Any] | None:
    """A request as the publisher needs it; None when it does not wait any more."""
    query = select(Request).where(Request.id == request_id, Request.state == RequestState.QUEUED)
    row = session.scalar(query)
    return requests.as_work(session, row) if row else None


def kinds(session: Session, request_id: str) -> list[dict[str, str]]:
    """One deployment of each application, version and profile that a request concerns."""
    query = (
        select(func.min(Deployment.key))
        .join(RequestDeployment, RequestDeployment.deployment == Deployment.id)
        .join(Request, Request.number == RequestDeployment.request)
        .where(Request.id == request_id, RequestDeployment.site == Deployment.site)
        .group_by(Deployment.app, Deployment.version, Deployment.profile)
    )
    chosen = select(Deployment.id, Deployment.site).where(Deployment.key.in_(query))
    return [{"id": name, "site": site} for name, site in session.execute(chosen)]


def hold(session: Session, request_id: str, error: Mapping[str, Any], now: datetime) -> bool:
    """Note why a request waits; False when it does not wait any more."""
    row = session.scalars(select(Request).where(Request.id == request_id)).one()
    if row.state is not RequestState.QUEUED:
        return False
    requests.move(session, request_id, RequestState.QUEUED, now, error=error)
    return True

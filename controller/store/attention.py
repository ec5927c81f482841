"""Queries of what needs somebody: of each kind those that came last, and how many there are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, or_, select

from controller.store import hearing
from controller.store.freshness import NodeStatus
from controller.store.models import (
    AppSource,
    Deployment,
    Node,
    Placement,
    Request,
    RequestDeployment,
    Site,
)
from controller.store.shapes import stamp
from controller.store.words import RequestState
from margrave.lifecycle import Outcome, State

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy import SelectBase
    from sqlalchemy.orm import Session

    from controller.store.freshness import Moment

Sites = frozenset[str] | None  # those that the asker may see; None is all
Found = tuple[list[dict[str, Any]], int]  # the newest, and how many there are

TROUBLE: Final = (Outcome.FAILED, Outcome.ROLLBACK_FAILED, Outcome.ROLLED_BACK, Outcome.HELD)


def offline_nodes(session: Session, moment: Moment, only: Sites, limit: int) -> Found:
    """Nodes that do not answer, or can run nothing, at sites that are heard of."""
    columns = (Node.site, Node.name, Node.status, Node.last_seen, Node.reason)
    query = select(*columns).join(Site, Site.name == Node.site)
    query = query.where(hearing.heard(moment))
    not_active = or_(Node.status.is_(None), Node.status != NodeStatus.ACTIVE.value)
    query = query.where(or_(not_active, hearing.failing(Node)))
    if only is not None:
        query = query.where(Node.site.in_(only))
    rows = session.execute(query.order_by(Node.last_seen.desc()).limit(limit))
    told = [
        {
            "site": row.site,
            "name": row.name,
            "status": row.status or NodeStatus.OFFLINE.value,
            "reason": row.reason,
            "since": stamp(row.last_seen),
        }
        for row in rows
    ]
    return told, _number(session, query)


def refused_requests(session: Session, since: datetime, only: Sites, limit: int) -> Found:
    """Requests of late that came to nothing: {id, action, state, actor, error, since}."""
    query = select(
        Request.id, Request.action, Request.state, Request.actor, Request.error, Request.ended_at
    ).where(Request.state.in_([RequestState.FAILED, RequestState.REFUSED]))
    query = query.where(Request.ended_at >= since)
    if only is not None:
        theirs = select(RequestDeployment.request).where(RequestDeployment.site.in_(only))
        query = query.where(Request.number.in_(theirs))
    rows = session.execute(query.order_by(Request.number.desc()).limit(limit))
    told = [
        {
            "id": row.id,
            "action": row.action.value,
            "state": row.state.value,
            "actor": row.actor,
            "error": row.error or {},
            "since": stamp(row.ended_at),
        }
        for row in rows
    ]
    return told, _number(session, query)


def waiting_for_windows(session: Session, only: Sites, limit: int) -> Found:
    """Deployments that wait for a window of time to open: {id, site, name, until, since}."""
    until = func.min(Placement.waiting["until"].as_string())
    query = (
        select(Deployment.id, Deployment.site, Deployment.name, Deployment.updated_at)
        .join(Placement, Placement.deployment == Deployment.key)
        .where(Deployment.outcome == Outcome.PENDING, Deployment.state != State.DELETED)
        .where(Placement.waiting["for"].as_string() == "window")
        .group_by(Deployment.key)
    )
    if only is not None:
        query = query.where(Deployment.site.in_(only))
    newest = query.add_columns(until.label("until")).order_by(Deployment.updated_at.desc())
    told = [
        {
            "id": row.id,
            "site": row.site,
            "name": row.name,
            "until": row.until,
            "since": stamp(row.updated_at),
        }
        for row in session.execute(newest.limit(limit))
    ]
    return told, _number(session, query)


def ill_sources(session: Session) -> list[tuple[str, str]]:
    """Sources whose last sync did not come through, with the reason."""
    query = select(AppSource.name, AppSource.error).where(AppSource.error.is_not(None))
    return [(name, str(error)) for name, error in session.execute(query.order_by(AppSource.name))]


def _number(session: Session, query: SelectBase) -> int:
    return session.scalar(select(func.count()).select_from(query.subquery())) or 0

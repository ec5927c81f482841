"""Queries of requests: the queue, and what became of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select

from controller.store import deployments, events, facts, queue, turns
from controller.store.aggregate import settle
from controller.store.freshness import Moment
from controller.store.models import Deployment, Request, RequestDeployment
from controller.store.shapes import stamp
from controller.store.words import OPEN, Action, EventKind, RequestState

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session


def add(
    session: Session,
    values: Mapping[str, Any],
    concerned: Iterable[tuple[str, str]],
    now: datetime,
) -> None:
    """Store a request with the (deployment id, site) pairs that it concerns."""
    listed = list(concerned)
    row = Request(**values, documents=len(listed), created_at=now)
    session.add(row)
    session.flush()
    pairs = [
        {"request": row.number, "deployment": deployment, "site": site}
        for deployment, site in listed
    ]
    if pairs:
        session.execute(insert(RequestDeployment), pairs)
    turns.hasten(session, row.number, row.rank)
    _tell(session, row, now)


def one(session: Session, request_id: str, now: datetime) -> dict[str, Any] | None:
    """The resource of one request, or None."""
    row = session.scalar(select(Request).where(Request.id == request_id))
    return _shape(session, row, now) if row else None


def open_for(session: Session, deployment: str, site: str) -> str | None:
    """Return the id of the newest request for a deployment that has not ended, or None."""
    query = (
        select(Request.id)
        .join(RequestDeployment, RequestDeployment.request == Request.number)
        .where(RequestDeployment.deployment == deployment, RequestDeployment.site == site)
        .where(Request.state.in_(OPEN))
    )
    return session.scalar(query.order_by(Request.number.desc()).limit(1))


def waiting_with_error(session: Session, only: frozenset[str] | None, limit: int) -> list[Request]:
    """Return requests in the queue that were tried and could not be published, oldest first."""
    query = select(Request).where(Request.state == RequestState.QUEUED, *queue.INSIDE)
    if only is not None:
        theirs = select(RequestDeployment.request).where(RequestDeployment.site.in_(only))
        query = query.where(Request.number.in_(theirs))
    rows = session.scalars(query.order_by(Request.number).limit(limit))
    return [row for row in rows if row.error]


def plan_of_commit(session: Session, commit: str) -> dict[str, Any] | None:
    """The plan of the request that a commit carries; None for a person's push."""
    return session.scalar(select(Request.plan).where(Request.commit == commit).limit(1))


def sites_of(session: Session, request_id: str) -> list[str]:
    """The sites that a request concerns."""
    query = (
        select(RequestDeployment.site)
        .join(Request, Request.number == RequestDeployment.request)
        .where(Request.id == request_id)
    )
    return sorted(set(session.scalars(query)))


def concerned_by(session: Session, request_id: str) -> set[tuple[str, str]]:
    """The (deployment id, site) pairs that a request concerns."""
    query = (
        select(RequestDeployment.deployment, RequestDeployment.site)
        .join(Request, Request.number == RequestDeployment.request)
        .where(Request.id == request_id)
    )
    return {(deployment, site) for deployment, site in session.execute(query)}


def bringing(session: Session, key: int) -> Action | None:
    """What was asked for that brought the deployment's document; None for a person's push."""
    query = (
        select(Request.action)
        .join(Deployment, Deployment.request == Request.id)
        .where(Deployment.key == key)
    )
    return session.scalar(query)


def by_key(session: Session, actor: str, key: str, now: datetime) -> dict[str, Any] | None:
    """The request that an actor sent with an Idempotency-Key: {resource, body}; else None."""
    query = select(Request).where(Request.actor == actor, Request.idempotency_key == key)
    row = session.scalar(query)
    return {"resource": _shape(session, row, now), "body": row.body} if row else None


def as_work(session: Session, row: Request) -> dict[str, Any]:
    """A request as the publisher needs it."""
    return {
        "id": row.id,
        "action": row.action,
        "actor": row.actor,
        "change": row.change,
        "reason": row.reason,
        "trace": row.trace,
        "tried": row.error is not None,
        "created_at": row.created_at,
        "deployments": _concerned(session, [row.number]).get(row.number, []),
    }


def move(
    session: Session,
    request_id: str,
    state: RequestState,
    now: datetime,
    *,
    commit: str | None = None,
    error: Mapping[str, Any] | None = None,
    branch: Mapping[str, Any] | None = None,
) -> None:
    """Write a request's state; one that has ended stays as it is.

    `branch`: where it waits to be merged, kept from then on.
    """
    row = session.scalars(select(Request).where(Request.id == request_id)).one()
    if row.state not in OPEN:
        return
    row.state, row.error = state, dict(error) if error else None
    row.commit = commit or row.commit
    row.branch = dict(branch) if branch else row.branch
    row.pushing = False
    if state is RequestState.PUBLISHING and branch is None:
        row.started_at = now
    if state not in OPEN:
        row.ended_at = now
    session.flush()
    if state not in (*OPEN, RequestState.PUBLISHED):
        _give_up(session, row, now)
    _tell(session, row, now)


def last_call(session: Session, request_id: str) -> bool:
    """From here on nothing takes the request back; False when somebody did."""
    row = session.scalars(select(Request).where(Request.id == request_id)).one()
    row.pushing = row.state in OPEN
    return row.pushing


def cancel(session: Session, request_id: str, now: datetime) -> bool:
    """Take a request back; False when it has ended or its commit is on its way."""
    row = session.scalar(select(Request).where(Request.id == request_id))
    if row is None or row.state not in OPEN or row.pushing:
        return False
    move(session, request_id, RequestState.CANCELLED, now)
    return True


def _give_up(session: Session, row: Request, now: datetime) -> None:
    """Deployments that a request was to create, and that now never come, are DELETED."""
    for entry in _concerned(session, [row.number]).get(row.number, []):
        found = session.scalar(
            select(Deployment).where(
                Deployment.id == entry["id"],
                Deployment.site == entry["site"],
                Deployment.in_git.is_(False),
                Deployment.commit.is_(None),
            )
        )
        if found is not None and settle(session, found.key, now):
            session.flush()
            resource = deployments.resource(session, found.key, Moment(now))
            events.append(session, EventKind.DEPLOYMENT, resource, found.site, found.id, now)


def _concerned(session: Session, numbers: Sequence[int]) -> dict[int, list[dict[str, str]]]:
    columns = (RequestDeployment.request, RequestDeployment.deployment, RequestDeployment.site)
    query = (
        select(*columns)
        .where(RequestDeployment.request.in_(numbers))
        .order_by(RequestDeployment.site, RequestDeployment.deployment)
    )
    found: dict[int, list[dict[str, str]]] = {}
    for request, deployment, site in session.execute(query):
        found.setdefault(request, []).append({"id": deployment, "site": site})
    return found


def _shape(session: Session, row: Request, now: datetime) -> dict[str, Any]:
    concerned = _concerned(session, [row.number]).get(row.number, [])
    return shape(session, row, now, concerned, len(concerned), row.plan)


def shape(
    session: Session,
    row: Request,
    now: datetime,
    concerned: Sequence[Mapping[str, str]],
    total: int,
    plan: Mapping[str, Any] | None,
) -> dict[str, Any]:
    """Return the resource of a request, with some of its `total` deployments."""
    waits = row.state is RequestState.QUEUED
    halt = _halt(session) if waits else None
    before = _before(session, row) if waits and not (row.error or halt) else None
    place, eta = queue.place(session, row, now)
    return {
        "id": row.id,
        "action": row.action.value,
        "actor": row.actor,
        "state": row.state.value,
        "priority": row.priority.value,
        "reason": row.reason,
        "position": place,
        "eta": stamp(eta) if halt is None else None,
        "commit": row.commit,
        "branch": row.branch,
        "deployments": concerned,
        "deployments_total": total,
        "plan": plan,
        "error": row.error or halt or before,
        "trace": row.trace,
        "created_at": stamp(row.created_at),
        "ended_at": stamp(row.ended_at),
    }


def _halt(session: Session) -> dict[str, Any] | None:
    """Why nothing at all is published, as the error of what waits for it."""
    halt = facts.get(session, facts.HALT)
    if halt is None or halt.get("accepted"):
        return None
    return {"class": "", "code": "halted", "message": halt["reason"], "cure": halt["cure"]}


def _before(session: Session, row: Request) -> dict[str, Any] | None:
    """What an earlier request for the same deployment waits for, as the error of this one."""
    for name, error in turns.ahead_of(session, row.number):
        if error:
            message = f"waits behind request {name}: {error['message']}"
            cure = f"cancel the earlier request, or {error['cure'] or 'wait for it'}"
            return {"class": "", "code": "behind", "message": message, "cure": cure}
    return None


def _tell(session: Session, row: Request, now: datetime) -> None:
    resource = {key: value for key, value in _shape(session, row, now).items() if key != "plan"}
    events.append(session, EventKind.REQUEST, resource, None, None, now)

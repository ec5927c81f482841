"""Queries of the activity page: operations, requests that ended badly, changes of sites and nodes.

Each source is read newest first from the end of its table, so no query grows with history.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import and_, func, or_, select

from controller.store.models import Deployment, Event, History, Operation, Request
from controller.store.models import RequestDeployment as Concerned
from controller.store.words import EventKind, RequestState

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.orm import Session

Sites = frozenset[str] | None  # those that the reader may see; None is all

# Each row of the window costs a few microseconds for each field: a page has to come within 0.1 s.
NEWEST_EVENTS: Final = 2_000  # of sites and nodes
MOST_EVENTS: Final = 50_000  # of all kinds, among which those are found
NEWEST_TRANSITIONS: Final = 20_000
ENDED_BADLY: Final = (RequestState.FAILED, RequestState.REFUSED, RequestState.CANCELLED)
# Fields that an operator acts on; every heartbeat may bring news of the others.
FIELDS: Final = ("freshness", "status", "paused", "drain", "locked", "halted", "removed")


class Change(NamedTuple):
    """A row of one source: its key there, when it happened, and its columns."""

    key: int
    at: datetime
    values: dict[str, Any]


def operations(session: Session, only: Sites, after: int | None, limit: int) -> list[Change]:
    """Return operations with their deployment, newest first."""
    columns = (Operation, Deployment.id, Deployment.name, Deployment.version)
    query = select(*columns).join(Deployment, Deployment.key == Operation.deployment)
    query = query.order_by(Operation.number.desc()).limit(limit)
    if after is not None:
        query = query.where(Operation.number < after)
    if only is not None:
        query = query.where(Operation.site.in_(only))
    rows = session.execute(query).all()
    first = _first_transitions(session, [row.Operation for row in rows])
    return [
        Change(
            row.Operation.number,
            row.Operation.started_at or row.Operation.updated_at,
            {
                "operation": row.Operation,
                "deployment": row.id,
                "name": row.name,
                "version": first.get(row.Operation.id, (None, None))[0] or row.version,
                "reason": first.get(row.Operation.id, (None, None))[1],
            },
        )
        for row in rows
    ]


def _first_transitions(
    session: Session, rows: list[Operation]
) -> dict[str, tuple[str | None, str | None]]:
    """Return version and reason of the transition that each operation began with."""
    newest = session.scalar(select(func.max(History.id))) or 0
    query = (
        select(History.operation, History.version, History.reason)
        .where(History.id > newest - NEWEST_TRANSITIONS)
        .where(History.deployment.in_({row.deployment for row in rows}))
        .where(History.operation.in_([row.id for row in rows]))
        .order_by(History.id.desc())
    )
    return {str(row.operation): (row.version, row.reason) for row in session.execute(query)}


def requests(session: Session, only: Sites, after: int | None, limit: int) -> list[Change]:
    """Return requests that failed, were refused or were cancelled, newest first."""
    query = select(Request).where(Request.state.in_(ENDED_BADLY))
    query = query.order_by(Request.number.desc()).limit(limit)
    if after is not None:
        query = query.where(Request.number < after)
    if only is not None:
        theirs = select(Concerned.request).where(Concerned.site.in_(only))
        query = query.where(Request.number.in_(theirs))
    rows = list(session.scalars(query))
    sites: dict[int, set[str]] = {row.number: set() for row in rows}
    concerned = select(Concerned.request, Concerned.site)
    for number, site in session.execute(concerned.where(Concerned.request.in_(sites))):
        if only is None or site in only:
            sites[number].add(site)
    return [
        Change(
            row.number, row.ended_at or row.created_at, {"request": row, "sites": sites[row.number]}
        )
        for row in rows
    ]


def states(session: Session, only: Sites, after: int | None, limit: int) -> list[Change]:
    """Return events after which a site or a node was another one to an operator, newest first."""
    before = _first_looked_at(session)
    events = _with_predecessors(before, only).subquery()
    window = events.c
    differs = or_(*(_differs(window, name) for name in FIELDS))
    # Of the oldest event nobody knows what stood before; of a node's very first it is its coming.
    first = and_(window.before_id.is_(None), window.event == EventKind.NODE)
    wanted = and_(window.before_id.is_not(None), differs)
    wanted = wanted if before else or_(wanted, first)
    query = select(events).where(wanted).order_by(window.id.desc()).limit(limit)
    if after is not None:
        query = query.where(window.id < after)
    rows = session.execute(query).all()
    data = select(Event.id, Event.data).where(Event.id.in_([row.id for row in rows]))
    known = {row.id: row.data for row in session.execute(data)}
    return [_change({**row._mapping, "data": known[row.id]}) for row in rows]


def _first_looked_at(session: Session) -> int:
    """Return the event behind which sites and nodes are looked at; 0 where that is all of them."""
    newest = session.scalar(select(func.max(Event.id))) or 0
    query = select(Event.id).where(Event.event.in_([EventKind.SITE, EventKind.NODE]))
    query = query.where(Event.id > newest - MOST_EVENTS).order_by(Event.id.desc())
    return session.scalar(query.offset(NEWEST_EVENTS).limit(1)) or max(0, newest - MOST_EVENTS)


def _with_predecessors(first: int, only: Sites) -> Select[Any]:
    """Return events of sites and nodes, each with the fields of the one before it."""
    name = Event.data["name"].as_string()
    own = {field: Event.data[field].as_string().label(field) for field in FIELDS}
    order: dict[str, Any] = {"partition_by": (Event.event, Event.site, name), "order_by": Event.id}
    before = [
        func.lag(column).over(**order).label(f"before_{name}") for name, column in own.items()
    ]
    query = select(
        Event.id, Event.at, Event.event, Event.site, *own.values(), *before,
        func.lag(Event.id).over(**order).label("before_id"),
    )  # fmt: skip
    query = query.where(Event.id > first, Event.event.in_([EventKind.SITE, EventKind.NODE]))
    return query if only is None else query.where(Event.site.in_(only))


def _differs(window: Any, name: str) -> ColumnElement[bool]:
    new, old = window[name], window[f"before_{name}"]
    return func.coalesce(new, "") != func.coalesce(old, "")


def _change(row: Mapping[str, Any]) -> Change:
    known = row["before_id"] is not None
    changed = [name for name in FIELDS if row[name] != row[f"before_{name}"]]
    values = {
        "kind": row["event"].value,
        "site": row["site"],
        "data": row["data"],
        "old": {name: row[f"before_{name}"] for name in changed if known},
        "changed": changed if known else ["added"],
    }
    return Change(row["id"], row["at"], values)

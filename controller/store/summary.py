"""Queries of the fleet at a glance; none of them grows with history."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import case, func, select

from controller.store import deployments, placements
from controller.store.freshness import ACTIVE_PERIODS, STALE_PERIODS, NodeStatus
from controller.store.models import (
    AppSource,
    Deployment,
    Event,
    History,
    Node,
    Operation,
    Request,
    RequestDeployment,
    Site,
)
from controller.store.shapes import stamp
from controller.store.words import EventKind, OperationState
from margrave.lifecycle import Outcome, State

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

    from controller.store.freshness import Moment

Sites = frozenset[str] | None  # those that the asker may see; None is all
Row = tuple[tuple[int], dict[str, Any]]

TROUBLE: Final = (Outcome.FAILED, Outcome.ROLLBACK_FAILED, Outcome.ROLLED_BACK, Outcome.HELD)
# Numbers of the last days are taken from the newest rows alone: enough to see how it goes.
NEWEST_TRANSITIONS: Final = 20_000
NEWEST_OPERATIONS: Final = 1_000
NEWEST_EVENTS: Final = 20_000


def counted(session: Session, only: Sites) -> dict[str, dict[str, int]]:
    """How many deployments there are of each state and outcome."""
    found: dict[str, dict[str, int]] = {}
    for (site, state, outcome), number in deployments.by_state(session).items():
        if only is None or site in only:
            own = found.setdefault(state, {})
            own[outcome] = own.get(outcome, 0) + number
    return found


def sites(session: Session, only: Sites) -> list[dict[str, Any]]:
    """Of each site what says whether it can be relied on."""
    columns = (Site.name, Site.last_seen, Site.paused, Site.drain, Site.locked, Site.halted)
    query = select(*columns).order_by(Site.name)
    if only is not None:
        query = query.where(Site.name.in_(only))
    return [dict(row._mapping) for row in session.execute(query)]


def nodes(session: Session, moment: Moment, only: Sites) -> dict[str, int]:
    """How many nodes are active, stale and offline, as the list of nodes would say."""
    active = moment.now - moment.period * ACTIVE_PERIODS
    stale = moment.now - moment.period * STALE_PERIODS
    heard = case((Site.last_seen > active, 0), (Site.last_seen > stale, 1), else_=2)
    query = select(Node.status, heard, func.max(Site.last_seen), func.count())
    query = query.join(Site, Site.name == Node.site)
    if only is not None:
        query = query.where(Node.site.in_(only))
    found: Counter[str] = Counter(dict.fromkeys((one.value for one in NodeStatus), 0))
    for reported, _, seen, number in session.execute(query.group_by(Node.status, heard)):
        found[moment.node(reported, seen).value] += number
    return dict(found)


def in_trouble(session: Session, moment: Moment, only: Sites, limit: int) -> list[dict[str, Any]]:
    """Deployments that did not become what was wanted, the latest first, with their placements."""
    return _latest(session, moment, only, limit, TROUBLE)


def under_way(session: Session, moment: Moment, only: Sites, limit: int) -> list[dict[str, Any]]:
    """Deployments that are on their way, the latest first, with their placements."""
    return _latest(session, moment, only, limit, (Outcome.PENDING,))


def changed(session: Session, moment: Moment, only: Sites, limit: int) -> list[dict[str, Any]]:
    """Deployments that changed last, with their placements."""
    return _latest(session, moment, only, limit, tuple(Outcome))


def offline_nodes(session: Session, moment: Moment, only: Sites, limit: int) -> list[Any]:
    """Nodes that are silent at sites that are not, as (site, name, last seen)."""
    query = (
        select(Node.site, Node.name, Node.last_seen)
        .join(Site, Site.name == Node.site)
        .where(Site.last_seen > moment.now - moment.period * ACTIVE_PERIODS)
        .where(Node.status != NodeStatus.ACTIVE.value)
        .order_by(Node.last_seen.desc())
        .limit(limit)
    )
    if only is not None:
        query = query.where(Node.site.in_(only))
    return [tuple(row) for row in session.execute(query)]


def ill_sources(session: Session) -> list[tuple[str, str]]:
    """Sources whose last sync did not come through, with the reason."""
    query = select(AppSource.name, AppSource.error).where(AppSource.error.is_not(None))
    return [(name, str(error)) for name, error in session.execute(query.order_by(AppSource.name))]


def transitions(session: Session, only: Sites, limit: int) -> list[dict[str, Any]]:
    """What happened last anywhere, newest first."""
    query = (
        select(
            History.at, Deployment.id.label("deployment"), Deployment.name, Deployment.site,
            History.node, History.from_state.label("from"), History.to_state.label("to"),
            History.actor, History.reason, History.attempt, History.version, History.error,
        )
        .join(Deployment, Deployment.key == History.deployment)
        .order_by(History.id.desc())
        .limit(limit)
    )  # fmt: skip
    if only is not None:
        query = query.where(Deployment.site.in_(only))
    return [{**row._mapping, "at": stamp(row.at)} for row in session.execute(query)]


def days(session: Session, since: datetime, only: Sites) -> dict[str, dict[str, int]]:
    """By day (UTC), how often placements succeeded, went back, failed, and were deleted."""
    newest = select(func.max(History.id)).scalar_subquery()
    day = func.date(History.at)
    query = (
        select(day, History.from_state, History.to_state, func.count())
        .where(History.id > newest - NEWEST_TRANSITIONS, History.at >= since)
        .where(History.to_state.in_([State.INSTALLED, State.FAILED, State.DELETED]))
        .group_by(day, History.from_state, History.to_state)
    )
    if only is not None:
        query = query.join(Deployment, Deployment.key == History.deployment)
        query = query.where(Deployment.site.in_(only))
    found: dict[str, dict[str, int]] = {}
    for one, before, after, number in session.execute(query):
        own = found.setdefault(str(one), {})
        word = _ended(before, after)
        own[word] = own.get(word, 0) + number
    return found


def durations(session: Session, only: Sites) -> dict[str, list[float]]:
    """Seconds that the newest operations took which came through, by kind."""
    newest = select(func.max(Operation.number)).scalar_subquery()
    query = select(Operation.kind, Operation.started_at, Operation.ended_at).where(
        Operation.number > newest - NEWEST_OPERATIONS,
        Operation.state == OperationState.SUCCEEDED,
        Operation.started_at.is_not(None),
        Operation.ended_at.is_not(None),
    )
    if only is not None:
        query = query.where(Operation.site.in_(only))
    found: dict[str, list[float]] = {}
    for kind, began, ended in session.execute(query):
        if began is not None and ended is not None:
            found.setdefault(kind.value, []).append(max(0.0, (ended - began).total_seconds()))
    return found


def events(session: Session, only: Sites, *, after: int | None, limit: int) -> list[Row]:
    """Stored events but lines of logs, newest first: what streams have told."""
    query = select(Event).where(Event.event != EventKind.LOG).order_by(Event.id.desc()).limit(limit)
    if after is not None:
        query = query.where(Event.id < after)
    if only is not None:
        query = query.where(Event.site.in_(only))
    return [
        (
            (row.id,),
            {
                "id": row.id,
                "event": row.event.value,
                "at": stamp(row.at),
                "site": row.site,
                "deployment": row.deployment,
                "data": row.data,
            },
        )
        for row in session.scalars(query)
    ]


def heard(session: Session, site: str, since: datetime) -> list[tuple[datetime, str]]:
    """When a site was told to be fresh or unknown since then, oldest first, among newest events."""
    newest = select(func.max(Event.id)).scalar_subquery()
    query = (
        select(Event.at, Event.data["freshness"].as_string())
        .where(Event.id > newest - NEWEST_EVENTS, Event.at >= since)
        .where(Event.event == EventKind.SITE, Event.site == site)
        .order_by(Event.id)
    )
    return [(at, word) for at, word in session.execute(query) if word]


def progress(session: Session, request: str, only: Sites, limit: int) -> dict[str, Any]:
    """How the deployments of a request fare: numbers by outcome, and those still open first."""
    joined = (Deployment.id == RequestDeployment.deployment) & (
        Deployment.site == RequestDeployment.site
    )
    number = select(Request.number).where(Request.id == request).scalar_subquery()
    where = [RequestDeployment.request == number]
    if only is not None:
        where.append(Deployment.site.in_(only))
    tally = select(Deployment.outcome, func.count()).join(RequestDeployment, joined)
    counts = session.execute(tally.where(*where).group_by(Deployment.outcome))
    right = case((Deployment.outcome == Outcome.SUCCEEDED, 1), else_=0)
    columns = (
        Deployment.id, Deployment.name, Deployment.site, Deployment.version, Deployment.state,
        Deployment.outcome, Deployment.updated_at,
    )  # fmt: skip
    rows = select(*columns).join(RequestDeployment, joined).where(*where)
    rows = rows.order_by(right, Deployment.site, Deployment.name).limit(limit)
    return {
        "outcomes": {outcome.value: number for outcome, number in counts},
        "deployments": [
            {**row._mapping, "updated_at": stamp(row.updated_at)} for row in session.execute(rows)
        ],
    }


def _latest(
    session: Session, moment: Moment, only: Sites, limit: int, outcomes: Sequence[Outcome]
) -> list[dict[str, Any]]:
    query = select(Deployment.key).where(Deployment.state != State.DELETED)
    if len(outcomes) < len(Outcome):
        query = query.where(Deployment.outcome.in_(outcomes))
    if only is not None:
        query = query.where(Deployment.site.in_(only))
    keys = list(session.scalars(query.order_by(Deployment.updated_at.desc()).limit(limit)))
    rows = {row.key: row for row in deployments.rows(session, keys)}
    placed = placements.of_deployments(session, keys, moment)
    return [
        {
            **deployments.shape(rows[key], placed.get(key, []), moment.site(rows[key].last_seen)),
            "placements": placed.get(key, []),
        }
        for key in keys
    ]


def _ended(before: State | None, after: State) -> str:
    if after is State.INSTALLED:
        return "rolled_back" if before is State.ROLLINGBACK else "succeeded"
    return "failed" if after is State.FAILED else "deleted"

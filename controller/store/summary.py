"""Queries of the fleet at a glance; none of them grows with history."""

from __future__ import annotations

from collections import Counter
from heapq import nlargest
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import case, false, func, select

from controller.store import deployments, hearing, placements
from controller.store.freshness import ACTIVE_PERIODS, STALE_PERIODS, NodeStatus
from controller.store.models import (
    Deployment,
    History,
    Node,
    Request,
    RequestDeployment,
    Site,
)
from controller.store.shapes import stamp
from controller.store.words import COMMANDS, RequestState
from margrave.lifecycle import Freshness, Outcome, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from sqlalchemy import Select
    from sqlalchemy.orm import Session

    from controller.store.freshness import Moment

Sites = frozenset[str] | None  # those that the asker may see; None is all
Counted = dict[str, dict[str, int]]  # how many deployments, by state and outcome

# So many are sorted sooner than they are met on a walk from the latest change of all.
FEW: Final = 1_000


def counted(session: Session, only: Sites) -> Counted:
    """How many deployments there are of each state and outcome."""
    found: Counted = {}
    for state, outcome, number in _numbers(session, _standing(only)):
        found.setdefault(state, {})[outcome] = number
    return found


def unknown(session: Session, moment: Moment, only: Sites) -> dict[str, int]:
    """Of how many deployments nobody knows whether they stand as they did, by outcome."""
    lost = _standing(only).join(Site, Site.name == Deployment.site)
    lost = lost.where(hearing.unknown(moment))
    return _sums((outcome, number) for _, outcome, number in _numbers(session, lost))


def _numbers(session: Session, query: Select[int]) -> Iterator[tuple[str, str, int]]:
    """How many of these there are of each state and outcome.

    Counted by site first, in the order of an index that holds all of it: no wide row is read.
    """
    columns = (Deployment.site, Deployment.state, Deployment.outcome)
    sites = query.with_only_columns(*columns, func.count().label("number")).group_by(*columns)
    part = sites.subquery().c
    total = select(part.state, part.outcome, func.sum(part.number))
    total = total.group_by(part.state, part.outcome).order_by(part.state, part.outcome)
    for state, outcome, number in session.execute(total):
        yield state.value, outcome.value, int(number)


def sites(session: Session, only: Sites) -> list[dict[str, Any]]:
    """Of each site what says whether it can be relied on."""
    columns = (
        Site.name, Site.last_seen, Site.paused, Site.drain, Site.locked, Site.halted,
        Site.findings, Site.clock_offset,
    )  # fmt: skip
    query = select(*columns).order_by(Site.name)
    if only is not None:
        query = query.where(Site.name.in_(only))
    names = [column.key for column in columns]
    return [dict(zip(names, row, strict=True)) for row in session.execute(query)]


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


def failing_nodes(session: Session, moment: Moment, only: Sites) -> int:
    """Count the nodes whose last check failed although they still count as active."""
    query = select(func.count()).select_from(Node).join(Site, Site.name == Node.site)
    query = query.where(hearing.heard(moment), hearing.failing(Node))
    if only is not None:
        query = query.where(Node.site.in_(only))
    return session.scalar(query) or 0


def changed(session: Session, moment: Moment, only: Sites, limit: int) -> list[dict[str, Any]]:
    """Deployments that changed last, with their placements."""
    return _told(session, moment, _walked(session, _standing(only), limit))


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


def progress(
    session: Session, request: str, moment: Moment, only: Sites, limit: int
) -> dict[str, Any]:
    """Return how the deployments of a request fare.

    `outcomes` has numbers by outcome, `unknown` of how many of these nobody knows whether it still
    holds, `deployments` those first that are open. A deployment counts while its document is the
    one that this request brought; `others` is the number of those where it is not.
    """
    joined = (Deployment.id == RequestDeployment.deployment) & (
        Deployment.site == RequestDeployment.site
    )
    asked = session.execute(
        select(Request.number, Request.action, Request.state).where(Request.id == request)
    ).one()
    where = [RequestDeployment.request == asked.number]
    if only is not None:
        where.append(Deployment.site.in_(only))
    known = select(func.count()).select_from(RequestDeployment).join(Deployment, joined)
    all_known = session.scalar(known.where(*where)) or 0
    if asked.state is not RequestState.PUBLISHED:
        where.append(false())
    elif asked.action not in COMMANDS:  # a command acts on what is there
        where.append(Deployment.request == request)
    lost = case((hearing.unknown(moment), Freshness.UNKNOWN.value), else_=Freshness.FRESH.value)
    tally = select(Deployment.outcome, lost.label("freshness"), func.count())
    tally = tally.join(RequestDeployment, joined).join(Site, Site.name == Deployment.site)
    counts = session.execute(tally.where(*where).group_by(Deployment.outcome, "freshness")).all()
    right = case((Deployment.outcome == Outcome.SUCCEEDED, 1), else_=0)
    columns = (
        Deployment.id, Deployment.name, Deployment.site, Deployment.version, Deployment.state,
        Deployment.outcome, lost.label("freshness"), Deployment.updated_at,
    )  # fmt: skip
    rows = select(*columns).join(RequestDeployment, joined)
    rows = rows.join(Site, Site.name == Deployment.site).where(*where)
    rows = rows.order_by(right, Deployment.site, Deployment.name).limit(limit)
    return {
        "others": all_known - sum(number for _, _, number in counts),
        "outcomes": _sums((outcome.value, number) for outcome, _, number in counts),
        "unknown": _sums(
            (outcome.value, number)
            for outcome, fresh, number in counts
            if fresh == Freshness.UNKNOWN
        ),
        "deployments": [
            {**row._mapping, "updated_at": stamp(row.updated_at)} for row in session.execute(rows)
        ],
    }


def latest(
    session: Session,
    moment: Moment,
    only: Sites,
    limit: int,
    outcomes: Sequence[Outcome],
    counted: Counted,
) -> list[dict[str, Any]]:
    """Those of these outcomes that changed last, with their placements.

    `counted` says how many there are. Few are found by their outcome; of many the first are met
    soon on a walk through all of the fleet, the latest change first.
    """
    number = sum(own.get(one, 0) for own in counted.values() for one in outcomes)
    if not number:
        return []
    query = _standing(only).where(Deployment.outcome.in_(outcomes))
    if number > FEW:
        return _told(session, moment, _walked(session, query, limit))
    rows = session.execute(query.add_columns(Deployment.updated_at))
    found = nlargest(limit, ((changed, key) for key, changed in rows))
    return _told(session, moment, [key for _, key in found])


def _standing(only: Sites) -> Select[int]:
    """The keys of what is not gone."""
    query = select(Deployment.key).where(Deployment.state != State.DELETED)
    return query if only is None else query.where(Deployment.site.in_(only))


def _walked(session: Session, query: Select[int], limit: int) -> list[int]:
    order = (Deployment.updated_at.desc(), Deployment.key.desc())
    return list(session.scalars(query.order_by(*order).limit(limit)))


def _told(session: Session, moment: Moment, keys: list[int]) -> list[dict[str, Any]]:
    """With their placements, in this order."""
    rows = {row.key: row for row in deployments.rows(session, keys)}
    placed = placements.of_deployments(session, keys, moment)
    return [
        {
            **deployments.shape(rows[key], placed.get(key, []), moment.site(rows[key].last_seen)),
            "placements": placed.get(key, []),
        }
        for key in keys
    ]


def _sums(told: Iterable[tuple[str, int]]) -> dict[str, int]:
    found: dict[str, int] = {}
    for word, number in told:
        found[word] = found.get(word, 0) + number
    return found

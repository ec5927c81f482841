"""Queries of what happened lately, taken from the newest rows alone: no history makes them slow.

What that cannot cover is said (`days_from`, `Told.reach`): nothing is drawn that was not counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import func, select

from controller.store.models import Deployment, Event, History, Operation
from controller.store.shapes import stamp
from controller.store.words import EventKind, OperationState
from margrave.lifecycle import State

if TYPE_CHECKING:
    from datetime import datetime

    from sqlalchemy.orm import Session

Sites = frozenset[str] | None  # those that the asker may see; None is all
Row = tuple[tuple[int], dict[str, Any]]

NEWEST_TRANSITIONS: Final = 20_000
NEWEST_OPERATIONS: Final = 1_000
NEWEST_EVENTS: Final = 20_000


class Told(NamedTuple):
    """What events say of a site's freshness, and from when on they are all there (None: ever)."""

    words: list[tuple[datetime, str]]
    reach: datetime | None


def days_from(session: Session) -> datetime | None:
    """From when on all transitions are among those that days are counted from; None: ever."""
    newest = session.scalar(select(func.max(History.id))) or 0
    if newest <= NEWEST_TRANSITIONS:
        return None
    first = select(History.at).where(History.id > newest - NEWEST_TRANSITIONS)
    return session.scalar(first.order_by(History.id).limit(1))


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


def heard(session: Session, site: str, since: datetime) -> Told:
    """When a site was told to be fresh or unknown, among the newest events, oldest first.

    The one that stood at `since` comes first. What was told changes nothing until it is told
    otherwise, so silence in these events is no ignorance behind `reach`, where they begin.
    """
    newest = session.scalar(select(func.max(Event.id))) or 0
    first = newest - NEWEST_EVENTS
    word = Event.data["freshness"].as_string()
    query = select(Event.at, word).where(Event.id > first, Event.event == EventKind.SITE)
    query = query.where(Event.site == site, word.is_not(None))
    before = session.execute(query.where(Event.at < since).order_by(Event.id.desc()).limit(1)).all()
    then = session.execute(query.where(Event.at >= since).order_by(Event.id)).all()
    reach = None
    if first > 0:
        reach = session.scalar(select(Event.at).where(Event.id > first).order_by(Event.id).limit(1))
    return Told([(at, said) for at, said in (*before, *then)], reach)


def _ended(before: State | None, after: State) -> str:
    if after is State.INSTALLED:
        return "rolled_back" if before is State.ROLLINGBACK else "succeeded"
    return "failed" if after is State.FAILED else "deleted"

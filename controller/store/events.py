"""Queries of events: appended in the transaction of what they tell, read by their id."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, select

from controller.store import bulk, operations
from controller.store.models import Event
from controller.store.shapes import stamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

    from controller.store.words import EventKind

TOLD: Final = "margrave_told"  # in session.info: this transaction stores events


def append(
    session: Session,
    kind: EventKind,
    data: Mapping[str, Any],
    site: str | None,
    deployment: str | None,
    now: datetime,
) -> None:
    """Store an event; `data` is the resource, to which the time is added where it has none."""
    append_all(session, [row(kind, data, site, deployment, now)])


def append_all(session: Session, rows: Sequence[Mapping[str, Any]]) -> None:
    """Store events in this order; each made by `row`."""
    if rows:
        session.info[TOLD] = True
        bulk.append(session, Event, rows)


def row(
    kind: EventKind,
    data: Mapping[str, Any],
    site: str | None,
    deployment: str | None,
    now: datetime,
) -> dict[str, Any]:
    """An event by column names."""
    return {
        "event": kind,
        "at": now,
        "data": {**data, "at": data.get("at") or stamp(now)},
        "site": site,
        "deployment": deployment,
    }


def newest_id(session: Session) -> int:
    """The newest event's id, 0 before the first."""
    return session.scalar(select(func.max(Event.id))) or 0


def oldest_id(session: Session) -> int:
    """The oldest event's id that is kept, 0 when none is."""
    return session.scalar(select(func.min(Event.id))) or 0


def since(session: Session, after: int, limit: int) -> list[dict[str, Any]]:
    """Events behind an id, in order: id, event, data, site, deployment."""
    columns = (Event.id, Event.event, Event.data, Event.site, Event.deployment)
    query = select(*columns).where(Event.id > after).order_by(Event.id).limit(limit)
    found = [{**row._mapping, "event": row.event.value} for row in session.execute(query)]
    _with_lines(session, found)
    return found


def _with_lines(session: Session, found: Sequence[dict[str, Any]]) -> None:
    """Lines of logs stand once, compressed, in the log; an event says which ones."""
    logs = [one for one in found if "chunk" in one["data"]]
    pieces = {(one["data"]["operation"], one["data"]["chunk"]) for one in logs}
    kept = operations.lines_of(session, pieces) if pieces else {}
    for one in logs:
        data = dict(one["data"])
        text = kept.get((data["operation"], data.pop("chunk")), b"")
        one["data"] = {**data, "lines": text.decode("utf-8", "replace").splitlines()}

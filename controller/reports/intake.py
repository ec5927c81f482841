"""Taking reports in: in order, each exactly once, whatever a batch holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from pydantic import TypeAdapter, ValidationError

from controller.reports import placed
from controller.reports.messages import EventKind, Time
from controller.reports.placed import Told
from controller.reports.told import HANDLERS
from controller.store import fleet, reports
from controller.store.freshness import Moment
from controller.store.reports import Line
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.reports.messages import Batch, ReportedEvent
    from controller.store import Session, Store

PROTOCOL: Final = 1
_TIME: Final[TypeAdapter[datetime]] = TypeAdapter(Time)
_OLDEST: Final = datetime(2000, 1, 1, tzinfo=UTC)


class Gap(MargraveError):
    """Events are missing before the first of a batch."""

    def __init__(self, expected: int) -> None:
        super().__init__(
            f"events are missing: {expected} comes next", "send from there, or a snapshot"
        )
        self.expected = expected


@dataclass(frozen=True, slots=True)
class Intake:
    """The door that reports come through."""

    store: Store
    clock: Callable[[], datetime]
    period: timedelta

    def take(self, site: str, batch: Batch) -> int:
        """Apply what is new of a batch; the number up to which everything is taken in."""
        with self.store.write() as session:
            line = Line(site, batch.runner, batch.epoch)
            told = self._told(session, line)
            following = reports.expected(session, line)
            following = _begin(batch, following)
            for event in batch.events:
                if event.seq < following:
                    continue
                if event.seq > following:
                    break
                self._one(session, line, told, event)
                following += 1
            placed.settle(session, told)
            reports.advance(session, line, following, told.now)
        return following - 1

    def _told(self, session: Session, line: Line) -> Told:
        now = self.clock()
        adopts = line.epoch >= fleet.claim(session, line.site).epoch
        if adopts:
            claim = {"last_seen": now, "runner": line.runner, "epoch": line.epoch}
            fleet.tell_site(session, line.site, claim)
            session.flush()
        return Told(line.site, Moment(now, self.period), adopts)

    def _one(self, session: Session, line: Line, told: Told, event: ReportedEvent) -> None:
        moved = dict(told.moved)
        finding = _finding_of(session, told, event)
        if finding:
            told.undo(moved)
            body = json.dumps(event.model_dump(), default=str)
            reports.reject(session, line, event.seq, body, finding, told.now)


def _begin(batch: Batch, following: int) -> int:
    """Where to begin; a snapshot may leap over what is no longer kept. Raises Gap."""
    if batch.first_seq <= following:
        return following
    first = batch.events[0] if batch.events else None
    if first and first.kind == EventKind.SNAPSHOT and first.seq == batch.first_seq:
        return batch.first_seq
    raise Gap(following)


def _finding_of(session: Session, told: Told, event: ReportedEvent) -> str:
    """Apply an event; why it cannot be read, or an empty text."""
    handler = HANDLERS.get(event.kind) if isinstance(event.kind, str) else None
    if handler is None:
        return f"there is no kind {str(event.kind)[:60]!r}"
    try:
        at = _time(event.at, told.now)
        return reports.attempt(session, lambda: handler(session, told, event.data, at))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        return f"{place}: {first['msg']}" if place else str(first["msg"])
    except MargraveError as error:
        return str(error)


def _time(value: Any, now: datetime) -> datetime:
    """When it happened by the runner's clock; a clock that is plainly wrong is not believed."""
    at = _TIME.validate_python(value)
    return at if _OLDEST <= at <= now + timedelta(days=1) else now

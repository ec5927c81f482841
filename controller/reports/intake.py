"""Taking reports in: in order, each exactly once, whatever a batch holds."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from controller import measures
from controller.reports import placed
from controller.reports.messages import EventKind, LogData, OperationData, Time
from controller.reports.placed import Told
from controller.reports.told import HANDLERS
from controller.store import beats, fleet, reports
from controller.store.batch import Page
from controller.store.freshness import Moment
from controller.store.reports import Line
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from controller.reports.messages import Batch, ReportedEvent
    from controller.reports.told import Handler
    from controller.store import Session, Store

PROTOCOL: Final = 1
_TIME: Final[TypeAdapter[datetime]] = TypeAdapter(Time)
# A runner's clock that is plainly wrong is not believed: what it tells of happened now.
_OLDEST: Final = datetime(2000, 1, 1, tzinfo=UTC)
_AHEAD: Final = timedelta(days=1)


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
            following = _begin(batch, reports.expected(session, line))
            news = _news(batch.events, following)
            latest = told.now + _AHEAD
            read = [_read(event, told.now, latest) for event in news]
            if reports.attempt(session, lambda: _work(line, told, read)):
                # The database refuses a value: once more, one by one, to find the event to reject.
                told.undo({})
                _work(line, told, read, careful=True)
            reports.advance(session, line, following + len(news), told.now)
        if read and read[-1].at is not None:  # of those that came together the newest tells
            measures.LAG.add((), max(0.0, (told.now - read[-1].at).total_seconds()))
        return following + len(news) - 1

    def _told(self, session: Session, line: Line) -> Told:
        moment = Moment(self.clock(), self.period)
        adopts = line.epoch >= beats.claims(session, [line.site])[line.site].epoch
        if adopts:
            claim = {"last_seen": moment.now, "runner": line.runner, "epoch": line.epoch}
            fleet.tell_site(session, line.site, claim)
            session.flush()
        return Told(line.site, line.runner, moment, adopts, Page(session, line.site, moment))


class Read(NamedTuple):
    """An event as its kind reads it, or the finding why it cannot be read."""

    event: ReportedEvent
    at: datetime | None = None
    handler: Handler | None = None
    data: Any = None
    finding: str = ""


def _news(events: list[ReportedEvent], following: int) -> list[ReportedEvent]:
    """What is new of a batch, without a gap."""
    found: list[ReportedEvent] = []
    for event in events:
        if event.seq == following + len(found):
            found.append(event)
        elif event.seq > following:
            break
    return found


def _read(event: ReportedEvent, now: datetime, latest: datetime) -> Read:
    handler = HANDLERS.get(event.kind) if isinstance(event.kind, str) else None
    if handler is None:
        return Read(event, finding=f"there is no kind {str(event.kind)[:60]!r}")
    try:
        at = _TIME.validate_python(event.at)
        if not _OLDEST <= at <= latest:
            at = now
        return Read(event, at, handler, handler.model.model_validate(event.data))
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = "/".join(str(part) for part in first["loc"])
        return Read(event, finding=f"{place}: {first['msg']}" if place else str(first["msg"]))


def _work(line: Line, told: Told, read: Sequence[Read], *, careful: bool = False) -> None:
    """Apply events in order; those that cannot be are kept as rejected."""
    deployments = {one.data.deployment for one in read if hasattr(one.data, "deployment")}
    operations = {one.data.id for one in read if isinstance(one.data, OperationData)}
    operations |= {one.data.operation for one in read if isinstance(one.data, LogData)}
    told.page.read(deployments, operations)
    for one in read:
        finding = one.finding or _finding_of(told, one, careful=careful)
        if finding:
            body = json.dumps(one.event.model_dump(), default=str)
            reports.reject(told.session, line, one.event.seq, body, finding, told.now)
    told.page.write()
    placed.settle(told)
    told.page.write()


def _finding_of(told: Told, one: Read, *, careful: bool) -> str:
    """Apply an event; why it cannot be applied, or an empty text."""
    assert one.handler is not None
    assert one.at is not None
    take, data, at = one.handler.take, one.data, one.at
    if one.handler.light and not careful:
        try:
            take(told, data, at)
        except MargraveError as error:
            return str(error)
        return ""

    def step() -> None:
        take(told, data, at)
        told.page.write()

    told.page.write()
    told.page.look_again()
    moved = dict(told.moved)
    try:
        finding = reports.attempt(told.session, step)
    except MargraveError as error:
        finding = str(error)
    if finding:
        told.undo(moved)
    told.page.look_again()
    return finding


def _begin(batch: Batch, following: int) -> int:
    """Where to begin; a snapshot may leap over what is no longer kept. Raises Gap."""
    if batch.first_seq <= following:
        return following
    first = batch.events[0] if batch.events else None
    if first and first.kind == EventKind.SNAPSHOT and first.seq == batch.first_seq:
        return batch.first_seq
    raise Gap(following)

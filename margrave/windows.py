"""Maintenance windows: is one open at a moment, and when does the next one open."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from margrave import durations
from margrave.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from margrave.documents.extensions import Window

# minute, hour, day of month, month, day of week
_RANGES: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_FIELD = re.compile(r"(\*|\d{1,2}(-\d{1,2})?)(/\d{1,2})?")
_HORIZON: Final = timedelta(days=366)
_MINUTE: Final = timedelta(minutes=1)
_EVERY_HOUR: Final = 24


def check_cron(text: str) -> tuple[frozenset[int], ...]:
    """The five fields as sets of numbers, or Refused."""
    fields = text.split()
    if len(fields) != 5:
        raise Refused(f'"{text}" has {len(fields)} fields', "write minute hour day month weekday")
    return tuple(_field(part, *_RANGES[index]) for index, part in enumerate(fields))


def open_at(windows: Sequence[Window], now: datetime, zone: str) -> bool:
    """Whether work may start now; without windows it always may."""
    return not windows or any(_is_open(window, now, zone) for window in windows)


def next_opening(windows: Sequence[Window], now: datetime, zone: str) -> datetime | None:
    """When the first of the windows opens, within a year; None when none does."""
    openings = [found for one in windows if (found := _opens(one, now, zone)) is not None]
    return min(openings, default=None)


def _is_open(window: Window, now: datetime, zone: str) -> bool:
    """A window is open when it began within its duration before now."""
    minute = now.replace(second=0, microsecond=0)
    length = durations.seconds(window.duration)
    starts = (minute - _MINUTE * back for back in range(-(-length // 60) + 1))
    fields, local = check_cron(window.cron), ZoneInfo(window.timezone or zone)
    return any(
        _begins(fields, start.astimezone(local)) and (now - start).total_seconds() < length
        for start in starts
    )


def _opens(window: Window, now: datetime, zone: str) -> datetime | None:
    """The next start, found day by day and then minute by minute."""
    fields, local = check_cron(window.cron), ZoneInfo(window.timezone or zone)
    moment = now.replace(second=0, microsecond=0) + _MINUTE
    while moment - now < _HORIZON:
        there = moment.astimezone(local)
        if not _day_fits(fields, there):
            midnight = datetime(there.year, there.month, there.day, tzinfo=local)
            moment = (midnight + timedelta(days=1)).astimezone(UTC)
            continue
        if _begins(fields, there):
            return moment.astimezone(UTC)
        moment += _MINUTE
    return None


def _begins(fields: Sequence[frozenset[int]], there: datetime) -> bool:
    """Whether a window begins at this minute of the clock on the wall, as Debian's cron has it.

    What would begin in the hour that is left out in spring begins when that hour would have; what
    begins in the hour that comes twice in autumn does so once, unless it is for every hour.
    """
    if _fits(fields, there):
        return not there.fold or len(fields[1]) == _EVERY_HOUR
    return any(_fits(fields, lost) for lost in _left_out_before(there))


def _fits(fields: Sequence[frozenset[int]], there: datetime) -> bool:
    return there.minute in fields[0] and there.hour in fields[1] and _day_fits(fields, there)


def _left_out_before(there: datetime) -> Iterable[datetime]:
    """The minutes that the clock on the wall jumped over to come to this one; nearly always none.

    A minute earlier on the wall has another distance to UTC only beside a change.
    """
    if (there - _MINUTE).utcoffset() == there.utcoffset():
        return
    before = (there.astimezone(UTC) - _MINUTE).astimezone(there.tzinfo)
    lost = before.replace(tzinfo=None) + _MINUTE
    while lost < there.replace(tzinfo=None):
        yield lost
        lost += _MINUTE


def _day_fits(fields: Sequence[frozenset[int]], there: datetime) -> bool:
    """As cron has it: when both days are restricted, either is enough."""
    _, _, days, months, weekdays = fields
    if there.month not in months:
        return False
    by_day = there.day in days
    by_weekday = there.isoweekday() % 7 in {day % 7 for day in weekdays}
    day_free, weekday_free = len(days) == 31, len({d % 7 for d in weekdays}) == 7
    if day_free or weekday_free:
        return by_day and by_weekday
    return by_day or by_weekday


def _field(text: str, low: int, high: int) -> frozenset[int]:
    numbers: set[int] = set()
    for part in text.split(","):
        numbers.update(_span(part, low, high))
    return frozenset(numbers)


def _span(part: str, low: int, high: int) -> Iterable[int]:
    match = _FIELD.fullmatch(part)
    if match is None:
        raise Refused(f'"{part}" is not a field of a cron line', f"write {low}-{high}, * or */n")
    first, last = low, high
    if match[1] != "*":
        numbers = [int(number) for number in match[1].split("-")]
        first, last = numbers[0], numbers[-1] if match[2] or not match[3] else high
    step = int(match[3][1:]) if match[3] else 1
    if not low <= first <= last <= high or step == 0:
        raise Refused(f'"{part}" is out of range', f"write {low} to {high}")
    return range(first, last + 1, step)

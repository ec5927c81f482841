"""Maintenance windows: is one open at a moment, and when does the next one open."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo

from margrave import durations
from margrave.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from margrave.documents.extensions import Window

# minute, hour, day of month, month, day of week
_RANGES: Final = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
_DAY_OF_MONTH: Final = 2
_DAY_OF_WEEK: Final = 4
_FIELD = re.compile(r"(\*|\d{1,2}(-\d{1,2})?)(/\d{1,2})?")
_HORIZON: Final = timedelta(days=366)
_MINUTE: Final = timedelta(minutes=1)
_DAY: Final = timedelta(days=1)
_EVERY_HOUR: Final = 24


@dataclass(frozen=True)
class Schedule:
    """The five fields of a cron line, as sets of numbers."""

    minutes: frozenset[int]
    hours: frozenset[int]
    days: frozenset[int]
    months: frozenset[int]
    weekdays: frozenset[int]  # 0 to 7, both 0 and 7 are Sunday
    either_day: bool  # a day needs to match only one of the two day fields

    def matches(self, day: date) -> bool:
        """Return whether cron would run on this day."""
        if day.month not in self.months:
            return False
        by_day = day.day in self.days
        by_weekday = not self.weekdays.isdisjoint({day.isoweekday(), day.isoweekday() % 7})
        return by_day or by_weekday if self.either_day else by_day and by_weekday


@lru_cache(256)
def check_cron(text: str) -> Schedule:
    """Parse a cron line, or raise Refused."""
    fields = text.split()
    if len(fields) != 5:
        raise Refused(f'"{text}" has {len(fields)} fields', "write minute hour day month weekday")
    minutes, hours, days, months, weekdays = (
        _field(part, *_RANGES[index]) for index, part in enumerate(fields)
    )
    # Debian's cron decides by the first character of the field, not by the days that it names:
    # `*/2` counts as unrestricted, `1-31` does not.
    starred = any(fields[index].startswith("*") for index in (_DAY_OF_MONTH, _DAY_OF_WEEK))
    return Schedule(minutes, hours, days, months, weekdays, either_day=not starred)


def open_at(windows: Sequence[Window], now: datetime, zone: str) -> bool:
    """Whether work may start now; without windows it always may."""
    return not windows or any(_is_open(window, now, zone) for window in windows)


def next_opening(windows: Sequence[Window], now: datetime, zone: str) -> datetime | None:
    """When the first of the windows opens, within a year; None when none does."""
    openings = [found for one in windows if (found := _opens(one, now, zone)) is not None]
    return min(openings, default=None)


def _is_open(window: Window, now: datetime, zone: str) -> bool:
    """A window is open when it last began within its duration before now."""
    length = timedelta(seconds=durations.parse(window.duration))
    schedule, local = check_cron(window.cron), ZoneInfo(window.timezone or zone)
    today = now.astimezone(local).date()
    # A day more: where the clocks changed meanwhile, a day on the wall is no day of 24 hours.
    for back in range(length // _DAY + 3):
        starts = _starts(schedule, today - _DAY * back, local)
        if passed := bisect_right(starts, now):
            return now - starts[passed - 1] < length
    return False


def _opens(window: Window, now: datetime, zone: str) -> datetime | None:
    """The next start, found day by day."""
    schedule, local = check_cron(window.cron), ZoneInfo(window.timezone or zone)
    today = now.astimezone(local).date()
    minute = now.replace(second=0, microsecond=0)
    for ahead in range(_HORIZON // _DAY + 1):
        starts = _starts(schedule, today + _DAY * ahead, local)
        if (passed := bisect_right(starts, minute)) < len(starts):
            return starts[passed]
    return None


@lru_cache(512)
def _starts(schedule: Schedule, day: date, zone: ZoneInfo) -> tuple[datetime, ...]:
    """When a window begins on a day of the clock on the wall, as Debian's cron has it, in UTC.

    What would begin in the hour that is left out in spring begins when that hour would have; what
    begins in the hour that comes twice in autumn does so once, unless it is for every hour.
    """
    if not schedule.matches(day):
        return ()
    every_hour, found = len(schedule.hours) == _EVERY_HOUR, set()
    for hour, minute in product(schedule.hours, schedule.minutes):
        wall = datetime(day.year, day.month, day.day, hour, minute, tzinfo=zone)
        first, second = wall.astimezone(UTC), wall.replace(fold=1).astimezone(UTC)
        found.add(first if first <= second else _after_the_gap(second, first, zone))
        if every_hour and first < second:
            found.add(second)
    return tuple(sorted(found))


def _after_the_gap(before: datetime, after: datetime, zone: ZoneInfo) -> datetime:
    """The moment between the two at which the clock on the wall jumps."""
    offset = before.astimezone(zone).utcoffset()
    while before < after and before.astimezone(zone).utcoffset() == offset:
        before += _MINUTE
    return before


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

"""Times in UTC. A time of another zone near the ends of the calendar has no equivalent there."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Final

OUT_OF_RANGE: Final = "is no time between the years 1 and 9999 in UTC"
_NONE: Final = timedelta()
_EARLIEST: Final = datetime.min.replace(tzinfo=UTC)


def in_utc(moment: datetime) -> datetime:
    """Return the moment in UTC; a moment without a zone is taken as UTC.

    Raises ValueError for a moment that UTC cannot express, where datetime itself would raise
    OverflowError: validators report a ValueError as a finding of the field.
    """
    if moment.tzinfo is None:
        return moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC)
    except OverflowError:
        raise ValueError(OUT_OF_RANGE) from None


def before(now: datetime, age: timedelta) -> datetime:
    """Return the moment so long before now: not later than now, not before the year 1."""
    return now - min(max(age, _NONE), now - _EARLIEST)

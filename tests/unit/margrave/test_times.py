"""Times in UTC, also at the ends of the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from margrave import times

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def test_a_time_of_another_zone_is_the_same_moment_in_utc() -> None:
    """A time without a zone is in UTC."""
    oslo = timezone(timedelta(hours=1))
    assert times.in_utc(NOON.astimezone(oslo)).isoformat() == NOON.isoformat()
    assert times.in_utc(NOON.replace(tzinfo=None)) == NOON


@pytest.mark.parametrize(
    "moment",
    [
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-1))),
        datetime.min.replace(tzinfo=timezone(timedelta(hours=1))),
    ],
)
def test_a_time_that_utc_cannot_express_is_a_wrong_value(moment: datetime) -> None:
    """It raises what a validator reports as a finding."""
    with pytest.raises(ValueError, match="between the years 1 and 9999"):
        times.in_utc(moment)


def test_an_age_leads_neither_into_the_future_nor_before_the_calendar() -> None:
    """Ages come from clocks that may be wrong by any amount."""
    assert times.before(NOON, timedelta(minutes=-5)) == NOON
    assert times.before(NOON, timedelta(minutes=5)) == NOON - timedelta(minutes=5)
    assert times.before(NOON, timedelta.max) == datetime.min.replace(tzinfo=UTC)

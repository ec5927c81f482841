"""Maintenance windows in the site's own time zone."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from margrave.documents.extensions import Window
from margrave.errors import Refused
from margrave.windows import check_cron, next_opening, open_at

NIGHT = [Window(cron="0 2 * * 1-5", duration="2h", timezone="Europe/Oslo")]


@pytest.mark.parametrize(
    ("moment", "is_open"),
    [
        (datetime(2026, 3, 2, 1, 0, tzinfo=UTC), True),  # Monday 02:00 in Oslo
        (datetime(2026, 3, 2, 2, 59, 59, tzinfo=UTC), True),
        (datetime(2026, 3, 2, 3, 0, tzinfo=UTC), False),
        (datetime(2026, 3, 1, 1, 30, tzinfo=UTC), False),  # Sunday
        (datetime(2026, 7, 6, 0, 30, tzinfo=UTC), True),  # summer time: 02:30 in Oslo
    ],
)
def test_a_window_is_open_in_the_zone_it_names(moment: datetime, is_open: bool) -> None:
    """The clock on the wall of the site decides, in winter and in summer."""
    assert open_at(NIGHT, moment, "UTC") is is_open


def test_the_next_opening_is_told() -> None:
    """What waits for a window says until when."""
    friday = datetime(2026, 3, 6, 12, 0, tzinfo=UTC)

    assert next_opening(NIGHT, friday, "UTC") == datetime(2026, 3, 9, 1, 0, tzinfo=UTC)


def test_no_windows_means_always() -> None:
    """A site without windows takes changes at any time."""
    assert open_at([], datetime(2026, 3, 2, tzinfo=UTC), "UTC")


@pytest.mark.parametrize(
    "text", ["* * * *", "60 * * * *", "a * * * *", "*/0 * * * *", "5-1 * * * *"]
)
def test_a_wrong_cron_line_is_refused_with_the_rule(text: str) -> None:
    """A cron line that means nothing is an error, never a window that opens never."""
    with pytest.raises(Refused):
        check_cron(text)

"""Maintenance windows in the site's own time zone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from margrave import durations
from margrave.documents.extensions import Window
from margrave.documents.site import read_site
from margrave.errors import DocumentError, Refused
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


def opened(cron: str, duration: str, day: datetime, zone: str = "Europe/Oslo") -> list[str]:
    """When the window is open in the two days around a change, as UTC spans of minutes."""
    window, spans, was = [Window(cron=cron, duration=duration, timezone=zone)], [], False
    for minute in range(2 * 24 * 60):
        now = day + timedelta(minutes=minute)
        if (is_open := open_at(window, now, "UTC")) is not was:
            spans.append(f"{now:%d %H:%M}")
            was = is_open
    return spans


# On 29 March 2026 the clocks of Oslo go from 02:00 to 03:00, at 01:00 UTC; on 25 October from
# 03:00 to 02:00, also at 01:00 UTC.
SPRING, AUTUMN = datetime(2026, 3, 28, 12, tzinfo=UTC), datetime(2026, 10, 24, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("cron", "duration", "spans"),
    [
        ("30 2 * * *", "1h", ["29 01:00", "29 02:00", "30 00:30", "30 01:30"]),
        ("0 1 * * *", "2h", ["29 00:00", "29 02:00", "29 23:00", "30 01:00"]),
        ("0 3 * * *", "1h", ["29 01:00", "29 02:00", "30 01:00", "30 02:00"]),
        ("0 2,3 29 3 *", "1h", ["29 01:00", "29 02:00"]),
    ],
)
def test_the_hour_that_spring_leaves_out_takes_no_window_with_it(cron, duration, spans) -> None:
    """It begins when the left out hour would have, and lasts as long as it is meant to."""
    assert opened(cron, duration, SPRING) == spans


@pytest.mark.parametrize(
    ("cron", "duration", "spans"),
    [
        ("30 2 * * *", "1h", ["25 00:30", "25 01:30", "26 01:30", "26 02:30"]),
        ("0 1 * * *", "2h", ["24 23:00", "25 01:00", "26 00:00", "26 02:00"]),
        ("0 3 * * *", "1h", ["25 02:00", "25 03:00", "26 02:00", "26 03:00"]),
    ],
)
def test_the_hour_that_autumn_gives_twice_opens_no_window_twice(cron, duration, spans) -> None:
    """The first of the two counts."""
    assert opened(cron, duration, AUTUMN) == spans


def test_a_window_for_every_hour_is_there_in_each_real_hour() -> None:
    """Also in the one that comes twice."""
    spans = opened("0 * * * *", "10m", AUTUMN)
    assert spans[24:32] == [
        "25 00:00", "25 00:10", "25 01:00", "25 01:10", "25 02:00", "25 02:10", "25 03:00",
        "25 03:10",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("day", "cron", "opening"),
    [
        (SPRING, "30 2 * * *", datetime(2026, 3, 29, 1, 0, tzinfo=UTC)),
        (SPRING, "0 4 * * *", datetime(2026, 3, 29, 2, 0, tzinfo=UTC)),
        (AUTUMN, "30 2 * * *", datetime(2026, 10, 25, 0, 30, tzinfo=UTC)),
        (AUTUMN.replace(day=25, hour=1), "30 2 * * *", datetime(2026, 10, 26, 1, 30, tzinfo=UTC)),
    ],
)
def test_the_next_opening_is_told_across_a_change(day, cron, opening) -> None:
    """What is told is when it really opens."""
    window = [Window(cron=cron, duration="1h", timezone="Europe/Oslo")]
    assert next_opening(window, day, "UTC") == opening
    assert open_at(window, opening, "UTC")
    assert not open_at(window, opening - timedelta(minutes=1), "UTC")


def test_a_window_may_be_as_long_as_a_month() -> None:
    """From its first second to its last, over a change of the clocks."""
    window = [Window(cron="0 0 1 3 *", duration="744h", timezone="Europe/Oslo")]
    begin = datetime(2026, 2, 28, 23, 0, tzinfo=UTC)
    end = begin + timedelta(days=31)
    assert [open_at(window, at, "UTC") for at in (begin, end - timedelta(seconds=1))] == [True] * 2
    assert not open_at(window, begin - timedelta(seconds=1), "UTC")
    assert not open_at(window, end, "UTC")


def test_how_long_a_window_is_does_not_tell_how_long_it_is_computed() -> None:
    """Of what began last, the length is compared once; a thousand years take no longer."""
    endless = [Window.model_construct(cron="0 2 * * *", duration="9999999h", timezone="UTC")]
    assert open_at(endless, datetime(2026, 3, 2, 1, 59, tzinfo=UTC), "UTC")


@pytest.mark.parametrize("duration", ["745h", "44641m", "2678401s", "999999999h", "0s", "0h"])
def test_a_window_that_is_never_open_or_never_closed_is_a_finding(duration: str) -> None:
    """With the cure, before anything waits for it or is computed from it."""
    text = f'windows: [{{cron: "0 2 * * *", duration: {duration}}}]\n'
    with pytest.raises(DocumentError) as raised:
        read_site(text, "sites/harbor.yaml")
    [found] = raised.value.findings
    assert (found.pointer, found.line) == ("/windows/0/duration", 1)
    assert found.cure == "write such as 90m or 8h, at most 744h (31 days)"


@given(st.integers(0, 3_000_000), st.sampled_from("smh"))
def test_an_editor_refuses_what_the_reader_refuses(number: int, unit: str) -> None:
    """A schema knows patterns, no arithmetic: its pattern means the same."""
    text, units = f"{number}{unit}", {"s": 1, "m": 60, "h": 3600}
    fits = re.fullmatch(durations.pattern_up_to(744 * 3600), text) is not None
    assert fits == (0 < number * units[unit] <= 744 * 3600)


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


def runs_on(cron: str, day: date) -> bool:
    """Decide as man 5 crontab of Debian's cron does, by testing each part of each field.

    "If both fields are restricted (ie, aren't *), the command will be run when either field
    matches": Debian's cron takes a field that starts with * for one that is not restricted.
    """
    _, _, days, months, weekdays = cron.split()
    by_day = listed(days, day.day, 31)
    by_weekday = listed(weekdays, day.isoweekday() % 7, 7) or listed(weekdays, day.isoweekday(), 7)
    if days[0] == "*" or weekdays[0] == "*":
        by_either = by_day and by_weekday
    else:
        by_either = by_day or by_weekday
    return by_either and listed(months, day.month, 12)


def listed(field: str, number: int, most: int) -> bool:
    """Return whether a field of a cron line names the number."""
    for part in field.split(","):
        numbers, _, step = part.partition("/")
        low, _, high = numbers.partition("-")
        first = (0 if most == 7 else 1) if low == "*" else int(low)
        last = most if low == "*" else int(high or low)
        if first <= number <= last and (number - first) % int(step or 1) == 0:
            return True
    return False


def fields_of(low: int, high: int) -> st.SearchStrategy[str]:
    """A day field: *, */n, numbers, ranges and ranges with a step, alone or in a list."""
    number = st.integers(low, high)
    span = st.tuples(number, number).map(lambda two: f"{min(two)}-{max(two)}")
    step = st.integers(1, 9).map(str)
    part = st.one_of(
        st.just("*"),
        step.map(lambda every: f"*/{every}"),
        number.map(str),
        span,
        st.tuples(span, step).map("/".join),
        st.just(f"{low}-{high}"),
    )
    return st.lists(part, min_size=1, max_size=3).map(",".join)


@given(fields_of(1, 31), fields_of(1, 12), fields_of(0, 7), st.integers(0, 1500))
def test_a_window_opens_on_the_days_that_debians_cron_would(days, months, weekdays, ahead) -> None:
    """Whatever is written in the three day fields."""
    cron = f"0 2 {days} {months} {weekdays}"
    day = date(2026, 1, 1) + timedelta(days=ahead)
    window = [Window(cron=cron, duration="1h", timezone="UTC")]
    moment = datetime(day.year, day.month, day.day, 2, tzinfo=UTC)
    assert open_at(window, moment, "UTC") is runs_on(cron, day)


@pytest.mark.parametrize(
    ("cron", "days"),
    [
        ("0 2 */2 * 1", [9, 23]),  # Mondays with an odd date
        ("0 2 1-7 * */2", [1, 3, 5, 7]),  # Sunday, Tuesday, Thursday, Saturday of the first week
        ("0 2 13 * 1", [2, 9, 13, 16, 23, 30]),  # the 13th, and Mondays
        ("0 2 1-31 * 1", list(range(1, 32))),  # every day, and Mondays
    ],
)
def test_a_day_field_that_starts_with_a_star_must_match_too(cron: str, days: list[int]) -> None:
    """Only two day fields without a star at their start are alternatives."""
    window = [Window(cron=cron, duration="1h", timezone="UTC")]
    march = [datetime(2026, 3, number, 2, tzinfo=UTC) for number in range(1, 32)]
    assert [day.day for day in march if open_at(window, day, "UTC")] == days

"""The daily share of the full suite."""

from __future__ import annotations

from datetime import date, timedelta
from itertools import groupby
from types import SimpleNamespace
from typing import Any

import pytest

from tests.rotation import Rotation, rotated, start_of

DAY = date(2026, 11, 19)


def test_a_share_keeps_every_value() -> None:
    """Only the place where a run begins depends on the day."""
    values = list(range(23))

    assert sorted(rotated(values, date(2026, 11, 19))) == values
    assert rotated([], DAY) == []


@pytest.mark.parametrize("count", [1, 7, 70, 300])
def test_every_place_begins_a_run_before_long(count: int) -> None:
    """In twice as many days as there are files, each file has been near the beginning."""
    days = [date(2026, 1, 1) + timedelta(days=number) for number in range(2 * count + 2)]
    starts = {start_of(day, count) for day in days}

    gaps = [min((place - start) % count for start in starts) for place in range(count)]

    assert max(gaps) <= 1


def item(nodeid: str) -> Any:
    """A collected test, as far as the order needs it."""
    state = SimpleNamespace(teardown_exact=lambda _next: None)
    return SimpleNamespace(nodeid=nodeid, session=SimpleNamespace(_setupstate=state))


def test_tests_run_while_there_is_time() -> None:
    """Until the time is spent, nothing is passed over."""
    rotation = Rotation(DAY, seconds=600, seconds_per_file=600)

    assert rotation.pytest_runtest_protocol(item("test_a.py::test_one"), None) is None
    assert rotation.without_turn == {}


def test_a_test_is_passed_over_when_the_time_is_spent() -> None:
    """The run stays green, and the report names the file that had no turn."""
    rotation = Rotation(DAY, seconds=0, seconds_per_file=600)

    assert rotation.pytest_runtest_protocol(item("test_a.py::test_one"), None) is True
    assert rotation.without_turn == {"test_a.py": 1}


def test_a_long_file_leaves_time_for_the_next() -> None:
    """A file's own part of the time can be spent while the run goes on."""
    rotation = Rotation(DAY, seconds=600, seconds_per_file=0)

    assert rotation.pytest_runtest_protocol(item("test_a.py::test_one"), None) is True


def test_files_stay_together_in_the_days_order() -> None:
    """Modules' fixtures are made once, whatever the day."""
    names = [f"test_{file}.py::test_{number}" for file in "abc" for number in range(3)]
    items = [item(name) for name in names]

    Rotation(DAY, 600, 600).pytest_collection_modifyitems(items)

    ordered = [test.nodeid for test in items]
    files = [name for name, _group in groupby(ordered, lambda name: name.partition("::")[0])]
    assert sorted(ordered) == names
    assert len(files) == 3

"""Due times are bounded: a clock that was wrong for a while holds nothing for longer."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runner.reconcile.due import LONGEST, is_due

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("ahead", "due"),
    [(-1, True), (0, True), (1, False), (360, False), (361, True), (6 * 3600, True)],
)
def test_a_time_further_ahead_than_it_was_ever_set_is_due(ahead: int, due: bool) -> None:
    """It was set before the clock was."""
    assert is_due(NOW + timedelta(seconds=ahead), NOW) is due
    assert is_due(None, NOW)


@given(
    st.timedeltas(timedelta(days=-400), timedelta(days=400)), st.timedeltas(timedelta(), LONGEST)
)
def test_no_step_makes_anything_wait_longer_than_its_pause(step, pause) -> None:
    """Whatever the clock is set to, it is due once the longest pause is over."""
    at = NOW + pause
    moments = [NOW + step + timedelta(seconds=30 * turn) for turn in range(13)]
    assert any(is_due(at, moment) for moment in moments)

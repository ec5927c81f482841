"""When a request is published is told by what publishing took before."""

from __future__ import annotations

import pytest

from controller.store.expected import COMMIT, UNKNOWN, Published, seconds

SMALL = Published(documents=1, seconds=0.1)
LARGE = Published(documents=10_000, seconds=3.4)


def test_without_a_history_each_request_counts_the_same() -> None:
    """A new controller says something, and says it of each place."""
    assert seconds(1, 1, []) == UNKNOWN
    assert seconds(7, 10_000, []) == 7 * UNKNOWN


def test_what_was_measured_is_what_is_expected() -> None:
    """One more of the same takes the same; two take twice as long."""
    assert seconds(1, 1, [SMALL, SMALL]) == pytest.approx(0.1)
    assert seconds(2, 2, [SMALL, SMALL]) == pytest.approx(0.2)
    assert seconds(1, 10_000, [LARGE]) == pytest.approx(3.4)


def test_size_counts_beside_the_number() -> None:
    """Ten thousand documents ahead are told from one, by either's history."""
    for before in ([SMALL], [LARGE], [SMALL, LARGE]):
        small, large = seconds(1, 1, before), seconds(1, 10_000, before)
        assert 20 * small < large < 40 * small
    assert seconds(2, 10_001, [SMALL]) == pytest.approx(
        seconds(1, 1, [SMALL]) + seconds(1, 10_000, [SMALL])
    )


def test_one_that_waited_does_not_count() -> None:
    """A registry that was away once, and a clock that was set back, move nothing."""
    waited, back = Published(1, 600.0), Published(1, -30.0)
    assert seconds(1, 1, [SMALL, waited, SMALL]) == pytest.approx(0.1)
    assert seconds(1, 1, [back]) == 0.0
    assert COMMIT > 0

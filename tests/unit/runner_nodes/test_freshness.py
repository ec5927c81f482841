"""How long a node has been silent, over steps of the wall clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from runner.nodes import LastSigns

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NODE = "harbor-1"


@dataclass
class SteppedClock:
    """A wall clock that can be set, beside a monotonic clock that cannot."""

    wall: datetime = NOON
    seconds: float = 1000.0

    def __call__(self) -> datetime:
        return self.wall

    def monotonic(self) -> float:
        return self.seconds

    def forward(self, seconds: float) -> None:
        self.wall += timedelta(seconds=seconds)
        self.seconds += seconds


@pytest.mark.parametrize("step", [timedelta(hours=-6), timedelta(hours=6), timedelta(days=1)])
def test_a_step_of_the_clock_does_not_age_a_node_that_was_just_added(step: timedelta) -> None:
    """The adding of a node is known by the wall clock alone, and is read by it once."""
    clock = SteppedClock()
    signs = LastSigns(clock)
    assert signs.age(NODE, NOON) == timedelta(0)

    clock.wall += step
    clock.forward(5)

    assert signs.age(NODE, NOON) == timedelta(seconds=5)


def test_a_newer_sign_counts_from_its_own_time() -> None:
    """What is stored later is later, and an answer to this process is later still."""
    clock = SteppedClock()
    signs = LastSigns(clock)
    signs.age(NODE, NOON)
    clock.forward(60)

    assert signs.age(NODE, NOON + timedelta(seconds=50)) == timedelta(seconds=10)
    signs.note(NODE)
    assert signs.age(NODE, NOON + timedelta(seconds=50)) == timedelta(0)


def test_a_stored_sign_from_the_future_may_be_of_any_age() -> None:
    """An earlier process stored it by a clock that was wrong."""
    signs = LastSigns(SteppedClock())

    assert signs.age(NODE, NOON + timedelta(hours=6)) == timedelta.max
    assert signs.age("never-seen", None) is None

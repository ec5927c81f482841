"""When the loop turns: at once when something happened, and not for each of many things."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest

from runner.ports import utc_now
from runner.reconcile import loop
from runner.reconcile.loop import Reconciler
from runner.reconcile.outcomes import Done
from tests.support.waiting import eventually


class Turning:
    """A loop whose tick has one step, which notes when it was walked."""

    def __init__(self) -> None:
        self.ticks: list[float] = []
        self.loop = Reconciler(None, utc_now, threading.Event())  # type: ignore[arg-type]

    def step(self, _tick: Any) -> Done:
        """The only one."""
        self.ticks.append(time.monotonic())
        return Done()


@pytest.fixture
def turning(monkeypatch: pytest.MonkeyPatch) -> Iterator[Turning]:
    turning = Turning()
    monkeypatch.setattr(loop, "STEPS", (turning.step,))
    thread = threading.Thread(target=turning.loop.run)
    thread.start()
    try:
        eventually(lambda: len(turning.ticks) == 1, 10, "it ticks at its start")
        yield turning
    finally:
        turning.loop.stop()
        thread.join(10)
        assert not thread.is_alive()


def test_what_ends_close_together_is_one_turns_matter(turning: Turning) -> None:
    """The results of twenty nodes are a few walks over the site, not twenty; none is overlooked."""
    last = time.monotonic() + 2 * loop._GATHER

    def over() -> bool:
        turning.loop.wake()
        return time.monotonic() > last

    eventually(over, 10, "many things have ended", 0.01)

    eventually(lambda: turning.ticks[-1] > last, 10, "what came last is seen")
    assert len(turning.ticks) <= 5


def test_who_is_alone_does_not_wait(turning: Turning) -> None:
    """After a rest the loop turns as soon as it is woken."""
    rested = turning.ticks[0] + 2 * loop._GATHER
    eventually(lambda: time.monotonic() > rested, 10, "it has rested")
    woken = time.monotonic()
    turning.loop.wake()

    eventually(lambda: len(turning.ticks) == 2, 10, "it ticks")
    assert turning.ticks[1] - woken < loop._GATHER


def test_the_end_is_not_waited_for(turning: Turning) -> None:
    """Neither by who rests nor by who gathers: the fixture sees that the thread has ended."""
    turning.loop.wake()

"""One at a time, in the order in which they came."""

from __future__ import annotations

import threading

from controller.publish.turn import Turn
from tests.support.waiting import eventually


def test_who_takes_it_again_and_again_lets_others_in() -> None:
    """Whoever waits has the next turn, though the holder wants it back at once."""
    turn = Turn()
    order: list[str] = []
    waits, ended = threading.Event(), threading.Event()

    def other() -> None:
        waits.set()
        assert turn.take(30)
        order.append("other")
        turn.give()
        ended.set()

    turn.take()
    threading.Thread(target=other, daemon=True).start()
    assert waits.wait(10)
    eventually(lambda: len(turn._waiting) == 1)
    for _ in range(3):
        order.append("holder")
        turn.give()
        assert turn.take()
    turn.give()
    assert ended.wait(10)
    assert order == ["holder", "other", "holder", "holder"]


def test_the_holder_may_take_it_again() -> None:
    """It is free when it was given as often as it was taken."""
    turn = Turn()
    assert turn.take()
    assert turn.take(0)
    turn.give()
    assert not _elsewhere(turn, 0)
    turn.give()
    assert _elsewhere(turn, 0)


def test_nobody_waits_longer_than_told_or_behind_too_many() -> None:
    """Who gives up is forgotten, and does not get the turn later."""
    turn = Turn()
    turn.take()
    assert not _elsewhere(turn, 0.01)
    assert not _elsewhere(turn, 30, most=0)
    turn.give()
    assert turn.take(0)


def test_an_emergency_goes_ahead_of_all_who_wait() -> None:
    """Who asks to be first has the turn before those who have waited longer."""
    turn = Turn()
    order: list[str] = []

    def other(name: str, *, first: bool) -> None:
        assert turn.take(30, first=first)
        order.append(name)
        turn.give()

    turn.take()
    threads = []
    for number, (name, first) in enumerate((("a", False), ("b", False), ("now", True)), 1):
        thread = threading.Thread(target=other, args=(name,), kwargs={"first": first}, daemon=True)
        thread.start()
        threads.append(thread)
        eventually(lambda number=number: len(turn._waiting) == number)
    turn.give()
    for thread in threads:
        thread.join(10)
    assert order == ["now", "a", "b"]


def _elsewhere(turn: Turn, patience: float, most: int | None = None) -> bool:
    """What another thread gets; it gives it back."""
    found: list[bool] = []

    def ask() -> None:
        found.append(turn.take(patience, most))
        if found[0]:
            turn.give()

    thread = threading.Thread(target=ask)
    thread.start()
    thread.join()
    return found[0]

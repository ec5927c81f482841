"""Whatever goes wrong on the line to the controller: it is told, and the line goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError

from runner.outbox import sender as sending
from runner.outbox.heartbeat import Heart
from runner.outbox.sender import Sender
from runner.outbox.stream import Stream
from runner.ports import NodeStatus
from runner.store import Store, outbox, site
from tests.support.waiting import eventually


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with one event that waits."""
    made = Store(tmp_path)
    with made.write() as tx:
        site.identity_of(tx)
        outbox.append(tx, "log", {"operation": "o", "lines": ["one"]})
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _in_a_hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pauses between tries are none of these tests' business."""
    for room in ("sender", "stream"):
        monkeypatch.setattr(f"runner.outbox.{room}.Backoff.failed", lambda _: 0.001)


class Line:
    """Answers with an error until it is mended."""

    def __init__(self, error: Exception) -> None:
        self.error: Exception | None = error
        self.taken: list[int] = []

    def report(self, body: dict[str, Any]) -> int:
        """Take a batch in, or fail."""
        if self.error:
            raise self.error
        self.taken += [one["seq"] for one in body["events"]]
        return self.taken[-1]


def full() -> OperationalError:
    """What a database on a full disk says."""
    return OperationalError("update outbox …", {}, Exception("database or disk is full"))


def running(run: Callable[[], None]) -> threading.Thread:
    """A thread of it."""
    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    return thread


@pytest.mark.parametrize("error", [KeyError("ack"), full(), ValueError(), RuntimeError("odd\nx")])
def test_reports_go_on_after_any_error_and_tell_of_it(store: Store, error: Exception) -> None:
    """The thread lives, the trouble is shown where readiness looks, and then all arrives."""
    line = Line(error)
    sender = Sender(store, line)
    thread = running(sender.run)
    eventually(lambda: type(error).__name__ in sender.trouble)
    line.error = None
    eventually(lambda: line.taken == [1])
    eventually(lambda: not sender.trouble)
    sender.stop()
    thread.join(60)
    assert not thread.is_alive()


def test_reports_that_cannot_be_noted_as_delivered_are_delivered_again(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is full at that moment stops nothing for good."""
    line = Line(ValueError())
    line.error = None
    broken, acknowledge = [full()], outbox.acknowledge

    def fails_once(*given: Any) -> None:
        if broken:
            raise broken.pop()
        acknowledge(*given)

    monkeypatch.setattr(sending.outbox, "acknowledge", fails_once)
    sender = Sender(store, line)
    thread = running(sender.run)
    eventually(lambda: line.taken == [1, 1])
    sender.stop()
    thread.join(60)
    with store.read() as tx:
        assert outbox.count_waiting(tx) == 0


def test_a_heartbeat_that_fails_in_the_runner_itself_is_trouble_too(store: Store) -> None:
    """Whoever repeats it logs it; the operator sees it where the line's trouble is shown."""

    class Broken:
        """Cannot even be asked."""

        def heartbeat(self, body: dict[str, Any]) -> dict[str, Any]:
            """Fail."""
            raise full()

    heart = Heart(store, Broken(), lambda _: None, lambda _: None, lambda _: NodeStatus.ACTIVE)
    with pytest.raises(OperationalError):
        heart.beat()
    assert "disk is full" in heart.trouble


def test_the_stream_is_taken_up_again_after_any_error() -> None:
    """It only hints, but nobody would start it a second time."""
    opened: list[int] = []

    class Odd:
        """Fails in a way of its own, then is listened to."""

        def stream(self) -> AbstractContextManager[Iterator[tuple[str, str]]]:
            """Never one."""
            opened.append(1)
            raise RuntimeError("odd")

    stream = Stream(Odd(), lambda: None, lambda: None)
    thread = running(stream.run)
    eventually(lambda: len(opened) > 2)
    stream.stop()
    thread.join(60)
    assert not thread.is_alive()

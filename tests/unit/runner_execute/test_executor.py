"""The executor's account of which run has which operation."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from margrave.lifecycle import Kind
from runner.execute import AnsibleExecutor
from runner.execute.errand import Errand, Outcome
from runner.execute.rundir import RunFolder
from runner.ports import Call, Result, Status, Target, utc_now
from tests.support.waiting import eventually

NODE = Target("harbor-1", "10.0.0.9", 22, "margrave", "/key", "ssh-ed25519 AAAA")


class HeldRun:
    """A run whose end, and whose answers, a test decides about."""

    made: list[HeldRun]

    def __init__(
        self,
        _folder: RunFolder,
        errands: Sequence[Errand],
        on_outcome: Callable[[Outcome], None],
        _on_line: object,
    ) -> None:
        self.open = {errand.key for errand in errands}
        self.cancelled: list[str | None] = []
        self._on_outcome = on_outcome
        self._may_end = threading.Event()
        self.made.append(self)

    def carry_out(self, *_: Any) -> None:
        self._may_end.wait(30)

    def give_up(self, key: str | None = None) -> None:
        self.cancelled.append(key)
        self._may_end.set()

    def lose(self, key: str) -> None:
        """Settle one operation while the run goes on for the others."""
        now = utc_now()
        self.open.discard(key)
        self._on_outcome(Outcome(key, Status.LOST, {}, now, now))

    def end(self) -> None:
        self._may_end.set()


@pytest.fixture
def executor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[AnsibleExecutor]:
    HeldRun.made = []
    monkeypatch.setattr("runner.execute.executor.Run", HeldRun)
    made = AnsibleExecutor(tmp_path / "execute", warm=False)
    yield made
    for run in HeldRun.made:
        run.end()
    eventually(lambda: not made._threads)


def call(operation: str) -> Call:
    return Call(operation, Kind.UPDATE, NODE, {"deployment": operation}, 60)


def start(executor: AnsibleExecutor, *operations: str) -> tuple[HeldRun, list[Result]]:
    """Begin the operations in one run."""
    results: list[Result] = []
    executor.start([call(one) for one in operations], lambda _: None, results.append)
    return HeldRun.made[-1], results


def test_a_cancel_reaches_an_operation_that_was_lost_and_repeated(executor) -> None:
    """The end of the run that lost it does not make the executor forget the run that has it now."""
    first, results = start(executor, "a", "b")
    first.lose("a")
    assert [one.operation for one in results] == ["a"]
    second, _ = start(executor, "a")
    first.end()
    eventually(lambda: len(executor._runs) == 1)
    assert executor.active == {"a"}
    executor.cancel("a")
    assert (first.cancelled, second.cancelled) == ([], ["a"])


def test_a_late_answer_of_the_first_run_keeps_the_repetition_in_reach(executor) -> None:
    """Also where the call is repeated before its first run has settled it."""
    first, _ = start(executor, "a", "b")
    second, _ = start(executor, "a")
    first.lose("a")
    executor.cancel("a")
    assert second.cancelled == ["a"]
    assert executor.active == {"a", "b"}


def test_an_operation_that_has_its_result_is_not_active(executor) -> None:
    """From its result on there is nothing to cancel."""
    run, _ = start(executor, "a", "b")
    run.lose("a")
    assert executor.active == {"b"}
    executor.cancel("a")
    assert run.cancelled == []

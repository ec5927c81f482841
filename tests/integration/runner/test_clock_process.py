"""A runner process whose wall clock is set while it runs goes on fetching and ticking."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import httpx
import pytest

from runner.ports import utc_now
from tests.support.faked_clock import FakedClock
from tests.support.repository import Repository
from tests.support.runner_process import RunnerProcess
from tests.support.waiting import eventually

HOUR = 3600


@pytest.fixture
def runner(tmp_path: Path, repository: Repository) -> Iterator[RunnerProcess]:
    """A runner without nodes, under a clock that can be set."""
    clock = FakedClock(tmp_path)
    made = RunnerProcess(tmp_path / "runner", str(repository.bare), clock=clock)
    made.start()
    yield made
    made.kill(signal.SIGTERM)


def ahead(runner: RunnerProcess) -> timedelta:
    """Return how far the runner's last tick is ahead of the real time."""
    return datetime.fromisoformat(runner.status()["last_tick"]) - utc_now()


def test_a_runner_whose_clock_is_set_goes_on(runner: RunnerProcess, repository: Repository) -> None:
    """Six hours back, a day ahead, and right again: the next commit is applied each time."""
    assert runner.clock is not None
    for number, seconds in enumerate((-6 * HOUR, 24 * HOUR, 0)):
        runner.clock.set(seconds)
        repository.deploy(f"1.{number}.0")
        commit = repository.push()
        runner.hint()
        applied = lambda: runner.status()["site"]["applied_commit"] == commit  # noqa: B023, E731
        eventually(applied, 60, "the commit is applied")
        near = lambda: abs(ahead(runner) - timedelta(seconds=seconds)) < timedelta(minutes=2)  # noqa: B023, E731
        eventually(near, 60, "it ticks by the clock that was set")
        assert httpx.get(f"{runner.url}/readyz").status_code == 200

"""A node's last sign of life is its last answer; a check that failed is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from margrave.sections import State as StateFolder
from runner.app import Runner, build
from runner.outbox.heartbeat import Heart
from runner.ports import Node, NodeStatus
from runner.settings import Git, RunnerSettings, Site
from tests.support.edge import FakeExecutor

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
NODE = "harbor-1"
PERIOD = 60.0  # drift.interval


@dataclass
class Clock:
    """Both clocks of a process, moved by the test."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now

    def monotonic(self) -> float:
        return self.now.timestamp()

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def executor(clock: Clock) -> FakeExecutor:
    made = FakeExecutor(NODE)
    made.now = clock
    return made


@pytest.fixture
def runner(tmp_path: Path, clock: Clock, executor: FakeExecutor) -> Iterator[Runner]:
    """A runner of one node, which answered just now."""
    settings = RunnerSettings(
        site=Site(name="harbor"),
        git=Git(remote=str(tmp_path / "no-such.git")),
        state=StateFolder(dir=tmp_path / "state"),
    )
    made = build(settings, executor, clock)
    made.ground.nodes.save(Node(NODE, "192.0.2.1", host_key="ssh-ed25519 AAAA"))
    made.work.observer.look()
    yield made
    made.close()


def _check(runner: Runner, clock: Clock) -> Node:
    """Let a period pass, check the nodes, and return the node as the registry has it."""
    clock.forward(PERIOD)
    runner.work.observer.look()
    return runner.ground.nodes.get(NODE)


def test_a_failed_check_is_no_sign_of_life(
    runner: Runner, clock: Clock, executor: FakeExecutor
) -> None:
    """Without power it keeps the time of its last answer, and is stale, then offline by it."""
    executor.nodes[NODE].away = True

    statuses = []
    for _ in range(9):
        node = _check(runner, clock)
        assert node.last_seen == NOON
        assert node.error
        statuses.append(node.status)

    assert statuses == [
        *[NodeStatus.ACTIVE] * 2,
        *[NodeStatus.STALE] * 6,
        NodeStatus.OFFLINE,
    ]


def test_an_answer_is_a_sign_of_life(runner: Runner, clock: Clock, executor: FakeExecutor) -> None:
    """A node that comes back is active from that moment, and what was wrong is gone."""
    executor.nodes[NODE].away = True
    for _ in range(5):
        _check(runner, clock)
    executor.nodes[NODE].away = False

    node = _check(runner, clock)

    assert (node.last_seen, node.status, node.error) == (clock(), NodeStatus.ACTIVE, "")


def test_a_heartbeat_reports_why_a_check_failed(
    runner: Runner, clock: Clock, executor: FakeExecutor
) -> None:
    """The controller hears of the first failed check, while the node still counts as active."""
    executor.nodes[NODE].away = True
    _check(runner, clock)
    sent: list[dict[str, Any]] = []

    class Controller:
        def heartbeat(self, body: dict[str, Any]) -> dict[str, Any]:
            sent.append(body)
            return {}

    Heart(
        runner.ground.store, Controller(), lambda _: None, lambda _: None, runner.ground.status
    ).beat()

    [node] = sent[0]["nodes"]
    assert (node["status"], node["error"]) == ("active", "no route")
    assert datetime.fromisoformat(node["last_seen"]) == NOON

"""A node that answers and has no engine is unusable until it gets one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from margrave.sections import State as StateFolder
from runner.app import Runner, build
from runner.ports import Node, NodeStatus, Observation, Status, Target
from runner.settings import Git, RunnerSettings, Site
from tests.support.edge import FakeExecutor

NODE = "harbor-1"
LACKING: dict[str, Any] = {
    "capabilities": {"architecture": "amd64", "deployment_types": []},
    "checks": [
        {"name": "python", "ok": True, "detail": "3.13.5", "cure": ""},
        {"name": "engine", "ok": False, "detail": "not found", "cure": "install podman"},
    ],
}


class Engineless(FakeExecutor):
    """A node without an engine until `data` says something else."""

    data = LACKING

    def inspect(self, nodes: Sequence[Target]) -> dict[str, Observation]:
        return {
            node.name: Observation(node.name, Status.OK, self.data, self.now()) for node in nodes
        }


@pytest.fixture
def executor() -> Engineless:
    return Engineless(NODE)


@pytest.fixture
def runner(tmp_path: Path, executor: Engineless) -> Iterator[Runner]:
    settings = RunnerSettings(
        site=Site(name="harbor"),
        git=Git(remote=str(tmp_path / "no-such.git")),
        state=StateFolder(dir=tmp_path / "state"),
    )
    made = build(settings, executor)
    made.ground.nodes.save(Node(NODE, "192.0.2.1", host_key="ssh-ed25519 AAAA"))
    yield made
    made.close()


def test_a_node_without_an_engine_is_unusable_until_it_has_one(
    runner: Runner, executor: Engineless
) -> None:
    """It answers checks and stays unusable, with what it lacks; the next check finds the engine."""
    runner.work.inspection.look()
    runner.work.observer.look()

    node = runner.ground.nodes.get(NODE)
    assert (node.status, node.error) == (
        NodeStatus.UNUSABLE,
        "engine: not found (install podman)",
    )
    assert runner.ground.status(node) is NodeStatus.UNUSABLE
    assert node.last_seen is not None

    executor.data = {"capabilities": {"deployment_types": ["compose"]}, "checks": []}
    runner.work.recheck()

    node = runner.ground.nodes.get(NODE)
    assert (node.status, node.error) == (NodeStatus.ACTIVE, "")
    assert runner.ground.status(node) is NodeStatus.ACTIVE

"""Nodes that are silent do not hold the looks at those that answer."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING

from margrave.sections import State as StateFolder
from runner.app import Runner, build
from runner.ports import Node, NodeStatus, Observation, Target
from runner.settings import Git, RunnerSettings, Site
from tests.support.edge import FakeExecutor
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from pathlib import Path

HERE, SILENT = "harbor-1", "harbor-2"


class Patient(FakeExecutor):
    """Finds that a node is silent only after a long time; until then it waits."""

    def __init__(self) -> None:
        super().__init__(HERE, SILENT)
        self.waiting, self.over = threading.Event(), threading.Event()
        self.looks = 0  # at the node that answers

    def observe(
        self, nodes: Sequence[Target], deployments: Sequence[str] = ()
    ) -> dict[str, Observation]:
        names = [one.name for one in nodes]
        if SILENT in names and self.nodes[SILENT].away:
            self.waiting.set()
            self.over.wait(60)
        self.looks += HERE in names
        return super().observe(nodes, deployments)


@contextmanager
def _looking(runner: Runner) -> Iterator[None]:
    """Both looks, each at its own pace."""
    ends = [runner.threads()[name] for name in ("observe", "observe-silent")]
    threads = [threading.Thread(target=run) for run, _ in ends]
    for one in threads:
        one.start()
    try:
        yield
    finally:
        for _, stop in ends:
            stop()
        for one in threads:
            one.join()


def test_a_silent_node_is_asked_apart(tmp_path: Path) -> None:
    """While it is waited for, the other one is looked at as often as before."""
    executor = Patient()
    settings = RunnerSettings(
        site=Site(name="harbor"),
        git=Git(remote=str(tmp_path / "nobody.git")),
        state=StateFolder(dir=tmp_path / "state"),
    )
    runner = build(settings, executor)
    nodes = runner.ground.nodes
    for number, name in enumerate((HERE, SILENT), 1):
        nodes.save(Node(name, f"192.0.2.{number}", host_key="ssh-ed25519 AAAA"))
    executor.nodes[SILENT].away = True
    nodes.save(replace(nodes.get(SILENT), error="no route to it"))
    with _looking(runner):
        try:
            assert executor.waiting.wait(60)
            eventually(lambda: nodes.get(HERE).status is NodeStatus.ACTIVE)
            before = executor.looks
            runner.work.observe.hint()
            eventually(lambda: executor.looks > before)
            executor.nodes[SILENT].away = False
        finally:
            executor.over.set()
        runner.work.look_at([SILENT])
        eventually(lambda: nodes.get(SILENT).status is NodeStatus.ACTIVE)
        assert nodes.get(SILENT).error == ""
    runner.close()

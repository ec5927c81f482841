"""How far calls have come, read from the journals on their nodes while they work."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import pytest

from runner.execute import phases as room
from runner.execute.direct import Direct
from runner.execute.errand import Errand
from runner.execute.phases import Phases
from runner.ports import Progress, Target
from tests.support.waiting import eventually

NODE = Target("harbor-1", "10.0.0.9", 22, "margrave", "/key", "ssh-ed25519 AAAA")
ONE, OTHER = "7f1f5bd2-6a3c-4a52-8d2e-0d6f5f3f2a11", "9d0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d99"


class Node:
    """Answers with the journals that lie in a folder, where ssh would bring those of a node."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def write(self, operation: str, phase: str) -> None:
        """A module begins a step."""
        draft = self._folder / "draft"
        draft.write_text(json.dumps({"request_id": operation, "phase": phase}))
        draft.rename(self._folder / f"{operation}.json")

    def begin(self, node: Target, script: str) -> subprocess.Popen[bytes]:
        """The journals, each with a zero behind it."""
        words = ["sh", "-c", 'for f in "$0"/*.json; do cat "$f"; printf "\\0"; done']
        return subprocess.Popen([*words, str(self._folder)], stdout=subprocess.PIPE)


class Listener:
    """Takes phases in; as long as it is in trouble it raises."""

    def __init__(self) -> None:
        self.told: list[tuple[str, str]] = []
        self.trouble = threading.Event()
        self.raised = threading.Event()

    def __call__(self, progress: Progress) -> None:
        if self.trouble.is_set() and progress.operation == ONE:
            self.raised.set()
            raise RuntimeError("the database is locked")
        self.told.append((progress.operation, progress.phase))


@pytest.fixture
def heard() -> Listener:
    return Listener()


@pytest.fixture
def node(tmp_path: Path, heard: Listener, monkeypatch: pytest.MonkeyPatch) -> Iterator[Node]:
    """A node with two calls at work, looked at often."""
    monkeypatch.setattr(room, "EVERY", 0.05)
    monkeypatch.setattr(room, "EACH", 0.05)
    made = Node(tmp_path)
    errands = [
        Errand(key, NODE, "workload_update", {"deployment": key}, 60) for key in (ONE, OTHER)
    ]
    at_work = {errand.key: (errand, heard) for errand in errands}
    phases = Phases(cast(Direct, made), lambda: at_work)
    phases.start()
    phases.wake()
    yield made
    phases.stop()


def test_each_step_is_told_once(node: Node, heard: Listener) -> None:
    """However often the same journal is read."""
    node.write(ONE, "prefetch")
    eventually(lambda: heard.told == [(ONE, "prefetch")])
    node.write(ONE, "switch")
    eventually(lambda: heard.told == [(ONE, "prefetch"), (ONE, "switch")])


def test_a_phase_that_cannot_be_taken_in_is_told_again(
    node: Node, heard: Listener, caplog: pytest.LogCaptureFixture
) -> None:
    """Whatever the listener raises, other operations are told, and the looks go on."""
    heard.trouble.set()
    node.write(ONE, "switch")
    node.write(OTHER, "health")
    assert heard.raised.wait(60)
    eventually(lambda: heard.told == [(OTHER, "health")])
    heard.trouble.clear()
    eventually(lambda: (ONE, "switch") in heard.told)
    assert f"{ONE}: its phase switch could not be taken in" in caplog.text


def test_looks_at_many_nodes_are_seldom(heard: Listener) -> None:
    """Each costs the node and the runner; two calls on one node are one look."""

    def at_work(nodes: int) -> room.AtWork:
        errands = [
            Errand(f"{kind}-{number}", replace(NODE, name=f"n-{number}"), kind, {}, 60)
            for number in range(nodes)
            for kind in ("workload_update", "workload_delete")
        ]
        return {one.key: (one, heard) for one in errands}

    assert [room.pause(at_work(nodes)) for nodes in (0, 1, 3, 20)] == [1.5, 1.5, 1.5, 10.0]

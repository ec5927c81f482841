"""What the commands of the runner's machine, the lab and the demo print: `tests/golden/cli`."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest

from lab import Engine
from lab.node import Node, State
from tests.functional.cli import fleet

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run

GOLDEN: Final = Path(__file__).parents[3] / "tests/golden/cli"
# How each command of the runner's machine is called here.
ROOMS: Final = {
    "runner accept": "--commit 3f9c2d41e5a0 --yes",
    "runner lock": "--reason stocktaking",
    "runner once": "",
    "runner status": "",
    "runner takeover": "--yes",
    "runner unlock": "",
}
HELD: Final[dict[str, Any]] = {
    "locked": {"owner": "ann", "reason": "stocktaking", "until": None},
    "halted": None, "stood_down": None, "applied_commit": fleet.COMMIT,
}  # fmt: skip
STATUS: Final = {
    "site": {"name": "harbor", **HELD},
    "runner": {"id": fleet.REQUEST, "epoch": 1, "version": "0.1.0"},
    "controller": {"trouble": "", "reports_waiting": 0},
    "nodes": [
        {"name": "harbor-1", "address": "192.0.2.17", "status": "stale", "error": "timed out"}
    ],
    "placements": [{**fleet.PLACEMENT, "name": "storefront", "waiting": {"for": "node"}}],
}
LAB: Final = [
    Node("harbor-1", "10.231.0.11", State.RUNNING, "default"),
    Node("depot-1", "10.231.1.11", State.STOPPED, "mixed", Engine.DOCKER),
]
DEMO: Final = {
    "controller": {"pid": 17, "url": "http://127.0.0.1:8800"},
    "runners": [{"site": "harbor", "pid": None, "url": "http://127.0.0.1:8801"}],
    "nodes": [{"name": "harbor-1", "site": "harbor", "address": "10.231.0.11", "state": "running",
               "healthz": None}],
}  # fmt: skip


def held_against(verb: str, shown: list[str]) -> None:
    """What was printed is what stands in the file of the verb; GOLDEN=write writes it there."""
    text = "\n".join(shown)
    file = GOLDEN / f"{verb.replace(' ', '-')}.txt"
    if os.environ.get("GOLDEN") == "write":
        file.write_text(text)
    assert text == file.read_text()


def told(run: Run, monkeypatch: pytest.MonkeyPatch, words: str, *more: str) -> list[str]:
    """What is printed for eyes and for programs; `more` is typed and not shown."""
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("NO_COLOR", "1")
    shown = []
    for form in ("table", "json", "yaml"):
        monkeypatch.setattr(sys.stdout, "isatty", lambda form=form: form == "table")
        ran = run(*words.split(), *more, "-o", form)
        assert ran.code == 0, ran.err
        shown.append(f"$ margrave {words} -o {form}\n{ran.out}{ran.err}")
    return shown


@pytest.mark.parametrize("verb", sorted(ROOMS))
def test_a_command_of_the_runners_machine(
    run: Run, runner: FakeController, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    """Through the runner's socket, which the configuration leads to."""
    with Path(runner.url).open("a") as config:
        config.write('[git]\nremote = "https://git.example/deployments.git"\n')
    answers = {"once": {"commit": fleet.COMMIT, "operations": 2}, "takeover": {"epoch": 3}}
    for path in ("accept", "lock", "once", "takeover", "unlock"):
        runner.on("POST", f"/{path}", 200, answers.get(path, HELD))
    runner.on("GET", "/status", 200, STATUS)

    words = f"{verb} {ROOMS[verb]}".strip()
    held_against(verb, told(run, monkeypatch, words, "--config", runner.url))


def test_nodes_of_all_labs(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`margrave lab list`: JSON is the plain list that scripts were promised."""

    class Made:
        def nodes(self) -> list[Node]:
            return LAB

    monkeypatch.setattr("lab.cli.all_labs", lambda: [Made()])
    held_against("lab list", told(run, monkeypatch, "lab list"))


def test_the_parts_of_the_demo(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    """`margrave demo status`."""
    monkeypatch.setattr("demo.status.status", lambda _: DEMO)
    held_against("demo status", told(run, monkeypatch, "demo status"))

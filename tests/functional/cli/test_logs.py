"""`margrave deployment logs`: the newest operation of each node, and all of them while they run."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from margrave.cli import watching
from tests.functional.cli import fleet

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run

LIST = f"{fleet.API}/deployments"
OPERATIONS = f"{fleet.API}/operations"


@pytest.fixture
def storefront(controller: FakeController, monkeypatch: pytest.MonkeyPatch) -> FakeController:
    """A controller with one deployment, whose stream is taken up again at once."""
    monkeypatch.setattr(watching, "PAUSES", (0.01,))
    monkeypatch.setattr(watching, "LEAST", 0.0)
    controller.lists(LIST, fleet.STOREFRONT)
    controller.on("GET", f"{fleet.API}/events", 200, "")
    return controller


def operation(name: str, node: str, state: str, at: int = 1) -> dict[str, Any]:
    """An update on a node."""
    began = f"2030-01-0{at}T00:00:00Z"
    return {**fleet.OPERATION, "id": name, "node": node, "state": state, "started_at": began}


def test_the_newest_operation_of_each_node(run: Run, storefront: FakeController) -> None:
    """Older operations are left out."""
    rows = [operation(f"o{at}", "harbor-1", "failed", at) for at in (2, 1)]
    storefront.on("GET", OPERATIONS, 200, {"items": rows, "next": None})
    storefront.on("GET", f"{OPERATIONS}/o2/log", 200, "never healthy\n")

    assert "  never healthy\n" in run("deployment", "logs", "storefront").out


@pytest.fixture
def rolled_back(storefront: FakeController) -> FakeController:
    """A node where an install was followed by an update that failed, and its rollback."""
    rows = [
        {**operation("c3", "harbor-1", "succeeded", 3), "kind": "rollback"},
        operation("b2", "harbor-1", "failed", 2),
        {**operation("a1", "harbor-1", "succeeded", 1), "kind": "install"},
    ]
    storefront.on("GET", OPERATIONS, 200, {"items": rows, "next": None})
    for name, text in (("a1", "installed"), ("b2", "never healthy"), ("c3", "went back")):
        storefront.on("GET", f"{OPERATIONS}/{name}/log", 200, f"{text}\n")
    return storefront


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), ["never healthy", "went back"]),
        (("--all",), ["installed", "never healthy", "went back"]),
        (("--operation", "b"), ["never healthy"]),
    ],
)
def test_the_failed_attempt_comes_before_its_rollback(
    run: Run, rolled_back: FakeController, options: tuple[str, ...], said: list[str]
) -> None:
    """Its log says why; --all shows every operation, --operation one of them."""
    ran = run("deployment", "logs", "storefront", *options)

    assert [line.strip() for line in ran.out.splitlines() if line.startswith("  ")] == said
    found = run("deployment", "logs", "storefront", *options, "-o", "json").json["items"]
    assert [one["log"].strip() for one in found] == said


def test_an_operation_that_is_not_there_is_not_found(run: Run, rolled_back: FakeController) -> None:
    """Exit code 3; two ways to choose at once are usage."""
    assert run("deployment", "logs", "storefront", "--operation", "f").code == 3
    assert run("deployment", "logs", "storefront", "--all", "-f").code == 2


def test_where_nothing_was_done_yet_it_says_so(run: Run, storefront: FakeController) -> None:
    """A deployment that waits for its first operation has no log."""
    storefront.on("GET", OPERATIONS, 200, {"items": [], "next": None})

    assert run("deployment", "logs", "storefront").out == "no operation yet\n"


class Rollout:
    """Two nodes, one after the other: each time one looks, it has gone on by a step."""

    STEPS = (
        {},
        {"o1": ("running", "")},
        {"o1": ("running", "fetched\n")},
        {"o1": ("running", "fetched\nswitched\n"), "o2": ("running", "fetched\n")},
        {"o1": ("succeeded", "fetched\nswitched\nhealthy\n"), "o2": ("running", "fetched\n")},
        {"o1": ("succeeded", ""), "o2": ("succeeded", "fetched\nhealthy\n")},
    )
    NODES = {"o1": "harbor-1", "o2": "harbor-2"}

    def __init__(self, controller: FakeController) -> None:
        self.step = -1
        controller.does("GET", OPERATIONS, lambda _: self._operations())
        controller.does("GET", f"{LIST}/{fleet.ONE}", lambda _: self._deployment())
        for name in self.NODES:
            controller.does("GET", f"{OPERATIONS}/{name}/log", lambda _, n=name: self._log(n))

    def _operations(self) -> tuple[int, Any]:
        self.step = min(self.step + 1, len(self.STEPS) - 1)
        known = self.STEPS[self.step]
        rows = [operation(name, self.NODES[name], state) for name, (state, _) in known.items()]
        return 200, {"items": rows[::-1], "next": None}

    def _log(self, name: str) -> tuple[int, Any]:
        return 200, self.STEPS[self.step][name][1]

    def _deployment(self) -> tuple[int, Any]:
        done = self.step == len(self.STEPS) - 1
        return 200, {**fleet.STOREFRONT, "outcome": "succeeded" if done else "pending"}


def test_all_nodes_are_followed_from_the_first_operation_on(
    run: Run, storefront: FakeController
) -> None:
    """Each line once, with the node that said it, until the last has ended."""
    Rollout(storefront)

    ran = run("deployment", "logs", "storefront", "-f")

    assert (ran.code, ran.err) == (0, "no operation yet\n")
    said = ran.out.splitlines()
    for node, lines in (
        (
            "harbor/harbor-1",
            ["update running", "fetched", "switched", "healthy", "update succeeded"],
        ),
        ("harbor/harbor-2", ["update running", "fetched", "healthy", "update succeeded"]),
    ):
        assert [one for one in said if one.startswith(node)] == [f"{node} | {one}" for one in lines]
    assert said.index("harbor/harbor-2 | fetched") < said.index("harbor/harbor-1 | healthy")


def test_followed_as_json_it_is_a_line_for_each_turn(run: Run, storefront: FakeController) -> None:
    """With the operation as it stands then, and the lines that are new."""
    Rollout(storefront)

    ran = run("deployment", "logs", "storefront", "-f", "-o", "json")

    turns = [json.loads(line) for line in ran.out.splitlines()]
    lines = [line for one in turns if one["operation"]["id"] == "o1" for line in one["lines"]]
    assert lines == ["fetched", "switched", "healthy"]
    assert turns[-1]["operation"]["state"] == "succeeded"


def test_what_has_ended_is_not_waited_for(run: Run, storefront: FakeController) -> None:
    """Its last words are shown, and that is all."""
    rows = [operation("o1", "harbor-1", "succeeded")]
    storefront.on("GET", OPERATIONS, 200, {"items": rows, "next": None})
    storefront.on("GET", f"{OPERATIONS}/o1/log", 200, "healthy\n")
    storefront.on("GET", f"{LIST}/{fleet.ONE}", 200, fleet.STOREFRONT)

    ran = run("deployment", "logs", "storefront", "-f")

    assert (ran.code, ran.out.splitlines()[-1]) == (0, "harbor/harbor-1 | healthy")

"""`margrave node drain` and `site drain`: what would stop and move stands above the question."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.functional.cli import fleet

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run

PLANS = f"{fleet.API}/plans"
NODE = f"{fleet.API}/sites/harbor/nodes/harbor-1/drain"
SITE = f"{fleet.API}/sites/harbor/drain"
STOPS = {
    "site": "harbor", "name": "storefront", "action": "drain", "changes": True, "why": "it stops",
    "nodes": [{"node": "harbor-1", "action": "delete", "from": "1.0.0", "to": None,
               "why": "it stops: its data stays on harbor-1", "waiting": None}],
}  # fmt: skip


@pytest.fixture
def controller(controller: FakeController, monkeypatch: pytest.MonkeyPatch) -> FakeController:
    """It plans drains; whoever is asked says no."""
    fleet.told(controller)
    plan: dict[str, Any] = {"hash": "h", "sites": [STOPS], "findings": []}
    controller.on("POST", PLANS, 200, {"plan": plan})
    monkeypatch.setattr(sys, "stdin", io.StringIO("n\n"))
    return controller


@pytest.mark.parametrize(
    ("words", "path", "asked"),
    [
        ("node drain harbor-1", NODE, {"action": "drain", "site": "harbor", "node": "harbor-1"}),
        ("site drain harbor", SITE, {"action": "drain", "site": "harbor"}),
    ],
)
def test_what_a_drain_stops_is_shown_before_it_is_asked_for(
    run: Run, controller: FakeController, words: str, path: str, asked: dict[str, str]
) -> None:
    """Who then says no has changed nothing; with --yes nobody is kept waiting for a plan."""
    ran = run(*words.split())

    assert (ran.code, "its data stays on harbor-1" in ran.out) == (1, True)
    assert controller.sent("POST", PLANS) == [asked]
    assert controller.sent("POST", path) == []
    assert run(*words.split(), "--yes").code == 0
    assert (len(controller.sent("POST", PLANS)), len(controller.sent("POST", path))) == (1, 1)


def test_where_nothing_stands_it_says_so(run: Run, controller: FakeController) -> None:
    """A drain of an idle node stops nothing."""
    controller.on("POST", PLANS, 200, {"plan": {"hash": "h", "sites": [], "findings": []}})

    assert run("node", "drain", "harbor-1").out == "nothing stands there\n"


@pytest.mark.parametrize(
    ("status", "body"),
    [(422, {}), (200, {"plan": {"sites": [], "findings": [{"pointer": "/action"}]}})],
)
def test_a_controller_that_plans_no_drains_is_asked_all_the_same(
    run: Run, controller: FakeController, status: int, body: dict[str, Any]
) -> None:
    """One version older: the question comes without a table."""
    controller.on("POST", PLANS, status, body)

    ran = run("node", "drain", "harbor-1")

    assert (ran.code, ran.out) == (1, "")

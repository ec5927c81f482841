"""`margrave deployment plan`: what would change, and the exit code that says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.functional.cli.storefront import ACTIONS, HARBOR

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run

PLANS = "/api/v1/plans"
WHY = "because the plan says so"


def planned(
    action: str | None = "none", *, changes: bool = False, nodes: tuple[str | None, ...] = ()
) -> dict[str, Any]:
    """A site's part of a plan, with what is done on its nodes."""
    rows = [
        {"node": f"harbor-{number}", "action": one, "from": "1.0.0", "to": "1.1.0", "why": WHY}
        for number, one in enumerate(nodes)
    ]
    site = {"site": "harbor", "name": "storefront", "action": action, "changes": changes}
    return {**site, "why": WHY, "nodes": rows}


@pytest.mark.parametrize(
    ("site", "code", "said"),
    [
        (planned("install", changes=True, nodes=("install",)), 4, "install"),
        (planned("update", changes=True, nodes=("update", "none")), 4, "update"),
        (planned("delete", changes=True, nodes=("delete",)), 4, "delete"),
        (planned(nodes=("none",)), 0, "none"),
        (planned(None, nodes=(None,)), 0, "harbor-0"),
        # A node that was added since gets it, though the document stays.
        (planned(nodes=("none", "install")), 4, "install"),
        # Only policies change: a commit, and nothing on the nodes.
        (planned(changes=True, nodes=("none",)), 4, WHY),
        # A site without nodes: what comes there is a change, what is there already is none.
        (planned("install", changes=True), 4, f"storefront at harbor: {WHY}"),
        (planned("update", changes=True), 4, f"storefront at harbor: {WHY}"),
        (planned(), 0, "nothing would change"),
    ],
)
def test_plan_says_whether_it_would_change(
    run: Run, known: FakeController, site: dict[str, Any], code: int, said: str
) -> None:
    """4 when something would change, be it the document alone; 0 when nothing would."""
    plan = {"hash": "h", "sites": [site], "findings": []}
    known.on("POST", PLANS, 200, {"plan": plan})
    words = ("deployment", "plan", "storefront@1.1.0", "--site", "harbor")

    ran = run(*words, "-o", "json")

    assert (ran.code, ran.json) == (code, {"plan": plan})
    assert said in run(*words).out
    assert known.sent("POST", ACTIONS) == []


def test_a_plan_of_an_update_is_of_these_deployments_alone(run: Run, known: FakeController) -> None:
    """Without --site it is an update of D, policies among it."""
    run("deployment", "plan", "storefront", "--priority", "bulk")

    select = {"ids": [HARBOR], "sites": ["harbor"]}
    assert known.sent("POST", PLANS) == [{"action": "update", "select": select, "priority": "bulk"}]


def test_what_is_planned_first_needs_its_sites(run: Run, known: FakeController) -> None:
    """Without --site only what is deployed can be meant: that is said, for the name is right."""
    ran = run("deployment", "plan", "kiosk")

    assert (ran.code, "planned with --site" in ran.err) == (3, True)


def test_a_plan_with_findings_fails(run: Run, known: FakeController) -> None:
    """A port that is taken is told, with exit code 1."""
    finding = {"pointer": "/x", "message": "port 8000 is taken", "severity": "error"}
    known.on("POST", PLANS, 200, {"plan": {"hash": "h", "sites": [], "findings": [finding]}})

    ran = run("deployment", "plan", "storefront", "--version", "1.1.0")

    assert (ran.code, "port 8000 is taken" in ran.out) == (1, True)

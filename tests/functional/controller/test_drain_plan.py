"""Before a drain the controller says what it stops and what it moves, from what runners told."""

from __future__ import annotations

import uuid
from typing import Any

import pytest

from controller.parts import Parts
from controller.store import fleet
from controller.store.models import Deployment
from margrave.documents.deployment import render
from margrave.schemas.requests import Plan
from tests.functional.controller.kit import REVISION, Api, Runner, add_deployment, placed
from tests.unit.margrave.making import raw_deployment

MACHINE = {"architecture": "amd64", "cpus": 4, "deployment_types": ["compose"]}
ONE: dict[str, Any] = {"placement": {"nodes": 1}}


@pytest.fixture(autouse=True)
def nodes(harbor: Runner) -> None:
    """Harbor has two nodes that fit."""
    harbor.snapshot("harbor-1", "harbor-2")
    for name in ("harbor-1", "harbor-2"):
        told = {"name": name, "address": "10.0.0.1", "status": "active", "capabilities": MACHINE}
        harbor.report("node", told)
    harbor.beat("harbor-1", "harbor-2")


def runs(parts: Parts, harbor: Runner, name: str, data: bool | None = False, **ours: Any) -> str:
    """A deployment of harbor that runs on its first node, as Git and its runner tell."""
    one = str(uuid.uuid4())
    document = render(raw_deployment(id=one, name=name, **ours)).decode()
    add_deployment(parts, "harbor", name, id=one, document=document, needs={"images": ["shop:1"]})
    told = {} if data is None else {"keeps_data": data}
    well = {"outcome": "succeeded", "revision": REVISION["a"], "version": "1.0.0", **told}
    harbor.report("placement", placed(one, "harbor-1", "INSTALLED", "INSTALLING", **well))
    return one


def drain(viewer: Api, **where: str) -> dict[str, dict[str, Any]]:
    """The parts of the plan by the name of the deployment."""
    answer = viewer.post("/plans", json={"action": "drain", "site": "harbor", **where})
    assert answer.status_code == 200, answer.json
    plan = answer.json["plan"]
    Plan.model_validate(plan)
    assert plan["findings"] == []
    return {one["name"]: one for one in plan["sites"]}


def steps(part: dict[str, Any]) -> list[tuple[str, str, str]]:
    """(node, action, why) of a deployment's part."""
    return [(one["node"], one["action"], one["why"]) for one in part["nodes"]]


def test_a_drain_of_a_node_is_told_before(parts: Parts, harbor: Runner, viewer: Api) -> None:
    """What moves and where to, what stops and why; from and to as in every plan."""
    runs(parts, harbor, "kiosk", **ONE)
    runs(parts, harbor, "ledger", data=True, **ONE)
    runs(parts, harbor, "till")
    told = drain(viewer, node="harbor-1")
    assert steps(told["kiosk"]) == [
        ("harbor-1", "delete", "it moves to harbor-2"),
        ("harbor-2", "install", "it moves here from harbor-1"),
    ]
    assert [(one["from"], one["to"]) for one in told["kiosk"]["nodes"]] == [
        ("1.0.0", None),
        (None, "1.0.0"),
    ]
    assert steps(told["ledger"]) == [("harbor-1", "delete", "it stops: its data stays on harbor-1")]
    assert [action for _, action, _ in steps(told["till"])] == ["delete"]
    assert {one["action"] for one in told.values()} == {"drain"}
    assert drain(viewer, node="harbor-2") == {}


def test_a_drain_of_a_whole_site_moves_nothing(parts: Parts, harbor: Runner, viewer: Api) -> None:
    """Its nodes go together."""
    runs(parts, harbor, "kiosk", **ONE)
    told = drain(viewer)
    assert steps(told["kiosk"]) == [("harbor-1", "delete", "it stops: no other node can take it")]


def test_a_drain_that_waits_says_for_what(parts: Parts, harbor: Runner, viewer: Api) -> None:
    """For a window of the deployment, as its runner would."""
    runs(parts, harbor, "kiosk", windows=[{"cron": "0 2 * * *", "duration": "1h"}], **ONE)
    [leaves, _] = drain(viewer, node="harbor-1")["kiosk"]["nodes"]
    assert leaves["waiting"] == {"for": "window", "until": "2026-03-02T02:00:00.000Z"}


def test_a_delete_waits_for_the_windows_of_its_site_alone(
    parts: Parts, harbor: Runner, viewer: Api
) -> None:
    """Its own are gone from Git together with it; one that a drain causes has both."""
    own = [{"cron": "0 2 * * *", "duration": "1h"}]
    one = runs(parts, harbor, "kiosk", windows=own, **ONE)
    with parts.store.write() as session:
        row = session.query(Deployment).filter_by(id=one).one()
        row.extensions = {"windows": own}
    body = {"action": "delete", "select": {"ids": [one]}}
    [site] = viewer.post("/plans", json=body).json["plan"]["sites"]
    assert [node["waiting"] for node in site["nodes"]] == [None]
    [leaves, _] = drain(viewer, node="harbor-1")["kiosk"]["nodes"]
    assert leaves["waiting"]["for"] == "window"


def test_what_a_runner_has_not_told_is_said_so(parts: Parts, harbor: Runner, viewer: Api) -> None:
    """An older one does not say whether there is data on the node."""
    runs(parts, harbor, "kiosk", data=None, **ONE)
    [(_, _, why), _] = steps(drain(viewer, node="harbor-1")["kiosk"])
    assert why == ("it moves to harbor-2, unless it keeps data there: its site has not told yet")


def test_an_update_of_what_is_stopped_is_planned_for_no_other_node(
    parts: Parts, harbor: Runner, viewer: Api
) -> None:
    """Its data is on the drained node: it comes back there."""
    one = runs(parts, harbor, "ledger", data=True, **ONE)
    gone = {"keeps_data": True, "outcome": "succeeded"}
    harbor.report("placement", placed(one, "harbor-1", "DELETING", "INSTALLED", keeps_data=True))
    harbor.report("placement", placed(one, "harbor-1", "DELETED", "DELETING", **gone))
    with parts.store.write() as session:
        fleet.tell_node(session, "harbor", "harbor-1", {"drain": True}, parts.clock())
    body = {"action": "update", "select": {"ids": [one]}, "strategy": {"batch": "all"}}
    [site] = viewer.post("/plans", json=body).json["plan"]["sites"]
    assert site["nodes"] == []


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"site": "harbour"}, "/site"),
        ({"site": "harbor", "node": "harbor-9"}, "/node"),
        ({"site": "harbor", "select": {}}, "/select"),
    ],
    ids=["site", "node", "too much"],
)
def test_what_is_not_there_is_a_finding(viewer: Api, body: dict[str, Any], pointer: str) -> None:
    """In the plan, as of every other one."""
    plan = viewer.post("/plans", json={"action": "drain", **body}).json["plan"]
    assert (plan["hash"], plan["sites"]) == (None, [])
    assert [one["pointer"] for one in plan["findings"]] == [pointer]

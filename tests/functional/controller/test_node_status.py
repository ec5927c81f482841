"""What the controller shows of a node is what its runner found at the last check."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from tests.functional.controller.kit import NOON, Api, Clock, Runner, add_site

if TYPE_CHECKING:
    from flask.testing import FlaskClient

    from controller.parts import Parts

TOKEN = {"Authorization": "Bearer viewer"}


def _beat(harbor: Runner, status: str, error: str) -> None:
    """Send a heartbeat about harbor-1, which answered last at noon."""
    node = {"name": "harbor-1", "status": status, "last_seen": NOON.isoformat(), "error": error}
    assert harbor.beat(nodes=[node]).status_code == 200


def _node(viewer: Api) -> dict[str, Any]:
    found: dict[str, Any] = viewer.get("/sites/harbor/nodes/harbor-1").json
    return found


def test_a_failed_check_is_shown_while_the_node_still_counts_as_active(
    harbor: Runner, viewer: Api, clock: Clock, client: FlaskClient
) -> None:
    """Resource, summary, lists and pages name the reason; the time is that of the last answer."""
    harbor.snapshot("harbor-1", "harbor-2")
    clock.forward(70)
    _beat(harbor, "active", "no route to 192.0.2.1")

    node = _node(viewer)
    assert (node["status"], node["reason"]) == ("active", "no route to 192.0.2.1")
    assert datetime.fromisoformat(node["last_seen"]) == NOON
    summary = viewer.get("/summary").json
    assert (summary["nodes"]["active"], summary["nodes_failing"]) == (2, 1)
    [need] = [one for one in summary["attention"] if one["why"] == "node"]
    assert need["words"] == "its last check failed: no route to 192.0.2.1"
    overview = client.get("/", headers=TOKEN).text
    assert "failed the last check" in overview
    for path in ("/nodes", "/sites/harbor/nodes/harbor-1", "/"):
        assert "no route to 192.0.2.1" in client.get(path, headers=TOKEN).text, path


def test_a_runners_token_of_another_site_is_named(
    harbor: Runner, parts: Parts, client: FlaskClient
) -> None:
    """403 says whose the token is, so that its runner can say which name does not fit."""
    add_site(parts, "depot")
    headers = {"Authorization": "Bearer runner-depot"}

    answer = client.post("/api/v1/sites/harbor/heartbeat", json={}, headers=headers)

    assert (answer.status_code, answer.json["detail"]) == (403, "this token belongs to site depot")


def test_the_reason_ends_with_the_next_answer(harbor: Runner, viewer: Api) -> None:
    """A node that answers again needs no attention; an older runner's heartbeat changes nothing."""
    harbor.snapshot("harbor-1")
    _beat(harbor, "active", "no route")
    harbor.beat("harbor-1")  # as runners send it that report no errors
    assert _node(viewer)["reason"] == "no route"

    _beat(harbor, "active", "")

    assert _node(viewer)["reason"] is None
    assert viewer.get("/summary").json["needs"] == {}


def test_an_unusable_node_is_shown_with_what_it_lacks(
    harbor: Runner, viewer: Api, client: FlaskClient
) -> None:
    """It answers, is no active node, and can be found by its status."""
    harbor.snapshot("harbor-1")
    lacks = "engine: not found (install podman)"
    data = {"name": "harbor-1", "address": "192.0.2.1", "status": "unusable", "error": lacks}
    assert harbor.report("node", data).status_code == 200

    assert (_node(viewer)["status"], _node(viewer)["reason"]) == ("unusable", lacks)
    listed = viewer.get("/nodes?status=unusable").json["items"]
    assert [node["name"] for node in listed] == ["harbor-1"]
    assert viewer.get("/nodes?status=active").json["items"] == []
    summary = viewer.get("/summary").json
    assert (summary["nodes"]["active"], summary["nodes"]["unusable"]) == (0, 1)
    assert f"nothing can run there: {lacks}" in client.get("/", headers=TOKEN).text

"""The activity page lists what an operator acts on: no heartbeat, and each change once."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Any

from tests.functional.controller.kit import REVISION, Api, Clock, Runner, add_deployment, placed

if TYPE_CHECKING:
    from flask.testing import FlaskClient

    from controller.parts import Parts

TOKEN = {"Authorization": "Bearer viewer"}


def _operation(deployment: str, name: str, node: str, state: str, **more: Any) -> dict[str, Any]:
    """An update as its runner reports it."""
    return {
        "id": name,
        "deployment": deployment,
        "node": node,
        "kind": "update",
        "state": state,
        "attempt": 1,
        "started_at": "2026-03-01T12:00:30Z",
        "trace": "trace-1",
        **more,
    }


def _update(harbor: Runner, deployment: str, node: str, end: str, **more: Any) -> str:
    """Report an update with all the events that a runner sends of it; the operation's id."""
    name = str(uuid.uuid4())
    harbor.report("placement", placed(deployment, node, "UPDATING", "INSTALLED", operation=name))
    for state in ("running", "running", end):
        harbor.report("operation", _operation(deployment, name, node, state, **more))
    to, outcome = ("INSTALLED", "succeeded") if end == "succeeded" else ("FAILED", "failed")
    done = placed(
        deployment, node, to, "UPDATING", operation=name, outcome=outcome, revision=REVISION["a"]
    )
    harbor.report("placement", done)
    return name


def _changes(viewer: Api, **query: str) -> list[dict[str, Any]]:
    text = "&".join(f"{name}={value}" for name, value in query.items())
    found: list[dict[str, Any]] = viewer.get(f"/changes?{text}").json["items"]
    return found


def test_an_update_is_one_entry_with_its_nodes(
    harbor: Runner, parts: Parts, viewer: Api, client: FlaskClient
) -> None:
    """Deployment, placement and operation events of two nodes; the failure stands in front."""
    harbor.snapshot("harbor-1", "harbor-2")
    deployment = add_deployment(parts, "harbor")
    error = {"class": "health", "code": "x", "message": "never healthy", "cure": "see its log"}
    good = _update(harbor, deployment, "harbor-1", "succeeded")
    bad = _update(harbor, deployment, "harbor-2", "failed", error=error)

    [entry] = [one for one in _changes(viewer) if one["kind"] == "deployment"]

    assert (entry["action"], entry["name"], entry["state"]) == ("update", "storefront", "failed")
    assert [one["id"] for one in entry["operations"]] == [bad, good]
    assert entry["error"]["message"] == "never healthy"
    page = client.get("/activity", headers=TOKEN).text
    assert page.count("update storefront 1.0.0") == 1
    assert "never healthy" in page and "2 nodes" in page
    for old in ("Of what", "Stands", "What was said"):
        assert old not in page


def test_heartbeats_are_no_changes(
    harbor: Runner, parts: Parts, viewer: Api, clock: Clock, client: FlaskClient
) -> None:
    """However often its runner applies a commit; when it falls silent and returns, that is told."""
    harbor.snapshot("harbor-1")
    before = len(_changes(viewer))
    for number in range(12):
        clock.forward(5)
        harbor.beat("harbor-1", applied_commit=f"{number:040x}")
        site = {"locked": None, "halted": None, "applied_commit": f"{number + 50:040x}"}
        harbor.report("site", site)
    assert len(_changes(viewer)) == before

    harbor.beat(nodes=[{"name": "harbor-1", "status": "offline", "error": "no route"}])
    harbor.report("site", {"locked": {"reason": "stocktaking"}, "halted": None})

    lock, node = _changes(viewer)[:2]
    assert (lock["kind"], lock["changed"]) == ("site", ["locked"])
    assert (node["kind"], node["changed"], node["reason"]) == ("node", ["status"], "no route")
    page = client.get("/activity", headers=TOKEN).text
    assert "locked: stocktaking" in page and "offline" in page and "no route" in page


def test_changes_are_paged_without_a_gap(harbor: Runner, parts: Parts, viewer: Api) -> None:
    """Each stands on one page, the newest first; a cursor of another list is refused."""
    harbor.snapshot("harbor-1")
    for number in range(5):
        deployment = add_deployment(parts, "harbor", f"app-{number}")
        _update(harbor, deployment, "harbor-1", "succeeded")
        harbor.beat(nodes=[{"name": "harbor-1", "status": ("stale", "active")[number % 2]}])
    whole = _changes(viewer, limit="200")
    assert len([one for one in whole if one["kind"] == "node"]) == 6

    found: list[dict[str, Any]] = []
    cursor = ""
    while cursor is not None:
        page = viewer.get(f"/changes?limit=2&cursor={cursor}").json
        assert len(page["items"]) <= 2
        found += page["items"]
        cursor = page["next"]

    assert found == whole
    foreign = viewer.get("/sites?limit=1").json["next"] or "WyJhIl0"
    assert viewer.get(f"/changes?cursor={foreign}").status_code == 422

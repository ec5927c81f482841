"""Times at the ends of the calendar are refused where they are given, and block nobody."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy.exc import StatementError

from controller.parts import Parts
from controller.reports import told as handlers
from controller.store import access
from controller.store.words import Role
from tests.functional.controller.kit import ADMIN, Api, Runner, add_deployment, clear, placed
from tests.functional.controller.shopping import settings as settings

# Each is a time of its own zone, and none of the years 1 to 9999 in UTC.
BEYOND = ("9999-12-31T23:59:59-01:00", "0001-01-01T00:00:00+01:00")


@pytest.mark.parametrize("time", BEYOND)
def test_a_report_with_an_extreme_time_does_not_block_the_line(
    harbor: Runner, parts: Parts, viewer: Api, time: str
) -> None:
    """Events with such times are acknowledged, and the events behind them count."""
    uuid = add_deployment(parts, "harbor")
    answer = harbor.send(
        {**harbor.event("site", {"applied_commit": "c" * 40}), "at": time},
        harbor.event("placement", placed(uuid, "harbor-1", "PENDING", since=time)),
        harbor.event("node", {"name": "harbor-1", "last_seen": time}),
        harbor.event("snapshot", {"nodes": [{"name": "harbor-2", "last_seen": time}]}),
        harbor.event("placement", placed(uuid, "harbor-1", "PENDING")),
    )
    assert answer.status_code == 200, answer.text
    assert answer.json == {"ack": 5}
    assert len(viewer.get(f"/deployments/{uuid}/history").json["items"]) == 1
    assert viewer.get("/sites/harbor").status_code == 200


def test_an_event_that_breaks_its_handler_does_not_block_the_line(
    harbor: Runner, parts: Parts, viewer: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect that one event meets rejects that event; those around it count."""
    handler = handlers.HANDLERS["operation"]

    def broken(*_: Any) -> None:
        raise OverflowError("date value out of range")

    monkeypatch.setitem(
        handlers.HANDLERS, "operation", handlers.Handler(handler.model, broken, light=True)
    )
    uuid = add_deployment(parts, "harbor")
    operation = {
        "id": "00000000-0000-4000-8000-000000000001",
        "deployment": uuid,
        "node": "harbor-1",
        "kind": "install",
        "state": "running",
    }
    answer = harbor.send(
        harbor.event("placement", placed(uuid, "harbor-1", "PENDING")),
        harbor.event("operation", operation),
        harbor.event("placement", placed(uuid, "harbor-1", "INSTALLING", "PENDING")),
    )
    assert answer.json == {"ack": 3}
    assert len(viewer.get(f"/deployments/{uuid}/history").json["items"]) == 2
    assert "margrave_rejected_reports_total 1" in viewer.get("/metrics").text


@pytest.mark.parametrize("time", BEYOND)
def test_a_heartbeat_with_an_extreme_time_is_refused(harbor: Runner, time: str) -> None:
    """The answer names the field."""
    body = clear(harbor.beat(at=time), 422)
    assert body["errors"][0]["pointer"] == "/at"


@pytest.mark.parametrize("time", ["9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z"])
def test_a_heartbeat_far_away_in_time_is_taken(harbor: Runner, viewer: Api, time: str) -> None:
    """A clock that is wrong by millennia is shown as wrong, on every database."""
    nodes = [{"name": "harbor-1", "status": "active", "last_seen": "0001-01-01T00:00:00Z"}]
    assert harbor.snapshot("harbor-1").status_code == 200
    assert harbor.beat(at=time, nodes=nodes).status_code == 200
    assert viewer.get("/sites/harbor").json["clock_offset"] is not None
    assert viewer.get("/sites/harbor/nodes").status_code == 200


@pytest.mark.parametrize("time", BEYOND)
def test_what_ends_at_an_extreme_time_is_refused(
    admin: Api, harbor: Runner, parts: Parts, time: str
) -> None:
    """A pause, a token and a runner's token: 422 names the field, and nothing is kept."""
    parts.sites.create({"name": "depot"}, ADMIN)
    token = {"name": "ci", "role": "viewer", "expires_at": time}
    paused = {"reason": "x", "by": "ada", "until": time}
    run = {"tool": "t", "user": "u", "playbook": "p", "results": [_result(time)]}
    for answer, place in (
        (admin.post("/sites/depot/pause", json={"until": time}), "/until"),
        (admin.patch("/sites/depot", json={"paused": paused}), "/paused/until"),
        (admin.post("/tokens", json=token), "/expires_at"),
        (admin.post("/sites/depot/tokens", json={"expires_at": time}), "/expires_at"),
        (admin.post("/sites/harbor/runs", json=run), "/results/0/at"),
    ):
        assert clear(answer, 422)["errors"][0]["pointer"] == place
    assert len(admin.get("/tokens").json["items"]) == len(Role)
    assert admin.get("/sites/depot").json["paused"] is None


def _result(at: str) -> dict[str, Any]:
    uuid = "00000000-0000-4000-8000-000000000001"
    return {"node": "n", "deployment": uuid, "kind": "install", "outcome": "succeeded", "at": at}


def test_an_error_of_the_database_names_no_values(parts: Parts) -> None:
    """A log with the error of a statement holds no digest of a token."""
    digest = "d" * 64
    with pytest.raises(StatementError) as raised, parts.store.write() as session:
        values = {"id": "1", "name": "ci", "digest": digest, "role": "viewer"}
        access.add_token(session, {**values, "created_by": "x", "created_at": "never"})
    assert digest not in str(raised.value)

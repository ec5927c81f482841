"""The id of a request, on its way to a site in Git and back from there in reports."""

from __future__ import annotations

from typing import Any

import pytest
from flask.testing import FlaskClient

from controller.parts import Parts
from tests.functional.controller.kit import Api, Runner, add_deployment, placed


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "/sites/harbor/pause", {"reason": "inventory"}),
        ("post", "/sites/harbor/resume", None),
        ("post", "/sites/harbor/drain", None),
        ("post", "/sites/harbor/undrain", None),
        ("patch", "/sites/harbor", {"labels": {"zone": "yard"}}),
        ("delete", "/sites/harbor", None),
    ],
)
def test_a_change_of_a_site_is_committed_with_its_id(
    admin: Api, parts: Parts, method: str, path: str, body: Any
):
    """What leaves a drained node can be followed back to who drained it."""
    begun = {"X-Request-Id": "ticket-1"}
    assert admin.post("/sites", json={"name": "harbor"}, headers=begun).status_code == 201
    assert trace_of_head(parts) == "ticket-1"
    if path.endswith(("resume", "undrain")):
        before = path.replace("resume", "pause").replace("undrain", "drain")
        admin.post(before, json={"reason": "inventory"} if "pause" in before else None)
    done = getattr(admin, method)(path, json=body, headers={"X-Request-Id": "ticket-7"})
    assert (done.status_code, trace_of_head(parts)) == (
        204 if method == "delete" else 200,
        "ticket-7",
    )


def test_a_node_is_drained_under_the_id_of_the_request(harbor: Runner, operator: Api, parts: Parts):
    """As a whole site is."""
    harbor.snapshot("harbor-1")
    asked = {"X-Request-Id": "ticket-7"}
    assert operator.post("/sites/harbor/nodes/harbor-1/drain", headers=asked).status_code == 200
    assert trace_of_head(parts) == "ticket-7"


def test_an_id_that_could_do_things_to_a_log_gets_nowhere(admin: Api, parts: Parts):
    """A request that brings none of ours is given one."""
    for bad in ("two words", "x" * 129, "a;b"):
        headers = {"X-Request-Id": bad}
        made = admin.post("/sites", json={"name": f"site-{len(bad)}"}, headers=headers)
        assert trace_of_head(parts) == made.headers["X-Request-Id"] != bad


def trace_of_head(parts: Parts) -> str:
    """What a runner reads."""
    form = "--format=%(trailers:key=Margrave-Trace,valueonly)"
    return parts.repository.git.text("log", "-1", form, "main").strip()


def test_an_operation_is_shown_with_the_id_that_it_was_done_for(
    harbor: Runner, parts: Parts, client: FlaskClient, viewer: Api
):
    """In lists, by itself, in the history and where it is explained; its fence stays a fence."""
    uuid = add_deployment(parts, "harbor")
    operation = {
        "id": "00000000-0000-4000-8000-000000000001",
        "deployment": uuid,
        "node": "harbor-1",
        "kind": "install",
        "state": "succeeded",
        "fence": {"epoch": 1, "seq": 1, "trace": "not here"},
        "trace": "ticket-7",
    }
    moved = placed(uuid, "harbor-1", "INSTALLING", "PENDING", operation=operation["id"])
    harbor.report("operation", operation)
    harbor.send(harbor.event("placement", placed(uuid, "harbor-1", "PENDING")))
    harbor.report("placement", moved)
    (shown,) = viewer.get(f"/operations?deployment={uuid}").json["items"]
    assert shown == viewer.get(f"/operations/{shown['id']}").json
    assert shown["trace"] == "ticket-7"
    assert shown["fence"] == {"runner": harbor.runner, "epoch": 1, "seq": 1}
    history = viewer.get(f"/deployments/{uuid}/history").json["items"]
    assert [(one["to"], one["trace"]) for one in history] == [
        ("PENDING", None),
        ("INSTALLING", "ticket-7"),
    ]
    steps = viewer.get(f"/deployments/{uuid}/explain").json["steps"]
    assert [one["trace"] for one in steps if one["step"] == "operation"] == ["ticket-7"]
    signed_in = {"Authorization": "Bearer viewer"}
    assert "ticket-7" in client.get(f"/operations/{shown['id']}", headers=signed_in).text


@pytest.mark.parametrize("said", [None, "two words", "x" * 129, 7, "\x1b[2J"])
def test_an_operation_with_an_id_that_is_none_is_taken_without_it(
    harbor: Runner, parts: Parts, viewer: Api, said: object
):
    """What happened on a node is worth more than the id that it can be followed by."""
    operation = {
        "id": "00000000-0000-4000-8000-000000000001",
        "deployment": add_deployment(parts, "harbor"),
        "node": "harbor-1",
        "kind": "install",
        "state": "running",
        "fence": {"epoch": 1, "seq": 1},
        "trace": said,
    }
    harbor.report("operation", operation)
    shown = viewer.get(f"/operations/{operation['id']}").json
    assert (shown["state"], shown["trace"]) == ("running", None)

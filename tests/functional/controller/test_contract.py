"""Sentences of the contract that no other test holds."""

from __future__ import annotations

import hashlib
import hmac
import json
import uuid
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from flask import Flask

from controller.access.passwords import token_hash
from controller.app import create_app
from controller.chores import Chores
from controller.parts import Parts
from controller.settings import ControllerSettings
from controller.store import access, requests
from controller.store.models import Deployment, Node, Site
from controller.store.words import Action, Priority, RequestState, Role
from tests.functional.controller.kit import (
    COMMIT,
    REVISION,
    Api,
    Runner,
    add_deployment,
    add_site,
    placed,
)

FORGE = "https://forge.example/shop/apps.git"


def _request(parts: Parts, action: Action, deployment: str, site: str) -> str:
    request = str(uuid.uuid4())
    values = {
        "id": request,
        "action": action,
        "actor": "ada",
        "state": RequestState.PUBLISHED,
        "priority": Priority.NORMAL,
        "rank": 1,
        "body": {},
        "change": {},
        "plan": {"hash": "x", "sites": [{"site": site, "nodes": []}], "findings": []},
    }
    with parts.store.write() as session:
        requests.add(session, values, [(deployment, site)], parts.clock())
        row = session.query(Deployment).filter_by(id=deployment).one()
        row.request = request
    return request


def _limited(app: Flask, parts: Parts, *sites: str) -> Api:
    with parts.store.write() as session:
        token = {
            "id": str(uuid.uuid4()),
            "name": "limited",
            "digest": token_hash("limited"),
            "role": Role.OPERATOR,
            "sites": list(sites),
            "created_by": "test",
            "created_at": parts.clock(),
        }
        access.add_token(session, token)
    return Api(app.test_client(), "limited")


def _operation(uuid_: str, deployment: str, **more: Any) -> dict[str, Any]:
    return {
        "id": uuid_,
        "deployment": deployment,
        "node": "harbor-1",
        "kind": "update",
        "state": "running",
        "revision": REVISION["a"],
        **more,
    }


def test_an_operators_rollback_is_named_so(harbor: Runner, parts: Parts, viewer: Api):
    """The runner updates to older content; the operation's kind is what was asked for."""
    deployment = add_deployment(parts, "harbor")
    _request(parts, Action.ROLLBACK, deployment, "harbor")
    runs = placed(deployment, "harbor-1", "PENDING", revision=REVISION["b"])
    harbor.report("placement", runs)
    first, heal = str(uuid.uuid4()), str(uuid.uuid4())
    harbor.report("operation", _operation(first, deployment))
    done = placed(
        deployment, "harbor-1", "INSTALLED", "UPDATING", revision=REVISION["a"], outcome="succeeded"
    )
    harbor.report("placement", done)
    harbor.report("operation", _operation(first, deployment, state="succeeded"))
    harbor.report("operation", _operation(heal, deployment))
    assert viewer.get(f"/operations/{first}").json["kind"] == "rollback"
    assert viewer.get(f"/operations/{heal}").json["kind"] == "update"


def test_a_token_of_some_sites_sees_their_requests_alone(app: Flask, harbor: Runner, parts: Parts):
    """Requests that concern no site of theirs are not there for them, in lists or by id."""
    add_site(parts, "depot")
    here = _request(parts, Action.UPDATE, add_deployment(parts, "depot"), "depot")
    there = _request(parts, Action.UPDATE, add_deployment(parts, "harbor"), "harbor")
    limited = _limited(app, parts, "depot")
    assert [one["id"] for one in limited.get("/requests").json["items"]] == [here]
    assert limited.get(f"/requests/{here.upper()}").json["plan"]["sites"]
    assert limited.get(f"/requests/{there}").status_code == 404
    assert limited.delete(f"/requests/{there}").status_code == 404


def test_a_pause_ends_at_a_time(harbor: Runner, operator: Api):
    """`until` is a time; a word is a finding at its place."""
    answer = operator.post("/sites/harbor/pause", json={"reason": "x", "until": "tomorrow"})
    assert answer.status_code == 422
    assert [one["pointer"] for one in answer.json["errors"]] == ["/until"]
    answer = operator.post("/sites/harbor/pause", json={"until": "2026-03-02T12:00:00+01:00"})
    assert answer.json["paused"]["until"] == "2026-03-02T11:00:00.000Z"


def test_a_site_that_is_further_has_received_what_it_wants(
    harbor: Runner, parts: Parts, operator: Api
):
    """A later commit that does not concern the site holds the one that it wants."""
    operator.post("/sites/harbor/pause", json={"reason": "x"})
    wanted = operator.get("/sites/harbor").json["wanted_commit"]
    add_site(parts, "depot")
    operator.post("/sites/depot/pause", json={"reason": "x"})
    later = operator.get("/sites/depot").json["wanted_commit"]
    deployment = add_deployment(parts, "harbor")

    def received(applied: str) -> bool:
        harbor.report("site", {"locked": False, "halted": None, "applied_commit": applied})
        steps = operator.get(f"/deployments/{deployment}/explain").json["steps"]
        return bool(next(one["ok"] for one in steps if one["step"] == "received"))

    assert received(wanted) and received(later) and not received(COMMIT)


def test_a_newer_wish_has_a_reason_of_its_own(harbor: Runner, parts: Parts, viewer: Api):
    """A report of the revision before says nothing about the one that is wanted now."""
    deployment = add_deployment(parts, "harbor")
    old = placed(
        deployment,
        "harbor-1",
        None,
        state="INSTALLED",
        outcome="succeeded",
        wanted_revision=REVISION["b"],
        revision=REVISION["b"],
        reason="update succeeded",
    )
    harbor.report("placement", old)
    (one,) = viewer.get(f"/deployments/{deployment}/placements").json["items"]
    assert (one["outcome"], one["reason"]) == ("pending", "another revision is wanted")


def test_an_operations_artifacts(harbor: Runner, parts: Parts, viewer: Api):
    """Log and result of an operation by its id; what is not known of it is null."""
    deployment, operation = add_deployment(parts, "harbor"), str(uuid.uuid4())
    harbor.report("operation", _operation(operation, deployment))
    harbor.report("log", {"operation": operation, "lines": ["prefetch"]})
    began = placed(deployment, "harbor-1", "PENDING", operation=operation, commit=COMMIT)
    harbor.report("placement", began)
    found = viewer.get(f"/artifacts/{operation.upper()}").json
    assert found["log"] == "prefetch\n"
    assert [one["to"] for one in found["result"]["transitions"]] == ["PENDING"]
    assert found["plan"] is None and found["manifest"] is None
    assert set(viewer.get(f"/artifacts/{operation}.log").json) == {
        "id",
        "operation",
        "deployment",
        "log",
    }
    assert viewer.get(f"/artifacts/{operation}.zork").status_code == 404
    assert viewer.get(f"/artifacts/{uuid.uuid4()}").status_code == 404


def test_explain_tells_the_whole_way(harbor: Runner, parts: Parts, operator: Api):
    """From the request to the next attempt: each step in order, the first that is stuck answers."""
    deployment = add_deployment(parts, "harbor")
    _request(parts, Action.UPDATE, deployment, "harbor")
    harbor.snapshot("harbor-1")
    operation, error = (
        str(uuid.uuid4()),
        {
            "class": "registry",
            "code": "away",
            "message": "the registry does not answer",
            "cure": "look at the registry",
        },
    )
    failed = _operation(
        operation, deployment, state="waiting", phase="prefetch", attempt=2, error=error
    )
    waiting = {"for": "backoff", "until": "2026-03-01T12:01:00Z"}
    told = {"outcome": "pending", "waiting": waiting, "error": error, "attempt": 2}
    harbor.report("placement", placed(deployment, "harbor-1", "INSTALLING", "PENDING", **told))
    harbor.report("operation", failed)
    assert operator.post(f"/deployments/{deployment}/retry").status_code == 202

    def steps() -> dict[str, str]:
        told = operator.get(f"/deployments/{deployment}/explain").json
        open_ones = [one["detail"] for one in told["steps"] if not one["ok"]]
        assert told["answer"] == open_ones[0]
        return {one["step"]: one["detail"] for one in told["steps"]}

    found = steps()
    assert list(found) == [
        "request",
        "commit",
        "runner",
        "received",
        "command",
        "placement",
        "operation",
        "next",
    ]
    assert found["command"] == "retry waits for the site's runner"
    words = "harbor-1: update, attempt 2, waiting at prefetch; the registry does not answer"
    assert found["operation"].startswith(words)
    assert found["next"] == "harbor-1: looked at again at 2026-03-01T12:01:00Z"
    night = {"windows": [{"cron": "0 2 * * *", "duration": "1h"}]}
    with parts.store.write() as session:
        session.query(Site).filter_by(name="harbor").one().document = night
        session.query(Node).filter_by(site="harbor").one().drain = True
    found = steps()
    assert found["window"] == "no window is open before 2026-03-02T02:00:00Z"
    assert found["drain"] == "harbor-1 is drained"


def test_a_fence_names_its_runner(harbor: Runner, parts: Parts, viewer: Api):
    """Who claims the node is told with epoch and turn, also where the runner left itself out."""
    deployment = add_deployment(parts, "harbor")
    first, second = str(uuid.uuid4()), str(uuid.uuid4())
    harbor.report("operation", _operation(first, deployment, fence={"epoch": 1, "seq": 3}))
    whole = {"runner": str(uuid.uuid4()), "epoch": 2, "seq": 4}
    harbor.report("operation", _operation(second, deployment, fence=whole))
    told = viewer.get(f"/operations/{first}").json["fence"]
    assert told == {"runner": harbor.runner, "epoch": 1, "seq": 3}
    assert viewer.get(f"/operations/{second}").json["fence"] == whole


def test_a_state_that_is_none_is_a_finding(viewer: Api):
    """Of operations as of deployments and requests."""
    for what in ("operations", "deployments", "requests"):
        answer = viewer.get(f"/{what}?state=zork")
        assert answer.status_code == 422
        assert [one["pointer"] for one in answer.json["errors"]] == ["/state"]


def test_a_push_to_an_app_source_is_heard(parts: Parts):
    """The door takes pushes to sources that are known at that moment, and names them."""
    heard: list[list[str]] = []

    class Listener(Chores):
        def look(self, sources: Iterable[str] = ()) -> None:
            heard.append(list(sources))

    secret = "only the forge and we know it"
    settings = ControllerSettings.model_validate(
        {"state": {"dir": parts.settings.state.dir}, "hooks": {"secrets": [secret]}}
    )
    client = create_app(replace(parts, settings=settings), Listener(parts)).test_client()
    push = {"ref": "refs/heads/main", "after": COMMIT, "repository": {"clone_url": FORGE}}
    body = json.dumps(push).encode()
    signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()

    def post(delivery: str) -> str:
        headers = {"X-GitHub-Event": "push", "X-GitHub-Delivery": delivery}
        headers["X-Hub-Signature-256"] = f"sha256={signature}"
        answer = client.post(
            "/hooks/git", data=body, headers=headers, content_type="application/json"
        )
        assert answer.status_code == 202
        return str(answer.json["status"])

    assert post("before") == "ignored"
    parts.catalog.add({"name": "shop", "url": FORGE})
    assert post("after") == "accepted"
    assert heard == [["shop"]]

"""The way of a deployment over HTTP: source, site, plan, request, document, change, end."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.parts import Parts
from controller.settings import ControllerSettings
from margrave import yaml_text
from tests.functional.controller import shopping
from tests.functional.controller.kit import REVISION, Api, Clock, Runner, placed
from tests.functional.controller.shopping import DEPLOY, deploy


@pytest.fixture
def settings(tmp_path: Path, database: str | None) -> Iterator[ControllerSettings]:
    """With a registry, and a queue that is soon full."""
    with shopping.settings(tmp_path, database, queue={"limit": 3}) as made:
        yield made


@pytest.fixture
def shop(admin: Api) -> str:
    """Storefront in the catalogue and the site harbor; the token of harbor's runner."""
    return shopping.opened(admin)


def test_from_request_to_document(shop, operator: Api, viewer: Api, parts: Parts):
    """202 with request and plan; once published, the document is shown as it is in Git."""
    body = {**DEPLOY, "parameters": {"greeting": "ahoy"}}
    answer = operator.post("/deployments", json=body, headers={"X-Request-Id": "ticket-7"})
    assert answer.status_code == 202
    assert set(answer.json) >= {"id", "deployments", "position", "eta", "plan"}
    (one,) = answer.json["deployments"]
    assert viewer.get(f"/deployments/{one['id']}/manifest").status_code == 404
    parts.publisher.publish_all()
    request = viewer.get(f"/requests/{answer.json['id']}").json
    assert (request["state"], request["deployments"]) == ("published", [one])
    message = parts.repository.git.text("log", "-1", "--format=%B", request["commit"])
    assert request["trace"] == "ticket-7"
    assert "Margrave-Trace: ticket-7" in message.splitlines()
    shown = viewer.get(f"/deployments/{one['id']}").json
    assert shown["commit"] == request["commit"]
    assert shown["parameters"] == {"greeting": "ahoy"}
    document = yaml_text.parse(viewer.get(f"/deployments/{one['id']}/manifest").data).value
    assert document["metadata"]["name"] == "storefront"


def test_a_plan_writes_nothing(shop, operator: Api, viewer: Api, parts: Parts):
    """The same body as a plan answers what would happen, and nothing has happened."""
    plan = operator.post("/plans", json=DEPLOY).json["plan"]
    assert plan["hash"].startswith("sha256:")
    assert plan["findings"] == []
    assert viewer.get("/requests").json["items"] == []
    assert viewer.get("/deployments").json["items"] == []


@pytest.mark.parametrize(
    ("change", "pointer", "code"),
    [
        ({"app": "storefrnt"}, "/app", "unknown"),
        ({"version": "9.9.9"}, "/version", "unknown"),
        ({"targets": {"sites": ["nowhere"]}}, "/targets/sites/0", "unknown"),
        ({"parameters": {"greeting": "x" * 41}}, "/parameters/greeting", "invalid"),
        ({"colour": "red"}, "/colour", "unknown-key"),
    ],
)
def test_what_cannot_be_is_a_finding_and_nothing_is_written(
    shop, operator: Api, viewer: Api, change, pointer, code
):
    """422 with the place, the finding and a cure."""
    answer = operator.post("/deployments", json={**DEPLOY, **change})
    assert answer.status_code == 422, answer.text
    (error,) = answer.get_json(force=True)["errors"]
    assert error["pointer"] == pointer
    assert error["code"] in (code, "unknown")
    assert error["detail"]
    assert viewer.get("/requests").json["items"] == []


def test_a_taken_name_is_a_conflict(shop, operator: Api, parts: Parts):
    """The second of the same name at a site is 409."""
    deploy(operator, parts)
    assert operator.post("/deployments", json=DEPLOY).status_code == 409


def test_the_same_key_is_the_same_request(shop, operator: Api, viewer: Api):
    """An Idempotency-Key sent twice is answered alike and asked once."""
    key = {"Idempotency-Key": "once"}
    first = operator.post("/deployments", json=DEPLOY, headers=key)
    second = operator.post("/deployments", json=DEPLOY, headers=key)
    assert (first.status_code, second.status_code) == (202, 202)
    assert first.json["id"] == second.json["id"]
    assert len(viewer.get("/requests").json["items"]) == 1


def test_an_update_and_a_rollback(shop, operator: Api, viewer: Api, parts: Parts):
    """PATCH is the update, rollback the older content; both are requests."""
    uuid = deploy(operator, parts)
    old = viewer.get(f"/deployments/{uuid}").json
    answer = operator.patch(f"/deployments/{uuid}", json={"version": "1.1.0"})
    assert answer.status_code == 202, answer.text
    parts.publisher.publish_all()
    assert viewer.get(f"/deployments/{uuid}").json["version"] == "1.1.0"
    assert operator.post(f"/deployments/{uuid}/rollback", json={}).status_code == 202
    parts.publisher.publish_all()
    assert viewer.get(f"/deployments/{uuid}").json["revision"] == old["revision"]


def test_the_audit_has_the_reason_of_what_is_urgent(shop, operator: Api, admin: Api, parts: Parts):
    """Why windows were passed stands beside who passed them."""
    uuid = deploy(operator, parts)
    change = {"version": "1.1.0", "priority": "urgent", "reason": "line stands still"}
    assert operator.patch(f"/deployments/{uuid}", json=change).status_code == 202
    newest = admin.get("/audit").json["items"][0]
    assert newest["action"] == "deployment.update"
    detail = newest["detail"]
    assert (detail["priority"], detail["reason"]) == ("urgent", "line stands still")


def test_if_match_guards_a_change(shop, operator: Api, viewer: Api, parts: Parts):
    """Who read an older document is told so with 412; the present one's tag lets it pass."""
    uuid = deploy(operator, parts)
    tag = viewer.get(f"/deployments/{uuid}").headers["ETag"]
    change = {"parameters": {"greeting": "moin"}}
    stale = operator.patch(f"/deployments/{uuid}", json=change, headers={"If-Match": '"old"'})
    assert stale.status_code == 412
    right = operator.patch(f"/deployments/{uuid}", json=change, headers={"If-Match": tag})
    assert right.status_code == 202


@pytest.mark.parametrize("method", ["patch", "delete"])
def test_a_repeated_change_is_answered_alike(shop, operator: Api, parts, method: str):
    """With Idempotency-Key and If-Match: published meanwhile or not, the first answer comes again;
    another change under the key is 409, and with another key If-Match still holds."""
    uuid = deploy(operator, parts)
    tag = operator.get(f"/deployments/{uuid}").headers["ETag"]
    headers = {"If-Match": tag, "Idempotency-Key": "once"}
    body = {"parameters": {"greeting": "moin"}} if method == "patch" else {}
    send = getattr(operator, method)
    first = send(f"/deployments/{uuid}", json=body, headers=headers)
    assert first.status_code == 202
    parts.publisher.publish_all()
    again = send(f"/deployments/{uuid}", json=body, headers=headers)
    assert (again.status_code, again.json["id"]) == (202, first.json["id"]), again.text
    if method == "patch":
        other = {"parameters": {"greeting": "hej"}}
        assert send(f"/deployments/{uuid}", json=other, headers=headers).status_code == 409
        headers["Idempotency-Key"] = "twice"
        assert send(f"/deployments/{uuid}", json=other, headers=headers).status_code == 412


def test_a_retry_reaches_the_runner_as_a_command(shop, client, clock: Clock, operator: Api, parts):
    """A command's request has no commit; the next heartbeat brings the row."""
    uuid = deploy(operator, parts)
    answer = operator.post(f"/deployments/{uuid}/retry")
    assert answer.status_code == 202, answer.text
    parts.publisher.publish_all()
    assert operator.get(f"/requests/{answer.json['id']}").json["commit"] is None
    runner = Runner(_as(client, shop), "harbor", clock)
    (command,) = runner.beat().json["commands"]
    assert (command["kind"], command["deployment"]) == ("retry", uuid)
    assert command["trace"] == answer.headers["X-Request-Id"]


def test_a_deleted_deployment_answers_itself(shop, client, clock, operator: Api, viewer, parts):
    """Gone from Git and the nodes: DELETE again is 200 with DELETED, and the name is free."""
    uuid = deploy(operator, parts)
    assert operator.delete(f"/deployments/{uuid}").status_code == 202
    parts.publisher.publish_all()
    again = operator.delete(f"/deployments/{uuid}")
    assert (again.status_code, again.json["state"]) == (200, "DELETED")
    assert operator.post("/deployments", json=DEPLOY).status_code == 202


def test_a_site_with_deployments_stays(shop, admin: Api, operator: Api, parts: Parts):
    """A site is removed only when nothing is deployed there."""
    deploy(operator, parts)
    assert admin.delete("/sites/harbor").status_code == 409
    assert admin.post("/sites", json={"name": "harbor"}).status_code == 409
    assert admin.post("/sites", json={"name": "Not A Name"}).status_code == 422
    assert admin.post("/sites", json={"name": "depot"}).status_code == 201
    assert admin.delete("/sites/depot").status_code == 204
    assert admin.get("/sites/depot").status_code == 404


def test_pause_and_drain_travel_in_git(shop, operator: Api, viewer: Api):
    """Each is a commit; the site's resource shows it."""
    paused = operator.post("/sites/harbor/pause", json={"reason": "inventory"})
    assert paused.status_code == 200, paused.text
    assert paused.json["paused"]["reason"] == "inventory"
    assert viewer.get("/sites/harbor").json["wanted_commit"] == paused.json["commit"]
    assert operator.post("/sites/harbor/resume").json["paused"] is None
    assert operator.post("/sites/harbor/drain").json["drain"] is True
    assert operator.post("/sites/harbor/undrain").json["drain"] is False
    changed = operator.patch("/sites/harbor", json={"labels": {"zone": "yard"}})
    assert changed.json["labels"] == {"zone": "yard"}


def test_a_node_with_placements_stays_unless_forgotten(
    shop, client, clock, operator: Api, viewer: Api, parts: Parts
):
    """Unregistering is refused while something runs there; forget tells the runner."""
    uuid = deploy(operator, parts)
    runner = Runner(_as(client, shop), "harbor", clock)
    runner.snapshot("harbor-1")
    runner.report("placement", placed(uuid, "harbor-1", "PENDING"))
    assert operator.delete("/sites/harbor/nodes/harbor-1").status_code == 409
    assert operator.delete("/sites/harbor/nodes/harbor-1?forget=true").status_code == 202
    (command,) = runner.beat().json["commands"]
    assert (command["kind"], command["node"]) == ("forget", "harbor-1")
    assert viewer.get("/sites/harbor/nodes").json["items"] == []


def test_explain_names_what_it_waits_for(shop, operator: Api, viewer: Api, parts: Parts):
    """Before a runner was heard of, the answer is just that."""
    uuid = deploy(operator, parts)
    told = viewer.get(f"/deployments/{uuid}/explain").json
    assert "no runner" in told["answer"]
    assert [step["step"] for step in told["steps"]][:3] == ["request", "commit", "runner"]


def test_explain_says_all_that_the_runner_says_of_a_wait(
    shop, client, clock, operator: Api, viewer: Api, parts: Parts
):
    """For what, until when, and how far it is with it."""
    uuid = deploy(operator, parts)
    runner = Runner(_as(client, shop), "harbor", clock)
    runner.snapshot("harbor-1")
    waiting = {"for": "window", "until": "2030-01-31T18:00:00Z", "detail": "it is being fetched"}
    pending = placed(uuid, "harbor-1", "PENDING", wanted_revision=REVISION["a"], waiting=waiting)
    runner.report("placement", pending)
    steps = viewer.get(f"/deployments/{uuid}/explain").json["steps"]
    [told] = [one["detail"] for one in steps if one["step"] == "placement"]
    assert "waits for window until 2030-01-31T18:00:00Z (it is being fetched)" in told


def test_resources_have_all_their_fields(
    shop, client, clock, operator: Api, viewer: Api, parts: Parts
):
    """What the contract names is always there, also when it is null."""
    uuid = deploy(operator, parts)
    runner = Runner(_as(client, shop), "harbor", clock)
    runner.snapshot("harbor-1")
    runner.report("placement", placed(uuid, "harbor-1", "PENDING", wanted_revision=REVISION["a"]))
    for path, fields in FIELDS.items():
        found = viewer.get(path.format(uuid=uuid)).json
        one = found["items"][0] if "items" in found else found
        assert set(fields.split()) <= set(one), path


FIELDS = {
    "/apps": "id name version versions description source profiles parameters findings",
    "/sites": "name labels timezone freshness last_seen wanted_commit applied_commit paused locked"
    " halted nodes deployments",
    "/nodes": "site name address status drain last_seen labels capabilities",
    "/deployments": "id name app version profile site state outcome freshness revision"
    " document_digest commit parameters created_at updated_at request author",
    "/deployments/{uuid}/placements": "deployment site node incarnation state outcome freshness"
    " revision version wanted_revision wanted_version attempt reason error waiting health drift"
    " components since",
    "/deployments/{uuid}/history": "at deployment node incarnation from to actor reason operation"
    " attempt revision version commit error",
    "/requests": "id action actor state position eta commit deployments plan created_at",
}


def _as(client: Any, token: str) -> Any:
    """The client, whose runner's token is the one that the site was made with."""

    class Tokened:
        def post(self, path: str, **more: Any) -> Any:
            more["headers"] = {"Authorization": f"Bearer {token}"}
            return client.post(path, **more)

    return Tokened()

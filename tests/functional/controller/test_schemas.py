"""The schemas hold for what the controller really answers, writes and is told."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient
from jsonschema import Draft202012Validator, FormatChecker

from controller.parts import Parts
from controller.settings import ControllerSettings
from margrave import yaml_text
from tests.functional.controller import shopping
from tests.functional.controller.kit import Api, Clock, Runner, placed
from tests.support.works import APPS

FOLDER = Path(__file__).parents[3] / "schemas"
DEPLOY = {"app": "storefront", "version": "1.0.0", "targets": {"sites": ["harbor"]}}
ERROR = {"class": "health", "code": "not-healthy", "message": "web is not healthy", "cure": "log"}


class Schemas:
    """Validates by the schemas that the controller serves."""

    def __init__(self, client: FlaskClient) -> None:
        self._client = client

    def hold(self, name: str, *values: Any) -> None:
        """Each of the values satisfies the schema."""
        answer = self._client.get(f"/schemas/{name}.json")
        assert answer.status_code == 200
        validator = Draft202012Validator(
            answer.get_json(force=True), format_checker=FormatChecker()
        )
        assert values
        for value in values:
            told = [f"{one.json_path}: {one.message}" for one in validator.iter_errors(value)]
            assert told == [], name


@pytest.fixture
def settings(tmp_path: Path, database: str | None) -> Iterator[ControllerSettings]:
    with shopping.settings(tmp_path, database) as made:
        yield made


@pytest.fixture
def schemas(client: FlaskClient) -> Schemas:
    return Schemas(client)


@pytest.fixture
def harbor(admin: Api, client: FlaskClient, clock: Clock) -> Runner:
    """Storefront in the catalogue, and the runner of the site harbor."""
    admin.post("/app-sources", json={"name": "apps", "url": str(APPS)})
    admin.post("/app-sources/apps/sync")
    made = admin.post("/sites", json={"name": "harbor", "labels": {"zone": "shop"}})
    token = made.json["token"]

    class Known(Runner):
        def _headers(self) -> dict[str, str]:
            return {"Authorization": f"Bearer {token}"}

    return Known(client, "harbor", clock)


def test_what_is_stored_is_served(client: FlaskClient) -> None:
    """An editor finds the same schema in a checkout and at the controller, byte for byte."""
    for path in sorted(FOLDER.glob("*.json")):
        answer = client.get(f"/schemas/{path.name}")
        assert answer.data == path.read_bytes(), path.name
        assert answer.content_type == "application/schema+json"


def test_answers_are_as_their_schemas_say(
    harbor: Runner, schemas: Schemas, admin: Api, operator: Api, viewer: Api, parts: Parts
) -> None:
    """From the plan to a failed placement, each resource has its fields."""
    plan = operator.post("/plans", json=DEPLOY).json["plan"]
    schemas.hold("create-request", DEPLOY)
    schemas.hold(
        "plan-resource", plan, operator.post("/plans", json={**DEPLOY, "app": "x"}).json["plan"]
    )
    asked = operator.post("/deployments", json=DEPLOY).json
    schemas.hold("request-resource", viewer.get(f"/requests/{asked['id']}").json)
    parts.publisher.publish_all()
    schemas.hold("request-resource", *viewer.get("/requests").json["items"])
    uuid = asked["deployments"][0]["id"]
    _tell(harbor, uuid)

    schemas.hold("app-resource", *viewer.get("/apps").json["items"])
    schemas.hold("site-resource", viewer.get("/sites/harbor").json)
    schemas.hold("node-resource", *viewer.get("/sites/harbor/nodes").json["items"])
    schemas.hold("deployment-resource", viewer.get(f"/deployments/{uuid}").json)
    schemas.hold("placement-resource", *viewer.get(f"/deployments/{uuid}/placements").json["items"])
    schemas.hold("transition-resource", *viewer.get(f"/deployments/{uuid}/history").json["items"])
    schemas.hold("operation-resource", *viewer.get("/operations").json["items"])
    schemas.hold("problem", viewer.get("/apps/none").json, operator.post("/plans", json=[]).json)
    again = {**DEPLOY, "version": "1.1.0"}
    schemas.hold("plan-resource", operator.post("/plans", json=again).json["plan"])

    assert admin.delete("/app-sources/apps").status_code == 204
    left = viewer.get("/apps/storefront").json
    assert left["source"] is None  # kept for who uses it
    schemas.hold("app-resource", left)


def test_documents_that_are_written_are_as_their_schemas_say(
    harbor: Runner, schemas: Schemas, operator: Api, viewer: Api, parts: Parts
) -> None:
    """An editor that opens the deployments repository has nothing to complain of."""
    ours = {"strategy": {"batch": "50%"}, "placement": {"nodes": 1}, "priority": "bulk"}
    asked = operator.post("/deployments", json={**DEPLOY, **ours}).json
    operator.post("/sites/harbor/pause", json={"reason": "fair"})
    parts.publisher.publish_all()

    text = viewer.get(f"/deployments/{asked['deployments'][0]['id']}/manifest").data
    schemas.hold("application-deployment", yaml_text.parse(text).value)
    head = parts.repository.head()
    assert head is not None
    site = parts.repository.read(head, "sites/harbor.yaml")
    assert site is not None
    schemas.hold("site", yaml_text.parse(site).value)


def _tell(harbor: Runner, uuid: str) -> None:
    """A node, an install that failed, and its operation."""
    operation = {
        "id": "00000000-0000-4000-8000-000000000001",
        "deployment": uuid,
        "node": "harbor-1",
        "kind": "install",
        "state": "failed",
        "phase": "health",
        "attempt": 1,
        "started_at": "2026-03-01T12:00:00Z",
        "ended_at": "2026-03-01T12:01:00Z",
        "fence": {"runner": harbor.runner, "epoch": 1, "seq": 1},
        "error": ERROR,
    }
    components = [{"name": "storefront", "state": "failed", "error": None}]
    failed = placed(
        uuid,
        "harbor-1",
        "FAILED",
        "INSTALLING",
        outcome="failed",
        error=ERROR,
        health="degraded",
        components=components,
        waiting={"for": "backoff", "until": "2026-03-01T12:02:00Z"},
        operation=operation["id"],
        actor="node",
    )
    harbor.snapshot("harbor-1")
    harbor.report("placement", placed(uuid, "harbor-1", "PENDING"))
    harbor.report("placement", placed(uuid, "harbor-1", "INSTALLING", "PENDING"))
    harbor.report("operation", operation)
    harbor.report("placement", failed)
    harbor.beat("harbor-1")


def test_what_runners_tell_is_as_its_schemas_say(harbor: Runner, schemas: Schemas) -> None:
    """The batch and the data of an event, as a runner of another make would write them."""
    uuid = "00000000-0000-4000-8000-000000000002"
    event = harbor.event("placement", placed(uuid, "harbor-1", "PENDING"))
    batch = {"protocol": 1, "runner": harbor.runner, "epoch": 1, "first_seq": 1, "events": [event]}

    schemas.hold("report-batch", batch)
    schemas.hold("report-placement", event["data"])

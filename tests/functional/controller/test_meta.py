"""What the controller says of itself."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from controller import measures
from controller.api import ROUTES
from controller.api.meta import DOORS
from controller.parts import Parts
from tests.functional.controller.kit import Api, Runner, add_deployment, placed

SAMPLE = re.compile(r'margrave_[a-z_]+(\{([a-z_]+="[^"]*",?)+\})? -?[0-9.e+]+')
ELSEWHERE = {"REMOTE_ADDR": "192.0.2.1"}
GITHUB = {"provider": "github", "result": "refused"}
SIGNED = {"X-GitHub-Event": "push", "X-Hub-Signature-256": f"sha256={'0' * 64}"}


def test_health_is_open_and_says_which_part_is_ill(client: FlaskClient, parts: Parts):
    """Alive is one thing, ready another: without its events' thread it says why it is not."""
    assert client.get("/healthz").json["status"] == "ok"
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json["status"]) == (503, "failing")
    assert [one["name"] for one in answer.json["checks"] if not one["ok"]] == ["events"]
    parts.broker.start()
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json["status"]) == (200, "ok")


def test_metrics_are_for_loopback_and_viewers(client: FlaskClient, parts: Parts, harbor: Runner):
    """From elsewhere it takes a token; every line is in Prometheus' format."""
    uuid = add_deployment(parts, "harbor")
    harbor.snapshot("harbor-1")
    harbor.report("placement", placed(uuid, "harbor-1", "PENDING"))
    operation = {"id": uuid, "deployment": uuid, "node": "harbor-1", "kind": "install"}
    times = {"started_at": "2026-03-01T11:59:00Z", "ended_at": "2026-03-01T11:59:20Z"}
    operation |= times
    error = {"class": "disk", "code": "x", "message": "full", "cure": ""}
    harbor.report("operation", {**operation, "state": "failed", "error": error})
    assert client.get("/metrics").status_code == 200
    assert client.get("/metrics", environ_base=ELSEWHERE).status_code == 401
    proxied = {"X-Forwarded-For": "192.0.2.1"}
    assert client.get("/metrics", headers=proxied).status_code == 401
    token = {"Authorization": "Bearer viewer"}
    text = client.get("/metrics", environ_base=ELSEWHERE, headers=token).text
    for line in text.splitlines():
        assert line.startswith("# ") or SAMPLE.fullmatch(line), line
    failed = 'margrave_operations_total{type="install",result="failed",error_class="disk"} 1'
    assert failed in text
    assert 'margrave_node_status{site="harbor",status="active"} 1' in text
    assert 'margrave_operation_duration_seconds_bucket{type="install",le="30.0"}' in text
    assert 'margrave_site_desired_revision_age_seconds{site="harbor"} 0' in text
    assert "margrave_callback_lag_seconds_count" in text
    in_use = re.search(r"^margrave_db_connections_in_use (\d+)$", text, re.MULTILINE)
    assert in_use and int(in_use[1]) >= 1  # the one that asks


def test_deliveries_are_counted_by_forge(client: FlaskClient):
    """Whose a delivery seems to be, and what became of it."""

    def refused() -> float:
        found = [n for labels, n in measures.WEBHOOKS.counts() if labels == GITHUB]
        return sum(found)

    before = refused()
    assert client.post("/hooks/git", headers=SIGNED, data=b"{}").status_code == 401
    assert refused() == before + 1
    assert (
        'margrave_webhook_requests_total{provider="github",result="refused"}'
        in client.get("/metrics").text
    )


def test_the_description_names_every_route(client: FlaskClient):
    """/openapi.json has a path and method for each line of the table, and the bodies' models."""
    document = client.get("/openapi.json").json
    assert document["openapi"].startswith("3.1")
    described = sum(len(methods) for methods in document["paths"].values())
    assert described == len(ROUTES) + len(DOORS)
    for door in ("/readyz", "/metrics", "/hooks/git", "/api/v1/login", "/schemas/{name}.json"):
        assert document["paths"][door]
    assert document["components"]["schemas"]["NewToken"]["additionalProperties"] is False


@pytest.mark.parametrize("name", ["application-description", "application-deployment", "site"])
def test_schemas_for_editors_are_open(client: FlaskClient, name):
    """Each document that people write has a JSON Schema."""
    answer = client.get(f"/schemas/{name}.json")
    assert answer.status_code == 200
    assert answer.get_json(force=True)["$schema"].endswith("2020-12/schema")
    assert client.get("/schemas/nothing.json").status_code == 404


def test_capabilities(viewer: Api):
    """What this controller speaks, for runners and tools of other versions."""
    found = viewer.get("/meta/capabilities").json
    assert found["protocol"] == 1
    assert "ROLLINGBACK" in found["states"]

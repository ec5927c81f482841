"""A token limited to some sites reaches nothing of the whole fleet, whatever its role is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from controller.parts import Parts
from controller.store import facts
from tests.functional.controller.kit import PASSWORD, Api, add_deployment, add_site, clear

ELSEWHERE = {"REMOTE_ADDR": "192.0.2.1"}


@pytest.fixture
def limited(app: Flask, admin: Api, parts: Parts) -> Api:
    """An admin of harbor alone."""
    for site in ("harbor", "depot"):
        add_site(parts, site)
    return Api(app.test_client(), _token(admin, "admin"))


def _token(admin: Api, role: str) -> str:
    body = {"name": f"harbor-{role}", "role": role, "sites": ["harbor"]}
    return str(admin.post("/tokens", json=body).json["token"])


WHOLE_FLEET = (
    ("post", "/sites", {"name": "quay"}),
    ("post", "/app-sources", {"name": "apps", "url": "https://example.com/apps.git"}),
    ("delete", "/app-sources/apps", None),
    ("post", "/repository/accept", {"commit": "c" * 40}),
    ("get", "/audit", None),
    ("get", "/audit/verify", None),
)


@pytest.mark.parametrize(("method", "path", "body"), WHOLE_FLEET)
def test_what_concerns_the_whole_fleet_is_refused(
    limited: Api, admin: Api, parts: Parts, method: str, path: str, body: Any
) -> None:
    """403, and nothing is changed."""
    head = parts.repository.head()
    told = clear(getattr(limited, method)(path, **({"json": body} if body else {})), 403)
    assert "all sites" in told["detail"]
    assert parts.repository.head() == head
    assert [one["name"] for one in admin.get("/sites").json["items"]] == ["depot", "harbor"]
    assert admin.get("/app-sources").json["items"] == []


def test_lists_of_tokens_and_people_hold_what_is_within_reach(limited: Api, admin: Api) -> None:
    """Others are not listed, also where they fill whole pages."""
    for number in range(7):
        name = f"user-{number}"
        sites = ["harbor"] if number == 5 else ["depot"]
        person = {"name": name, "password": PASSWORD, "role": "viewer", "sites": sites}
        assert admin.post("/users", json=person).status_code == 201
        token = {"name": name, "role": "viewer", "sites": sites}
        assert admin.post("/tokens", json=token).status_code == 201
    people = limited.get("/users?limit=2").json
    assert [one["name"] for one in people["items"]] == ["user-5"]
    assert people["next"] is None
    tokens = limited.get("/tokens?limit=2").json["items"]
    assert {one["name"] for one in tokens} == {"user-5", "harbor-admin"}
    assert len(admin.get("/users").json["items"]) == 7


def test_metrics_hold_the_sites_of_the_token(
    limited: Api, admin: Api, client: FlaskClient, parts: Parts
) -> None:
    """No sample of another site, and no number that counts all sites together."""
    for site in ("harbor", "depot"):
        add_deployment(parts, site)
    headers = {"Authorization": f"Bearer {_token(admin, 'viewer')}"}
    text = client.get("/metrics", environ_base=ELSEWHERE, headers=headers).text
    samples = [line for line in text.splitlines() if not line.startswith("#")]
    assert any('margrave_deployments{site="harbor"' in line for line in samples)
    of_sites = [line for line in samples if "margrave_build_info" not in line]
    assert all(re.search(r'site="harbor"', line) for line in of_sites), of_sites
    everything = client.get("/metrics", environ_base=ELSEWHERE, headers=_as("viewer")).text
    assert 'site="depot"' in everything
    assert "margrave_requests_queued 0" in everything


def _as(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_changes_that_wait_at_other_sites_are_not_listed(
    limited: Api, viewer: Api, parts: Parts
) -> None:
    """`GET /repository` names branches of the own sites alone."""
    branches = {
        f"margrave/{site}": {"site": site, "commit": "c" * 40} for site in ("harbor", "depot")
    }
    with parts.store.write() as session:
        facts.put(session, facts.EDITS, branches)
    everything = viewer.get("/repository").json["waiting"]
    assert [one["site"] for one in everything] == ["depot", "harbor"]
    assert [one["site"] for one in limited.get("/repository").json["waiting"]] == ["harbor"]

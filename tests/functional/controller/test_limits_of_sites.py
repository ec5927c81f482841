"""Who is limited to some sites neither sees nor gives more; what opens a door ends in time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from controller.access.identity import Identity, Role
from controller.api import seeing
from controller.parts import Parts
from tests.functional.controller.kit import (
    PASSWORD,
    Api,
    Clock,
    Runner,
    add_deployment,
    add_site,
)


@pytest.fixture
def limited(app: Flask, admin: Api, parts: Parts) -> Api:
    """An admin of harbor alone."""
    for site in ("harbor", "depot"):
        add_site(parts, site)
    body = {"name": "harbors", "role": "admin", "sites": ["harbor"]}
    token = admin.post("/tokens", json=body).json["token"]
    return Api(app.test_client(), token)


@pytest.mark.parametrize("sites", [None, ["depot"], ["harbor", "depot"], {"matchLabels": {}}])
def test_nobody_gives_more_sites_than_are_theirs(limited: Api, sites: Any) -> None:
    """Neither a token nor a person reaches further than who makes them."""
    token = {"name": "more", "role": "viewer", "sites": sites}
    assert limited.post("/tokens", json=token).status_code == 403
    person = {"name": "kim", "password": PASSWORD, "role": "viewer", "sites": sites}
    assert limited.post("/users", json=person).status_code == 403
    own = {"name": "lee", "password": PASSWORD, "role": "viewer", "sites": ["harbor"]}
    assert limited.post("/users", json=own).status_code == 201
    assert limited.patch("/users/lee", json={"sites": sites}).status_code == 403
    assert limited.patch("/users/lee", json={"role": "operator"}).status_code == 200


def test_who_is_limited_does_not_change_who_is_not(limited: Api, admin: Api, user: str) -> None:
    """Neither password nor token of somebody who has all sites is theirs to take."""
    assert limited.patch(f"/users/{user}", json={"password": PASSWORD}).status_code == 403
    assert limited.delete(f"/users/{user}").status_code == 403
    made = admin.post("/tokens", json={"name": "all", "role": "viewer"}).json
    assert limited.delete(f"/tokens/{made['id']}").status_code == 403
    assert admin.delete(f"/tokens/{made['id']}").status_code == 204


def test_a_plan_is_shown_as_far_as_it_is_theirs() -> None:
    """Of a plan or a request for many sites only the own ones are told."""
    harbors = Identity("harbors", Role.VIEWER, frozenset({"harbor"}))
    plan = {"hash": "x", "sites": [{"site": "harbor"}, {"site": "depot"}]}
    assert seeing.plan(harbors, plan) == {"hash": "x", "sites": [{"site": "harbor"}]}
    concerned = [{"id": "1", "site": "harbor"}, {"id": "2", "site": "depot"}]
    told = seeing.request(harbors, {"deployments": concerned})
    assert told == {"deployments": concerned[:1], "deployments_total": 1}


def test_a_push_to_one_site_takes_no_id_of_another(
    limited: Api, admin: Api, operator: Api, parts: Parts
) -> None:
    """A document at harbor with the id of depot's deployment: whoever names the id means depot's,
    as before, also in a change; who sees harbor alone means harbor's."""
    at_depot = add_deployment(parts, "depot", "shop")
    add_deployment(parts, "harbor", "taken", id=at_depot)
    assert admin.get(f"/deployments/{at_depot}").json["site"] == "depot"
    assert admin.get(f"/deployments/{at_depot}?site=harbor").json["site"] == "harbor"
    assert limited.get(f"/deployments/{at_depot}").json["site"] == "harbor"
    answer = operator.delete(f"/deployments/{at_depot}")
    assert answer.status_code == 202, answer.text
    assert [one["site"] for one in answer.json["deployments"]] == ["depot"]


def test_an_id_that_is_on_its_way_to_git_is_not_taken(admin: Api, parts: Parts) -> None:
    """A deployment that was accepted and is not published yet keeps its id, too; once it is gone
    from Git, the id is that of the one that is there."""
    for site in ("harbor", "depot"):
        add_site(parts, site)
    waiting = {"in_git": False, "commit": None}
    awaited = add_deployment(parts, "depot", "shop", **waiting)
    add_deployment(parts, "harbor", "taken", id=awaited)
    assert admin.get(f"/deployments/{awaited}").json["site"] == "depot"
    gone = add_deployment(parts, "depot", "gone", in_git=False)
    add_deployment(parts, "harbor", "there", id=gone)
    assert admin.get(f"/deployments/{gone}").json["site"] == "harbor"


def test_a_new_password_ends_what_the_old_one_opened(
    client: FlaskClient, admin: Api, user: str
) -> None:
    """A token that somebody signed in for with the old password is nobody's any more."""
    signed = client.post("/api/v1/login", json={"user": user, "password": PASSWORD}).json["token"]
    assert Api(client, signed).get("/sites").status_code == 200
    changed = admin.patch(f"/users/{user}", json={"password": "another long pass phrase"})
    assert changed.status_code == 200
    assert Api(client, signed).get("/sites").status_code == 401


def test_a_runners_token_can_end(admin: Api, harbor: Runner, clock: Clock) -> None:
    """At the time that was said; one in the past is none."""
    ends = (clock() + timedelta(hours=1)).isoformat()
    assert admin.post("/sites/harbor/tokens", json={"expires_at": ends}).status_code == 201
    assert len(admin.get("/sites/harbor/tokens").json["items"]) == 2
    clock.forward(3601)
    assert len(admin.get("/sites/harbor/tokens").json["items"]) == 1
    past = admin.post("/sites/harbor/tokens", json={"expires_at": ends})
    assert past.status_code == 422


def test_what_was_refused_stands_in_the_audit(viewer: Api, admin: Api, harbor: Runner) -> None:
    """Who wanted what they may not is written down, with the token they came with."""
    assert viewer.post("/sites/harbor/pause", json={}).status_code == 403
    entry = admin.get("/audit").json["items"][0]
    assert (entry["actor"], entry["outcome"]) == ("viewer", "refused")
    assert (entry["action"], entry["target"]) == ("post", "/api/v1/sites/harbor/pause")
    assert entry["detail"]["status"] == 403
    assert entry["detail"]["token"]

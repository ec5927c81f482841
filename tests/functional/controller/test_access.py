"""Who may do what: roles, tokens, people, runners, sign-in."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from controller.access.limiter import Limiter
from controller.app import create_app
from controller.parts import Parts
from tests.functional.controller.kit import PASSWORD, Api, Clock, Runner, add_deployment, add_site


@pytest.mark.parametrize(
    ("method", "path", "least"),
    [
        ("get", "/deployments", "viewer"),
        ("get", "/nodes", "viewer"),
        ("post", "/deployments", "operator"),
        ("post", "/sites/harbor/reload", "operator"),
        ("get", "/tokens", "admin"),
        ("post", "/sites", "admin"),
        ("get", "/audit", "admin"),
        ("delete", "/users/ada", "admin"),
    ],
)
def test_each_role_holds_the_ones_before_it(client, harbor, method, path, least):
    """Below the role needed it is 403, with it the request is taken."""
    order = ["viewer", "operator", "admin"]
    for role in order:
        status = getattr(Api(client, role), method)(path, json={}).status_code
        if order.index(role) < order.index(least):
            assert status == 403
        else:
            assert status not in (401, 403)


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer nobody", "Basic YTpi", "Bearer " + "x" * 9999]
)
def test_without_a_valid_token_nothing_is_told(client: FlaskClient, header):
    """No token, a wrong one or another scheme: 401 with the scheme that is taken."""
    answer = client.get("/api/v1/deployments", headers={"Authorization": header})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_runners_token_does_its_sites_work_and_nothing_else(harbor: Runner, client, parts: Parts):
    """Reports, heartbeats and its own site, yes; another's site, lists and changes, no."""
    add_site(parts, "depot")
    own = Api(client, "runner-harbor")
    assert harbor.beat().status_code == 200
    assert own.get("/sites/harbor").status_code == 200
    assert own.get("/sites/harbor/nodes").status_code == 200
    assert own.get("/sites/depot").status_code == 403
    assert own.get("/deployments").status_code == 403
    assert own.get("/events").status_code == 403
    assert own.post("/sites/harbor/reload").status_code == 403
    assert own.post("/sites/depot/heartbeat", json={}).status_code == 403
    assert client.get("/", headers={"Authorization": "Bearer runner-harbor"}).status_code == 403


def test_a_person_does_not_report_for_a_site(harbor: Runner, admin: Api):
    """Reports come from the site's runner, not from an admin."""
    assert admin.post("/sites/harbor/reports", json={}).status_code == 403


def test_a_token_is_shown_once_works_expires_and_is_revoked(client, admin: Api, clock: Clock):
    """Made with an end, used, refused after it; a revoked one is refused at once."""
    body = {"name": "ci", "role": "viewer", "expires_at": "2026-03-01T13:00:00Z"}
    made = admin.post("/tokens", json=body)
    assert made.status_code == 201
    assert made.json["token"] not in admin.get("/tokens").text
    ci = Api(client, made.json["token"])
    assert ci.get("/sites").status_code == 200
    clock.forward(3600)
    assert ci.get("/sites").status_code == 401
    other = admin.post("/tokens", json={"name": "x", "role": "viewer"}).json
    assert admin.delete(f"/tokens/{other['id']}").status_code == 204
    assert Api(client, other["token"]).get("/sites").status_code == 401
    assert admin.delete(f"/tokens/{other['id']}").status_code == 404


def test_a_token_of_some_sites_sees_only_those(client, admin: Api, parts: Parts):
    """What belongs to another site is not listed, not shown, not found."""
    for site in ("harbor", "depot"):
        add_site(parts, site)
    mine, other = add_deployment(parts, "harbor"), add_deployment(parts, "depot")
    body = {"name": "harbor only", "role": "operator", "sites": ["harbor"]}
    only = Api(client, admin.post("/tokens", json=body).json["token"])
    assert [one["id"] for one in only.get("/deployments").json["items"]] == [mine]
    assert only.get(f"/deployments/{other}").status_code == 404
    assert [one["name"] for one in only.get("/sites").json["items"]] == ["harbor"]
    assert only.get("/sites/depot").status_code == 404
    assert only.post("/sites/depot/reload").status_code == 404
    assert admin.post("/tokens", json={**body, "sites": ["nowhere"]}).status_code == 422


def test_signing_in_gives_a_token_that_speaks_for_the_person(client, user, admin: Api):
    """The right password gives a token; what it does is audited under the person's name."""
    answer = client.post("/api/v1/login", json={"user": user, "password": PASSWORD})
    assert answer.status_code == 201
    mine = Api(client, answer.json["token"])
    assert mine.post("/tokens", json={"name": "t", "role": "viewer"}).status_code == 201
    assert admin.get("/audit").json["items"][0]["actor"] == user


def test_guessing_passwords_is_slowed_down(client: FlaskClient, user, admin: Api):
    """Wrong passwords are 401, and soon 429 with the time to wait; each stands in the audit."""
    wrong = {"user": user, "password": "guess"}
    found = [client.post("/api/v1/login", json=wrong) for _ in range(11)]
    assert {answer.status_code for answer in found[:10]} == {401}
    assert found[10].status_code == 429
    assert int(found[10].headers["Retry-After"]) >= 1
    assert admin.get("/audit").json["items"][0]["outcome"] == "refused"


def test_guessing_at_several_controllers_is_slowed_down_alike(parts: Parts, user, clock: Clock):
    """What one controller refused counts at the others of the same database, for a minute."""
    doors = [
        create_app(replace(parts, sign_ins=Limiter(10, 6.0, lambda: 0.0))).test_client()
        for _ in range(2)
    ]
    wrong = {"user": user, "password": "guess"}
    found = [doors[number % 2].post("/api/v1/login", json=wrong) for number in range(11)]
    assert {answer.status_code for answer in found[:10]} == {401}
    right = {"user": user, "password": PASSWORD}
    assert (found[10].status_code, found[10].headers["Retry-After"]) == (429, "60")
    assert doors[0].post("/api/v1/login", json=right).status_code == 429
    clock.forward(61)
    again = create_app(replace(parts, sign_ins=Limiter(10, 6.0, lambda: 0.0))).test_client()
    assert again.post("/api/v1/login", json=right).status_code == 201


def test_a_role_can_end_at_labels(client, admin: Api, parts: Parts):
    """A token of a selector has the sites that carry the labels at that moment, in all it does."""
    for site in ("harbor", "depot"):
        add_site(parts, site)
    assert admin.patch("/sites/harbor", json={"labels": {"zone": "shop"}}).status_code == 200
    mine, other = add_deployment(parts, "harbor"), add_deployment(parts, "depot")
    selector = {"matchLabels": {"zone": "shop"}}
    body = {"name": "shops", "role": "operator", "sites": selector}
    made = admin.post("/tokens", json=body)
    assert made.status_code == 201, made.text
    shops = Api(client, made.json["token"])
    assert [one["id"] for one in shops.get("/deployments").json["items"]] == [mine]
    assert shops.get(f"/deployments/{other}").status_code == 404
    assert shops.post("/sites/depot/reload").status_code == 404
    admin.patch("/sites/depot", json={"labels": {"zone": "shop"}})
    assert len(shops.get("/sites").json["items"]) == 2
    shown = {one["name"]: one["sites"] for one in admin.get("/tokens").json["items"]}
    assert shown["shops"]["matchLabels"] == {"zone": "shop"}
    person = {"name": "kim", "password": PASSWORD, "role": "viewer", "sites": selector}
    assert admin.post("/users", json=person).status_code == 201
    token = client.post("/api/v1/login", json={"user": "kim", "password": PASSWORD}).json["token"]
    assert len(Api(client, token).get("/sites").json["items"]) == 2
    wrong = admin.post("/tokens", json={**body, "sites": {"matchLabel": {}}})
    assert wrong.status_code == 422


def test_a_user_that_does_not_exist_is_refused_alike(client: FlaskClient, user):
    """Nobody learns from the answer which names exist."""
    known = client.post("/api/v1/login", json={"user": user, "password": "x"})
    unknown = client.post("/api/v1/login", json={"user": "eve", "password": "x"})
    assert known.get_json(force=True)["detail"] == unknown.get_json(force=True)["detail"]


def test_the_last_admin_cannot_be_lost(admin: Api, user):
    """An only admin is neither removed, nor disabled, nor made something less."""
    for change in ({"disabled": True}, {"role": "viewer"}):
        assert admin.patch(f"/users/{user}", json=change).status_code == 409
    assert admin.delete(f"/users/{user}").status_code == 409
    second = {"name": "grace", "password": PASSWORD, "role": "admin"}
    assert admin.post("/users", json=second).status_code == 201
    assert admin.post("/users", json=second).status_code == 409
    assert admin.delete(f"/users/{user}").status_code == 204


def test_a_disabled_person_is_out_at_once(client, admin: Api, user):
    """Tokens and sessions of somebody disabled stop working."""
    admin.post("/users", json={"name": "grace", "password": PASSWORD, "role": "admin"})
    token = client.post("/api/v1/login", json={"user": user, "password": PASSWORD}).json["token"]
    assert admin.patch(f"/users/{user}", json={"disabled": True}).status_code == 200
    assert Api(client, token).get("/sites").status_code == 401


def test_two_runners_tokens_may_be_valid(admin: Api, harbor: Runner):
    """One in use and one that takes its place; a third is refused until one is revoked."""
    second = admin.post("/sites/harbor/tokens")
    assert second.status_code == 201
    assert set(second.json) == {"id", "token"}
    assert admin.post("/sites/harbor/tokens").status_code == 409
    assert admin.delete(f"/sites/harbor/tokens/{second.json['id']}").status_code == 204
    assert admin.post("/sites/harbor/tokens").status_code == 201


def test_the_audit_is_chained(admin: Api, parts: Parts):
    """Each entry covers the one before: a changed one is found."""
    from sqlalchemy import text

    from controller.store import audit

    for name in "abc":
        admin.post("/tokens", json={"name": name, "role": "viewer"})
    with parts.store.session() as session:
        assert audit.verified(session)["broken_at"] is None
    with parts.store.write() as session:
        session.execute(text("UPDATE audit SET actor = 'nobody' WHERE id = 2"))
    with parts.store.session() as session:
        assert audit.verified(session)["broken_at"] == 2


def _form_token(page: str) -> str:
    found = re.search(r'name="token" value="([^"]+)"', page)
    assert found
    return found[1]


def _sign_in(client: FlaskClient, user: str, password: str = PASSWORD, **more: str):
    token = _form_token(client.get("/sign-in").text)
    form = {"token": token, "user": user, "password": password, **more}
    return client.post("/sign-in", data=form)


def test_the_sign_in_form_opens_the_pages(client: FlaskClient, user):
    """Without a session a page leads to the form, with the password back to the page."""
    away = client.get("/sites")
    assert (away.status_code, away.headers["Location"]) == (303, "/sign-in?next=/sites")
    back = _sign_in(client, user, next="/sites")
    assert (back.status_code, back.headers["Location"]) == (303, "/sites")
    cookie = back.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert client.get("/sites").status_code == 200


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "/\\evil.example"])
def test_signing_in_leads_nowhere_else(client: FlaskClient, user, target):
    """A forged `next` leads to our own first page."""
    assert _sign_in(client, user, next=target).headers["Location"] == "/"


def test_a_wrong_password_is_told_on_the_form(client: FlaskClient, user):
    """The form comes back with what is wrong, and opens nothing."""
    answer = _sign_in(client, user, "wrong")
    assert answer.status_code == 401
    assert "user or password is wrong" in answer.text
    assert client.get("/").status_code == 303


def test_forms_of_other_pages_are_refused(client: FlaskClient, user):
    """Without the token of our own form nobody is signed in or out."""
    assert client.post("/sign-in", data={"user": user, "password": PASSWORD}).status_code == 403
    _sign_in(client, user)
    assert client.post("/sign-out", data={"token": "guess"}).status_code == 403
    page = client.get("/").text
    assert client.post("/sign-out", data={"token": _form_token(page)}).status_code == 303
    assert client.get("/").status_code == 303


def test_a_session_ends(client: FlaskClient, user, clock: Clock):
    """Half a day later the form is shown again."""
    _sign_in(client, user)
    clock.forward(12 * 3600)
    assert client.get("/").status_code == 303


def test_the_session_cookie_is_no_key_to_the_api(client: FlaskClient, user):
    """The API takes bearer tokens alone, so no other site's form can use it."""
    _sign_in(client, user)
    assert client.get("/api/v1/sites").status_code == 401

"""What holds for every door of the controller: who comes in, what is told, what is kept."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from werkzeug.routing import Rule
from werkzeug.test import TestResponse

from controller.access.identity import Role
from controller.api import ROUTES
from controller.app import create_app
from controller.pages.frame import PROGRAMS
from controller.parts import Parts
from controller.store.columns import Base
from margrave.errors import MargraveError
from tests.functional.controller.kit import PASSWORD, Api, Runner
from tests.support.small_server import Asked, SmallServer, Told
from tests.support.works import ADA, Works

# Doors for who has no token: each has its own proof, or nothing to hide.
OPEN = {
    "/healthz", "/readyz", "/openapi.json", "/schemas/<name>.json", "/api/v1/login",
    "/hooks/git", "/hooks/git/<delivery>", "/sign-in", "/static/<path:filename>",
    "/sign-in/oidc", "/sign-in/oidc/back",
}  # fmt: skip
RANKS = [Role.VIEWER, Role.OPERATOR, Role.ADMIN]
OWN_WORDS = ("/git/", "/readyz")  # Git's door refuses in Git's words, /readyz tells who is ill
ANYTHING = re.compile(r"<[^>]+>")


def every(app: Flask) -> Iterator[tuple[str, Rule]]:
    """Each method of each address."""
    for rule in app.url_map.iter_rules():
        for method in sorted((rule.methods or set()) - {"HEAD", "OPTIONS"}):
            yield method, rule


def at(rule: Rule | str) -> str:
    """An address of it, where things are named harbor; Git's door knows few words."""
    if isinstance(rule, Rule) and rule.rule.startswith("/git/"):
        return rule.rule.replace("<service>", "git-receive-pack") + "?service=git-upload-pack"
    return ANYTHING.sub("harbor", rule if isinstance(rule, str) else rule.rule)


def is_a_problem(answer: TestResponse, what: str) -> None:
    """A refusal that a program can read, with a next step for whoever caused it."""
    assert answer.content_type == "application/problem+json", (what, answer.text[:200])
    told: dict[str, Any] = answer.get_json(force=True)
    assert told["status"] == answer.status_code and told["title"] and told["detail"], what
    assert told["cure"] and told["request_id"] == answer.headers["X-Request-Id"], what
    assert all(one["cure"] and {"pointer", "code", "detail"} <= set(one) for one in told["errors"])


def test_every_door_asks_who_comes(app: Flask, client: FlaskClient, harbor: Runner) -> None:
    """Without a token the API is 401, a page leads to the sign-in form; the open doors are few."""
    shut = [(method, rule) for method, rule in every(app) if rule.rule not in OPEN]
    assert len(shut) > 100
    for method, rule in shut:
        far = {"X-Forwarded-For": "192.0.2.1"}  # /metrics is open to loopback
        answer = client.open(at(rule), method=method, headers=far)
        what = f"{method} {rule.rule}: {answer.status_code}"
        if answer.status_code == 303:
            assert answer.headers["Location"].startswith("/sign-in"), what
            continue
        assert answer.status_code == 401, what
        if not rule.rule.startswith("/git/"):
            is_a_problem(answer, what)
        assert "WWW-Authenticate" in answer.headers or not rule.rule.startswith("/api/"), what


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_no_route_takes_less_than_it_needs(client: FlaskClient, harbor: Runner, route: Any) -> None:
    """One rank below is 403, and so is a runner beyond its own work and a person in its place."""
    path = f"/api/v1{at(route.path)}"

    def status(token: str) -> int:
        headers = {"Authorization": f"Bearer {token}"}
        answer = client.open(path, method=route.method, headers=headers)
        if answer.status_code == 403:
            is_a_problem(answer, route.name)
        answer.close()
        return answer.status_code

    if route.needs is Role.SITE:
        assert {status(rank.value) for rank in RANKS} == {403}
        return
    below = RANKS[: RANKS.index(route.needs)]
    assert {status(rank.value) for rank in below} <= {403}
    assert (status("runner-harbor") == 403) is not route.runner_too


@pytest.mark.parametrize("body", [None, b"{", b"[]", b'{"zork": 1}'], ids=str)
def test_every_refusal_is_a_problem_with_a_cure(
    app: Flask, client: FlaskClient, user: str, body: bytes | None
) -> None:
    """Every address, asked by an admin for what is not there, with what it does not take."""
    headers = {"Authorization": "Bearer admin", "Content-Type": "application/json"}
    refused = 0
    for method, rule in every(app):
        answer = client.open(at(rule), method=method, headers=headers, data=body)
        what = f"{method} {rule.rule}: {answer.status_code}"
        if answer.status_code >= 400 and not rule.rule.startswith(OWN_WORDS):
            assert answer.status_code < 500, what
            if answer.content_type.startswith("text/html"):  # a form says it in the form
                assert not rule.rule.startswith(PROGRAMS), what
                continue
            is_a_problem(answer, what)
            refused += 1
        answer.close()
    assert refused > 30


def test_no_address_takes_a_method_that_it_does_not_know(app: Flask, client: FlaskClient) -> None:
    """405 as a problem that names the right ones."""
    for rule in {at(rule) for _, rule in every(app)}:
        answer = client.open(rule, method="TRACE", headers={"Authorization": "Bearer admin"})
        assert answer.status_code == 405, rule
        is_a_problem(answer, rule)
        assert answer.headers["Allow"], rule


def test_every_form_asks_for_its_token(app: Flask, client: FlaskClient, user: str) -> None:
    """A page of another site cannot make a signed-in browser change anything, anywhere."""
    form = client.get("/sign-in").text.partition('name="token" value="')[2].partition('"')[0]
    client.post("/sign-in", data={"user": user, "password": PASSWORD, "token": form})
    assert client.get("/").status_code == 200
    prefixes = ("/api/", "/git/", "/hooks/")
    forms = [
        rule for method, rule in every(app)
        if method == "POST" and not rule.rule.startswith(prefixes)
    ]  # fmt: skip
    assert len(forms) > 10
    for rule in forms:
        for sent in ({}, {"token": "guessed"}):
            assert client.post(at(rule), data=sent).status_code == 403, rule.rule


def test_cookies_are_for_https_where_people_use_it(parts: Parts) -> None:
    """Behind a proxy with TLS the session never travels in the clear."""
    for address, secure in (("https://margrave.example", True), (None, False)):
        http = parts.settings.http.model_copy(update={"external_url": address})
        parts_there = _with(parts, http=http)
        cookie = create_app(parts_there).test_client().get("/sign-in").headers["Set-Cookie"]
        assert ("Secure" in cookie) is secure
        assert "HttpOnly" in cookie and "SameSite=Lax" in cookie


def _with(parts: Parts, **settings: Any) -> Parts:
    return replace(parts, settings=parts.settings.model_copy(update=settings))


def test_what_opens_a_door_is_kept_as_a_hash(
    parts: Parts, client: FlaskClient, admin: Api, user: str
) -> None:
    """Whoever reads the database can sign in as nobody: tokens, sessions, passwords, audit."""
    form = client.get("/sign-in").text.partition('name="token" value="')[2].partition('"')[0]
    client.post("/sign-in", data={"user": user, "password": PASSWORD, "token": form})
    cookie = client.get_cookie("margrave_session")
    assert cookie is not None
    login = client.post("/api/v1/login", json={"user": user, "password": PASSWORD}).json
    made = admin.post("/tokens", json={"name": "x", "role": "viewer"}).json
    depot = admin.post("/sites", json={"name": "depot"}).json
    second = admin.post("/sites/depot/tokens").json
    secrets = [cookie.value, *(one["token"] for one in (login, made, depot, second))]
    for one in secrets:
        random = one.partition("_")[2]
        assert len(base64.urlsafe_b64decode(f"{random}=")) == 32, "256 random bits"
    with parts.store.session() as session:
        kept = "".join(
            repr(row) for table in Base.metadata.sorted_tables
            for row in session.execute(select(table))
        )  # fmt: skip
    assert "$argon2id$" in kept
    assert [one for one in [*secrets, PASSWORD] if one in kept] == []


class Forge(SmallServer):
    """It asks for a password, looks at what is visible meanwhile, and never lets anybody in."""

    def __init__(self) -> None:
        self.given: list[str] = []
        self.seen = ""

    def answer(self, asked: Asked) -> Told:
        """401 until there is a password, then 403."""
        self.seen += "".join(
            file.read_bytes().replace(b"\0", b" ").decode(errors="replace")
            for file in Path("/proc").glob("[0-9]*/cmdline")
            if file.exists()
        )
        basic = asked.headers.get("Authorization", "").removeprefix("Basic ")
        if not basic:
            return Told(401, headers={"WWW-Authenticate": 'Basic realm="forge"'})
        self.given.append(base64.b64decode(basic).decode())
        return Told(403)


def test_a_forges_password_is_seen_by_the_forge_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither processes, nor errors, nor logs, nor files hold it."""
    forge = Forge().start()
    remote = f"http://{forge.address}/x.git"
    access = {"remote": remote, "username": "margrave", "password": "open-sesame-17"}
    works = Works(tmp_path / "state", None, git=access, http={"insecure": True})
    with pytest.raises(MargraveError) as caught:
        works.sites.create({"name": "harbor"}, ADA)
    works.store.close()
    forge.stop()
    assert forge.given and set(forge.given) == {"margrave:open-sesame-17"}
    assert "git" in forge.seen and "open-sesame" not in forge.seen
    assert "open-sesame" not in str(caught.value) + caplog.text + repr(works.settings)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert files and not [path for path in files if b"open-sesame" in path.read_bytes()]

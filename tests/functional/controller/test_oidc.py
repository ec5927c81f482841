"""Signing in with a provider's account: the right people get in, with the right role."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from controller.parts import Parts
from controller.settings import ControllerSettings, problems
from tests.functional.controller.kit import NOON, Api
from tests.support.oidc import CLIENT, SECRET, FakeProvider

OUTSIDE = "http://localhost"


@pytest.fixture
def provider() -> Iterator[FakeProvider]:
    made = FakeProvider(now=NOON.timestamp()).start()
    yield made
    made.stop()


@pytest.fixture
def settings(tmp_path: Path, database: str | None, provider: FakeProvider) -> ControllerSettings:
    oidc = {
        "issuer": provider.issuer,
        "client_id": CLIENT,
        "client_secret": SECRET,
        "operators": ["margrave-ops"],
        "admins": ["margrave-admins"],
    }
    return ControllerSettings.model_validate(
        {
            "state": {"dir": tmp_path / "state"},
            "http": {"external_url": OUTSIDE},
            "database": {"url": database},
            "oidc": oidc,
        }
    )


def there(client: FlaskClient, target: str = "/") -> str:
    """The person signs in at the provider; the address that their browser is sent back to."""
    begun = client.get("/sign-in/oidc", query_string={"next": target})
    assert begun.status_code == 303, begun.text
    answer = httpx.get(begun.headers["Location"])
    back = urlsplit(answer.headers["Location"])
    assert f"{back.scheme}://{back.netloc}" == OUTSIDE
    return f"{back.path}?{back.query}"


def whole(client: FlaskClient, target: str = "/") -> TestResponse:
    return client.get(there(client, target))


def test_a_person_signs_in_at_the_provider(
    client: FlaskClient, provider: FakeProvider, admin: Api
) -> None:
    """There and back: a session with the role that the groups give, and a line in the audit."""
    assert "/sign-in/oidc" in client.get("/sign-in").text
    answer = whole(client, "/sites")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sites")
    assert client.get("/sites").status_code == 200
    (grace,) = admin.get("/users").json["items"]
    assert (grace["name"], grace["role"]) == ("grace", "operator")
    entry = admin.get("/audit").json["items"][0]
    assert (entry["actor"], entry["action"], entry["outcome"]) == ("grace", "login", "done")
    provider.claims["groups"] = ["margrave-admins"]
    assert whole(client).status_code == 303
    assert admin.get("/users").json["items"][0]["role"] == "admin"


def test_no_password_opens_such_an_account(client: FlaskClient, parts: Parts) -> None:
    """What stands in place of the hash is no password, and no password is it."""
    assert whole(client).status_code == 303
    with parts.store.session() as session:
        from controller.store import access

        stored = access.user(session, "grace")
    assert stored is not None
    body = {"user": "grace", "password": stored["password_hash"]}
    assert client.post("/api/v1/login", json=body).status_code == 401


@pytest.mark.parametrize(
    ("lies", "words"),
    [
        ({"nonce": "another"}, "cannot be trusted"),
        ({"aud": "somebody-else"}, "cannot be trusted"),
        ({"iss": "https://elsewhere.example"}, "cannot be trusted"),
        ({"exp": NOON.timestamp() - 3600}, "cannot be trusted"),
        ({"azp": "somebody-else"}, "meant for somebody else"),
        ({"groups": ["nobody"]}, "gives grace a role"),
        ({"groups": None}, "gives grace a role"),
        ({"preferred_username": "\u0430dmin"}, "no name of a user"),
        ({"preferred_username": "../etc"}, "no name of a user"),
        ({"preferred_username": None}, "no name of a user"),
    ],
)
def test_who_is_not_vouched_for_stays_outside(
    client: FlaskClient, provider: FakeProvider, admin: Api, lies: dict[str, Any], words: str
) -> None:
    """Each thing that is not right keeps them out, is said, and stands in the audit."""
    provider.lies = lies
    answer = whole(client)
    assert answer.status_code == 403
    assert words in answer.text
    assert client.get("/sites").status_code != 200
    assert admin.get("/users").json["items"] == []
    assert admin.get("/audit").json["items"][0]["outcome"] == "refused"


def test_another_key_vouches_for_nobody(client: FlaskClient, provider: FakeProvider) -> None:
    """An ID token that the provider's published key did not sign is worth nothing."""
    provider.foreign_key = True
    assert whole(client).status_code == 403


def test_a_code_works_once_and_for_the_browser_that_began(client: FlaskClient) -> None:
    """Without the cookie of the beginning, with another state, or again: nobody gets in."""
    back = there(client)
    forged = back.replace("state=", "state=x")
    assert client.get(forged).status_code == 403
    client.delete_cookie("margrave_oidc")
    assert client.get(back).status_code == 403
    again = there(client)
    kept = client.get_cookie("margrave_oidc")
    assert kept is not None
    assert client.get(again).status_code == 303
    client.set_cookie("margrave_oidc", kept.value)
    assert client.get(again).status_code == 403


def test_a_name_that_is_taken_stays_whose_it_is(
    client: FlaskClient, provider: FakeProvider, user: str, admin: Api
) -> None:
    """Neither a local person's name nor that of another account there can be taken over."""
    provider.claims["preferred_username"] = user
    answer = whole(client)
    assert answer.status_code == 403 and "belongs to somebody else" in answer.text
    provider.claims["preferred_username"] = "grace"
    assert whole(client).status_code == 303
    provider.claims["sub"] = "18"
    assert whole(client).status_code == 403
    provider.claims["sub"] = "17"
    assert admin.patch("/users/grace", json={"disabled": True}).status_code == 200
    assert whole(client).status_code == 403


def test_a_provider_that_is_away_is_said(client: FlaskClient, provider: FakeProvider) -> None:
    """Passwords still work; the page says who does not answer."""
    provider.ill = True
    answer = client.get("/sign-in/oidc")
    assert answer.status_code == 503
    assert "does not answer" in answer.text and 'name="password"' in answer.text


@pytest.mark.parametrize("target", ["https://elsewhere.example/", "//elsewhere.example", "/\\x"])
def test_nobody_is_sent_elsewhere(client: FlaskClient, target: str) -> None:
    """Where to go afterwards is a page of ours, whatever the address said."""
    assert whole(client, target).headers["Location"] == "/"


def test_half_a_provider_stops_the_start(tmp_path: Path) -> None:
    """Everything that is missing is told at once."""
    half = ControllerSettings.model_validate({"oidc": {"issuer": "http://idp.example"}})
    assert sorted(one.pointer for one in problems(half)) == [
        "/http/external_url",
        "/oidc",
        "/oidc/client_id",
        "/oidc/issuer",
    ]

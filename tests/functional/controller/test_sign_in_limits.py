"""Wrong passwords slow down who sends them, and nobody else."""

from __future__ import annotations

from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from controller.app import create_app
from controller.parts import Parts
from tests.functional.controller.kit import PASSWORD, Api

GUESSER, OTHER = "192.0.2.1", "192.0.2.2"


def sign_in(client: FlaskClient, user: str, password: str, address: str, **headers: str) -> int:
    """The status of a try from an address."""
    return client.post(
        "/api/v1/login",
        json={"user": user, "password": password},
        environ_base={"REMOTE_ADDR": address},
        headers=headers,
    ).status_code


def guess(client: FlaskClient, user: str, address: str, times: int) -> list[int]:
    """The statuses of so many wrong passwords."""
    return [sign_in(client, user, f"guess {number}", address) for number in range(times)]


def test_wrong_passwords_lock_an_account_for_their_source_only(client: FlaskClient, user: str):
    """Eleven from one address: it has to wait, and the person signs in from elsewhere."""
    assert guess(client, user, GUESSER, 11) == [401] * 10 + [429]
    assert sign_in(client, user, PASSWORD, GUESSER) == 429
    assert sign_in(client, user, PASSWORD, OTHER) == 201


def test_a_colleague_at_the_same_address_may_still_sign_in(
    client: FlaskClient, user: str, admin: Api
):
    """An office has one address: one account that is mistyped there does not lock the others."""
    person = {"name": "grace", "password": PASSWORD, "role": "viewer"}
    assert admin.post("/users", json=person).status_code == 201
    assert guess(client, user, GUESSER, 12)[-1] == 429
    assert sign_in(client, "grace", PASSWORD, GUESSER) == 201


def test_right_passwords_use_nothing_up(client: FlaskClient, user: str):
    """Whoever signs in with the right password again and again is never told to wait."""
    assert {sign_in(client, user, PASSWORD, OTHER) for _ in range(15)} == {201}


def test_many_accounts_from_one_source_are_slowed_down(client: FlaskClient):
    """One guess for each of many names counts too; at last the source has to wait."""
    found = [sign_in(client, f"user-{number}", "guess", GUESSER) for number in range(31)]
    assert (found[:30], found[30]) == ([401] * 30, 429)


def test_an_ipv6_client_is_one_source(client: FlaskClient, user: str):
    """It may choose among the 2^64 addresses of its network, and is slowed down all the same."""
    found = [sign_in(client, user, "guess", f"2001:db8:0:1::{number:x}") for number in range(11)]
    assert found == [401] * 10 + [429]
    assert sign_in(client, user, PASSWORD, "2001:db8:0:2::1") == 201


@pytest.fixture
def proxied(parts: Parts) -> FlaskClient:
    """A controller behind a trusted proxy at 10.0.0.0/8."""
    http = parts.settings.http.model_copy(update={"trusted_proxies": ("10.0.0.0/8",)})
    settings = parts.settings.model_copy(update={"http": http})
    return create_app(replace(parts, settings=settings)).test_client()


def test_behind_a_trusted_proxy_users_are_told_apart(proxied: FlaskClient, user: str, admin: Api):
    """Each user has tries of their own, and the audit names their address."""
    for _ in range(11):
        last = sign_in(proxied, user, "guess", "10.0.0.1", **{"X-Forwarded-For": GUESSER})
    assert last == 429
    forwarded = {"X-Forwarded-For": f"{GUESSER}, {OTHER}, 10.9.9.9"}
    assert sign_in(proxied, user, PASSWORD, "10.0.0.1", **forwarded) == 201
    assert admin.get("/audit").json["items"][0]["address"] == OTHER


def test_only_a_trusted_proxy_is_believed(proxied: FlaskClient, user: str):
    """Who writes X-Forwarded-For without being one is counted by its own address."""
    found = [
        sign_in(proxied, user, "guess", GUESSER, **{"X-Forwarded-For": f"198.51.100.{number}"})
        for number in range(11)
    ]
    assert found[-1] == 429

"""A stream lasts no longer than the right to it."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import httpx
import pytest
from flask import Flask
from flask.testing import FlaskClient

from controller.events import stream
from controller.parts import Parts
from tests.functional.controller.kit import PASSWORD, Api, Runner, add_site
from tests.support.listening import listening
from tests.support.waiting import eventually


@pytest.fixture
def address(parts: Parts, app: Flask, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The controller on a real port; rights are looked at often."""
    monkeypatch.setattr(stream, "BEAT", 0.1)
    monkeypatch.setattr(stream, "RIGHTS_EVERY", 0.2, raising=False)
    parts.broker.start()
    with listening(app) as server:
        yield f"http://127.0.0.1:{server.port}"
        parts.broker.stop()


class Listener:
    """A stream that is read until it ends."""

    def __init__(self, url: str, **headers: str) -> None:
        self.ended = threading.Event()
        self.opened = threading.Event()
        self._url, self._headers = url, headers
        threading.Thread(target=self._read, daemon=True).start()
        assert self.opened.wait(10)

    def _read(self) -> None:
        try:
            with httpx.stream("GET", self._url, headers=self._headers, timeout=5) as answer:
                assert answer.status_code == 200
                for line in answer.iter_lines():
                    if line == ": open":
                        self.opened.set()
        finally:
            self.ended.set()


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def ends(listener: Listener) -> bool:
    return listener.ended.wait(5)


def test_a_revoked_token_ends_its_streams(address: str, admin: Api):
    """That token's stream ends; another token's goes on."""
    one, two = (admin.post("/tokens", json={"name": n, "role": "viewer"}).json for n in "ab")
    gone = Listener(f"{address}/api/v1/events", **bearer(one["token"]))
    kept = Listener(f"{address}/api/v1/events", **bearer(two["token"]))
    assert admin.delete(f"/tokens/{one['id']}").status_code == 204
    assert ends(gone)
    assert not kept.ended.wait(0.6)


def test_a_disabled_user_hears_no_more(address: str, admin: Api, client: FlaskClient, user: str):
    """Neither with a token of theirs nor with the session of a page."""
    person = {"name": "grace", "password": PASSWORD, "role": "viewer"}
    admin.post("/users", json=person)
    login = client.post("/api/v1/login", json={"user": "grace", "password": PASSWORD}).json
    form = client.get("/sign-in").text.partition('name="token" value="')[2].partition('"')[0]
    client.post("/sign-in", data={"user": "grace", "password": PASSWORD, "token": form})
    cookie = client.get_cookie("margrave_session")
    assert cookie is not None
    by_token = Listener(f"{address}/api/v1/events", **bearer(login["token"]))
    by_page = Listener(f"{address}/live", Cookie=f"margrave_session={cookie.value}")
    assert admin.patch("/users/grace", json={"disabled": True}).status_code == 200
    assert ends(by_token) and ends(by_page)


def test_a_narrowed_limit_ends_what_saw_more(
    address: str, admin: Api, client: FlaskClient, user: str, parts: Parts
):
    """A person who loses a site is cut off, and comes back to what is left."""
    for site in ("harbor", "depot"):
        add_site(parts, site)
    person = {"name": "grace", "password": PASSWORD, "role": "viewer"}
    admin.post("/users", json={**person, "sites": ["harbor", "depot"]})
    login = client.post("/api/v1/login", json={"user": "grace", "password": PASSWORD}).json
    listener = Listener(f"{address}/api/v1/events", **bearer(login["token"]))
    assert admin.patch("/users/grace", json={"sites": ["harbor"]}).status_code == 200
    assert ends(listener)
    again = Listener(f"{address}/api/v1/events", **bearer(login["token"]))
    assert not again.ended.wait(0.6)


def test_a_runners_stream_ends_with_its_token(address: str, admin: Api, harbor: Runner):
    """The runner of a site whose token was replaced comes back with the new one, or not at all."""
    made = admin.post("/sites/harbor/tokens").json
    listener = Listener(f"{address}/api/v1/sites/harbor/stream", **bearer(made["token"]))
    assert admin.delete(f"/sites/harbor/tokens/{made['id']}").status_code == 204
    assert ends(listener)


def test_streams_outlast_a_short_outage_of_the_database(
    address: str, parts: Parts, monkeypatch: pytest.MonkeyPatch
):
    """Rights that cannot be looked at are as they were; for so long only as a revocation takes."""
    from controller.store import access
    from margrave.errors import Unreachable

    def away(*_: object) -> None:
        raise Unreachable("the database does not answer")

    listener = Listener(f"{address}/api/v1/events", **bearer("viewer"))
    monkeypatch.setattr(stream, "UNKNOWN_RIGHTS", 1.0, raising=False)
    monkeypatch.setattr(access, "token", away)
    assert not listener.ended.wait(0.5)
    assert ends(listener)


def test_one_holder_does_not_take_every_place(parts: Parts, app: Flask):
    """Half of all streams, for each token: the others are for everybody else."""
    most = parts.settings.events.max_clients // 2
    client = app.test_client()
    with app.app_context():
        opened = [client.get("/api/v1/events", headers=bearer("viewer")) for _ in range(most)]
        assert client.get("/api/v1/events", headers=bearer("viewer")).status_code == 503
        opened.append(client.get("/api/v1/events", headers=bearer("operator")))
        assert {answer.status_code for answer in opened} == {200}
        for answer in opened:
            answer.close()
    eventually(lambda: parts.broker.clients == 0, 5, "all have left")

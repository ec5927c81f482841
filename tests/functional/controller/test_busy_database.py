"""While somebody else holds the database's write lock, reads answer and writes end in time."""

from __future__ import annotations

import time

import pytest
from flask.testing import FlaskClient

from controller.chores import Chores
from controller.parts import Parts
from controller.store import Store, engine
from margrave.errors import Unreachable
from tests.functional.controller.kit import Api, Clock


def test_reads_need_no_write(parts: Parts, viewer: Api, clock: Clock):
    """A token that was not used for long reads while another process is writing."""
    clock.forward(3600)
    other = Store(parts.store.url)
    with other.write() as session:
        session.connection()
        begun = time.monotonic()
        assert viewer.get("/sites").status_code == 200
        assert time.monotonic() - begun < 3
    other.close()


def test_the_last_use_of_a_token_is_recorded_later(parts: Parts, viewer: Api, admin: Api):
    """By a chore: at first it stands nowhere, then it is shown; a failure keeps it for later."""
    assert viewer.get("/sites").status_code == 200
    names = {one["name"]: one for one in admin.get("/tokens").json["items"]}
    assert names["viewer"]["last_used_at"] is None
    Chores(parts).record_token_uses()
    names = {one["name"]: one for one in admin.get("/tokens").json["items"]}
    assert names["viewer"]["last_used_at"] == "2026-03-01T12:00:00.000Z"


def test_uses_are_kept_until_they_can_be_recorded(
    parts: Parts, viewer: Api, admin: Api, monkeypatch: pytest.MonkeyPatch
):
    """A database that takes nothing now takes it the next time."""

    def busy() -> None:
        raise Unreachable("the database is busy")

    viewer.get("/sites")
    with monkeypatch.context() as patched:
        patched.setattr(Store, "write", lambda _: busy())
        with pytest.raises(Unreachable):
            Chores(parts).record_token_uses()
    Chores(parts).record_token_uses()
    names = {one["name"]: one for one in admin.get("/tokens").json["items"]}
    assert names["viewer"]["last_used_at"] is not None


def test_a_write_waits_a_bounded_time(
    parts: Parts, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    """Who cannot write within the patience of a request is told that the database is busy."""
    monkeypatch.setattr(engine, "_BUSY_MILLISECONDS", 500)
    late = Store(parts.store.url)
    with parts.store.write() as session:
        session.connection()
        begun = time.monotonic()
        with pytest.raises(Unreachable, match="the database is busy"), late.write() as second:
            second.connection()
            pytest.fail("two wrote at a time")
        assert time.monotonic() - begun < 5
    with late.write() as second:
        second.connection()
    late.close()

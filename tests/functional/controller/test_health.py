"""Which part is ill: each one made ill, and told by name."""

from __future__ import annotations

import logging
import shutil
from collections import namedtuple
from typing import Any

import pytest
from flask.testing import FlaskClient

from controller import health
from controller.parts import Parts
from controller.publish import Repository, trunk
from controller.publish.reader import Reader
from controller.store import facts
from margrave.errors import Unreachable
from tests.functional.controller.kit import Api

Usage = namedtuple("Usage", "total used free")
KNOWN, FOUND = "a" * 40, "b" * 40


def ill(client: FlaskClient) -> tuple[int, dict[str, str]]:
    """Status, and what ails each part that is ill."""
    answer = client.get("/readyz")
    checks: list[dict[str, Any]] = answer.get_json()["checks"]
    return answer.status_code, {one["name"]: one["detail"] for one in checks if not one["ok"]}


def halted(parts: Parts) -> None:
    told = {"reason": "main was rewritten", "cure": "accept it", "since": "2026-03-01T12:00:00Z"}
    with parts.store.write() as session:
        facts.put(session, facts.HALT, {**told, "commit": FOUND, "known": KNOWN})


def test_who_asks_often_is_told_what_was_seen(
    client: FlaskClient, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hundred questions in a moment, which nobody needs a token for, are one look."""
    looks: list[int] = []
    look = health.checks

    def counted(parts: Parts) -> list[health.Check]:
        looks.append(1)
        return look(parts)

    parts.broker.start()
    monkeypatch.setattr(health, "KEPT", 3600.0)
    monkeypatch.setattr(health, "checks", counted)
    assert {client.get("/readyz").status_code for _ in range(100)} == {200}
    assert len(looks) == 1


def test_what_cannot_be_read_is_told(
    client: FlaskClient, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A head that the reader fails at is a part that is ill, and serving goes on."""
    parts.broker.start()
    with monkeypatch.context() as away:
        away.setattr(Reader, "follow", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            parts.publisher.refresh()
    status, parts_ill = ill(client)
    assert (status, list(parts_ill)) == (200, ["reading"])
    assert "cannot be read: a defect: ZeroDivisionError" in parts_ill["reading"]
    parts.publisher.refresh()
    assert ill(client) == (200, {})


def test_what_only_waits_keeps_it_ready(
    client: FlaskClient, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A remote that is away, a rewritten main, a source that fails: told, and it serves on."""

    def away(_: Repository) -> str:
        raise Unreachable("git ls-remote: no route")

    parts.broker.start()
    assert ill(client) == (200, {})
    monkeypatch.setattr(Repository, "refresh", away)
    with pytest.raises(Unreachable):
        parts.publisher.refresh()
    halted(parts)
    parts.catalog.add({"name": "gone", "url": str(parts.settings.state.dir.parent / "gone")})
    with parts.store.write() as session:
        from controller.store import catalog

        catalog.sync_failed(session, "gone", "is not there", parts.clock())
    status, parts_ill = ill(client)
    assert status == 200
    assert parts_ill["remote"] == "git ls-remote: no route"
    assert parts_ill["history"].startswith("main was rewritten; nothing is published")
    assert parts_ill["sources"] == "gone: is not there"


def test_what_is_needed_makes_it_fail(
    client: FlaskClient, parts: Parts, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full disk, and a repository that cannot be read: not ready, with the part's name."""
    parts.broker.start()
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, 100 * health.MIB))
    status, found = ill(client)
    assert (status, "is nearly full: 100 MiB" in found["disk"]) == (200, True)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: Usage(1 << 40, 0, 4096))
    assert ill(client)[0] == 503
    monkeypatch.undo()
    shutil.rmtree(parts.repository.folder)
    status, found = ill(client)
    assert (status, list(found)) == (503, ["git"])


def test_the_repository_is_shown_and_accepted(admin: Api, viewer: Api, parts: Parts) -> None:
    """What halts publishing is shown with its cure; only an admin accepts, and it is audited."""
    assert viewer.get("/repository").json["halted"] is None
    assert admin.post("/repository/accept", json={"commit": FOUND}).status_code == 404
    halted(parts)
    assert viewer.get("/repository").json["halted"]["commit"] == FOUND
    assert viewer.post("/repository/accept", json={"commit": FOUND}).status_code == 403
    assert admin.post("/repository/accept", json={"commit": KNOWN}).status_code == 422
    answer = admin.post("/repository/accept", json={"commit": FOUND[:10]})
    assert (answer.status_code, answer.json["halted"]) == (202, None)
    with parts.store.session() as session:
        assert trunk.halt(session) is None
    assert admin.get("/audit").json["items"][0]["action"] == "repository.accept"


def test_the_audit_is_verified(admin: Api, viewer: Api) -> None:
    """The chain is read through for an admin, with the newest hash to note elsewhere."""
    admin.post("/tokens", json={"name": "a", "role": "viewer"})
    found = admin.get("/audit/verify").json
    newest = admin.get("/audit").json["items"][0]
    assert found == {"entries": newest["id"], "newest": newest["hash"], "broken_at": None,
                     "pruned": None}  # fmt: skip
    assert viewer.get("/audit/verify").status_code == 403


def test_requests_are_logged_with_their_id(viewer: Api, caplog: pytest.LogCaptureFixture) -> None:
    """Each answer is a line with method, path, status and time; probes are left out."""
    caplog.set_level(logging.INFO, "controller.access")
    viewer.get("/sites", headers={"X-Request-Id": "abc-3"})
    lines = [one for one in caplog.records if one.name == "controller.access"]
    assert [line.getMessage() for line in lines] == ["GET /api/v1/sites 200"]
    assert lines[0].__dict__["milliseconds"] >= 0


def test_strangers_learn_no_more_than_which_part_is_ill(client: FlaskClient, parts: Parts) -> None:
    """Commits, addresses and exceptions are for who has a viewer's token, or is on the machine."""
    parts.broker.start()
    halted(parts)
    far = {"REMOTE_ADDR": "192.0.2.1"}

    def history(**headers: str) -> dict[str, Any]:
        answer = client.get("/readyz", environ_base=far, headers=headers)
        assert answer.status_code == 200
        return next(one for one in answer.get_json()["checks"] if one["name"] == "history")

    stranger = history()
    assert stranger["ok"] is False
    assert stranger["detail"] == "failing; a viewer's token shows the reason"
    assert history(Authorization="Bearer nobody")["detail"] == stranger["detail"]
    assert history(Authorization="Bearer viewer")["detail"].startswith("main was rewritten")
    near = client.get("/readyz", headers={"X-Forwarded-For": "192.0.2.1"}).get_json()
    assert [one["detail"] for one in near["checks"] if not one["ok"]] == [stranger["detail"]]

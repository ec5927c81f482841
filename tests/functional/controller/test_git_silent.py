"""A remote that never answers, or is not there at all: people get their answers all the same."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from controller.access.passwords import token_hash
from controller.app import assemble, create_app
from controller.settings import ControllerSettings
from controller.store import Store, access
from controller.store.models import Site
from controller.store.words import Role
from tests.functional.controller.kit import NOON, Api, add_site, clear, rows_of
from tests.functional.controller.test_serve import serving

OPERATOR = {"Authorization": "Bearer operator"}
CALLS = 16


@pytest.fixture
def silent() -> Iterator[str]:
    """The address of a listener that never says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=64) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/deployments.git"


def test_a_silent_remote_takes_no_thread_for_long(
    tmp_path: Path, silent: str, database: str | None, on_both: None
) -> None:
    """Pauses of sites are kept and answered with 202 within seconds, /healthz answers at once
    beside them, and what they wait for is shown."""
    with serving(tmp_path, database, git={"remote": silent}) as (url, _):
        store = Store(database or f"sqlite:///{tmp_path / 'state' / 'margrave.db'}")
        with store.write() as session:
            session.add(Site(name="harbor", created_at=NOON))
        store.close()

        def pause(_: int) -> tuple[int, bool, float]:
            begin = time.monotonic()
            path = f"{url}/api/v1/sites/harbor/pause"
            answer = httpx.post(path, json={}, headers=OPERATOR, timeout=60)
            return answer.status_code, bool(answer.json()["waits"]), time.monotonic() - begin

        def told() -> float:
            begin = time.monotonic()
            assert httpx.get(f"{url}/healthz", timeout=60).status_code == 200
            return time.monotonic() - begin

        with ThreadPoolExecutor(CALLS) as people:
            asked = [people.submit(pause, one) for one in range(CALLS)]
            while not all(one.done() for one in asked):
                assert told() < 5
        answers = [one.result() for one in asked]
        assert {(status, waits) for status, waits, _ in answers} == {(202, True)}
        assert max(lasted for _, _, lasted in answers) < 25


def test_a_dead_remote_is_said_and_changes_nothing(tmp_path: Path, database: str | None) -> None:
    """A new site is refused with 503 and Retry-After; a pause and a drain are kept, and shown as
    pending with their reason."""
    settings = ControllerSettings.model_validate(
        {
            "state": {"dir": tmp_path / "state"},
            "database": {"url": database},
            "git": {"remote": "http://127.0.0.1:9/none.git"},
        }
    )
    parts = assemble(settings)
    parts.store.migrate()
    parts.repository.prepare()
    add_site(parts, "harbor")
    token = "dead-remote"
    with parts.store.write() as session:
        values = {"id": "t", "name": "t", "digest": token_hash(token), "role": Role.ADMIN}
        access.add_token(session, {**values, "created_by": "test", "created_at": parts.clock()})
    api = Api(create_app(parts).test_client(), token)
    before = rows_of(parts)
    for path in ("/sites/harbor/pause", "/sites/harbor/drain"):
        answer = api.post(path, json={})
        assert answer.status_code == 202
        assert "127.0.0.1:9" in answer.json["waits"]
    answer = api.post("/sites", json={"name": "depot"})
    clear(answer, 503)
    assert int(answer.headers["Retry-After"]) >= 1
    assert rows_of(parts) == before
    shown = api.get("/sites/harbor").json
    assert shown["paused"] is None
    assert [one["change"] for one in shown["pending"]] == ["Pause site harbor", "Drain site harbor"]
    assert all("127.0.0.1:9" in one["problem"] for one in shown["pending"])
    page = (
        create_app(parts)
        .test_client()
        .get("/sites/harbor", headers={"Authorization": f"Bearer {token}"})
    )
    assert "Pause site harbor waits." in page.text
    needs = api.get("/summary").json["attention"]
    assert any("Pause site harbor waits" in one["words"] for one in needs)
    parts.broker.stop()
    parts.store.close()

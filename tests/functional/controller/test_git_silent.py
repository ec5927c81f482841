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
    """Pauses of sites are refused with 503 and Retry-After within seconds, /healthz answers at
    once beside them, and what ails Git is told until the remote speaks."""
    with serving(tmp_path, database, git={"remote": silent}) as (url, _):
        store = Store(database or f"sqlite:///{tmp_path / 'state' / 'margrave.db'}")
        with store.write() as session:
            session.add(Site(name="harbor", created_at=NOON))
        store.close()

        def pause(_: int) -> tuple[int, str, float]:
            begin = time.monotonic()
            path = f"{url}/api/v1/sites/harbor/pause"
            answer = httpx.post(path, json={}, headers=OPERATOR, timeout=60)
            return answer.status_code, answer.headers["Retry-After"], time.monotonic() - begin

        def told() -> float:
            begin = time.monotonic()
            assert httpx.get(f"{url}/healthz", timeout=60).status_code == 200
            return time.monotonic() - begin

        with ThreadPoolExecutor(CALLS) as people:
            asked = [people.submit(pause, one) for one in range(CALLS)]
            while not all(one.done() for one in asked):
                assert told() < 5
        answers = [one.result() for one in asked]
        assert {status for status, _, _ in answers} == {503}
        assert all(int(after) > 0 for _, after, _ in answers)
        # One of them may be the one who asks the remote: it waits as long as Git has patience.
        assert sorted(lasted for _, _, lasted in answers)[-2] < 25


def test_a_dead_remote_is_said_and_changes_nothing(tmp_path: Path, database: str | None) -> None:
    """What has to stand in Git at once is 503 with Retry-After; the site stays as it was."""
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
        clear(answer, 503)
        assert int(answer.headers["Retry-After"]) >= 1
    clear(api.post("/sites", json={"name": "depot"}), 503)
    assert rows_of(parts) == before
    assert api.get("/sites/harbor").json["paused"] is None
    parts.broker.stop()
    parts.store.close()

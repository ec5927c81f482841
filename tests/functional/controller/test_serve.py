"""The server as it is run: ready soon, streams that do not starve it, an end that is graceful."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from controller.access.passwords import token_hash
from controller.serve import options, serve
from controller.settings import ControllerSettings
from controller.store import Store, access
from controller.store.words import Role
from tests.functional.controller.kit import NOON

TOKEN = {"Authorization": "Bearer viewer"}


def _until(done: Callable[[], bool], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    waiting = multiprocessing.Event()
    while not done():
        assert time.monotonic() < deadline, "waited in vain"
        waiting.wait(0.05)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


@pytest.fixture
def served(tmp_path: Path) -> Iterator[tuple[str, multiprocessing.Process]]:
    """A controller in a process of its own, with room for two streams."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    settings = ControllerSettings.model_validate(
        {
            "state": {"dir": tmp_path / "state"},
            "http": {"bind": f"127.0.0.1:{port}"},
            "events": {"max_clients": 2},
        }
    )
    store = Store(settings.database_url)
    store.migrate()
    with store.write() as session:
        token = {
            "id": "t",
            "name": "t",
            "digest": token_hash("viewer"),
            "role": Role.VIEWER,
            "sites": None,
            "created_by": "test",
            "created_at": NOON,
        }
        access.add_token(session, token)
    store.close()
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(settings,))
    process.start()
    url = f"http://127.0.0.1:{port}"
    _until(lambda: _answers(f"{url}/readyz"))
    yield url, process
    if process.is_alive():
        process.kill()
    process.join()
    process.close()


def test_it_serves_beside_full_streams_and_stops_gracefully(served):
    """With every stream taken /healthz answers; SIGTERM ends streams and process, exit code 0."""
    url, process = served
    with (
        httpx.stream("GET", f"{url}/api/v1/events", headers=TOKEN, timeout=20) as one,
        httpx.stream("GET", f"{url}/api/v1/events", headers=TOKEN, timeout=20) as two,
    ):
        third = httpx.get(f"{url}/api/v1/events", headers=TOKEN)
        assert third.status_code == 503
        assert "Retry-After" in third.headers
        assert httpx.get(f"{url}/healthz").json()["status"] == "ok"
        assert httpx.get(f"{url}/readyz").json()["status"] == "ok"
        os.kill(process.pid, signal.SIGTERM)
        for stream in (one, two):
            assert b": open" in stream.read()
    process.join(20)
    assert process.exitcode == 0


def test_there_is_a_thread_for_each_stream_and_some_more(tmp_path: Path):
    """Streams can never take the last thread."""
    found = options(ControllerSettings.model_validate({"events": {"max_clients": 64}}))
    assert found["threads"] == 80
    assert found["workers"] == 1

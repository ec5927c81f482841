"""The runner's doors on their real server: what is too large is not taken in."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

import webhook
from margrave.secret import Secret
from runner import serve
from runner.ports import NodeStatus
from runner.store import Store
from runner.web import public
from runner.web.status import Status

MIB = 1024 * 1024


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """The public doors with the webhook's, served as a runner serves them."""
    store = Store(tmp_path)
    status = Status("harbor", store, node_status=lambda _: NodeStatus.ACTIVE)
    door = webhook.door(
        [Secret("s")],
        [webhook.Followed("https://forge.example/d", "refs/heads/main")],
        lambda _: None,
    )
    listener = socket.create_server(("127.0.0.1", 0))
    made: Any = serve.server(public.create_app(status, None, door), sockets=[listener])

    def run() -> None:
        with suppress(OSError):  # closed by the test while it waits for a client that has gone
            made.run()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield listener.getsockname()[1]
    made.close()
    thread.join(timeout=10)
    store.close()


def test_a_gibibyte_is_refused_before_it_is_sent(port: int) -> None:
    """Nobody's disk is filled by who has not shown a signature: the answer comes to the head."""
    head = f"POST /hooks/git HTTP/1.1\r\nHost: x\r\nContent-Length: {1024 * MIB - 1}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(head.encode() + b"x")
        assert line.recv(100).startswith(b"HTTP/1.1 413")


def test_a_body_of_unknown_length_is_cut_off_too(port: int) -> None:
    """In chunks, which tell no length beforehand."""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as line:
        line.sendall(b"POST /hooks/git HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
        chunk = b"10000\r\n" + b"x" * 65536 + b"\r\n"
        sent = 0
        try:
            while sent < 64 * MIB:
                line.sendall(chunk)
                sent += len(chunk)
        except OSError:
            pass
    assert sent < 64 * MIB


def test_a_little_too_large_is_told_in_the_doors_own_words(port: int) -> None:
    """As a problem that names the limit."""
    answer = httpx.post(f"http://127.0.0.1:{port}/hooks/git", content=b"x" * (MIB + 1))
    assert (answer.status_code, answer.headers["content-type"]) == (413, "application/problem+json")
    assert str(MIB) in answer.json()["detail"]

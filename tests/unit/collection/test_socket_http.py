"""The engine is heard through its socket, whole or line by line, and never waited for in vain."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from urllib.parse import quote

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _engine, _socket_http
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    EdgeError,
    EngineError,
    ImageError,
    RegistryError,
)
from ansible_collections.margrave.edge.plugins.module_utils._socket_http import SocketHttp

OK = b"HTTP/1.0 200 OK\r\nX: y\r\n\r\n"


@contextmanager
def _engine_that(path: Path, speaks: Callable[[socket.socket], None]) -> Iterator[str]:
    """A small engine that answers one request."""
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path / "s"))
        door.listen()

        def serve() -> None:
            connection, _ = door.accept()
            with connection:
                connection.recv(65536)
                speaks(connection)

        thread = threading.Thread(target=serve)
        thread.start()
        yield str(path / "s")
        thread.join(timeout=10)


def _pieces(*pieces: bytes) -> Callable[[socket.socket], None]:
    def speak(connection: socket.socket) -> None:
        for piece in pieces:
            connection.sendall(piece)

    return speak


def test_whole_answer(tmp_path: Path) -> None:
    """Status and value arrive however the bytes are cut."""
    with _engine_that(tmp_path, _pieces(OK[:9], OK[9:] + b'{"a"', b": 1}")) as path:
        answer = SocketHttp(path).request("GET", "/x")

    assert (answer.status, answer.value()) == (200, {"a": 1})


def test_no_engine_is_an_engine_error(tmp_path: Path) -> None:
    """A missing socket is told with the way to start the engine."""
    with pytest.raises(EngineError, match="does not answer") as refused:
        SocketHttp(str(tmp_path / "none")).request("GET", "/x")

    assert "podman.socket" in refused.value.cure


@pytest.mark.parametrize(
    ("speaks", "error"),
    [
        (_pieces(b'HTTP/1.0 404 No\r\n\r\n{"message": "manifest unknown"}\n'), ImageError),
        (_pieces(b'HTTP/1.0 500 No\r\n\r\n{"message": "connection refused"}'), RegistryError),
        (_pieces(OK, b'{"status": "x"}\n{"error": "unexpected EOF"}\n'), RegistryError),
        (_pieces(b""), EngineError),
    ],
    ids=["in the status", "without end of line", "in the middle", "nothing at all"],
)
def test_a_pull_can_fail_anywhere(
    tmp_path: Path, speaks: Callable[[socket.socket], None], error: type[EdgeError]
) -> None:
    """Wherever the engine tells of the failure, it gets its class."""
    with _engine_that(tmp_path, speaks) as path, pytest.raises(error):
        Engine("podman", path).pull("registry.site/web:1", None, lambda _: None)


def test_a_silent_registry_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While nothing comes a newer call can take over, and in the end the registry is blamed."""
    monkeypatch.setattr(_socket_http, "TICK", 0.01)
    monkeypatch.setattr(_engine, "FIRST_SILENCE", 5.0)
    looks: list[bytes] = []
    # A second for each look, however long it takes on this machine.
    clock = SimpleNamespace(monotonic=lambda: float(len(looks)))
    monkeypatch.setattr(_engine, "time", clock)
    over = threading.Event()

    with _engine_that(tmp_path, lambda _: assert_ended(over)) as path:
        with pytest.raises(RegistryError) as refused:
            Engine("podman", path).pull("registry.site/web:1", None, looks.append)
        over.set()

    assert refused.value.code == "registry-silent"
    assert len(looks) == 6


def assert_ended(over: threading.Event) -> None:
    """Say nothing until the other side has given up."""
    assert over.wait(timeout=60)


@pytest.mark.parametrize("kept", ["", "/:@"])
def test_a_target_says_what_is_meant(kept: str) -> None:
    """Whatever a name holds, it is one part of the target, as the standard library writes it."""
    text = 'registry.example.com:5000/büro web@sha256:0f?a=b&c%d#e+~_-\x00"{}\n'

    assert _socket_http.quoted(text, kept) == quote(text, safe=kept)

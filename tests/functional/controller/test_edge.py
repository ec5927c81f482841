"""The HTTP edge as it is run: slow, idle and greedy clients disturb nobody else."""

from __future__ import annotations

import contextlib
import os
import socket
import time
from collections.abc import Iterator
from multiprocessing.context import SpawnProcess
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from tests.functional.controller.test_serve import TOKEN, serving
from tests.support.waiting import eventually
from tests.support.works import git

HALF = b"GET /api/v1/sites HTTP/1.1\r\nHost: margrave\r\nX-Slow: "
SLOW_BODY = b"POST /api/v1/login HTTP/1.1\r\nHost: margrave\r\nContent-Length: 900\r\n\r\n{"


@pytest.fixture(scope="module")
def edge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, SpawnProcess]]:
    """A controller with short deadlines and few connections for each address."""
    limits = {"header_timeout": "2s", "body_timeout": "2s", "idle_timeout": "2s"}
    folder = tmp_path_factory.mktemp("edge")
    with serving(folder, None, connections=400, connections_per_address=150, **limits) as found:
        yield found


def connect(url: str, data: bytes = b"") -> socket.socket:
    """A connection that has sent so much and then waits."""
    where = urlsplit(url)
    line = socket.create_connection((where.hostname or "", where.port or 0), timeout=20)
    line.sendall(data)
    return line


@contextlib.contextmanager
def many(url: str, data: bytes, number: int) -> Iterator[list[socket.socket]]:
    """So many connections that stay as they are."""
    with contextlib.ExitStack() as opened:
        yield [opened.enter_context(connect(url, data)) for _ in range(number)]


def answered(line: socket.socket, ending: bytes, times: int = 1) -> bytes:
    """What came, up to the last of so many endings."""
    told = b""
    while told.count(ending) < times:
        some = line.recv(65536)
        assert some, told
        told += some
    return told


def seconds(url: str) -> float:
    """How long an answer of the API takes on a new connection."""
    begun = time.monotonic()
    assert httpx.get(f"{url}/api/v1/sites", headers=TOKEN, timeout=10).status_code == 200
    return time.monotonic() - begun


@pytest.mark.parametrize("data", [b"", HALF, SLOW_BODY], ids=["silent", "header", "body"])
def test_half_sent_requests_hold_nothing_up(edge, data: bytes):
    """With 120 connections that have sent half a request, others are answered at once."""
    url, _ = edge
    with many(url, data, 120):
        assert httpx.get(f"{url}/healthz", timeout=5).json()["status"] == "ok"
        assert max(seconds(url) for _ in range(5)) < 2


@pytest.mark.parametrize(
    ("data", "answer"), [(b"", b""), (HALF, b"408"), (SLOW_BODY, b"408")], ids=["a", "b", "c"]
)
def test_a_request_that_does_not_come_is_given_up(edge, data: bytes, answer: bytes):
    """After the deadline the connection is closed, with 408 where a request had begun."""
    url, _ = edge
    with connect(url, data) as line:
        told = b""
        while some := line.recv(4096):
            told += some
    assert answer in told.partition(b"\r\n")[0]


def test_a_connection_that_rests_is_closed(edge):
    """After http.idle_timeout without another request."""
    url, _ = edge
    with connect(url, b"GET /healthz HTTP/1.1\r\nHost: margrave\r\n\r\n") as line:
        told = answered(line, b"}\n")
        assert told.startswith(b"HTTP/1.1 200")
        assert line.recv(4096) == b""


def test_an_address_has_so_many_idle_connections(edge):
    """The one that has waited longest is closed for a new one, which is answered."""
    url, _ = edge
    with many(url, HALF, 151) as lines:
        lines[0].settimeout(1.5)
        assert lines[0].recv(4096) == b""
        assert httpx.get(f"{url}/healthz").status_code == 200
        lines[-1].settimeout(0.2)
        with pytest.raises(TimeoutError):
            lines[-1].recv(1)


def test_a_request_may_come_in_pieces(edge):
    """Header and body byte by byte, and two requests at once: each is answered in its turn."""
    url, _ = edge
    body = b'{"user": "x", "password": "y"}'
    whole = b"POST /api/v1/login HTTP/1.1\r\nHost: m\r\nContent-Type: application/json\r\n"
    whole += b"Content-Length: %d\r\n\r\n" % len(body) + body
    with connect(url) as line:
        for place in range(0, len(whole), 7):
            line.sendall(whole[place : place + 7])
        assert answered(line, b"}").startswith(b"HTTP/1.1 401")
        line.sendall(b"GET /healthz HTTP/1.1\r\nHost: m\r\n\r\n" * 2)
        assert answered(line, b"}\n", 2).count(b"HTTP/1.1 200") == 2


def test_who_asks_first_is_let_send_its_body(edge):
    """Expect: 100-continue is answered before the body comes."""
    url, _ = edge
    head = b"POST /api/v1/login HTTP/1.1\r\nHost: m\r\nExpect: 100-continue\r\n"
    with connect(url, head + b"Content-Length: 2\r\n\r\n") as line:
        assert line.recv(4096) == b"HTTP/1.1 100 Continue\r\n\r\n"
        line.sendall(b"{}")
        assert line.recv(4096).startswith(b"HTTP/1.1 422")


def test_a_body_that_is_too_large_is_refused_before_it_comes(edge):
    """413 as soon as its length is known, and nothing of it is kept."""
    url, _ = edge
    head = b"POST /api/v1/login HTTP/1.1\r\nHost: m\r\nContent-Length: 99999999\r\n\r\n"
    with connect(url, head) as line:
        assert b" 413 " in line.recv(4096).partition(b"\r\n")[0]


def test_headers_without_an_end_are_refused(edge):
    """431 once they are larger than any that is read."""
    url, _ = edge
    with connect(url, HALF + b"x" * 200_000) as line:
        assert b" 431 " in line.recv(4096).partition(b"\r\n")[0]


def test_it_listens_on_ipv6(tmp_path: Path):
    """A bind of [::1] is served, and named where it listens."""
    with serving(tmp_path, None, bind="[::1]:0") as (url, _):
        assert url.startswith("http://[::1]:")
        assert httpx.get(f"{url}/healthz").json()["status"] == "ok"


def test_streams_have_places_of_their_own(edge):
    """Each open stream leaves every thread of the API free."""
    url, _ = edge
    with (
        httpx.stream("GET", f"{url}/api/v1/events", headers=TOKEN, timeout=20),
        httpx.stream("GET", f"{url}/api/v1/events", headers=TOKEN, timeout=20),
    ):
        eventually(
            lambda: httpx.get(f"{url}/api/v1/events", headers=TOKEN).status_code == 503, 10, "room"
        )
        assert seconds(url) < 2


@pytest.mark.parametrize("buffer", ["1m", "64m"], ids=["chunked", "with its length"])
def test_large_pushes_are_streamed(edge, tmp_path: Path, buffer: str):
    """A pack that is larger than any body of the API comes in, with its length known or not."""
    url, _ = edge
    remote = url.replace("//", "//any:operator@") + "/git/deployments.git"
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", remote, str(clone))
    (clone / f"notes-{buffer}").write_bytes(os.urandom(12 * 1024 * 1024))
    git(clone, "add", ".")
    git(clone, "-c", "user.name=ada", "-c", "user.email=ada@example.org", "commit", "-qm", "Notes")
    git(clone, "-c", f"http.postBuffer={buffer}", "push", "-q", "origin", "HEAD:main")
    assert f"notes-{buffer}" in git(clone, "ls-tree", "--name-only", "origin/main")

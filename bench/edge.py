"""The controller's HTTP edge under clients that are slow, idle or guess passwords.

2,000 connections that have sent half a header, 200 whose bodies come byte by byte and 500 idle
streams, from 40 loopback addresses, and a storm of wrong passwords from one more; each that is
closed is opened again. Meanwhile `/healthz`, on a new connection each time, and reads of the API
are timed, and a person signs in from another address than the storm's.
`python -m bench.edge [SECONDS]`.
"""

from __future__ import annotations

import http.client
import itertools
import multiprocessing
import os
import resource
import selectors
import socket
import statistics
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from bench.figures import keep
from bench.reads import fill
from bench.resting import controller
from tests.support.waiting import eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from multiprocessing.synchronize import Event

BARS = {"healthz p99 in milliseconds": 100, "read p99 in milliseconds": 300}
ADDRESSES = 40
STORM, PERSON = "127.0.9.1", "127.0.9.2"
PASSWORD = "correct horse battery"
HALF = b"GET /api/v1/sites HTTP/1.1\r\nHost: margrave\r\nX-Slow: "
STREAM = b"GET /api/v1/events HTTP/1.1\r\nHost: margrave\r\nAuthorization: Bearer %s\r\n\r\n"
SLOW = b"POST /api/v1/login HTTP/1.1\r\nHost: margrave\r\nContent-Length: 100000\r\n\r\n{"


@dataclass(frozen=True)
class Size:
    """Number of each kind of client, and the duration."""

    half_open: int = 2000
    slow_bodies: int = 200
    streams: int = 500
    seconds: float = 30.0


class Crowd:
    """Connections that are opened again when the controller closes them."""

    def __init__(self, port: int, size: Size, token: str) -> None:
        stream = STREAM % token.encode()
        self._port = port
        self._sources = itertools.cycle(f"127.0.8.{number}" for number in range(1, ADDRESSES + 1))
        self._selector = selectors.DefaultSelector()
        self._slow: set[socket.socket] = set()
        self.reopened = 0
        for data, number in (
            (stream, size.streams),
            (SLOW, size.slow_bodies),
            (HALF, size.half_open),
        ):
            for _ in range(number):
                self._open(data)

    def _open(self, data: bytes) -> None:
        source = (next(self._sources), 0)
        line = socket.create_connection(("127.0.0.1", self._port), 10, source)
        line.sendall(data)
        line.setblocking(False)
        self._selector.register(line, selectors.EVENT_READ, data)
        if data == SLOW:
            self._slow.add(line)

    def keep_up(self, ended: Event) -> None:
        """Send single bytes of bodies, and open what was closed, until the end."""
        following = 0.0
        while not ended.is_set():
            for key, _ in self._selector.select(0.1):
                self._read(key)
            if time.monotonic() >= following:
                following = time.monotonic() + 1
                for line in self._slow:
                    with suppress(OSError):
                        line.send(b" ")

    def _read(self, key: selectors.SelectorKey) -> None:
        line: Any = key.fileobj
        try:
            if line.recv(65536):
                return
        except BlockingIOError:
            return
        except OSError:
            pass  # it was reset: that is an end too
        self._selector.unregister(line)
        self._slow.discard(line)
        line.close()
        self.reopened += 1
        with suppress(OSError):
            self._open(key.data)


def crowd(port: int, size: Size, token: str, ready: Event, ended: Event, reopened: Any) -> None:
    """Be all slow and idle clients, in a process of its own."""
    allow_files()
    clients = Crowd(port, size, token)
    ready.set()
    clients.keep_up(ended)
    reopened.value = clients.reopened


def storm(url: str, ended: Event, statuses: Any) -> None:
    """Guess passwords as fast as answers come, in a process of its own."""
    transport = httpx.HTTPTransport(local_address=STORM)
    with httpx.Client(base_url=url, transport=transport, timeout=30) as client:
        for number in itertools.count():
            if ended.is_set():
                return
            body = {"user": "ada", "password": f"guess {number}"}
            status = client.post("/api/v1/login", json=body).status_code
            statuses[0 if status == 401 else 1] += 1


def allow_files() -> None:
    """Let this process have as many files as it may."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


@contextmanager
def besieged(client: httpx.Client, size: Size, token: str) -> Iterator[dict[str, Any]]:
    """All bad clients at work; what became of them is filled in at the end."""
    url, spawn = str(client.base_url).rstrip("/"), multiprocessing.get_context("spawn")
    port = int(url.rpartition(":")[2])
    ready, ended = spawn.Event(), spawn.Event()
    reopened, statuses = spawn.Value("i", 0), spawn.Array("i", 2)
    processes = [
        spawn.Process(target=crowd, args=(port, size, token, ready, ended, reopened)),
        spawn.Process(target=storm, args=(url, ended, statuses)),
    ]
    for process in processes:
        process.start()
    told: dict[str, Any] = {}
    try:
        assert ready.wait(120), "the connections could not be opened"
        yield told
        eventually(lambda: statuses[1] > 0, 60, "the guesser is told to wait")
        told["sign-in"] = {"storm": sign_in(url, STORM), "elsewhere": sign_in(url, PERSON)}
    finally:
        ended.set()
        for process in processes:
            process.join(60)
        told["opened again"] = reopened.value
        told["guesses"] = {"refused": statuses[0], "told to wait": statuses[1]}


def timed(port: int, path: str, token: str, seconds: float, *, anew: bool) -> list[float]:
    """Return the milliseconds of each answer, on new connections or on one that stays."""
    taken, end = [], time.monotonic() + seconds
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    line = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    while time.monotonic() < end:
        begun = time.perf_counter()
        line.request("GET", path, headers=headers)
        answer = line.getresponse()
        answer.read()
        taken.append((time.perf_counter() - begun) * 1000)
        assert answer.status == 200, (path, answer.status)
        if anew:
            line.close()
        time.sleep(0.02)
    line.close()
    return taken


def summed(milliseconds: list[float]) -> dict[str, float]:
    """Median, slowest hundredth and slowest."""
    ordered = sorted(milliseconds)
    return {
        "answers": len(ordered),
        "median in milliseconds": round(statistics.median(ordered), 1),
        "p99 in milliseconds": round(ordered[min(len(ordered) - 1, len(ordered) * 99 // 100)], 1),
        "slowest in milliseconds": round(ordered[-1], 1),
    }


def asked(port: int, token: str, one: str, seconds: float) -> dict[str, dict[str, float]]:
    """Time health and reads side by side."""
    plans = {
        "healthz": ("/healthz", "", True),
        "a deployment": (f"/api/v1/deployments/{one}", token, False),
        "a page of deployments, on new connections": ("/api/v1/deployments", token, True),
    }
    found: dict[str, dict[str, float]] = {}

    def ask(name: str, path: str, credential: str, anew: bool) -> None:
        found[name] = summed(timed(port, path, credential, seconds, anew=anew))

    threads = [threading.Thread(target=ask, args=(name, *plan)) for name, plan in plans.items()]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == len(plans), "some were not answered"
    return found


def sign_in(url: str, address: str) -> int:
    """The status of signing in with the right password from an address."""
    transport = httpx.HTTPTransport(local_address=address)
    with httpx.Client(base_url=url, transport=transport, timeout=30) as client:
        return client.post("/api/v1/login", json={"user": "ada", "password": PASSWORD}).status_code


def measured(size: Size) -> dict[str, Any]:
    """A controller besieged; its figures."""
    allow_files()
    os.environ["MARGRAVE_EVENTS__MAX_CLIENTS"] = str(2 * size.streams)
    with tempfile.TemporaryDirectory() as name, controller(Path(name)) as (_, client, _seconds):
        one = fill(client)
        port, token = client.base_url.port or 0, (Path(name) / "token").read_text()
        person = {"name": "ada", "password": PASSWORD, "role": "viewer"}
        client.post("/api/v1/users", json=person).raise_for_status()
        quiet = asked(port, token, one, min(5.0, size.seconds))
        with besieged(client, size, token) as told:
            during = asked(port, token, one, size.seconds)
            told["log"] = (Path(name) / "log").read_text().count("Traceback")
    del os.environ["MARGRAVE_EVENTS__MAX_CLIENTS"]
    return {"quiet": quiet, "besieged": during, **told}


def main() -> None:
    """Measure and keep."""
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else 30.0
    size = Size(seconds=seconds)
    figures = measured(size)
    keep("edge", {"bars": BARS, "clients": vars(size), **figures})


if __name__ == "__main__":
    main()

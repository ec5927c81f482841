"""How fast the API is read, beside a page that says hello on the same framework and server.

A controller as `margrave controller serve` starts it, with a site's deployments in it; `wrk` asks
for one of them, for a page of the list and for the sites, over four connections that stay open.
Beside it, in the same run, a Flask of one line behind gunicorn with as many threads.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx

from bench.figures import keep
from bench.resting import controller
from tests.support.runner_process import free_port

if TYPE_CHECKING:
    from collections.abc import Iterator

BARS = {"a second": 200, "p99 in milliseconds": 150}
DEPLOYMENTS = 200
SECONDS = 8
CONNECTIONS = 4
THREADS = 80  # the controller's: a thread for each stream, and 16
HELLO = """
from flask import Flask
app = Flask(__name__)
app.get("/")(lambda: {"hello": "world"})
"""
_UNITS = {"us": 0.001, "ms": 1.0, "s": 1000.0, "m": 60_000.0}


def asked(url: str, token: str = "") -> dict[str, float]:
    """What wrk finds: answers in a second, and how long the slowest hundredth took."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS}", f"-d{SECONDS}s", "--latency"]
    command += ["-H", f"Authorization: Bearer {token}", url]
    done = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "Non-2xx" not in done, done
    rate = re.search(r"Requests/sec:\s+([\d.]+)", done)
    late = re.search(r"99%\s+([\d.]+)(us|ms|s|m)", done)
    assert rate is not None, done
    assert late is not None, done
    return {
        "a second": float(rate[1]),
        "p99 in milliseconds": round(float(late[1]) * _UNITS[late[2]], 1),
    }


@contextmanager
def hello(folder: Path) -> Iterator[str]:
    """The reference; its URL."""
    (folder / "hello.py").write_text(HELLO)
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-m", "gunicorn", "hello:app", "--threads", str(THREADS),
         "--bind", f"127.0.0.1:{port}", "--log-level", "error"],
        cwd=folder,
    )  # fmt: skip
    url = f"http://127.0.0.1:{port}/"
    try:
        while not _answers(url):
            assert process.poll() is None, "the reference ended"
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def _answers(url: str) -> bool:
    try:
        return httpx.get(url).status_code == 200
    except httpx.TransportError:
        return False


def fill(client: httpx.Client) -> str:
    """A site whose runner tells of its deployments; the id of one."""
    token = client.post("/api/v1/sites", json={"name": "harbor"}).json()["token"]
    ids = [str(uuid.uuid4()) for _ in range(DEPLOYMENTS)]
    events = [
        {
            "seq": number,
            "at": "2026-03-01T12:00:00Z",
            "kind": "placement",
            "data": {
                "deployment": one,
                "node": f"node-{number % 5}",
                "name": f"shop-{number}",
                "state": "PENDING",
                "outcome": "pending",
            },
        }
        for number, one in enumerate(ids, 1)
    ]
    body = {"protocol": 1, "runner": str(uuid.uuid4()), "epoch": 1, "first_seq": 1}
    client.post(
        "/api/v1/sites/harbor/reports",
        json={**body, "events": events},
        headers={"Authorization": f"Bearer {token}"},
    ).raise_for_status()
    return ids[0]


def main() -> None:
    """Measure and keep."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with hello(folder) as url:
            figures: dict[str, Any] = {"hello": asked(url)}
        with controller(folder / "controller") as (_process, client, _seconds):
            one, base = fill(client), str(client.base_url).rstrip("/") + "/api/v1"
            token = (folder / "controller/token").read_text()
            for what, path in {
                "a deployment": f"/deployments/{one}",
                "a page of deployments": "/deployments",
                "a site": "/sites/harbor",
            }.items():
                figures[what] = asked(base + path, token)
    keep("reads", {"bars": BARS, "connections": CONNECTIONS, **figures})


if __name__ == "__main__":
    main()

"""The beacon of a node as a process, at the real door of a real runner, with an honest engine."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from queue import Queue
from socketserver import ThreadingUnixStreamServer
from typing import Any

import httpx
import pytest
from flask import Flask
from waitress.server import create_server

from margrave.sections import Tls
from runner.nodes import Beats, Came, News
from runner.store.beacons import Beacons
from runner.tls_server import TlsServer
from runner.web.beats import door
from tests.support.authority import Authority
from tests.support.served import ROOT
from tests.support.site import World
from tests.support.waiting import eventually

FILES = ROOT / "roles/edge_node/files"
BEACON = (sys.executable, "-B", "-m", "margrave_beacon")
NODE = "harbor-1"


class Engine(ThreadingUnixStreamServer):
    """A container engine that streams the events it is given."""

    daemon_threads = True

    def __init__(self, path: Path) -> None:
        self.events: Queue[dict[str, Any]] = Queue()
        self.containers = [{"State": "running", "Labels": {}}, {"State": "exited", "Labels": {}}]
        super().__init__(str(path), _EngineHandler)

    def happens(self, action: str, deployment: str | None) -> None:
        """Something happens to a container."""
        attributes = {"margrave.deployment": deployment} if deployment else {}
        self.events.put(
            {"Type": "container", "Action": action, "Actor": {"Attributes": attributes}}
        )


class _EngineHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Containers as a list, events as they come."""
        engine = self.server
        assert isinstance(engine, Engine)
        self.send_response(200)
        if "/containers/" in self.path:
            data = json.dumps(engine.containers).encode()
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)
            return
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while True:
            line = json.dumps(engine.events.get()).encode() + b"\n"
            self.wfile.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
            self.wfile.flush()

    def address_string(self) -> str:
        """There is no address behind a UNIX socket."""
        return "here"

    def log_message(self, *_: object) -> None:
        """Quiet."""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    """It, on a socket of its own."""
    made = Engine(tmp_path / "podman.sock")
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


class Site:
    """A runner's door for beats, and the beacon of a node."""

    def __init__(self, base: Path, tls: Tls | None = None) -> None:
        self.said: list[str] = []
        news = News(
            back=lambda name: self.said.append(f"back {name}"),
            restarted=lambda name: self.said.append(f"restarted {name}"),
            changed=lambda: self.said.append("changed"),
            silent=lambda: self.said.append("silent"),
        )
        (base / "site").mkdir()
        store = World(base / "site").runner.ground.store
        self.beats = Beats(Beacons(store), _now, timedelta(hours=1), news)
        self.key = self.beats.issue(NODE)
        self.config, self.log = base / "beacon.json", base / "beacon.log"
        application = Flask("site")
        # An hour between two beats: what is told sooner is told because of what happened.
        application.register_blueprint(door(self._take, _now, 3600))
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http{'s' if tls else ''}://127.0.0.1:{listener.getsockname()[1]}"
        self.server: Any = (
            TlsServer(application, listener, tls)
            if tls
            else create_server(application, sockets=[listener], threads=2)
        )
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        with suppress(OSError):  # closed by the test while it waits for a client that has gone
            self.server.run()

    def _take(self, *came: Any) -> datetime:
        return self.beats.take(Came(*came))

    def introduce(self, **other: Any) -> None:
        """What `margrave node add` writes on the node."""
        told = {"node": NODE, "url": self.url, "key": self.key, "interval": 1, **other}
        fresh = self.config.with_suffix(".new")
        fresh.write_text(json.dumps(told))
        fresh.rename(self.config)

    @property
    def words(self) -> str:
        """What the beacon logs."""
        return self.log.read_text()

    def face(self) -> str:
        """Where it answers."""
        eventually(lambda: "serving on" in self.words, 60)
        found = re.search(r"serving on (\S+)", self.words)
        assert found
        return f"http://{found[1]}"


def _now() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """It, open for beats."""
    made = Site(tmp_path)
    yield made
    made.server.close()


@contextmanager
def beacon(site: Site, *words: str, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """The beacon as systemd starts it; it ends when it is told to."""
    with site.log.open("w") as log:
        process = subprocess.Popen(
            [*BEACON, "--config", site.config, "--bind", "127.0.0.1:0", *words],
            cwd=FILES,
            env={"PATH": "/usr/bin", **environment},
            stderr=log,
            text=True,
        )
    try:
        yield process
    finally:
        process.terminate()
        assert process.wait(30) == 0, site.words


def test_it_is_heard_and_tells_what_ended(site: Site, engine: Engine, tmp_path: Path) -> None:
    """Signed as the runner checks it; a container that ends is told at once, others are not."""
    site.introduce()
    with beacon(site, "--engine", str(tmp_path / "podman.sock")):
        face = site.face()
        eventually(lambda: site.beats.heard(NODE), 60)
        engine.happens("die", None)
        engine.happens("start", "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f")
        engine.happens("die", "3f2a9c01-6d3e-4b2c-9d4e-0a1b2c3d4e5f")
        eventually(lambda: "changed" in site.said, 60)
        health = httpx.get(f"{face}/healthz", timeout=30)
        metrics = httpx.get(f"{face}/metrics", timeout=30).text
        nothing = httpx.get(f"{face}/", timeout=30)

    assert (health.status_code, health.json()["status"]) == (200, "ok")
    assert health.json()["beat"]["ok"] is True
    assert (health.json()["node"], health.json()["checks"]) == (NODE, [])
    assert 'margrave_beacon_beats_total{result="accepted"}' in metrics
    assert 'margrave_beacon_containers{state="running"} 1' in metrics
    assert nothing.status_code == 404


def test_a_new_key_is_read_without_a_restart(site: Site, tmp_path: Path) -> None:
    """No file, a broken one, a wrong key and then the right one: each is said, none ends it."""
    with beacon(site, "--engine", str(tmp_path / "none.sock")):
        face = site.face()
        eventually(lambda: "is not there: margrave node add writes it" in site.words, 60)
        site.config.write_text("{")
        health = httpx.get(f"{face}/healthz", timeout=30)
        site.introduce(key="00" * 32)
        eventually(lambda: "401" in site.words, 60)
        site.introduce()
        eventually(lambda: "the runner hears us" in site.words, 60)

    assert health.status_code == 503
    assert "neither podman nor Docker" in health.json()["checks"][0]["detail"]
    assert "(its clock is " in site.words
    assert site.key not in site.words


def test_it_shows_its_certificate_to_a_runner_that_asks_for_one(tmp_path: Path) -> None:
    """None, half of one, one that is gone, and then the right one: each is said, none ends it."""
    authority = Authority(tmp_path)
    cert, key = authority.pair("runner")
    site = Site(tmp_path, Tls(cert=cert, key=key, client_ca=authority.ca))
    own = dict(zip(("client_cert", "client_key"), map(str, authority.pair(NODE)), strict=True))
    ca = str(authority.ca)
    site.introduce(ca_file=ca)
    with beacon(site, "--engine", str(tmp_path / "none.sock")):
        eventually(lambda: f"{site.url}: " in site.words, 60)
        assert not site.beats.heard(NODE)
        site.introduce(ca_file=ca, client_cert="here.pem")
        eventually(lambda: "client_cert and client_key: belong together" in site.words, 60)
        site.introduce(ca_file=ca, **own | {"client_key": "/gone"})
        eventually(lambda: f"{own['client_cert']} cannot be shown with /gone: " in site.words, 60)
        site.introduce(ca_file=ca, **own)
        eventually(lambda: "the runner hears us" in site.words, 60)
    site.server.close()


def test_systemd_is_told_that_it_lives(site: Site, tmp_path: Path) -> None:
    """Ready, alive again and again, and that it ends."""
    path = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(path))
        systemd.settimeout(60)
        site.introduce()
        with beacon(site, "--engine", str(tmp_path / "none.sock"), NOTIFY_SOCKET=str(path)):
            heard = [systemd.recv(64) for _ in range(3)]
        while b"STOPPING=1" not in heard:
            heard.append(systemd.recv(64))

    assert heard[0] == b"READY=1"
    assert heard.count(b"WATCHDOG=1") >= 2

"""The server as it is run: ready soon, streams that do not starve it, an end that is graceful."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import ssl
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import httpx
import pytest

from controller.access.passwords import token_hash
from controller.edge import routing
from controller.serve import edge_options, options, serve
from controller.settings import ControllerSettings
from controller.store import Store, access
from controller.store.words import Role
from tests.functional.controller.kit import NOON
from tests.support.authority import Authority
from tests.support.controller_process import CLI
from tests.support.runner_process import free_port
from tests.support.waiting import eventually

TOKEN = {"Authorization": "Bearer viewer"}


def _prepare(settings: ControllerSettings) -> None:
    """Its tables, and a token for each of two roles, which has the role's name."""
    store = Store(settings.database_url)
    store.migrate()
    with store.write() as session:
        for role in (Role.VIEWER, Role.OPERATOR):
            token = {
                "id": role.value,
                "name": role.value,
                "digest": token_hash(role.value),
                "role": role,
                "sites": None,
                "created_by": "test",
                "created_at": NOON,
            }
            access.add_token(session, token)
    store.close()


@contextmanager
def serving(
    folder: Path,
    database: str | None,
    trust: ssl.SSLContext | None = None,
    git: dict[str, str] | None = None,
    **http: Any,
) -> Iterator[tuple[str, SpawnProcess]]:
    """A controller in a process of its own, with room for two streams; where it listens."""
    host = http.pop("bind", "127.0.0.1:0").rpartition(":")[0]
    kind = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(kind) as free:
        free.bind((host.strip("[]"), 0))
        bind = f"{host}:{free.getsockname()[1]}"
    settings = ControllerSettings.model_validate(
        {
            "state": {"dir": folder / "state"},
            "database": {"url": database},
            "http": {"bind": bind, **http},
            "events": {"max_clients": 2},
            "git": git or {},
        }
    )
    _prepare(settings)
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(settings,))
    process.start()
    url = f"http{'s' if trust else ''}://{bind}"

    def ready() -> bool:
        try:
            return httpx.get(f"{url}/readyz", verify=trust or True).status_code == 200
        except httpx.TransportError:
            return False

    try:
        eventually(ready, 120, "it is not ready")
        yield url, process
    finally:
        if process.is_alive():
            process.kill()
        process.join()
        process.close()


@pytest.fixture
def served(tmp_path: Path, database: str | None) -> Iterator[tuple[str, SpawnProcess]]:
    with serving(tmp_path, database) as found:
        yield found


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
    process.join(60)
    assert process.exitcode == 0


def test_who_has_gone_takes_no_place(served):
    """Pages opened and left, one after the other, quicker than any beat: none is shut out."""
    url, _ = served
    for _ in range(8):
        with httpx.stream("GET", f"{url}/api/v1/events", headers=TOKEN) as left:
            assert left.status_code == 200


def test_with_a_client_ca_only_its_clients_come_in(tmp_path: Path):
    """Over TLS with http.tls.client_ca: who shows no certificate, or one of somebody else's, gets
    no answer to any request; who shows one of that authority is served."""
    authority, other = Authority(tmp_path), Authority(tmp_path, "somebody-else")
    cert, key = authority.pair("server")
    known, foreign, nobody = (ssl.create_default_context(cafile=authority.ca) for _ in range(3))
    known.load_cert_chain(*authority.pair("client"))
    foreign.load_cert_chain(*other.pair("stranger"))
    tls = {"cert": cert, "key": key, "client_ca": authority.ca}
    with serving(tmp_path, None, known, tls=tls) as (url, _):
        assert httpx.get(f"{url}/healthz", verify=known).json()["status"] == "ok"
        for trust in (foreign, nobody):
            with pytest.raises(httpx.TransportError):
                httpx.get(f"{url}/healthz", verify=trust)
        with pytest.raises(httpx.TransportError):
            httpx.get(f"{url.replace('https', 'http')}/healthz")
        assert httpx.get(f"{url}/healthz", verify=known).json()["status"] == "ok"


def test_there_is_a_thread_for_each_stream_and_some_more():
    """Streams have threads of their own; the others are as many as http.threads says."""
    settings = ControllerSettings.model_validate({"events": {"max_clients": 64}})
    edge = edge_options(settings)
    lanes = routing.sizes(edge.threads, edge.streams)
    assert (lanes[routing.STREAMS].threads, lanes[routing.READS].threads) == (68, 16)
    assert options(settings)["workers"] == 1


def test_serve_prints_its_address(tmp_path: Path):
    """Who starts it in a terminal reads where it listens."""
    home = tmp_path / "controller"
    subprocess.run([CLI, "init", str(home)], check=True, capture_output=True)
    config, port = home / "margrave.toml", free_port()
    config.write_text(config.read_text().replace("127.0.0.1:8800", f"127.0.0.1:{port}"))
    command = [CLI, "controller", "serve", "--config", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == f"Listening on http://127.0.0.1:{port}\n"
        process.terminate()


@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.1"])
def test_an_address_that_cannot_be_used_is_refused_with_a_cure(tmp_path: Path, host: str):
    """Another process listens there, or the address is another machine's."""
    home = tmp_path / "controller"
    subprocess.run([CLI, "init", str(home)], check=True, capture_output=True)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        bind = f"{host}:{taken.getsockname()[1]}"
        done = subprocess.run(
            [CLI, "controller", "serve", "--config", str(home / "margrave.toml")],
            env={**os.environ, "MARGRAVE_HTTP__BIND": bind, "MARGRAVE_HTTP__INSECURE": "true"},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 5
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"margrave: http.bind {bind}: "), done.stderr
    assert last.endswith("(choose an address of this machine that is free)")

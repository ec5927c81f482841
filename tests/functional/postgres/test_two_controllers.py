"""Two controllers on one PostgreSQL: each event and each commit once, and one takes over."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import socket
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import httpx
import pytest

from controller.access.identity import Identity
from controller.access.identity import Role as Rank
from controller.access.passwords import token_hash
from controller.app import assemble
from controller.serve import serve
from controller.settings import ControllerSettings
from controller.store import access
from controller.store.words import Role
from tests.functional.controller.kit import NOON, add_deployment, placed
from tests.support import postgres
from tests.support.registry import FakeRegistry
from tests.support.waiting import eventually
from tests.support.works import APPS

OPERATOR = {"Authorization": "Bearer operator"}
RUNNER = {"Authorization": "Bearer runner-harbor"}
EACH = 10


@dataclass
class Pair:
    """Two controllers as they are served, on one database and one forge."""

    urls: list[str]
    processes: list[SpawnProcess]
    forge: Path
    marker: Path

    def get(self, which: int, path: str) -> Any:
        answer = httpx.get(f"{self.urls[which]}/api/v1{path}", headers=OPERATOR, timeout=30)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def create(self, which: int, name: str) -> str:
        body = {"app": "storefront", "name": name, "targets": {"sites": ["harbor"]}}
        url = f"{self.urls[which]}/api/v1/deployments"
        answer = httpx.post(url, json=body, headers=OPERATOR, timeout=30)
        assert answer.status_code == 202, answer.text
        found: str = answer.json()["id"]
        return found

    def commits(self) -> list[str]:
        """Which requests stand in Git, one for each commit."""
        form = "--format=%(trailers:key=Margrave-Request,valueonly)"
        log = subprocess.check_output(["git", "log", form, "main"], cwd=self.forge, text=True)
        return log.split()


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Postgres]:
    # It is stopped in the middle: what was committed has to be there afterwards.
    found = postgres.Postgres(synchronous_commit="on").start()
    yield found
    found.stop()


@pytest.fixture
def pair(tmp_path: Path, server: postgres.Postgres) -> Iterator[Pair]:
    forge, marker = tmp_path / "forge.git", tmp_path / "slow"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", forge], check=True)
    hook = forge / "hooks" / "pre-receive"
    # A push takes as long as the file is there: time to be killed in its middle.
    hook.write_text(f"#!/bin/sh\nn=0\nwhile [ -e '{marker}' ] && [ $n -lt 600 ]; do\n"
                    f"touch '{marker}.reached'; sleep 0.1; n=$((n+1)); done\n")  # fmt: skip
    hook.chmod(0o755)
    registry = FakeRegistry().start()
    url = server.create()
    with ExitStack() as stack:
        stack.callback(registry.stop)
        settings = [_settings(tmp_path / name, url, forge, registry) for name in ("one", "two")]
        _fill(settings[0])
        processes = [stack.enter_context(_served(one)) for one in settings]
        yield Pair([f"http://{one.http.bind}" for one in settings], processes, forge, marker)
        marker.unlink(missing_ok=True)


def _settings(folder: Path, url: str, forge: Path, registry: FakeRegistry) -> ControllerSettings:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    images = {"host": "registry.margrave.lab:5000", "address": registry.address, "insecure": True}
    return ControllerSettings.model_validate(
        {
            "state": {"dir": str(folder)},
            "database": {"url": url},
            "http": {"bind": f"127.0.0.1:{port}"},
            "git": {"remote": str(forge)},
            "catalog": {"local_roots": [str(APPS)]},
            "registries": [images],
        }
    )


def _fill(settings: ControllerSettings) -> None:
    """An operator, a site with its token, an application."""
    parts = assemble(settings, lambda: NOON)
    parts.store.migrate()
    parts.repository.prepare()
    parts.catalog.add({"name": "examples", "url": str(APPS)})
    parts.catalog.sync("examples")
    parts.sites.create({"name": "harbor"}, Identity("ada", Rank.ADMIN))
    with parts.store.write() as session:
        token = {"created_by": "test", "created_at": NOON}
        person = {"id": "o", "name": "o", "role": Role.OPERATOR, "sites": None}
        access.add_token(session, {**token, **person, "digest": token_hash("operator")})
        own = {"id": str(uuid.uuid4()), "site": "harbor", "digest": token_hash("runner-harbor")}
        access.add_site_token(session, {**token, **own})
    add_deployment(parts, "harbor", "known", id="11111111-1111-4111-8111-111111111111")
    parts.store.close()


@contextmanager
def _served(settings: ControllerSettings) -> Iterator[SpawnProcess]:
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(settings,))
    process.start()
    try:
        eventually(lambda: _answers(f"http://{settings.http.bind}/readyz"), 60, "it is not ready")
        yield process
    finally:
        process.terminate()
        process.join(30)
        if process.is_alive():
            process.kill()
            process.join()
        process.close()


def _answers(url: str) -> bool:
    try:
        return httpx.get(url, timeout=10).status_code == 200
    except httpx.TransportError:
        return False


Tell = Callable[[str], None]


@pytest.fixture
def tell(capsys: pytest.CaptureFixture[str]) -> Tell:
    """Say what was measured, also where the test passes."""

    def told(words: str) -> None:
        with capsys.disabled():
            print(f"\n  {words}", end=" ")  # noqa: T201

    return told


def test_a_stream_of_one_sees_what_the_other_took_in(pair: Pair, tell: Tell) -> None:
    """A report posted to the second controller is streamed by the first, each event once."""
    told = {"protocol": 1, "runner": str(uuid.uuid4()), "epoch": 1, "first_seq": 1}
    known = "11111111-1111-4111-8111-111111111111"
    steps = [(None, "PENDING"), ("PENDING", "INSTALLING"), ("INSTALLING", "INSTALLED")]
    events = [
        {"seq": number, "at": NOON.isoformat(), "kind": "placement",
         "data": placed(known, "harbor-1", to, frm)}
        for number, (frm, to) in enumerate(steps, 1)
    ]  # fmt: skip
    url = f"{pair.urls[0]}/api/v1/events?deployment={known}"
    with httpx.stream("GET", url, headers=OPERATOR, timeout=20) as stream:
        lines = stream.iter_lines()
        assert next(line for line in lines if line == ": open")
        path = f"{pair.urls[1]}/api/v1/sites/harbor/reports"
        begin = time.monotonic()
        answer = httpx.post(path, json={**told, "events": events}, headers=RUNNER, timeout=20)
        assert answer.json() == {"ack": 3}
        data = (json.loads(line[6:]) for line in lines if line.startswith("data: "))
        found = [next(data) for _ in range(4)]
        tell(f"seen at the other controller {time.monotonic() - begin:.2f} s after it was sent")
    assert [one["state"] for one in found] == [*(to for _, to in steps), "INSTALLED"]
    assert "node" not in found[3]


def test_requests_to_both_are_published_once_each(pair: Pair) -> None:
    """Both work the same queue off: a commit for each request, and none twice."""
    answers: list[str] = []

    def ask(which: int) -> None:
        answers.extend(pair.create(which, f"shop-{which}-{one}") for one in range(EACH))

    threads = [threading.Thread(target=ask, args=(which,)) for which in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 2 * EACH

    def published() -> bool:
        states = [pair.get(0, f"/requests/{one}")["state"] for one in answers]
        return set(states) == {"published"}

    eventually(published, 60, "not all are published", pause=0.5)
    assert sorted(pair.commits()) == sorted(answers)


def test_one_killed_while_it_publishes_is_followed_by_the_other(pair: Pair, tell: Tell) -> None:
    """kill -9 in the middle of a push: within 30 seconds the other one has finished, once."""
    pair.marker.touch()
    request = pair.create(0, "shop")
    reached = pair.marker.with_name(f"{pair.marker.name}.reached")
    eventually(reached.exists, 30, "no push began")
    publishing = _publishing(pair)
    pid = pair.processes[publishing].pid
    assert pid is not None
    begin = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    for child in _workers(pid):
        os.kill(child, signal.SIGKILL)
    pair.marker.unlink()
    other = 1 - publishing
    state = lambda: pair.get(other, f"/requests/{request}")["state"]  # noqa: E731
    eventually(lambda: state() == "published", 30, "nobody went on", pause=0.5)
    tell(f"published by the other {time.monotonic() - begin:.1f} s after kill -9")
    assert pair.commits() == [request]


def test_a_database_that_restarts_while_they_publish(
    pair: Pair, server: postgres.Postgres, tell: Tell
) -> None:
    """The server goes away under requests that are being published: both controllers find back by
    themselves, and each request is published once."""
    pair.marker.touch()
    requests = [pair.create(which, f"shop-{which}-{one}") for one in range(3) for which in (0, 1)]
    reached = pair.marker.with_name(f"{pair.marker.name}.reached")
    eventually(reached.exists, 30, "no push began")
    server.restart()
    begin = time.monotonic()
    pair.marker.unlink()

    def published() -> bool:
        for which in (0, 1):
            for one in requests:
                url = f"{pair.urls[which]}/api/v1/requests/{one}"
                answer = httpx.get(url, headers=OPERATOR, timeout=30)
                if answer.status_code != 200 or answer.json()["state"] != "published":
                    return False
        return True

    eventually(published, 60, "not all are published", pause=0.5)
    tell(f"all published {time.monotonic() - begin:.1f} s after the database was back")
    assert sorted(pair.commits()) == sorted(requests)
    for url in pair.urls:
        eventually(lambda url=url: _answers(f"{url}/readyz"), 30, "it is not ready again")


def _publishing(pair: Pair) -> int:
    """Which of them has a push under way."""
    listed = subprocess.check_output(["ps", "-e", "-ww", "-o", "pid=,ppid=,args="], text=True)
    parent = {int(line.split()[0]): int(line.split()[1]) for line in listed.splitlines()}
    (first, *_) = [
        int(line.split()[0]) for line in listed.splitlines()
        if "push" in line and str(pair.forge) in line
    ]  # fmt: skip
    above = set()
    while first > 1:
        first = parent.get(first, 0)
        above.add(first)
    return next(which for which, one in enumerate(pair.processes) if one.pid in above)


def _workers(pid: int) -> list[int]:
    """gunicorn's worker below its master, which would notice the end only after a second."""
    listed = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, text=True, check=False)
    return [int(one) for one in listed.stdout.split()]

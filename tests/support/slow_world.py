"""A controller at work in a world that is slow: registry, Git, database and disk that hang."""

from __future__ import annotations

import subprocess
import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from controller.access.passwords import token_hash
from controller.app import assemble, create_app
from controller.chores import Chores
from controller.settings import ControllerSettings
from controller.store import access
from controller.store.sharing import _key
from controller.store.words import Role
from tests.functional.controller.kit import Api
from tests.support import packages
from tests.support.registry import FakeRegistry
from tests.support.small_server import Asked, Told
from tests.support.waiting import eventually
from tests.support.works import git

SILENT, QUICK = "silent.margrave.lab:5000", "quick.margrave.lab:5000"
_COMPOSE = """\
services:
  web:
    image: IMAGE
    environment: {GREETING: "${GREETING}", SHELF: "${SHELF}", PORT: "${PORT}"}
"""
_HOOK = '#!/bin/sh\nwhile [ -e "{marker}" ]; do sleep 0.1; done\n'


@dataclass
class SilentRegistry(FakeRegistry):
    """A registry that accepts connections and never responds while `silent` is set."""

    silent: threading.Event = field(default_factory=threading.Event)
    waiting: threading.Event = field(default_factory=threading.Event)
    closed: bool = False

    def answer(self, asked: Asked) -> Told:
        while self.silent.is_set() and not self.closed:
            self.waiting.set()
            time.sleep(0.05)
        return super().answer(asked)

    def stop(self) -> None:
        self.closed = True
        super().stop()


class World:
    """A controller with its chores, the sites depot and harbor, and two applications."""

    def __init__(self, folder: Path, database: str | None, **more: Any) -> None:
        self.silent = SilentRegistry().start()
        self.quick = FakeRegistry().start()
        self.state = folder / "state"
        registries = ((SILENT, self.silent), (QUICK, self.quick))
        self.settings = ControllerSettings.model_validate(
            {
                "state": {"dir": self.state},
                "database": {"url": database},
                "catalog": {"local_roots": [folder]},
                "registries": [
                    {"host": host, "address": one.address, "insecure": True}
                    for host, one in registries
                ],
                **more,
            }
        )
        self.parts = assemble(self.settings)
        self.parts.store.migrate()
        self.parts.repository.prepare()
        self.chores = Chores(self.parts)
        self.client = create_app(self.parts, self.chores).test_client()
        self.api = Api(self.client, self._token())
        self._fill(folder / "apps")
        self.chores.start()

    def close(self) -> None:
        """End everything."""
        self.silent.silent.clear()
        self.chores.stop()
        self.parts.store.close()
        self.silent.stop()
        self.quick.stop()

    def deploy(self, app: str, site: str) -> str:
        """Request an application at a site; the request's id."""
        body = {"app": app, "targets": {"sites": [site]}, "name": f"{app}-{uuid.uuid4().hex[:6]}"}
        answer = self.api.post("/deployments", json=body)
        assert answer.status_code == 202, answer.text
        return str(answer.json["id"])

    def request(self, name: str) -> dict[str, Any]:
        """A request as it is shown."""
        found: dict[str, Any] = self.api.get(f"/requests/{name}").json
        return found

    def site(self, name: str) -> dict[str, Any]:
        """A site as it is shown."""
        found: dict[str, Any] = self.api.get(f"/sites/{name}").json
        return found

    def ailments(self) -> dict[str, str]:
        """What /readyz says of each part that is ill."""
        checks = self.client.get("/readyz").json["checks"]
        return {one["name"]: one["detail"] for one in checks if not one["ok"]}

    def pause(self, site: str) -> tuple[int, dict[str, Any], float]:
        """Pause a site: the status, the answer, and the seconds it took."""
        return self._asked(f"/sites/{site}/pause", {"reason": "stop"})

    def resume(self, site: str) -> tuple[int, dict[str, Any], float]:
        """Resume a site, told as a pause is."""
        return self._asked(f"/sites/{site}/resume", {})

    def reads(self) -> float:
        """Seconds of the slowest of the reads that pages are made of."""
        slowest = 0.0
        for path in ("/sites", "/deployments", "/requests", "/sites/harbor"):
            begun = time.monotonic()
            answer = self.api.get(path)
            assert answer.status_code == 200, answer.text
            slowest = max(slowest, time.monotonic() - begun)
        return slowest

    def is_published(self, name: str) -> bool:
        """Whether a request has come through."""
        return bool(self.request(name)["state"] == "published")

    def _asked(self, path: str, body: dict[str, Any]) -> tuple[int, dict[str, Any], float]:
        begun = time.monotonic()
        answer = self.api.post(path, json=body)
        return answer.status_code, answer.json, time.monotonic() - begun

    def _token(self) -> str:
        token = {"id": str(uuid.uuid4()), "name": "admin", "digest": token_hash("admin")}
        more = {"role": Role.ADMIN, "sites": None, "created_by": "test"}
        with self.parts.store.write() as session:
            access.add_token(session, {**token, **more, "created_at": self.parts.clock()})
        return "admin"

    def _fill(self, apps: Path) -> None:
        for app, host in (("silent", SILENT), ("quick", QUICK)):
            packages.write(apps, app, compose=_COMPOSE.replace("IMAGE", f"{host}/{app}:VERSION"))
        self.parts.catalog.add({"name": "own", "url": str(apps)})
        assert self.parts.catalog.sync("own")["findings"] == []
        for site in ("depot", "harbor"):
            assert self.api.post("/sites", json={"name": site}).status_code == 201


@contextmanager
def world(folder: Path, database: str | None, **more: Any) -> Iterator[World]:
    """A world that is ended."""
    made = World(folder, database, **more)
    try:
        yield made
    finally:
        made.close()


@contextmanager
def hanging_remote(folder: Path, database: str | None) -> Iterator[tuple[World, Path]]:
    """A world with a forge, and the marker that lets each push hang while it is there."""
    git(folder, "init", "-q", "--bare", "-b", "main", "forge.git")
    marker = folder / "hang"
    hook = folder / "forge.git" / "hooks" / "pre-receive"
    hook.write_text(_HOOK.format(marker=marker))
    hook.chmod(0o755)
    with world(folder, database, git={"remote": str(folder / "forge.git")}) as made:
        try:
            yield made, marker
        finally:
            marker.unlink(missing_ok=True)


@contextmanager
def locked(made: World) -> Iterator[None]:
    """The database with its write lock held by another process."""
    url = made.settings.database.url
    if url is None:
        import sqlite3

        file = made.state / "margrave.db"
        with closing(sqlite3.connect(file, isolation_level=None, timeout=60)) as other:
            other.execute("BEGIN IMMEDIATE")
            yield
            other.execute("ROLLBACK")
        return
    with psycopg.connect(url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", (_key("write"),))
        yield
        other.execute("SELECT pg_advisory_unlock(%s)", (_key("write"),))


@contextmanager
def small_disk(folder: Path) -> Iterator[Path]:
    """A file system of 16 MiB; it takes root."""
    small = folder / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", small], check=True)
    try:
        yield small
    finally:
        subprocess.run(["umount", "-l", small], check=True)


@contextmanager
def full(disk: Path) -> Iterator[None]:
    """The file system without a free byte."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            pass
    try:
        yield
    finally:
        ballast.unlink()


def is_paused(made: World, site: str) -> bool:
    """Whether a pause has come through: shown, and nothing of it pending."""
    found = made.site(site)
    return bool(found["paused"]) and not found["pending"]


def wait_for_pause(made: World, site: str) -> None:
    """Wait until a pause has come through, and is in the audit once."""
    eventually(lambda: is_paused(made, site), 60, "the pause was lost")
    entries = made.api.get("/audit").json["items"]
    about = [one for one in entries if (one["action"], one["target"]) == ("site.pause", site)]
    assert len(about) == 1, about

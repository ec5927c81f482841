"""Two controllers as they are served: processes of their own on one PostgreSQL."""

from __future__ import annotations

import multiprocessing
import socket
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import httpx

from controller.access.identity import Identity
from controller.access.identity import Role as Rank
from controller.access.passwords import token_hash
from controller.app import assemble
from controller.serve import serve
from controller.settings import ControllerSettings
from controller.store import access
from controller.store.words import Role
from tests.functional.controller.kit import NOON, add_deployment
from tests.support.registry import FakeRegistry
from tests.support.waiting import eventually
from tests.support.works import APPS

OPERATOR = {"Authorization": "Bearer operator"}
# Sites, and at each the deployment whose placements its runner reports.
SITES = {
    "harbor": "11111111-1111-4111-8111-111111111111",
    "depot": "22222222-2222-4222-8222-222222222222",
}
SECRET = "known to the forge"  # of webhooks


def runner(site: str) -> dict[str, str]:
    """The token of a site's runner."""
    return {"Authorization": f"Bearer runner-{site}"}


@dataclass
class Pair:
    """Two controllers as they are served, on one database and one repository."""

    urls: list[str]
    processes: list[SpawnProcess]
    forge: Path
    marker: Path
    database: str

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

    def published(self, requests: list[str], which: int = 0) -> bool:
        """Whether all of them are."""
        states = {self.get(which, f"/requests/{one}")["state"] for one in requests}
        return states == {"published"}

    def commits(self) -> list[str]:
        """Which requests stand in Git, one for each commit."""
        form = "--format=%(trailers:key=Margrave-Request,valueonly)"
        log = subprocess.check_output(["git", "log", form, "main"], cwd=self.forge, text=True)
        return log.split()


def settings_of(
    folder: Path, url: str, git: dict[str, str], registry: FakeRegistry
) -> ControllerSettings:
    """A controller's, on a port that is free."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    images = {"host": "registry.margrave.lab:5000", "address": registry.address, "insecure": True}
    return ControllerSettings.model_validate(
        {
            "state": {"dir": str(folder)},
            "database": {"url": url},
            "http": {"bind": f"127.0.0.1:{port}"},
            "git": git,
            "hooks": {"secrets": [SECRET]},
            "catalog": {"local_roots": [str(APPS), str(folder.parent)]},
            "registries": [images],
        }
    )


def fill(settings: ControllerSettings) -> None:
    """An operator, sites with their tokens, an application."""
    parts = assemble(settings, lambda: NOON)
    parts.store.migrate()
    parts.repository.prepare()
    parts.catalog.add({"name": "examples", "url": str(APPS)})
    parts.catalog.sync("examples")
    token = {"created_by": "test", "created_at": NOON}
    with parts.store.write() as session:
        person = {"id": "o", "name": "o", "role": Role.OPERATOR, "sites": None}
        access.add_token(session, {**token, **person, "digest": token_hash("operator")})
    for site, known in SITES.items():
        parts.sites.create({"name": site}, Identity("ada", Rank.ADMIN))
        with parts.store.write() as session:
            own = {"id": str(uuid.uuid4()), "site": site, "digest": token_hash(f"runner-{site}")}
            access.add_site_token(session, {**token, **own})
        add_deployment(parts, site, "known", id=known)
    parts.store.close()


@contextmanager
def served(settings: ControllerSettings) -> Iterator[SpawnProcess]:
    """It, from when it is ready on."""
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(settings,))
    process.start()
    try:
        eventually(lambda: answers(f"http://{settings.http.bind}/readyz"), 120, "it is not ready")
        yield process
    finally:
        process.terminate()
        process.join(30)
        if process.is_alive():
            process.kill()
            process.join()
        process.close()


def answers(url: str) -> bool:
    """Whether it says 200."""
    try:
        return httpx.get(url, timeout=10).status_code == 200
    except httpx.TransportError:
        return False

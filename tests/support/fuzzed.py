"""A real controller process with something of everything, for requests that nobody would write."""

from __future__ import annotations

import multiprocessing
import random
import socket
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

from controller.access.passwords import hash_password, token_hash
from controller.serve import serve
from controller.settings import ControllerSettings
from controller.store import Store, access
from controller.store.words import Role
from tests.support import packages
from tests.support.registry import FakeRegistry
from tests.support.waiting import eventually
from tests.support.works import NOON

ADMIN = "fuzzed-admin"
LONGEST = 300
OFTEN = 0.7  # how often a made-up name becomes one that exists


@dataclass
class Fuzzed:
    """Where it answers, and what exists there."""

    url: str
    known: dict[str, list[str]]
    runner: str
    chance: random.Random = field(default_factory=lambda: random.Random(1))

    def aim(self, case: Any) -> None:
        """Let most requests speak of something that exists: else all they meet is a 404."""
        for name in list(case.path_parameters or {}):
            if name in self.known and self.chance.random() < OFTEN:
                case.path_parameters[name] = self.chance.choice(self.known[name])
        for name, value in (case.query or {}).items():
            if isinstance(value, str):  # the server below us takes 4 KiB of address
                case.query[name] = value[:LONGEST]

    def headers(self, case: Any) -> dict[str, str]:
        """The token that the address is for."""
        own = case.path.endswith(("/reports", "/heartbeat", "/stream"))
        return {"Authorization": f"Bearer {self.runner if own else ADMIN}"}


@contextmanager
def fuzzed(folder: Path, database: str | None = None) -> Iterator[Fuzzed]:
    """A controller with applications, sites, nodes, deployments, operations and people."""
    registry = FakeRegistry().start()
    settings = _settings(folder, registry, database)
    _admin(settings)
    process = multiprocessing.get_context("spawn").Process(target=serve, args=(settings,))
    process.start()
    url = f"http://{settings.http.bind}"
    try:
        eventually(lambda: _ready(url), 120)
        yield _filled(url, folder)
    finally:
        process.terminate()
        process.join(30)
        if process.is_alive():
            process.kill()
            process.join()
        process.close()
        registry.stop()


def _settings(folder: Path, registry: FakeRegistry, database: str | None) -> ControllerSettings:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    host = {"host": "registry.margrave.lab:5000", "address": registry.address, "insecure": True}
    return ControllerSettings.model_validate(
        {
            "state": {"dir": folder / "state"},
            "database": {"url": database},
            "http": {"bind": f"127.0.0.1:{port}"},
            "catalog": {"local_roots": [folder], "sync_interval": "24h"},
            "registries": [host],
        }
    )


def _admin(settings: ControllerSettings) -> None:
    store = Store(settings.database_url)
    store.migrate()
    with store.write() as session:
        token = {
            "id": str(uuid.uuid4()),
            "name": "fuzzed",
            "digest": token_hash(ADMIN),
            "role": Role.ADMIN,
            "sites": None,
            "created_by": "test",
            "created_at": NOON,
        }
        access.add_token(session, token)
        person = {
            "name": "ada",
            "password_hash": hash_password("correct horse battery"),
            "role": Role.ADMIN,
            "sites": None,
            "created_at": NOON,
        }
        access.add_user(session, person)
    store.close()


def _ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/readyz").status_code == 200
    except httpx.TransportError:
        return False


def _filled(url: str, folder: Path) -> Fuzzed:
    """Through the API alone, as people and a runner would."""
    for version in ("1.0.0", "1.1.0"):
        packages.write(folder / "apps", version=version)
    admin = httpx.Client(
        base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {ADMIN}"}, timeout=60
    )

    def post(path: str, body: Any) -> Any:
        answer = admin.post(path, json=body)
        assert answer.is_success, answer.text
        return answer.json()

    post("/app-sources", {"name": "own", "url": str(folder / "apps")})
    post("/app-sources/own/sync", {})
    token = post("/sites", {"name": "harbor", "labels": {"zone": "shop"}})["token"]
    asked = post(
        "/deployments", {"app": "shop", "version": "1.0.0", "targets": {"sites": ["harbor"]}}
    )
    deployment, request = asked["deployments"][0]["id"], asked["id"]
    eventually(lambda: admin.get(f"/requests/{request}").json()["state"] == "published")
    operation = str(uuid.uuid4())
    runner = httpx.Client(
        base_url=f"{url}/api/v1", headers={"Authorization": f"Bearer {token}"}, timeout=60
    )
    answer = runner.post("/sites/harbor/reports", json=_told(deployment, operation))
    assert answer.is_success, answer.text
    known = {
        "app": ["shop"],
        "version": ["1.0.0", "1.1.0"],
        "source": ["own"],
        "site": ["harbor"],
        "node": ["harbor-1"],
        "deployment": [deployment],
        "request_id": [request],
        "operation": [operation],
        "artifact": [operation, f"{operation}.log"],
        "user": ["ada"],
        "name": ["site"],
    }
    admin.close()
    runner.close()
    return Fuzzed(url, known, token)


def _told(deployment: str, operation: str) -> dict[str, Any]:
    """A first snapshot, an install under way, and a line of its log."""
    at = NOON.isoformat()
    node = {"name": "harbor-1", "address": "10.0.0.1", "status": "active"}
    events = [
        ("snapshot", {"placements": [], "nodes": [node], "site": {}}),
        (
            "placement",
            {
                "deployment": deployment, "node": "harbor-1", "incarnation": 1,
                "state": "INSTALLING", "outcome": "pending", "revision": None, "version": None,
                "attempt": 1, "reason": "wanted", "from": "PENDING", "to": "INSTALLING",
                "actor": "runner",
            },
        ),
        (
            "operation",
            {
                "id": operation, "deployment": deployment, "node": "harbor-1",
                "kind": "install", "state": "running", "fence": {"epoch": 1, "seq": 1},
            },
        ),
        ("log", {"operation": operation, "lines": ["prefetch"]}),
    ]  # fmt: skip
    return {
        "protocol": 1,
        "runner": str(uuid.uuid4()),
        "epoch": 1,
        "first_seq": 1,
        "events": [
            {"seq": number, "at": at, "kind": kind, "data": data}
            for number, (kind, data) in enumerate(events, 1)
        ],
    }

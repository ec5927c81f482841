"""A controller of this test's own: `margrave init` and `margrave controller serve`, over HTTP."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx

from tests.support.waiting import eventually

MARGRAVE = Path(sys.executable).with_name("margrave")
ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Served:
    """A controller that serves, and its admin's token."""

    url: str
    token: str

    @property
    def environment(self) -> dict[str, str]:
        """What clients read."""
        return {"MARGRAVE_URL": self.url, "MARGRAVE_TOKEN": self.token}

    def get(self, path: str, **query: str) -> Any:
        """What it answers."""
        return self._asked("GET", path, params=query)

    def post(self, path: str, body: object, token: str = "") -> Any:
        """What it answers."""
        return self._asked("POST", path, json=body, token=token)

    def _asked(self, method: str, path: str, token: str = "", **more: Any) -> Any:
        headers = {"Authorization": f"Bearer {token or self.token}"}
        url = f"{self.url}/api/v1{path}"
        answer = httpx.request(method, url, headers=headers, timeout=30, **more)
        assert answer.is_success, answer.text
        return answer.json()

    def ready(self) -> bool:
        """Whether it serves."""
        try:
            return httpx.get(f"{self.url}/readyz").is_success
        except httpx.TransportError:
            return False


@contextmanager
def served(base: Path, database: str = "", **settings: str) -> Iterator[Served]:
    """It, on a port that is free; settings are its environment variables without MARGRAVE_."""
    init = [MARGRAVE, "init", "controller", "-o", "json", "--database", database]
    made = subprocess.run(init, cwd=base, check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        bind = f"127.0.0.1:{free.getsockname()[1]}"
    more = {f"MARGRAVE_{key}": value for key, value in settings.items()}
    with (base / "controller.log").open("w") as log:
        process = subprocess.Popen(
            [MARGRAVE, "controller", "serve", "--config", "controller/margrave.toml"],
            cwd=base,
            env={**os.environ, "MARGRAVE_HTTP__BIND": bind, **more},
            stdout=log,
            stderr=log,
        )
    found = Served(f"http://{bind}", json.loads(made.stdout)["token"])
    try:
        eventually(found.ready, 120, "the controller does not serve")
        yield found
    finally:
        process.terminate()
        process.wait(30)


class PretendRunner:
    """A site's runner as its controller sees it: what it is told to say, in order."""

    def __init__(self, controller: Served, site: str, token: str) -> None:
        self.site = site
        self._controller, self._token = controller, token
        self._seq = 0

    def beat(self, *nodes: str) -> None:
        """A sign of life."""
        alive = [{"name": name, "status": "active", "last_seen": _now()} for name in nodes]
        body = {**self._head, "at": _now(), "applied_commit": None, "nodes": alive}
        self._controller.post(f"/sites/{self.site}/heartbeat", body, self._token)

    def node(self, name: str, address: str = "192.0.2.1", **more: Any) -> None:
        """A node of the site, alive."""
        data = {"name": name, "address": address, "status": "active", "last_seen": _now(), **more}
        self._say("node", data)
        self.beat(name)

    def placement(self, deployment: dict[str, Any], node: str, **more: Any) -> None:
        """A deployment as it stands on a node: healthy with what is wanted, unless said else."""
        runs = {"revision": deployment["revision"], "version": deployment["version"]}
        wanted = {f"wanted_{key}": value for key, value in runs.items()}
        stands = {"state": "INSTALLED", "outcome": "succeeded", "from": "INSTALLING"}
        data = {"deployment": deployment["id"], "node": node, **runs, **wanted, **stands, **more}
        self._say("placement", {"to": data["state"], "reason": "test", "since": _now(), **data})

    @property
    def _head(self) -> dict[str, Any]:
        return {"protocol": 1, "runner": "11111111-1111-4111-8111-111111111111", "epoch": 1}

    def _say(self, kind: str, data: dict[str, Any]) -> None:
        self._seq += 1
        event = {"seq": self._seq, "at": _now(), "kind": kind, "data": data}
        report = {**self._head, "first_seq": self._seq, "events": [event]}
        self._controller.post(f"/sites/{self.site}/reports", report, self._token)


def _now() -> str:
    return datetime.now(UTC).isoformat()

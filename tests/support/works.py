"""The controller's working half on a database, a repository and a registry of its own."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from controller.access.identity import Identity, Role
from controller.admission import Admission
from controller.catalog import Catalog
from controller.publish import Publisher, Repository, Sites
from controller.settings import ControllerSettings
from controller.store import Store, fleet, requests
from tests.support.registry import FakeRegistry

APPS = Path(__file__).parents[2] / "examples" / "apps"
NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
ADA = Identity("ada", Role.OPERATOR)
CAPABLE = {"architecture": "amd64", "cpus": 2, "deployment_types": ["compose"]}


@dataclass
class Clock:
    """A clock that the test moves."""

    now: datetime = NOON

    def __call__(self) -> datetime:
        return self.now

    def forward(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)


class Works:
    """All parts as app.py puts them together, without HTTP."""

    def __init__(self, folder: Path, registry: FakeRegistry | None, **more: Any) -> None:
        self.settings = ControllerSettings.model_validate(
            {
                "state": {"dir": str(folder)},
                "database": {"url": os.environ.get("MARGRAVE_TEST_DATABASE_URL")},
                "catalog": {"local_roots": [str(APPS), str(folder.parent)]},
                "registries": _known(registry),
                **more,
            }
        )
        self.clock = Clock()
        self.start()

    def start(self) -> None:
        """As a process does; calling it again is a restart."""
        self.store = Store(self.settings.database_url)
        self.store.migrate()
        self.repository = Repository(self.settings)
        self.repository.prepare()
        self.publisher = Publisher(self.store, self.settings, self.clock, self.repository)
        self.sites = Sites(self.store, self.publisher.changes, self.clock)
        self.catalog = Catalog(self.store, self.settings, self.clock)
        self.admission = Admission(self.store, self.settings, self.clock, self.repository)

    def with_apps(self, *sites: str) -> Works:
        """Storefront in the catalogue, and sites to put it at."""
        self.catalog.add({"name": "examples", "url": str(APPS)})
        self.catalog.sync("examples")
        for site in sites:
            self.sites.create({"name": site}, ADA)
        return self

    def create(self, *sites: str, **more: Any) -> dict[str, Any]:
        """Ask for storefront at the sites."""
        body = {"app": "storefront", "targets": {"sites": list(sites)}, **more}
        return self.admission.create(body, ADA)

    def act(self, action: str, *ids: str, **more: Any) -> dict[str, Any]:
        """Ask for something to be done with deployments."""
        return self.admission.act({"action": action, "select": {"ids": list(ids)}, **more}, ADA)

    def request(self, answer: dict[str, Any]) -> dict[str, Any]:
        """What became of a request."""
        with self.store.session() as session:
            found = requests.one(session, answer["id"], self.clock())
        assert found is not None
        return found

    def document(self, deployment: dict[str, str]) -> bytes:
        """A deployment's document at the head."""
        head = self.repository.head()
        assert head is not None
        path = f"deployments/{deployment['site']}/{deployment['id']}.yaml"
        found = self.repository.read(head, path)
        assert found is not None, path
        return found


@contextmanager
def at_forge(folder: Path, forge: Path, *sites: str) -> Iterator[Works]:
    """With these sites, its commits going to a forge; with a registry of its own."""
    registry = FakeRegistry().start()
    works = Works(folder, registry, git={"remote": str(forge)}).with_apps(*sites)
    yield works
    works.store.close()
    registry.stop()


def with_nodes(works: Works, site: str, *names: str, **more: Any) -> None:
    """Nodes of a site as its runner told of them just now."""
    with works.store.write() as session:
        fleet.tell_site(session, site, {"last_seen": works.clock()})
        for name in names:
            values = {"status": "active", "capabilities": CAPABLE, **more}
            fleet.tell_node(session, site, name, values, works.clock())


def _known(registry: FakeRegistry | None) -> list[dict[str, Any]]:
    if registry is None:
        return []
    host = "registry.margrave.lab:5000"
    return [{"host": host, "address": registry.address, "insecure": True}]


def git(folder: Path, *arguments: str, ok: bool = True) -> str:
    """Run Git as a person at a prompt."""
    who = ("-c", "user.name=Grace", "-c", "user.email=grace@example.com")
    done = subprocess.run(
        ["git", *who, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 or not ok, done.stderr
    return done.stdout + done.stderr


def head_of(forge: Path) -> str:
    """Where main stands there."""
    return git(forge, "rev-parse", "main").strip()

"""The disks that earlier versions left, restored for a test."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from controller import settings
from tests.support import fixture_sets, postgres
from tests.support.fixture_sets import FixtureSet
from tests.support.registry import FakeRegistry
from tests.support.runner_process import free_port


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[postgres.Postgres]:
    """A PostgreSQL of this run's own."""
    with postgres.server() as server:
        yield server


@pytest.fixture(params=fixture_sets.sets(), ids=fixture_sets.names())
def fixture_set(request: pytest.FixtureRequest) -> FixtureSet:
    """Each kept set in turn."""
    fixture_set: FixtureSet = request.param
    return fixture_set


@dataclass
class RestoredController:
    """A restored controller that is not running yet."""

    fixture_set: FixtureSet
    kind: str
    home: Path
    port: int
    environment: dict[str, str]

    @property
    def repository(self) -> Path:
        return self.home / "state/git/deployments.git"

    @property
    def credentials(self) -> Any:
        return self.fixture_set.json(f"{self.kind}/credentials.json")

    def branches(self) -> str:
        """Return each branch of the deployments repository with its commit."""
        return fixture_sets.git(self.repository, "for-each-ref", "refs/heads")

    def load(self) -> settings.ControllerSettings:
        """Return its settings."""
        return settings.load(self.home / "margrave.toml", self.environment)


@pytest.fixture(params=["sqlite", "postgresql"])
def restored(
    request: pytest.FixtureRequest, fixture_set: FixtureSet, tmp_path: Path
) -> Iterator[RestoredController]:
    """The controller of a set in a folder of this test, with its database in place."""
    kind, port = request.param, free_port()
    registry = FakeRegistry().start()
    login = {"host": fixture_sets.REGISTRY, "address": registry.address, "insecure": True}
    database = None
    if kind == "postgresql":
        server = request.getfixturevalue("postgresql_server")
        database = server.create()
        server.load((fixture_set.folder / "postgresql/database.sql").read_text(), database)
    home = fixture_set.restore_controller(kind, tmp_path, port, database)
    environment = {"MARGRAVE_REGISTRIES__JSON": json.dumps([login])}
    controller = RestoredController(fixture_set, kind, home, port, environment)
    fixture_sets.move_sources(controller.load().database_url, tmp_path)
    yield controller
    registry.stop()

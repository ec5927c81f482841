"""A controller on a database and repository of its own, with a clock that stands still.

What needs a database runs on SQLite and on PostgreSQL: on the second the modules of QUICK in
`make test`, all of them in `make test-full`.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from controller import health
from controller.access.passwords import hash_password, token_hash
from controller.app import assemble, create_app
from controller.parts import Parts
from controller.settings import ControllerSettings
from controller.store import Store, access
from controller.store.words import Role
from tests.functional.controller.kit import PASSWORD, Api, Clock, Runner, add_site
from tests.support import postgres
from tests.support.works import git

# What speaks most to the database; each runs on PostgreSQL whenever it runs at all.
QUICK = (
    "test_reports",
    "test_events",
    "test_lists",
    "test_deployments_publish",
    "test_api_deployments",
    "test_api_requests",
    "test_bad_input",
)
# Backup, restore and rebuild work on SQLite's file, and it lies on a disk that is full here;
# PostgreSQL has tools, and a disk, of its own.
SQLITE_ONLY = ("test_git_keeping", "test_full_disk")
ON_BOTH = {"parts", "works", "served", "on_both"}
# What many tests of a module share: a database that nobody empties between them.
SHARED = {"untouched", "running"}
DATABASE = "MARGRAVE_TEST_DATABASE_URL"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Each test that needs a database, on both."""
    module = metafunc.module.__name__.rpartition(".")[2]
    if module in SQLITE_ONLY:
        return
    names = set(metafunc.fixturenames)
    postgresql = pytest.param("postgresql", marks=() if module in QUICK else pytest.mark.full)
    if ON_BOTH & names:
        metafunc.parametrize("database", ["sqlite", postgresql], indirect=True)
    if SHARED & names:
        metafunc.parametrize(
            "shared_database", ["sqlite", postgresql], indirect=True, scope="module"
        )


@pytest.fixture(scope="session")
def postgresql_server() -> Iterator[postgres.Postgres]:
    """A PostgreSQL of this run's own."""
    with postgres.server() as server:
        yield server


@pytest.fixture(scope="session")
def postgresql(postgresql_server: postgres.Postgres) -> str:
    """The URL of a migrated database on it."""
    return _migrated(postgresql_server)


@pytest.fixture(scope="module")
def shared_database(request: pytest.FixtureRequest) -> str | None:
    """The URL of a database of the module's own, or None for SQLite in the state folder."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return None
    return _migrated(request.getfixturevalue("postgresql_server"))


def _migrated(server: postgres.Postgres) -> str:
    url = server.create()
    store = Store(url)
    store.migrate()
    store.close()
    return url


@pytest.fixture(autouse=True)
def database(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str | None:
    """The URL of an empty PostgreSQL database, or None for SQLite in the state folder."""
    if getattr(request, "param", "sqlite") == "sqlite":
        return None
    url: str = request.getfixturevalue("postgresql")
    postgres.empty(url)
    monkeypatch.setenv(DATABASE, url)  # for tests.support.works, in processes of their own too
    return url


@pytest.fixture(autouse=True)
def looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that stands still waits for nothing: each /readyz looks."""
    monkeypatch.setattr(health, "KEPT", 0.0)


@pytest.fixture
def on_both() -> None:
    """Asked for by tests that make their database themselves."""


@pytest.fixture
def forge(tmp_path: Path) -> Path:
    """An empty bare repository, as a forge makes one."""
    git(tmp_path, "init", "-q", "--bare", "-b", "main", "forge.git")
    return tmp_path / "forge.git"


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def settings(tmp_path: Path, database: str | None) -> ControllerSettings:
    return ControllerSettings.model_validate(
        {
            "state": {"dir": tmp_path / "state"},
            "catalog": {"local_roots": [tmp_path]},
            "database": {"url": database},
        }
    )


@pytest.fixture(scope="session")
def empty_database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated database: made once, for migrating takes longer than most tests."""
    path = tmp_path_factory.mktemp("database") / "margrave.db"
    store = Store(f"sqlite:///{path}")
    store.migrate()
    store.close()
    return path


@pytest.fixture
def parts(settings: ControllerSettings, clock: Clock, empty_database: Path) -> Iterator[Parts]:
    settings.state.dir.mkdir(parents=True)
    shutil.copy(empty_database, settings.state.dir / "margrave.db")
    made = assemble(settings, clock)
    made.repository.prepare()
    with made.store.write() as session:
        for role in Role:
            token = {
                "id": str(uuid.uuid4()),
                "name": role.value,
                "digest": token_hash(role.value),
                "role": role,
                "sites": None,
                "created_by": "test",
                "created_at": clock(),
            }
            access.add_token(session, token)
    yield made
    made.broker.stop()
    made.store.close()


@pytest.fixture
def app(parts: Parts) -> Flask:
    return create_app(parts)


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def admin(client: FlaskClient) -> Api:
    return Api(client, "admin")


@pytest.fixture
def operator(client: FlaskClient) -> Api:
    return Api(client, "operator")


@pytest.fixture
def viewer(client: FlaskClient) -> Api:
    return Api(client, "viewer")


@pytest.fixture
def user(parts: Parts) -> str:
    """An admin who signs in with PASSWORD."""
    with parts.store.write() as session:
        person = {
            "name": "ada",
            "password_hash": hash_password(PASSWORD),
            "role": Role.ADMIN,
            "sites": None,
            "created_at": parts.clock(),
        }
        access.add_user(session, person)
    return "ada"


@pytest.fixture
def harbor(parts: Parts, client: FlaskClient, clock: Clock) -> Runner:
    """The runner of the site harbor."""
    add_site(parts, "harbor")
    return Runner(client, "harbor", clock)

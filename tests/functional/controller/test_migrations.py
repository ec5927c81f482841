"""A database of an earlier schema goes forward with what is in it, on SQLite and on PostgreSQL."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Engine, MetaData, create_engine, select, text

from bench import migrations
from controller import settings
from controller.app import assemble, create_app
from controller.store import Store, finding, schema
from controller.store.columns import Base
from controller.store.finding import Wanted
from margrave.cli.main import main
from tests.functional.controller.kit import PASSWORD, Api
from tests.support import frozen, postgres
from tests.support.served import MARGRAVE

WHOLE = "0005"  # the first schema with all tables
FIRST = "0006"  # the first that was released: from here on what stands in a database stays
SITE = (
    "INSERT INTO sites (name, document, findings, labels, drain, created_at)"
    " VALUES ('harbor', '{}', '[]', '{}', false, '2026-03-01 12:00:00')"
)
DEPLOYMENT = (
    "INSERT INTO deployments (id, site, name, app, profile, in_git, parameters, extensions, needs,"
    " findings, state, outcome, created_at, updated_at) VALUES"
    " ('00000000-0000-4000-8000-000000000001', 'harbor', 'storefront', 'com-example-storefront',"
    " 'compose', true, '{}', '{}', '{}', '[]', 'INSTALLED', 'succeeded', '2026-03-01 12:00:00',"
    " '2026-03-01 12:00:00')"
)
Rows = dict[str, dict[str, dict[str, Any]]]


@pytest.fixture(scope="module")
def server() -> Iterator[postgres.Postgres]:
    with postgres.server() as found:
        yield found


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """An empty database."""
    if request.param == "sqlite":
        (tmp_path / "state").mkdir()
        return f"sqlite:///{tmp_path / 'state' / 'margrave.db'}"
    server: postgres.Postgres = request.getfixturevalue("server")
    return server.create()


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    made = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    yield made
    made.dispose()


@pytest.fixture
def config(tmp_path: Path, url: str) -> Path:
    """A controller's configuration for it."""
    file = tmp_path / "margrave.toml"
    bind = "127.0.0.1:1"  # nothing is served in these tests
    file.write_text(f'[database]\nurl = {json.dumps(url)}\n[http]\nbind = "{bind}"\n')
    return file


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str


Migrate = Callable[[], Ran]


@pytest.fixture
def migrate(
    config: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Migrate:
    """`margrave controller migrate`, with its exit code."""

    def run() -> Ran:
        words = ["margrave", "controller", "migrate", "--config", str(config)]
        monkeypatch.setattr(sys, "argv", words)
        capsys.readouterr()
        code = int(main())
        said = capsys.readouterr()
        return Ran(code, said.out, said.err)

    return run


def differences(engine: Engine) -> list[Any]:
    """What a database that was made anew would have otherwise."""
    # The index of trigrams is each database's own, and in no mapped class.
    mapped = {"include_name": lambda name, *_: not str(name).startswith("deployment_search")}
    with engine.connect() as connection:
        return compare_metadata(MigrationContext.configure(connection, opts=mapped), Base.metadata)


def standing(engine: Engine) -> Rows:
    """Every row of every table as the database has it, by its key."""
    found: Rows = {}
    tables = MetaData()
    tables.reflect(engine, only=lambda name, _: not name.startswith("deployment_search"))
    with engine.connect() as connection:
        for table in tables.tables.values():
            if table.name == "alembic_version":
                continue
            keys = [column.name for column in table.primary_key.columns]
            rows = [dict(row) for row in connection.execute(select(table)).mappings()]
            found[table.name] = {str([row[key] for key in keys]): row for row in rows}
    return found


def test_what_stands_in_an_earlier_schema_is_there_in_the_newest(url: str, engine: Engine) -> None:
    """Rows of the first schema stay, are found by a search, and nothing differs from a new one."""
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, WHOLE)
        for statement in (SITE, DEPLOYMENT):
            connection.execute(text(statement))
    store = Store(url)
    assert "run margrave controller migrate" in store.schema_problem()
    store.migrate()
    assert store.schema_problem() == ""
    with store.session() as session:
        assert len(finding.keys(session, Wanted(q="storef harbor"), after=None, limit=9)) == 1
    store.close()
    assert differences(engine) == []


def test_many_rows_go_forward(url: str, engine: Engine) -> None:
    """The rows of `bench.migrations`, which measures 100,000 deployments, are all there afterwards,
    and each request knows how many documents it changed."""
    assert migrations.migrated(url, 2_000)["seconds"] > 0
    counts = {"deployments": 2_000, "history": 6_000, "operations": 2_000, "events": 2_000}
    with engine.connect() as connection:
        for table, number in counts.items():
            assert connection.scalar(text(f"SELECT count(*) FROM {table}")) == number
        assert connection.scalar(text("SELECT sum(documents) FROM requests")) == 2_000
    assert differences(engine) == []


def releases() -> list[str]:
    """Schemas that were released, each frozen with rows in all its tables."""
    return sorted({file.name.partition("-")[0] for file in frozen.RELEASED.glob("*.sql")})


def test_the_first_release_is_frozen() -> None:
    """Both databases of it; what was written then is never written again."""
    assert releases()[0] == FIRST
    files = {file.name for file in frozen.RELEASED.glob("*.sql")}
    assert files == {f"{one}-{kind}.sql" for one in releases() for kind in ("sqlite", "postgresql")}


@pytest.mark.parametrize("release", releases())
def test_a_released_database_goes_forward(
    request: pytest.FixtureRequest,
    release: str,
    url: str,
    engine: Engine,
    config: Path,
    migrate: Migrate,
) -> None:
    """`migrate` keeps each value of each row, twice is once, and the controller works with it."""
    kind = engine.dialect.name
    server = request.getfixturevalue("server") if kind == "postgresql" else None
    frozen.load(f"{release}-{kind}.sql", url, server)
    before = standing(engine)
    assert all(before.values()), "each table has rows"
    expected = "Nothing to do.\n" if release == schema.NEWEST else "The schema is up to date.\n"
    assert migrate() == Ran(0, expected, "")
    assert migrate() == Ran(0, "Nothing to do.\n", "")
    after = standing(engine)
    for table, rows in before.items():
        for key, row in rows.items():
            assert {name: after[table][key][name] for name in row} == row, (table, key)
    assert differences(engine) == []
    works_with(config)


def works_with(config: Path) -> None:
    """People, tokens and runners are known, what was is shown, and new things can be done."""
    parts = assemble(settings.load(config, {}))
    parts.repository.prepare()
    client = create_app(parts).test_client()
    admin = Api(client, "admin")
    assert admin.get("/audit/verify").json["broken_at"] is None
    (shop,) = admin.get("/deployments?q=harb&name=shop").json["items"]
    assert (shop["name"], shop["state"]) == ("shop", "INSTALLED")
    past = admin.get(f"/deployments/{shop['id']}/history").json["items"]
    assert [one["to"] for one in past] == ["PENDING", "INSTALLING", "INSTALLED"]
    assert admin.get(f"/operations/{frozen.OPERATION}/log").text == "prefetch\nhealthy\n"
    assert admin.get("/apps/shop").json["versions"] == ["1.1.0", "1.0.0"]
    signed_in = client.post("/api/v1/login", json={"user": "ada", "password": PASSWORD})
    assert signed_in.status_code == 201
    headers = {"Authorization": "Bearer runner-harbor"}
    assert client.get("/api/v1/sites/harbor", headers=headers).status_code == 200
    queued = admin.get("/requests?state=queued").json["items"]
    assert [admin.delete(f"/requests/{one['id']}").json["state"] for one in queued] == ["cancelled"]
    parts.broker.stop()
    parts.store.close()


@pytest.mark.parametrize(
    ("found", "cure"),
    [
        (None, "run margrave controller migrate"),
        ("0003", "run margrave controller migrate"),
        ("9999", "use the version of margrave that made it"),
        pytest.param("zork", "use the version of margrave that made it", marks=pytest.mark.full),
    ],
    ids=["no tables", "older", "newer", "unknown"],
)
def test_nothing_is_served_on_another_schema(
    url: str, engine: Engine, config: Path, migrate: Migrate, found: str | None, cure: str
) -> None:
    """Refused in one line with the cure, and the database is left as it was."""
    if found is not None:
        store = Store(url)
        store.migrate()
        store.close()
        with engine.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :x"), {"x": found})
    before = standing(engine)
    serve = [MARGRAVE, "controller", "serve", "--config", config]
    done = subprocess.run(serve, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 5, done.stderr
    (said,) = re.findall(r"^margrave: (.*)$", done.stderr, re.M)
    assert (found or "no tables yet") in said and cure in said
    assert "Traceback" not in done.stderr
    if cure.startswith("use"):
        # migrate would not know where to begin, and says so instead of guessing.
        told = migrate()
        assert told.code == 5 and cure in told.err
    assert standing(engine) == before

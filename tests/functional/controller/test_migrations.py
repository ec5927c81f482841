"""A database of an earlier schema goes forward with what is in it, on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from sqlalchemy import Engine, create_engine, text

from controller.store import Store, finding, schema
from controller.store.columns import Base
from controller.store.finding import Wanted
from tests.support import postgres

WHOLE = "0005"  # the first schema with all tables
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


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.full)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'margrave.db'}"
        return
    with postgres.server() as server:
        yield server.create()


@pytest.fixture
def engine(url: str) -> Iterator[Engine]:
    made = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    yield made
    made.dispose()


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
    with engine.connect() as connection:
        # The index of trigrams is each database's own, and in no mapped class.
        mapped = {"include_name": lambda name, *_: not str(name).startswith("deployment_search")}
        context = MigrationContext.configure(connection, opts=mapped)
        assert compare_metadata(context, Base.metadata) == []

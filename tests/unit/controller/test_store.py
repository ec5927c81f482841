"""The database behind its two contexts."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from controller.store import Store, documents, events, facts, schema
from controller.store.columns import Base
from controller.store.documents import Accepted
from controller.store.words import EventKind

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    store.migrate()
    yield store
    store.close()


def test_migrations_make_the_mapped_schema(store: Store) -> None:
    """After all migrations the database is what the mapped classes say."""
    engine = create_engine(store.url)
    with engine.connect() as connection:
        # SQLite's own index of trigrams is in no mapped class.
        mapped = {"include_name": lambda name, *_: not str(name).startswith("deployment_search")}
        context = MigrationContext.configure(connection, opts=mapped)
        assert compare_metadata(context, Base.metadata) == []
    engine.dispose()
    assert store.schema_problem() == ""


def test_the_newest_schema_is_the_last_migration() -> None:
    """What a database is compared with is what Alembic would bring it to."""
    scripts = Path(schema.__file__).parent / "migrations"
    assert ScriptDirectory(str(scripts)).get_current_head() == schema.NEWEST


def test_empty_database_is_a_problem(tmp_path: Path) -> None:
    """A database without tables is told, with the cure."""
    store = Store(f"sqlite:///{tmp_path / 'y.db'}")
    assert "margrave controller migrate" in store.schema_problem()
    store.close()


def test_write_is_whole_or_nothing(store: Store) -> None:
    """An exception undoes everything that the transaction wrote."""

    def failing() -> None:
        with store.write() as session:
            facts.put(session, "x", {"a": 1})
            raise KeyError

    with pytest.raises(KeyError):
        failing()
    with store.session() as session:
        assert facts.get(session, "x") is None


def test_writers_wait_for_each_other(store: Store) -> None:
    """Counting up from many threads loses nothing."""

    def count() -> None:
        for _ in range(10):
            with store.write() as session:
                known = facts.get(session, "n") or {"n": 0}
                facts.put(session, "n", {"n": known["n"] + 1})

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with store.session() as session:
        assert facts.get(session, "n") == {"n": 40}


def test_times_come_back_in_utc(store: Store) -> None:
    """A time of any zone is the same moment when it is read."""
    oslo = NOON.astimezone(timezone(timedelta(hours=2)))
    with store.write() as session:
        documents.ensure_site(session, "harbor", oslo)
    with store.session() as session:
        assert documents.ensure_site(session, "harbor", NOON).created_at == NOON


def test_listeners_hear_of_events(store: Store) -> None:
    """Who asked is told after a commit that stored events, not after others or an undone one."""
    heard: list[int] = []
    store.on_events(lambda: heard.append(1))
    with store.write() as session:
        facts.put(session, "x", {})
    with pytest.raises(ZeroDivisionError), store.write() as session:
        events.append(session, EventKind.SITE, {}, "harbor", None, NOON)
        _ = 1 / 0
    assert heard == []

    with store.write() as session:
        events.append(session, EventKind.SITE, {}, "harbor", None, NOON)
    assert heard == [1]


def test_accepted_deployment_waits_for_git(store: Store) -> None:
    """An accepted deployment is PENDING, not DELETED, before it is in Git."""
    with store.write() as session:
        documents.ensure_site(session, "harbor", NOON)
        new = Accepted("i", "harbor", "shop", "shop", "1.0.0", "compose", None, "r", "ada")
        documents.accept(session, [new], NOON)
    with store.session() as session:
        assert documents.occupants(session, "harbor") == 1


def test_copy_is_a_database(store: Store, tmp_path: Path) -> None:
    """A copy made while the store is open holds everything."""
    with store.write() as session:
        facts.put(session, "x", {"a": 1})
    store.copy_to(tmp_path / "copy.db")
    copy = Store(f"sqlite:///{tmp_path / 'copy.db'}")
    with copy.session() as session:
        assert facts.get(session, "x") == {"a": 1}
    copy.close()

"""Migrate a database of 100,000 deployments from the first released schema to this version's.

Beside it a tenth of that, for whoever wants to know how the time grows. Each deployment has a
placement, three transitions, an operation and an event, and is in one of a thousand requests. A
controller does not serve meanwhile, so the time is how long an upgrade takes. SQLite, and a
PostgreSQL with its own defaults.
"""

from __future__ import annotations

import sys
import tempfile
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from alembic import command
from alembic.config import Config
from sqlalchemy import MetaData, create_engine, insert

from bench.figures import keep
from controller.store import Store, schema
from tests.support.postgres import Postgres

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from sqlalchemy import Connection, Engine, Table

FIRST: Final = "0006"  # the first schema that was released
SITES: Final = 100
REQUESTS: Final = 1_000
AT_ONCE: Final = 5_000
TRANSITIONS: Final = 3
BAR: Final = {"seconds": 60, "growth beside the rows": 1.5}
NOON: Final = datetime(2026, 3, 1, 12, 0, tzinfo=UTC).replace(tzinfo=None)
Rows = dict[str, list[dict[str, Any]]]


def main() -> None:
    """Measure and keep."""
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    server = Postgres(fsync="on", synchronous_commit="on", full_page_writes="on").start()
    try:
        with tempfile.TemporaryDirectory() as name:
            files = (f"sqlite:///{Path(name) / f'{number}.db'}" for number in range(2))
            figures = {
                "sqlite": measure(lambda: next(files), total),
                "postgresql": measure(server.create, total),
            }
    finally:
        server.stop()
    keep("migrations", {"deployments": total, "bars": BAR, **figures})


def measure(database: Callable[[], str], total: int) -> dict[str, Any]:
    """Return the seconds of each migration with a tenth of the deployments, and with all."""
    few, all_ = migrated(database(), total // 10), migrated(database(), total)
    growth = all_["seconds"] / few["seconds"] / 10
    return {str(total // 10): few, str(total): all_, "growth beside the rows": round(growth, 2)}


def migrated(url: str, total: int) -> dict[str, Any]:
    """Fill a database of the first schema and return how long each step to the newest takes."""
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"))
    upgrade(engine, FIRST)
    fill(engine, total)
    steps = {}
    begun = time.perf_counter()
    for number in (known for known in schema.KNOWN if known > FIRST):
        before = time.perf_counter()
        upgrade(engine, number)
        steps[number] = round(time.perf_counter() - before, 2)
    engine.dispose()
    store = Store(url)
    try:
        store.migrate()  # what is left to do beside the schema: SQLite's file learns to shrink
        assert store.schema_problem() == ""
    finally:
        store.close()
    return {"seconds": round(time.perf_counter() - begun, 2), "steps": steps}


def upgrade(engine: Engine, to: str) -> None:
    """Bring the schema to a revision."""
    config = Config()
    config.set_main_option("script_location", str(Path(schema.__file__).parent / "migrations"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, to)


def fill(engine: Engine, total: int) -> None:
    """Write the rows as the schema that is there has them."""
    tables = MetaData()
    tables.reflect(engine, only=lambda name, _: not name.startswith("deployment_search"))
    with engine.begin() as connection:
        for name, rows in _fleet().items():
            _write(connection, tables.tables[name], rows)
        for begin in range(1, total + 1, AT_ONCE):
            numbers = range(begin, min(begin + AT_ONCE, total + 1))
            for name, rows in _work(numbers).items():
                _write(connection, tables.tables[name], rows)


def _write(connection: Connection, table: Table, rows: Sequence[dict[str, Any]]) -> None:
    connection.execute(insert(table), list(rows))


def _fleet() -> Rows:
    sites = [
        {"name": f"site-{number}", "document": {}, "findings": [], "labels": {}, "drain": False,
         "created_at": NOON}
        for number in range(SITES)
    ]  # fmt: skip
    requests = [
        {"number": number, "id": _id(2, number), "action": "create", "actor": "ada", "rank": 1,
         "state": "published", "priority": "normal", "body": {}, "change": {}, "created_at": NOON}
        for number in range(1, REQUESTS + 1)
    ]  # fmt: skip
    return {"sites": sites, "requests": requests}


def _work(numbers: range) -> Rows:
    return {
        "deployments": [_deployment(number) for number in numbers],
        "placements": [_placement(number) for number in numbers],
        "history": [one for number in numbers for one in _transitions(number)],
        "operations": [_operation(number) for number in numbers],
        "events": [_event(number) for number in numbers],
        "request_deployments": [
            {"request": number % REQUESTS + 1, "deployment": _id(1, number), "site": _site(number)}
            for number in numbers
        ],
    }


def _deployment(number: int) -> dict[str, Any]:
    return {
        "key": number, "id": _id(1, number), "site": _site(number), "name": f"shop-{number:06d}",
        "app": "com-example-storefront", "version": "1.0.0", "profile": "compose", "in_git": True,
        "document": "metadata: {}\n" * 100, "parameters": {"greeting": "hello"}, "extensions": {},
        "needs": {}, "findings": [], "state": "INSTALLED", "outcome": "succeeded",
        "created_at": NOON, "updated_at": NOON, "request": _id(2, number % REQUESTS + 1),
    }  # fmt: skip


def _placement(number: int) -> dict[str, Any]:
    return {
        "deployment": number, "node": "node-1", "incarnation": 1, "state": "INSTALLED",
        "outcome": "succeeded", "attempt": 1, "health": "healthy", "drift": [], "components": [],
        "since": NOON, "updated_at": NOON,
    }  # fmt: skip


def _transitions(number: int) -> Iterator[dict[str, Any]]:
    for state in ("PENDING", "INSTALLING", "INSTALLED")[:TRANSITIONS]:
        yield {
            "deployment": number, "node": "node-1", "incarnation": 1, "at": NOON,
            "to_state": state, "actor": "runner", "attempt": 1, "irregular": False,
        }  # fmt: skip


def _operation(number: int) -> dict[str, Any]:
    return {
        "id": _id(3, number), "deployment": number, "site": _site(number), "node": "node-1",
        "kind": "install", "state": "succeeded", "attempt": 1, "updated_at": NOON,
    }  # fmt: skip


def _event(number: int) -> dict[str, Any]:
    data = {"id": _id(1, number), "site": _site(number), "state": "INSTALLED", "text": "x" * 400}
    return {"event": "deployment", "site": _site(number), "data": data, "at": NOON}


def _id(kind: int, number: int) -> str:
    return str(uuid.UUID(int=(kind << 96) + number))


def _site(number: int) -> str:
    return f"site-{number % SITES}"


if __name__ == "__main__":
    main()

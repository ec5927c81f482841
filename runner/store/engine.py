"""The database file: opening, migrating, and transactions."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from sqlalchemy import Connection, Engine, create_engine, event, inspect
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import QueuePool

from margrave.errors import Refused
from runner.ports import Clock, SystemClock, monotonic_of
from runner.store.order import Order

FILE: Final = "runner.db"
_BUSY_SECONDS: Final = 30
# What a full disk or a busy database comes to.
STORAGE_ERRORS: Final = (OSError, SQLAlchemyError)


class Transaction:
    """One transaction: the connection, and one time for everything that happens in it."""

    def __init__(self, connection: Connection, now: datetime, order: Order) -> None:
        self.connection = connection
        self.now = now
        self.order = order
        self.reported = False  # set when an event was put into the outbox

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """Undo what the block wrote when it fails; what came before it in the transaction stays."""
        with self.connection.begin_nested():
            yield


class Store:
    """The runner's database in its state folder, brought to the newest schema when opened."""

    def __init__(self, folder: Path, clock: Clock | None = None) -> None:
        clock = clock or SystemClock()
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.path = folder / FILE
        self.clock = clock
        self.monotonic = monotonic_of(clock)
        self.order = Order()
        self._writer = threading.RLock()
        self._engine = _engine(self.path)
        self._on_report: list[threading.Event] = []
        self._migrate()
        # Labels, addresses and commands are the site's business: nobody else reads them here.
        self.path.chmod(0o600)

    @contextmanager
    def read(self) -> Iterator[Transaction]:
        """A consistent view; nothing in it may write."""
        with self._engine.connect() as connection, connection.begin():
            yield Transaction(connection, self.clock(), self.order)

    @contextmanager
    def write(self) -> Iterator[Transaction]:
        """All of it or none of it. One writer at a time, so that nobody meets a busy database."""
        with self._writer:
            options = self._engine.execution_options(immediate=True)
            with options.begin() as connection:
                transaction = Transaction(connection, self.clock(), self.order)
                yield transaction
            if transaction.reported:
                for waiter in self._on_report:
                    waiter.set()

    def tell_reports(self, waiter: threading.Event) -> None:
        """Set this event after each transaction that put something into the outbox."""
        self._on_report.append(waiter)

    def close(self) -> None:
        """Close the file; the write-ahead log is folded in."""
        self._engine.dispose()

    def _is_newest(self) -> bool:
        with self.read() as transaction:
            tables = inspect(transaction.connection).get_table_names()
            if "alembic_version" not in tables:
                return False
            found = transaction.connection.exec_driver_sql(
                "select version_num from alembic_version"
            ).scalar()
        return found == newest()

    def _migrate(self) -> None:
        if self._is_newest():
            return
        # Here, because it holds ten megabytes that a runner with nothing to migrate never needs.
        import alembic.command
        from alembic.config import Config

        config = Config()
        config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
        with self.write() as transaction:
            config.attributes["connection"] = transaction.connection
            try:
                alembic.command.upgrade(config, "head")
            except alembic.util.CommandError as error:
                raise Refused(
                    f"{self.path}: was written by a newer version: {error}",
                    "start that version, or give this one a state folder of its own",
                ) from error


def newest() -> str:
    """The revision that the migrations lead to: their files are numbered."""
    files = (Path(__file__).parent / "migrations" / "versions").glob("[0-9]*.py")
    return max(path.name.partition("_")[0] for path in files)


def _engine(path: Path) -> Engine:
    engine = create_engine(
        f"sqlite:///{path}",
        poolclass=QueuePool,
        pool_size=8,
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
    )
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _record: object) -> None:
    # The driver's own idea of transactions begins them too late; ours begin them in `_begin`.
    connection.isolation_level = None
    cursor = connection.cursor()
    cursor.execute("PRAGMA journal_mode=WAL")
    # A state that was told to a node or to the controller must survive a power cut.
    cursor.execute("PRAGMA synchronous=FULL")
    cursor.close()


def _begin(connection: Connection) -> None:
    options: Mapping[str, Any] = connection.get_execution_options()
    words = "BEGIN IMMEDIATE" if options.get("immediate") else "BEGIN"
    connection.exec_driver_sql(words)

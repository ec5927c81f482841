"""The database behind two contexts: reading, and writing one transaction at a time."""

from __future__ import annotations

import threading
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.orm import Session

from controller.store import schema
from margrave.errors import Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine

__all__ = ["Session", "Store"]  # the session is named by who queries with it

_WRITES = "margrave_writes"
# A reader elsewhere (backup, a second process) may hold the file for a moment; longer is a fault.
_BUSY_MILLISECONDS = 15_000


class Store:
    """The controller's database.

    `session()` reads; `write()` is one transaction that is committed at its end or undone by an
    exception. Writers of this process wait for each other, so a transaction may read, decide and
    write without anybody in between.
    """

    def __init__(self, url: str) -> None:
        self.url = url
        self._engine = _open(url)
        self._writing = self._engine.execution_options(**{_WRITES: True})
        self._lock = threading.RLock()
        self._listeners: list[Callable[[], None]] = []

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session for reading; what it changes is not kept."""
        with Session(self._engine, autoflush=False) as session:
            yield session

    @contextmanager
    def write(self) -> Iterator[Session]:
        """One transaction; afterwards those who asked for it are told that something changed."""
        with self._lock, Session(self._writing) as session, session.begin():
            yield session
        for listener in tuple(self._listeners):
            listener()

    def on_commit(self, listener: Callable[[], None]) -> None:
        """Call the listener after each committed write, on the writer's thread: be quick."""
        self._listeners.append(listener)

    def migrate(self) -> None:
        """Bring the schema to this version; nothing happens when it is there already."""
        schema.upgrade(self._engine)

    def schema_problem(self) -> str:
        """Why this version cannot serve on the database, or an empty text."""
        return schema.problem(self._engine)

    def copy_to(self, target: Path) -> None:
        """A consistent copy of the whole database while others go on writing; SQLite only."""
        if self._engine.dialect.name != "sqlite":
            raise Refused("the database is not SQLite", "back it up with the database's own tools")
        with self._engine.connect() as connection:
            raw = connection.connection.driver_connection
            assert raw is not None
            with closing(type(raw)(str(target))) as copy:
                raw.backup(copy)

    def close(self) -> None:
        """Give all connections back."""
        self._engine.dispose()


def _open(url: str) -> Engine:
    parsed = make_url(url)
    if parsed.get_backend_name() != "sqlite":
        return create_engine(parsed, pool_pre_ping=True)
    if parsed.database and parsed.database != ":memory:":
        Path(parsed.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(parsed, connect_args={"check_same_thread": False})
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: Any, _: object) -> None:
    # The driver's own idea of when to begin a transaction is switched off; _begin does it.
    connection.isolation_level = None
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",  # what was answered with 202 survives a power cut
        "foreign_keys=ON",
        f"busy_timeout={_BUSY_MILLISECONDS}",
    ):
        connection.execute(f"PRAGMA {pragma}")


def _begin(connection: Connection) -> None:
    # A writer takes the file's write lock at once: upgrading a read lock later can only fail.
    writes = connection.get_execution_options().get(_WRITES)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

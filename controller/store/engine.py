"""The database behind two contexts: reading, and writing one transaction at a time."""

from __future__ import annotations

import os
import socket
import threading
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError
from sqlalchemy.orm import Session
from sqlalchemy.pool import QueuePool

from controller.store import copying, outages, schema, space
from controller.store.events import TOLD
from controller.store.sharing import Alone, Shared
from margrave.errors import Refused, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine import URL

__all__ = ["Session", "Store"]  # the session is named by who queries with it

_WRITES = "margrave_writes"
_PATIENCE = "margrave_patience"
# A reader elsewhere (backup, a second process) may hold the file for a moment; longer is a fault.
_BUSY_MILLISECONDS = 15_000
# Writers of this process wait for each other, and the first of them as long as stands above.
_TURN_SECONDS = 30.0

_KNOWN: Final = "write sqlite:///FILE or postgresql://USER@HOST/DATABASE"
POSTGRESQL: Final = "postgresql+psycopg"
# Several controllers share a server that lets in a hundred by default.
_POOL: Final = {"pool_size": 5, "max_overflow": 15, "pool_pre_ping": True, "pool_recycle": 1800}
# An error of a statement is logged without the values: digests of tokens are among them.
_PRIVATE: Final = {"hide_parameters": True}
# A controller's machine that vanishes holds its locks until the server notices: half a minute.
_SERVER: Final = (
    "-c timezone=UTC -c tcp_keepalives_idle=10 -c tcp_keepalives_interval=5"
    " -c tcp_keepalives_count=3 -c idle_in_transaction_session_timeout=300000"
)


class Store:
    """The controller's database.

    `session()` reads; `write()` is one transaction that is committed at its end or undone by an
    exception. Writers wait for each other, those of other processes too, so a transaction may read,
    decide and write without anybody in between, and events are numbered in the order of commits.
    """

    def __init__(self, url: str) -> None:
        parsed = self._url = _parsed(url)
        self.url = url
        self._engine = _sqlite(parsed) if _is_sqlite(parsed) else _postgresql(parsed)
        self._reading = self._engine
        self._sharing = Alone()
        if not _is_sqlite(parsed):
            # What a page shows is of one moment, as it is on SQLite.
            self._reading = self._engine.execution_options(isolation_level="REPEATABLE READ")
            self._sharing = Shared(self._engine, _BUSY_MILLISECONDS)
        self._writing = self._engine.execution_options(**{_WRITES: True})
        self._lock = threading.RLock()
        self._listeners: list[Callable[[], None]] = []

    @property
    def shared(self) -> bool:
        """Whether other controllers may work on the same database."""
        return self._sharing.shared

    @contextmanager
    def session(self) -> Iterator[Session]:
        """A session for reading; what it changes is not kept."""
        with outages.told(), Session(self._reading, autoflush=False) as session:
            yield session

    @contextmanager
    def write(self, patience: float | None = None) -> Iterator[Session]:
        """One transaction; afterwards those who asked for it are told that it stored events.

        `patience`: seconds to wait for other writers before it is Unreachable.
        """
        with outages.told(), self._locked(patience), self._begun(patience) as session:
            yield session
            self._sharing.end(session)
        if session.info.get(TOLD):  # a quiet fleet's heartbeats store none
            for listener in tuple(self._listeners):
                listener()

    @contextmanager
    def _locked(self, patience: float | None) -> Iterator[None]:
        """Wait for other writers of this process; Unreachable when they take too long."""
        if not self._lock.acquire(timeout=_TURN_SECONDS if patience is None else patience):
            raise Unreachable("the database is busy", "try again in a moment")
        try:
            yield
        finally:
            self._lock.release()

    @contextmanager
    def _begun(self, patience: float | None) -> Iterator[Session]:
        """Begin a transaction that other processes keep waiting for no longer than that."""
        longest, engine = None, self._writing
        if patience is not None:
            longest = round(1000 * patience)
            engine = engine.execution_options(**{_PATIENCE: longest})
        with Session(engine) as session, session.begin():
            self._sharing.begin(session, longest)
            yield session

    @contextmanager
    def alone(self, what: str, patience: float | None = None) -> Iterator[None]:
        """Do something that only one controller does at a time; Unreachable after a long wait, or
        one of so many seconds."""
        with outages.told(), self._sharing.alone(what, patience):
            yield

    def connections(self) -> tuple[int, int]:
        """Connections that are in use, and those that are open."""
        pool = self._engine.pool
        assert isinstance(pool, QueuePool)
        return pool.checkedout(), pool.checkedout() + pool.checkedin()

    def leads(self) -> bool:
        """Whether this process does what has to be done once for all controllers."""
        return self._sharing.leads()

    def on_events(self, listener: Callable[[], None]) -> None:
        """Call the listener when events were stored, on the writer's thread: be quick."""
        self._listeners.append(listener)

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Call `heard` when another process stored events, on a thread; what ends it."""
        return self._sharing.listen(heard)

    def migrate(self) -> None:
        """Bring the schema to this version; nothing happens when it is there already."""
        with outages.explained(self._url), self._sharing.alone("migrate"):
            if not self.shared:
                space.prepare(self._engine)
            schema.upgrade(self._engine)

    def give_back(self) -> int:
        """Give the disk what deleted rows have left, a little at a time; the pages given.

        PostgreSQL's own autovacuum does it there.
        """
        given = 0
        while not self.shared:
            with self._lock:
                some = space.give_back(self._engine)
            given += some
            if not some:
                break
        return given

    def schema_problem(self) -> str:
        """Why this version cannot serve on the database, or an empty text."""
        with outages.explained(self._url):
            return schema.problem(self._engine)

    def copy_to(self, target: Path) -> None:
        """A copy of the whole database, of one moment, as a SQLite file; others go on writing."""
        if not self.shared:
            with self._engine.connect() as connection:
                raw = connection.connection.driver_connection
                assert raw is not None
                with closing(type(raw)(str(target))) as copy:
                    raw.backup(copy)
            return
        with _opened(target) as file, self._reading.connect() as source:
            schema.upgrade(file)
            with file.begin() as connection:
                copying.copy(source, connection)

    def replace_with(self, source: Path) -> None:
        """Put a SQLite file's rows in place of all that is here, in one go; PostgreSQL only."""
        self.migrate()
        with _opened(source) as file, file.connect() as rows, self._writing.begin() as target:
            copying.empty(target)
            copying.copy(rows, target)
            copying.count_on(target)

    def others(self) -> int:
        """How many connections other controllers have to the database."""
        with outages.explained(self._url):
            return self._sharing.others(_name())

    def close(self) -> None:
        """Give all connections back."""
        self._sharing.close()
        self._engine.dispose()


@contextmanager
def _opened(file: Path) -> Iterator[Engine]:
    """A SQLite file that nobody else has open."""
    engine = _sqlite(make_url(f"sqlite:///{file}"))
    try:
        yield engine
    finally:
        engine.dispose()


def _name() -> str:
    """What the server shows of this process's connections."""
    return f"margrave {socket.gethostname()} {os.getpid()}"[:63]


def _parsed(url: str) -> URL:
    try:
        return make_url(url)
    except (ArgumentError, ValueError) as error:  # the second for a port that is no number
        # The text is not repeated: a password may be in it.
        raise Refused("database.url: is no URL of a database", _KNOWN) from error


def _is_sqlite(url: URL) -> bool:
    return url.get_backend_name() == "sqlite"


def _postgresql(url: URL) -> Engine:
    if url.get_backend_name() not in ("postgresql", "postgres"):
        words = f"database.url: {url.get_backend_name()} is not a database that is known here"
        raise Refused(words, _KNOWN)
    url = url.set(drivername=POSTGRESQL)
    arguments = {"options": _SERVER, "connect_timeout": 10, "application_name": _name()}
    return create_engine(url, connect_args=arguments, **_POOL, **_PRIVATE)


def _sqlite(url: URL) -> Engine:
    if url.database and url.database != ":memory:":
        Path(url.database).parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, connect_args={"check_same_thread": False}, **_PRIVATE)
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
    options = connection.get_execution_options()
    if not options.get(_WRITES):
        connection.exec_driver_sql("BEGIN")
        return
    patience = options.get(_PATIENCE)
    if patience is not None:
        connection.exec_driver_sql(f"PRAGMA busy_timeout={patience}")
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        if patience is not None:  # the connection goes back to the pool with the usual patience
            connection.exec_driver_sql(f"PRAGMA busy_timeout={_BUSY_MILLISECONDS}")

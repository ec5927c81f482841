"""Several controllers on one database: who may write, who publishes, who hears of it.

PostgreSQL's advisory locks do it: the server gives them back when a process or its machine dies.
Every write takes one lock. Rows are then never claimed one by one (no FOR UPDATE SKIP LOCKED): a
writer sees the world as it is, the audit's chain has no fork, and events are numbered in the order
in which they become visible, so that no stream misses one. Thousands of reports a second still fit.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from controller.store.events import TOLD
from margrave.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from sqlalchemy import Connection, Engine
    from sqlalchemy.orm import Session

LOG = logging.getLogger(__name__)

CHANNEL: Final = "margrave_events"
PATIENCE: Final = 60.0  # seconds until who waits for another controller gives up
LEAST: Final = 0.1  # seconds: to PostgreSQL none means for ever
EARS: Final = 1.0  # seconds between looks at whether to go on listening
_NOT_AVAILABLE: Final = "55P03"  # PostgreSQL's word for a lock that was not given in time


class Alone:
    """One process has the database for itself: SQLite."""

    shared = False

    def begin(self, session: Session, longest: int | None = None) -> None:
        """A write begins."""

    def end(self, session: Session) -> None:
        """A write is about to be committed."""

    @contextmanager
    def alone(self, what: str, patience: float | None = None) -> Iterator[None]:
        """Only one process at a time is inside; Unreachable when it takes too long."""
        del what, patience
        yield

    def leads(self) -> bool:
        """Whether this process is the one that does what is done once for all."""
        return True

    def others(self, name: str) -> int:
        """How many connections other controllers have; `name` is what ours are called."""
        del name
        return 0

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Call `heard` when another process stored events; what ends it."""
        del heard
        return lambda: None

    def close(self) -> None:
        """Give back what is held."""


class Shared(Alone):
    """Processes that share a PostgreSQL."""

    shared = True

    def __init__(self, engine: Engine, busy: int) -> None:
        """Share the engine's database; writes wait for locks `busy` milliseconds at most."""
        self._busy = busy
        self._engine = engine.execution_options(isolation_level="AUTOCOMMIT")
        driver = engine.dialect.dbapi
        assert driver is not None
        self._failures: tuple[type[Exception], ...] = (DBAPIError, driver.Error)
        self._name = uuid.uuid4().hex
        self._lock = threading.Lock()
        self._lead: Connection | None = None

    def begin(self, session: Session, longest: int | None = None) -> None:
        """Wait for other writers, so many milliseconds at most.

        The lock ends with the transaction, after it is visible.
        """
        patience = {"longest": str(self._busy if longest is None else longest)}
        session.execute(text("SELECT set_config('lock_timeout', :longest, true)"), patience)
        session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _key("write")})

    def end(self, session: Session) -> None:
        """Tell other processes of events, once they can be read."""
        if session.info.get(TOLD):
            told = {"channel": CHANNEL, "name": self._name}
            session.flush()
            session.execute(text("SELECT pg_notify(:channel, :name)"), told)

    @contextmanager
    def alone(self, what: str, patience: float | None = None) -> Iterator[None]:
        """Wait for other processes; their work may be a push to a slow remote."""
        key = {"key": _key(what)}
        longest = round(1000 * max(LEAST, PATIENCE if patience is None else patience))
        with self._engine.connect() as connection:
            try:
                connection.execute(text(f"SET lock_timeout = {longest}"))
                connection.execute(text("SELECT pg_advisory_lock(:key)"), key)
                connection.execute(text("SET lock_timeout = 0"))
            except DBAPIError as error:
                connection.invalidate()
                if getattr(error.orig, "sqlstate", None) == _NOT_AVAILABLE:
                    words = f"another controller is at work ({what}) and does not come to its end"
                    raise Unreachable(words, "try again in a while") from error
                raise
            try:
                yield
            finally:
                try:
                    connection.execute(text("SELECT pg_advisory_unlock(:key)"), key)
                except DBAPIError:  # the server has given the lock back with the connection
                    connection.invalidate()

    def leads(self) -> bool:
        """The first process that asks, until it ends or loses its connection."""
        with self._lock:
            try:
                if self._lead is not None:
                    self._lead.execute(text("SELECT 1"))
                    return True
                return self._take_lead()
            except DBAPIError as error:
                LOG.warning("the database does not answer: %s", error.orig)
                self._drop_lead()
                return False

    def _take_lead(self) -> bool:
        connection = self._engine.connect()
        asked = text("SELECT pg_try_advisory_lock(:key)")
        if connection.scalar(asked, {"key": _key("lead")}):
            self._lead = connection
            return True
        connection.close()
        return False

    def _drop_lead(self) -> None:
        if self._lead is not None:
            self._lead.invalidate()  # a lock must not go back to the pool
            self._lead.close()
            self._lead = None

    def others(self, name: str) -> int:
        """By the names that the server shows."""
        query = text(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
            " AND application_name LIKE 'margrave %' AND application_name <> :name"
        )
        with self._engine.connect() as connection:
            return int(connection.scalar(query, {"name": name}) or 0)

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """LISTEN on a connection of its own; after an outage everything counts as new."""
        ended = threading.Event()
        thread = threading.Thread(
            target=self._listen, args=(heard, ended), name="listening", daemon=True
        )
        thread.start()

        def end() -> None:
            ended.set()
            thread.join(timeout=5)

        return end

    def _listen(self, heard: Callable[[], None], ended: threading.Event) -> None:
        while not ended.is_set():
            try:
                with self._engine.connect() as connection:
                    connection.detach()  # it listens, so nobody else gets it
                    connection.execute(text(f"LISTEN {CHANNEL}"))
                    heard()
                    self._hear(connection.connection.dbapi_connection, heard, ended)
            except self._failures as error:  # the broker's own poll goes on meanwhile
                LOG.warning("events of other controllers are not heard of: %s", error)
                ended.wait(EARS)

    def _hear(self, raw: Any, heard: Callable[[], None], ended: threading.Event) -> None:
        while not ended.is_set():
            if any(notify.payload != self._name for notify in raw.notifies(timeout=EARS)):
                heard()

    def close(self) -> None:
        """Let another process lead."""
        with self._lock, suppress(DBAPIError):
            self._drop_lead()


def _key(what: str) -> int:
    """The advisory lock's number: a database may be shared with other programs' locks."""
    digest = hashlib.sha256(f"margrave {what}".encode()).digest()
    return int.from_bytes(digest[:8], "big", signed=True)

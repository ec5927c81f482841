"""The broker: stored events, in order, to every open stream; hints to the runners' streams."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Any, Final, Protocol

from controller.events.subscription import Message, Subscription
from margrave.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

LOG = logging.getLogger(__name__)

CHUNK: Final = 500
LEAST_EACH: Final = 4  # streams that each holder may have, if there are so many
POLL: Final = 1.0  # seconds: events that another process stored are found without a wake-up


class EventLog(Protocol):
    """Where events are stored; the store's part of a broker."""

    def newest_id(self) -> int:
        """The id of the newest event, 0 before the first."""

    def oldest_id(self) -> int:
        """The id of the oldest event kept, 0 when none is."""

    def since(self, after: int, limit: int) -> list[Message]:
        """Events behind an id, in order, at most `limit`."""

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Call `heard` when another process stored events; what ends it."""


class TooManyStreams(Unreachable):
    """Every place for a stream is taken."""


class Broker:
    """Hands each event once to each stream that wants it."""

    def __init__(self, log: EventLog, max_clients: int) -> None:
        self._log = log
        self._max = max_clients
        self._lock = threading.Lock()
        self._clients: set[Subscription] = set()
        self._woken = threading.Event()
        self._stopped = threading.Event()
        self._position = 0
        self._thread: threading.Thread | None = None
        self._end_listening: Callable[[], None] = lambda: None
        self._listeners: list[Callable[[Message], None]] = []

    @property
    def clients(self) -> int:
        """How many streams are open."""
        return len(self._clients)

    def on_message(self, listener: Callable[[Message], None]) -> None:
        """Call the listener with each stored event, on the broker's thread: be quick."""
        self._listeners.append(listener)

    def newest(self) -> int:
        """The id of the newest stored event."""
        return self._log.newest_id()

    def problem(self) -> str:
        """Why events do not flow, or an empty text."""
        running = self._thread is not None and self._thread.is_alive()
        return "" if running else "the events' thread does not run"

    def start(self) -> None:
        """Begin to hand events on; what was stored before is read by who resumes."""
        self._position = self._log.newest_id()
        self._thread = threading.Thread(target=self._run, name="events", daemon=True)
        self._thread.start()
        self._end_listening = self._log.listen(self.wake)

    def close(self) -> None:
        """End every stream and take no new one."""
        self._stopped.set()
        self._woken.set()
        for client in tuple(self._clients):
            client.end()

    def stop(self) -> None:
        """End every stream and the thread."""
        self.close()
        self._end_listening()
        if self._thread:
            self._thread.join(timeout=5)

    def wake(self) -> None:
        """Something was stored: look now."""
        self._woken.set()

    def hint(
        self, name: str, site: str | None = None, data: Mapping[str, Any] | None = None
    ) -> None:
        """Tell the runner of a site (or all of them) to look; lost hints do no harm."""
        message = Message(f"hint:{name}", dict(data or {}), site=site)
        for client in tuple(self._clients):
            client.offer(message)

    def subscribe(
        self,
        wants: Callable[[Message], bool],
        hung_up: Callable[[], bool] = lambda: False,
        holder: str = "",
    ) -> tuple[Subscription, int]:
        """A new stream, and the id up to which its backlog has to be read from the store.

        `hung_up` says whether its client has gone. A stream that nobody hears is noticed by its
        next beat; when the last place is taken that is too late, and the lines are looked at.
        """
        with self._lock:
            if len(self._clients) >= self._max or self._has_most(holder):
                self._let_go()
            if self._has_most(holder):
                words = "half of all places for streams are taken by this token or user"
                raise TooManyStreams(words, "close some of its streams, or use another token")
            if len(self._clients) >= self._max or self._stopped.is_set():
                raise TooManyStreams("all places for streams are taken", "try again in a while")
            client = Subscription(wants, self._forget, hung_up, holder)
            self._clients.add(client)
            return client, self._position

    def backlog(self, after: int, upto: int) -> Iterator[Message]:
        """Stored events behind `after`, up to and with `upto`."""
        if after > self._log.newest_id() or (after and after + 1 < self._log.oldest_id()):
            yield Message("resync", {"reason": "the events asked for are not kept; read again"})
            return
        while after < upto:
            chunk = self._log.since(after, CHUNK)
            for message in chunk:
                if message.id is not None and message.id <= upto:
                    yield message
            if len(chunk) < CHUNK or chunk[-1].id is None:
                return
            after = chunk[-1].id

    def _has_most(self, holder: str) -> bool:
        """Whether a holder has as many streams as one may have, so that others find a place."""
        held = sum(client.holder == holder for client in self._clients)
        return bool(holder) and held >= max(LEAST_EACH, self._max // 2)

    def _let_go(self) -> None:
        for client in tuple(self._clients):
            if client.hung_up():
                client.end()
                self._clients.discard(client)

    def _forget(self, client: Subscription) -> None:
        with self._lock:
            self._clients.discard(client)

    def _run(self) -> None:
        while not self._stopped.is_set():
            self._woken.wait(POLL)
            self._woken.clear()
            try:
                self._hand_on()
            except Exception:
                LOG.exception("events cannot be read; trying again")
                self._stopped.wait(POLL)

    def _hand_on(self) -> None:
        while not self._stopped.is_set():
            chunk = self._log.since(self._position, CHUNK)
            # The position moves under the lock: a stream that opens meanwhile either gets an
            # event from its backlog or from here, never from both and never from neither.
            with self._lock:
                clients = tuple(self._clients)
                for message in chunk:
                    for client in clients:
                        client.offer(message)
                if chunk and chunk[-1].id is not None:
                    self._position = chunk[-1].id
            for message in chunk:
                for listener in self._listeners:
                    listener(message)
            if len(chunk) < CHUNK:
                return

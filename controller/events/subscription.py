"""One open stream: a bounded queue between the broker and one client."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

QUEUE: Final = 500  # events a slow client may lag behind before it is told to read again


@dataclass(frozen=True, slots=True)
class Message:
    """One event of a stream; hints have no id, so they never move Last-Event-ID."""

    event: str
    data: Mapping[str, Any]
    id: int | None = None
    site: str | None = None
    deployment: str | None = None


class Subscription:
    """What one client still has to be sent."""

    def __init__(
        self,
        wants: Callable[[Message], bool],
        leave: Callable[[Subscription], None],
        hung_up: Callable[[], bool],
        holder: str = "",
    ) -> None:
        self._wants = wants
        self._leave = leave
        self.hung_up = hung_up
        self.holder = holder
        self._queue: deque[Message] = deque()
        self._ready = threading.Condition()
        self._lost = False
        self.closed = False

    def offer(self, message: Message) -> None:
        """Queue a message that is wanted; an overflow becomes one `resync`."""
        if not self._wants(message):
            return
        with self._ready:
            if len(self._queue) >= QUEUE:
                self._queue.clear()
                self._lost = True
            self._queue.append(message)
            self._ready.notify()

    def wants(self, message: Message) -> bool:
        """Whether this client asked for such a message."""
        return self._wants(message)

    def take(self, timeout: float) -> Message | None:
        """The next message; None when there was none in time, or the stream has ended."""
        with self._ready:
            self._ready.wait_for(lambda: self._queue or self._lost or self.closed, timeout)
            if self._lost:
                self._lost = False
                return Message("resync", {"reason": "this client was too slow; read again"})
            return self._queue.popleft() if self._queue and not self.closed else None

    def end(self) -> None:
        """Let the client go: the generator that waits wakes and returns."""
        with self._ready:
            self.closed = True
            self._ready.notify_all()

    def leave(self) -> None:
        """The client has gone; its place is free."""
        self.end()
        self._leave(self)

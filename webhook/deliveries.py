"""Which deliveries were taken already: a bounded memory, the oldest forgotten first."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import Final

from webhook.push import Push

REMEMBERED: Final = 4096  # a busy forge sends some hundred a day; forges give up after three days


@dataclass(frozen=True, slots=True)
class Taken:
    """A push that came through the door, and when (seconds since the epoch)."""

    push: Push
    at: float


class Deliveries:
    """Remembers deliveries by their ids; safe to use from many threads."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._taken: OrderedDict[str, Taken] = OrderedDict()
        self._limit = limit
        self._lock = Lock()

    def take(self, push: Push, at: float) -> bool:
        """Whether this delivery is new; it is known from now on."""
        with self._lock:
            if push.delivery in self._taken:
                return False
            self._taken[push.delivery] = Taken(push, at)
            if len(self._taken) > self._limit:
                self._taken.popitem(last=False)
            return True

    def find(self, delivery: str) -> Taken | None:
        """What came under this id, or None: it never did, or is forgotten."""
        with self._lock:
            return self._taken.get(delivery)

    def forget(self, delivery: str) -> None:
        """Take the id back: handing it on failed, so a repeat is welcome."""
        with self._lock:
            self._taken.pop(delivery, None)

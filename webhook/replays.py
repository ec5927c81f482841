"""Which deliveries were taken already: a bounded memory, the oldest forgotten first."""

from __future__ import annotations

from collections import OrderedDict
from threading import Lock
from typing import Final

REMEMBERED: Final = 4096  # a busy forge sends some hundred a day; forges give up after three days


class Replays:
    """Remembers delivery ids; safe to use from many threads."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._seen: OrderedDict[str, None] = OrderedDict()
        self._limit = limit
        self._lock = Lock()

    def first_time(self, delivery: str) -> bool:
        """Whether this id is new; it is known from now on."""
        with self._lock:
            if delivery in self._seen:
                return False
            self._seen[delivery] = None
            if len(self._seen) > self._limit:
                self._seen.popitem(last=False)
            return True

    def forget(self, delivery: str) -> None:
        """Take the id back: handing it on failed, so a repeat is welcome."""
        with self._lock:
            self._seen.pop(delivery, None)

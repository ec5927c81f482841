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
    known_by: str = ""  # the digest of its body, where a repeat may come under another id


class Deliveries:
    """Remembers deliveries by their ids and bodies; safe to use from many threads."""

    def __init__(self, limit: int = REMEMBERED) -> None:
        self._taken: OrderedDict[str, Taken] = OrderedDict()
        self._bodies: dict[str, str] = {}  # ids by digest
        self._limit = limit
        self._lock = Lock()

    def take(self, push: Push, at: float, known_by: str = "") -> str | None:
        """None when this delivery is new, and known from now on; else the id it came under first.

        With `known_by` the same body under another id is no news either.
        """
        with self._lock:
            if push.delivery in self._taken:
                return push.delivery
            if known_by in self._bodies:
                return self._bodies[known_by]
            self._taken[push.delivery] = Taken(push, at, known_by)
            if known_by:
                self._bodies[known_by] = push.delivery
            if len(self._taken) > self._limit:
                self._bodies.pop(self._taken.popitem(last=False)[1].known_by, None)
            return None

    def find(self, delivery: str) -> Taken | None:
        """What came under this id, or None: it never did, or is forgotten."""
        with self._lock:
            return self._taken.get(delivery)

    def forget(self, delivery: str) -> None:
        """Take it back: handing it on failed, so a repeat is welcome."""
        with self._lock:
            taken = self._taken.pop(delivery, None)
            if taken is not None:
                self._bodies.pop(taken.known_by, None)

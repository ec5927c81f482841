"""Delay of each request whose registry or remote did not answer."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from datetime import datetime

FIRST: Final = 2  # seconds until the next try when a remote or a registry did not answer
LAST: Final = 60
REMOTE: Final = "the remote itself"  # beside the requests, none of which has such an id
LEAST: Final = 0.1  # seconds of sleep, so that a clock that stands still does not make it spin


class Delays:
    """Next try of each request, twice as late after each failure; forgotten at a restart."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._until: dict[str, tuple[datetime, int]] = {}  # request to next try and its delay

    def later(self, request: str) -> None:
        """Delay a request that failed once more."""
        with self._lock:
            _, delay = self._until.get(request, (None, FIRST // 2))
            delay = min(delay * 2, LAST)
            self._until[request] = (self._clock() + timedelta(seconds=delay), delay)

    def forget(self, request: str) -> None:
        """Forget the delay of a request that was published or failed."""
        with self._lock:
            self._until.pop(request, None)

    def keep(self, requests: Collection[str]) -> None:
        """Forget all delays but those of the given requests, which are still open."""
        kept = {*requests, REMOTE}
        with self._lock:
            self._until = {name: delay for name, delay in self._until.items() if name in kept}

    def not_due(self) -> list[str]:
        """Return the requests that are not tried yet."""
        now = self._clock()
        with self._lock:
            return [name for name, (until, _) in self._until.items() if until > now]

    def pause(self, longest: float) -> float:
        """Return the seconds to sleep until the first request is due, `longest` at most."""
        due = self.next_due()
        return max(LEAST, longest if due is None else min(longest, due))

    def next_due(self) -> float | None:
        """Return the seconds until the first is tried; None when none is to come.

        One whose time has come counts no more: it is tried, or waits for something else.
        """
        now = self._clock()
        with self._lock:
            waits = [(until - now).total_seconds() for until, _ in self._until.values()]
        return min((wait for wait in waits if wait > 0), default=None)

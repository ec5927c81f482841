"""Limit of refusals that are written to the audit for each caller."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from controller.access.limiter import MOST_KEYS, Limiter

if TYPE_CHECKING:
    from collections.abc import Callable

BURST: Final = 20  # a person or a script that errs; more at once repeat themselves
EVERY: Final = 60.0  # seconds: at most 1,440 entries a day of a caller who never stops


class RefusalBudget:
    """Refusals to write: the first of a caller at once, then one a minute with a count."""

    def __init__(self, monotonic: Callable[[], float]) -> None:
        self._limiter = Limiter(BURST, EVERY, monotonic)
        self._lock = threading.Lock()
        self._unwritten: OrderedDict[str, int] = OrderedDict()

    def take(self, caller: str) -> int | None:
        """Return how many were not written since the last one; None when this one is not either."""
        allowed = not self._limiter.take(caller)
        with self._lock:
            unwritten = self._unwritten.pop(caller, 0)
            if allowed:
                return unwritten
            self._unwritten[caller] = unwritten + 1
            while len(self._unwritten) > MOST_KEYS:
                self._unwritten.popitem(last=False)
        return None

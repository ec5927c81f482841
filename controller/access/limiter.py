"""A limit on attempts: a bucket per key that fills again with time."""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUNDING: Final = 1e-6  # thirty times a third is ten
MOST_KEYS: Final = 10_000  # the eldest are forgotten: memory is bounded whoever knocks


class Limiter:
    """`burst` attempts at once, then one per `every` seconds, for each key."""

    def __init__(self, burst: int, every: float, monotonic: Callable[[], float]) -> None:
        self._burst = burst
        self._every = every
        self._now = monotonic
        self._lock = threading.Lock()
        self._spent: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def take(self, key: str, cost: float = 1.0) -> float:
        """Return 0 when the attempt may be made, else the seconds to wait.

        A `cost` below 1 lets a key have more attempts.
        """
        now = self._now()
        with self._lock:
            used, at = self._spent.pop(key, (0.0, now))
            used = max(0.0, used - (now - at) / self._every)
            allowed = used + cost <= self._burst + _ROUNDING
            self._spent[key] = (used + cost if allowed else used, now)
            while len(self._spent) > MOST_KEYS:
                self._spent.popitem(last=False)
        return 0.0 if allowed else max(1.0, (used + cost - self._burst) * self._every)

    def give_back(self, key: str, cost: float = 1.0) -> None:
        """Forget an attempt: the password was right."""
        with self._lock:
            used, at = self._spent.get(key, (0.0, 0.0))
            if used:
                self._spent[key] = (max(0.0, used - cost), at)

"""When a request that could not be published is tried again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

FIRST: Final = 2  # seconds until the next try when a remote or a registry did not answer
LAST: Final = 60


class Delays:
    """Each request's own: twice as long after each try. Gone with the process, which tries anew."""

    def __init__(self, clock: Callable[[], datetime]) -> None:
        self._clock = clock
        self._until: dict[str, tuple[datetime, int]] = {}  # request to next try and its delay

    def later(self, request: str) -> None:
        """It did not come through once more."""
        _, delay = self._until.get(request, (None, FIRST // 2))
        delay = min(delay * 2, LAST)
        self._until[request] = (self._clock() + timedelta(seconds=delay), delay)

    def forget(self, request: str) -> None:
        """It has ended."""
        self._until.pop(request, None)

    def not_due(self) -> list[str]:
        """Those that are not tried yet."""
        now = self._clock()
        return [name for name, (until, _) in self._until.items() if until > now]

    def next_due(self) -> float | None:
        """Seconds until the first is tried; None when none waits."""
        now = self._clock()
        return min(
            ((until - now).total_seconds() for until, _ in self._until.values()), default=None
        )

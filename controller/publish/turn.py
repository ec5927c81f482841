"""Exclusive turn in order of arrival: a busy holder starves nobody."""

from __future__ import annotations

import threading
from collections import deque


class Turn:
    """Lock that passes to whoever has waited longest; its holder may take it again."""

    def __init__(self) -> None:
        self._inner = threading.Lock()
        self._waiting: deque[tuple[int, threading.Lock]] = deque()
        self._holder: int | None = None
        self._depth = 0

    def take(
        self, patience: float | None = None, most: int | None = None, *, first: bool = False
    ) -> bool:
        """Wait for the turn; False after `patience` seconds, or at once when `most` wait already.

        `first` goes ahead of all who wait.
        """
        me = threading.get_ident()
        with self._inner:
            if self._holder in (None, me):
                self._holder, self._depth = me, self._depth + 1
                return True
            if most is not None and len(self._waiting) >= most:
                return False
            gate = threading.Lock()
            gate.acquire()
            if first:
                self._waiting.appendleft((me, gate))
            else:
                self._waiting.append((me, gate))
        if gate.acquire(timeout=-1 if patience is None else patience):
            return True
        with self._inner:
            if self._holder == me:  # it was handed over in the last moment
                return True
            self._waiting.remove((me, gate))
        return False

    def give(self) -> None:
        """Hand it over, once for each time it was taken."""
        with self._inner:
            self._depth -= 1
            if self._depth:
                return
            self._holder = None
            if self._waiting:
                self._holder, gate = self._waiting.popleft()
                self._depth = 1
                gate.release()

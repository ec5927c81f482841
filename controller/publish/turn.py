"""One at a time, in the order in which they came: who has much to do starves nobody."""

from __future__ import annotations

import threading
from collections import deque


class Turn:
    """A lock that is handed over to who has waited longest; its holder may take it again."""

    def __init__(self) -> None:
        self._inner = threading.Lock()
        self._waiting: deque[tuple[int, threading.Lock]] = deque()
        self._holder: int | None = None
        self._depth = 0

    def take(self, patience: float | None = None, most: int | None = None) -> bool:
        """Wait for it; False after so many seconds, or at once where so many wait already."""
        me = threading.get_ident()
        with self._inner:
            if self._holder in (None, me):
                self._holder, self._depth = me, self._depth + 1
                return True
            if most is not None and len(self._waiting) >= most:
                return False
            gate = threading.Lock()
            gate.acquire()
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

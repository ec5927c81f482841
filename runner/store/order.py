"""The order in which things happened in this process, by numbers: a clock may be set in between."""

from __future__ import annotations

import itertools

Key = tuple[str, str, int]  # of a placement


class Order:
    """Numbers observations and changes of state; safe to use from many threads."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._changes: dict[Key, int] = {}

    def number(self) -> int:
        """Return the number of something that begins now."""
        return next(self._numbers)

    def change(self, placement: Key) -> None:
        """Number a change of state."""
        self._changes[placement] = self.number()

    def last_change(self, placement: Key) -> int:
        """Return the number of the last change; 0 where that was before this process."""
        return self._changes.get(placement, 0)

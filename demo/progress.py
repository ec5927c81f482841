"""What happens now and how long it took, on a terminal or in a log."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

Say = Callable[[str], None]


class Progress:
    """Says each step as it begins, and its time as it ends."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._begun = time.monotonic()

    @contextmanager
    def step(self, what: str) -> Iterator[Say]:
        """A step; what is called with more words tells its details."""
        begun = time.monotonic()
        self._say(f"==> {what}")
        yield self.detail
        self._say(f"    {time.monotonic() - begun:.1f} s")

    def detail(self, text: str) -> None:
        """Something within a step."""
        self._say(f"    {text}")

    @property
    def seconds(self) -> float:
        """Since the first step."""
        return time.monotonic() - self._begun

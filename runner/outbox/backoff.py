"""Waiting longer after each failure, and never in step with others."""

from __future__ import annotations

import random
from typing import Final

_LONGEST: Final = 60.0


class Backoff:
    """Seconds to wait: doubled with each failure, jittered, back to the first after a success."""

    def __init__(self, first: float = 0.5, longest: float = _LONGEST) -> None:
        self._first = first
        self._longest = longest
        self._failures = 0

    def failed(self) -> float:
        """How long to wait now."""
        wait = min(self._first * 2.0 ** min(self._failures, 16), self._longest)
        self._failures += 1
        return wait * random.uniform(0.5, 1.0)  # noqa: S311 - spreads load, guards nothing

    def succeeded(self) -> None:
        """Begin anew."""
        self._failures = 0

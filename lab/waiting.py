"""Wait for a condition, with a limit."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from lab.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Callable


def until(condition: Callable[[], bool], what: str, timeout: float, pause: float = 0.05) -> None:
    """Return as soon as the condition holds; LabError names `what` when it does not in time."""
    deadline = time.monotonic() + timeout
    while not condition():
        if time.monotonic() > deadline:
            raise LabError(f"{what}: not within {timeout:g} s")
        time.sleep(pause)

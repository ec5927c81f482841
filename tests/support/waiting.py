"""Wait for what must become true, instead of sleeping and hoping."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def eventually(
    condition: Callable[[], object], timeout: float = 60, message: str = "", pause: float = 0.05
) -> None:
    """Return as soon as the condition is truthy; fail with the message when it never is.

    An AssertionError within the condition counts as not yet, and is told in the end. Nobody waits
    longer for a limit that is high: it is for the busiest of machines.
    """
    deadline = time.monotonic() + timeout
    while True:
        said = message
        try:
            if condition():
                return
        except AssertionError as error:
            said = f"{message}: {error}" if message else str(error)
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {timeout:g} s: {said or condition}")
        time.sleep(pause)

"""Due times over steps of the wall clock. Pure.

They are stored as times of the wall clock, since they must outlive the process. None is ever set
further ahead than its longest pause: one that lies there was set by a clock that was wrong, or the
clock was set back since, and it is due now.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

# The longest backoff or pause between two tries, and its jitter.
LONGEST: Final = timedelta(seconds=300 * 1.2)


def is_due(at: datetime | None, now: datetime, longest: timedelta = LONGEST) -> bool:
    """Return whether the time has come, or can only be of a wrong clock."""
    return at is None or not now < at <= now + longest

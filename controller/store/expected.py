"""When what waits is published, by what publishing took before. Pure."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING, Final, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence

# What a commit costs however little is in it, told in documents: of one document it takes a tenth
# of a second, of ten thousand some three.
COMMIT: Final = 300
UNKNOWN: Final = 1.0  # seconds for a request where nothing was published yet


class Published(NamedTuple):
    """A request that was published: how many documents it changed, and how long that took."""

    documents: int
    seconds: float


def seconds(waiting: int, documents: int, before: Sequence[Published]) -> float:
    """How long so many requests take, one after the other, with so many documents in all.

    The median of what was published lately, for one that waited for a registry says nothing.
    """
    if not before:
        return waiting * UNKNOWN
    each = statistics.median(max(0.0, one.seconds) / (COMMIT + one.documents) for one in before)
    return each * (waiting * COMMIT + documents)

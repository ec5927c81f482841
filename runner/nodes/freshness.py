"""How a node's silence is judged, and how long it lasts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from runner.ports import Clock, NodeStatus, monotonic_of

# Periods of silence up to which a status holds; a period is that of the heartbeat, or of the
# drift check where there is no beacon.
ACTIVE: Final = 3
STALE: Final = 9


class LastSigns:
    """How long ago each node was seen by SSH; safe to use from many threads."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._monotonic = monotonic_of(clock)
        self._seen: dict[str, float] = {}
        self._stored: dict[str, datetime] = {}

    def note(self, node: str) -> None:
        """The node has answered."""
        self._seen[node] = self._monotonic()

    def age(self, node: str, stored: datetime | None) -> timedelta | None:
        """Return how long ago it was; None for a node that was never seen.

        `stored` is the time that an earlier process, or the adding of the node, has noted. It is
        read by the wall clock once: from then on the node's age grows whatever that clock does.
        """
        if stored is not None and self._stored.get(node) != stored:
            self._stored[node] = stored
            age = age_of(stored, self._clock())
            if age < timedelta.max:
                moment = self._monotonic() - age.total_seconds()
                self._seen[node] = max(moment, self._seen.get(node, moment))
        if node in self._seen:
            return timedelta(seconds=self._monotonic() - self._seen[node])
        return None if stored is None else timedelta.max


def age_of(stored: datetime, now: datetime) -> timedelta:
    """Return the age of a time that an earlier process has stored.

    One in the future was taken from a clock that was wrong: then it may be of any age.
    """
    return now - stored if stored <= now else timedelta.max


def freshness(silent: timedelta | None, period: timedelta) -> NodeStatus:
    """Return the status of a node that is silent for so long; one never seen is offline."""
    if silent is None:
        return NodeStatus.OFFLINE
    if silent < ACTIVE * period:
        return NodeStatus.ACTIVE
    return NodeStatus.STALE if silent < STALE * period else NodeStatus.OFFLINE


def with_beacon(
    seen: timedelta | None, heard: timedelta | None, beat: timedelta, check: timedelta
) -> NodeStatus:
    """Return the same for a node that may have a beacon, which was heard so long ago.

    A node that was seen by SSH although its beacon was silent already has lost the beacon alone,
    and is judged by the checks until that is heard again.
    """
    if heard is None:
        return freshness(seen, check)
    silent = heard if seen is None else min(heard, seen)
    alone = heard - silent >= ACTIVE * beat
    return freshness(silent, check if alone else beat)

"""How a node's silence is judged."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Final

from runner.ports import NodeStatus

# Periods of silence up to which a status holds; a period is that of the heartbeat, or of the
# drift check where there is no beacon.
ACTIVE: Final = 3
STALE: Final = 9


def freshness(last_seen: datetime | None, now: datetime, period: timedelta) -> NodeStatus:
    """The status of a node last seen at that time; one that was never seen is offline."""
    if last_seen is None:
        return NodeStatus.OFFLINE
    silent = now - last_seen
    if silent < ACTIVE * period:
        return NodeStatus.ACTIVE
    return NodeStatus.STALE if silent < STALE * period else NodeStatus.OFFLINE


def with_beacon(
    last_seen: datetime | None,
    heard: datetime | None,
    now: datetime,
    beat: timedelta,
    check: timedelta,
) -> NodeStatus:
    """The same of a node that may have a beacon, heard last at that time.

    Who was seen by SSH although its beacon was silent already has lost the beacon alone, and is
    judged by the checks until it is heard again.
    """
    if heard is None:
        return freshness(last_seen, now, check)
    seen = max(heard, last_seen or heard)
    alone = seen - heard >= ACTIVE * beat
    return freshness(seen, now, check if alone else beat)

"""Whether what is shown is known to hold now, judged by when something was received."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final

from margrave.lifecycle import Freshness


class NodeStatus(StrEnum):
    """Age of a node's last answer; `unusable` answers, and has nothing to run applications with."""

    ACTIVE = "active"
    UNUSABLE = "unusable"
    STALE = "stale"
    OFFLINE = "offline"


ACTIVE_PERIODS: Final = 3
STALE_PERIODS: Final = 9
_WORST: Final = (
    NodeStatus.OFFLINE,
    NodeStatus.STALE,
    NodeStatus.UNUSABLE,
    NodeStatus.ACTIVE,
)


@dataclass(frozen=True, slots=True)
class Moment:
    """Now, and how often a runner sends its heartbeat."""

    now: datetime
    period: timedelta = timedelta(seconds=10)

    def status(self, last_seen: datetime | None) -> NodeStatus:
        """active below 3 periods of silence, stale below 9, else offline."""
        if last_seen is None:
            return NodeStatus.OFFLINE
        silence = self.now - last_seen
        if silence < self.period * ACTIVE_PERIODS:
            return NodeStatus.ACTIVE
        return NodeStatus.STALE if silence < self.period * STALE_PERIODS else NodeStatus.OFFLINE

    def node(self, reported: str | None, site_last_seen: datetime | None) -> NodeStatus:
        """A node is as its runner says, and never better known than the runner itself."""
        known = NodeStatus(reported) if reported in tuple(NodeStatus) else NodeStatus.OFFLINE
        both = {known, self.status(site_last_seen)}
        return next(status for status in _WORST if status in both)

    def site(self, last_seen: datetime | None) -> Freshness:
        """A site is unknown as soon as its runner is silent."""
        return freshness(self.status(last_seen))


def freshness(status: NodeStatus) -> Freshness:
    """Silent means not active."""
    return Freshness.FRESH if status is NodeStatus.ACTIVE else Freshness.UNKNOWN


def overall(parts: list[Freshness], site: Freshness) -> Freshness:
    """Known only when the site and every part are."""
    return Freshness.UNKNOWN if Freshness.UNKNOWN in (site, *parts) else Freshness.FRESH

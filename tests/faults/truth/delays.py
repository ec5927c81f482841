"""Longest time for which each kind of claim may be false: the table of docs/delays.md."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DOCUMENT: Final = Path(__file__).parents[3] / "docs/delays.md"

# A connection that is cut is noticed after three unanswered keep-alives, five seconds apart.
BROKEN_CONNECTION: Final = 20.0
# Intervals of a runner are jittered by up to a fifth.
JITTER: Final = 1.2


@dataclass(frozen=True)
class Pace:
    """The settings that delays depend on, in seconds."""

    heartbeat: float
    drift: float
    connect_timeout: float

    @property
    def check(self) -> float:
        """The time between a change on a node and the end of the check that finds it."""
        return JITTER * self.drift + BROKEN_CONNECTION + self.connect_timeout


@dataclass(frozen=True)
class Delay:
    """One row of the table in docs/delays.md, found there by its name."""

    name: str
    seconds: Callable[[Pace], float]

    def limit(self, pace: Pace) -> float:
        """Return the seconds at these settings."""
        return self.seconds(pace)


SITE_SILENT = Delay("site-silent", lambda pace: 3 * pace.heartbeat)
SITE_BACK = Delay("site-back", lambda pace: 2 * pace.heartbeat)
NODE_SILENT = Delay("node-silent", lambda pace: 3 * pace.drift + pace.heartbeat)
NODE_OFFLINE = Delay("node-offline", lambda pace: 9 * pace.drift + pace.heartbeat)
NODE_BACK = Delay("node-back", lambda pace: pace.check + pace.connect_timeout + pace.heartbeat)
LAST_SEEN = Delay("last-seen", lambda _: 0)
SITE_LAST_SEEN = Delay("site-last-seen", lambda _: 0)
HEALTH = Delay("health", lambda pace: pace.check)
VERSION = Delay("version", lambda pace: pace.check)
OUTCOME = Delay("outcome", lambda pace: 2 * pace.heartbeat)
COMPLETION = Delay("completion", lambda pace: 60 + pace.check + pace.heartbeat)
APPLIED = Delay("applied-commit", lambda pace: 2 * pace.heartbeat)
INDEX = Delay("index", lambda _: 5)
DELETED = Delay("deleted", lambda _: 0)

DELAYS: Final = (
    SITE_SILENT, SITE_BACK, NODE_SILENT, NODE_OFFLINE, NODE_BACK, LAST_SEEN, SITE_LAST_SEEN, HEALTH,
    VERSION, OUTCOME, COMPLETION, APPLIED, INDEX, DELETED,
)  # fmt: skip


def limits(pace: Pace) -> Mapping[str, float]:
    """Return the seconds of each delay at these settings."""
    return {delay.name: delay.limit(pace) for delay in DELAYS}

"""What a step of a tick comes to: one of four words. What follows is known from the type alone."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing stands in the way: go on with the next step."""


@dataclass(frozen=True, slots=True)
class Again:
    """Go on, and tick again after so many seconds."""

    after: float


@dataclass(frozen=True, slots=True)
class Waiting:
    """Go on with what is known; something outside is awaited."""

    reason: str
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class Stalled:
    """Only a person (or a new commit) can help; what runs is left alone."""

    reason: str


Outcome = Done | Again | Waiting | Stalled


def told(outcome: Outcome) -> dict[str, str]:
    """The outcome as a status shows it: its word, and the reason where there is one."""
    reason = outcome.reason if isinstance(outcome, (Waiting, Stalled)) else ""
    return {"state": type(outcome).__name__.lower(), "reason": reason}

"""Which part of the controller is ill, in words that are the same for people and for probes.

A part is `needed` when nothing can be served without it: only then is the controller not ready. A
remote that is away or rewritten keeps requests waiting, but pages, reports and the queue go on, and
a balancer that took every controller out for it would make one trouble two.
"""

from __future__ import annotations

import shutil
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from controller.publish import trunk
from controller.store import catalog
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.parts import Parts

MIB: Final = 1024 * 1024
FULL: Final = 16 * MIB  # one publish and one batch of reports still fit
NEARLY_FULL: Final = 256 * MIB
MOST_NAMED: Final = 5
KEPT: Final = 1.0  # seconds: a look starts Git and asks the database


@dataclass(frozen=True, slots=True)
class Check:
    """A part and what ails it; nothing when it is well."""

    name: str
    problem: str
    needed: bool

    def as_dict(self) -> dict[str, Any]:
        """As it is answered."""
        return {
            "name": self.name,
            "ok": not self.problem,
            "detail": self.problem or "ok",
            "needed": self.needed,
        }


def checks(parts: Parts) -> list[Check]:
    """Every part, in the order in which to look at them."""
    free = _free(parts)
    return [
        Check("database", _told(lambda: parts.store.schema_problem()), needed=True),
        Check("events", parts.broker.problem(), needed=True),
        Check("git", _told(lambda: _repository(parts)), needed=True),
        Check("remote", parts.publisher.problem, needed=False),
        Check("reading", parts.publisher.unread, needed=False),
        Check("emergency", _pending(parts), needed=False),
        Check("history", _told(lambda: _history(parts)), needed=False),
        Check("sources", _told(lambda: _sources(parts)), needed=False),
        Check("disk", _disk(free, parts), needed=free < FULL),
    ]


def readiness(parts: Parts) -> dict[str, Any]:
    """What /readyz answers."""
    found = checks(parts)
    ill = any(one.problem and one.needed for one in found)
    return {"status": "failing" if ill else "ok", "checks": [one.as_dict() for one in found]}


class Readiness:
    """What /readyz answers. Nobody needs a token for it: who asks often is told what was seen."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._lock = threading.Lock()
        self._seen: dict[str, Any] = {}
        self._until = 0.0

    def __call__(self) -> dict[str, Any]:
        """As it is now, or was a moment ago."""
        with self._lock:
            if not self._seen or time.monotonic() >= self._until:
                self._seen = readiness(self._parts)
                self._until = time.monotonic() + KEPT
            return self._seen


def _told(look: Callable[[], str]) -> str:
    try:
        return look()
    except Exception as error:  # noqa: BLE001 - whatever ails it, the probe is to tell it
        return f"the database does not answer: {type(error).__name__}"


def _repository(parts: Parts) -> str:
    try:
        parts.repository.head()
    except MargraveError as error:
        return f"the deployments repository cannot be read: {error}"
    return ""


def _pending(parts: Parts) -> str:
    waiting = [
        f"{one['change']} waits: {one['problem']}" for one in parts.publisher.changes.pending()
    ]
    more = f"; and {len(waiting) - MOST_NAMED} more" if len(waiting) > MOST_NAMED else ""
    return "; ".join(waiting[:MOST_NAMED]) + more


def _history(parts: Parts) -> str:
    with parts.store.session() as session:
        halt = trunk.halt(session)
    return f"{halt['reason']}; nothing is published ({halt['cure']})" if halt else ""


def _sources(parts: Parts) -> str:
    with parts.store.session() as session:
        ill = [f"{name}: {error}" for name, error in catalog.failing(session)]
    more = f"; and {len(ill) - MOST_NAMED} more" if len(ill) > MOST_NAMED else ""
    return "; ".join(ill[:MOST_NAMED]) + more


def _free(parts: Parts) -> int:
    folder = parts.settings.state.dir
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0  # a state folder that cannot be looked at is as good as none


def _disk(free: int, parts: Parts) -> str:
    if free >= NEARLY_FULL:
        return ""
    degree = "is full" if free < FULL else "is nearly full"
    return f"{parts.settings.state.dir} {degree}: {free // MIB} MiB are left (make room)"

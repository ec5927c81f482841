"""Placements that cannot go on by themselves: what failed for one of them holds no other."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Final

from margrave.errors import MargraveError
from runner.store import STORAGE_ERRORS

_log = logging.getLogger(__name__)

Key = tuple[str, str]  # deployment, node; the node is empty where all its placements are meant
WAITS_FOR: Final = "person"


class Stalls:
    """Collects the failures of single placements; safe to use from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reasons: dict[Key, str] = {}
        self._before: dict[Key, str] = {}  # what was logged in the turn before

    def begin(self) -> None:
        """Begin a turn: what does not fail again in it is stalled no longer."""
        with self._lock:
            self._before, self._reasons = self._reasons, {}

    @contextmanager
    def guard(self, deployment: str, node: str = "") -> Iterator[None]:
        """Go on behind the block when it fails, and keep the reason.

        A disk that is full or a database that is busy is no trouble of one placement: it is raised.
        """
        try:
            yield
        except STORAGE_ERRORS:
            raise
        except Exception as error:  # noqa: BLE001 - reported; a defect holds no other placement
            self.add(deployment, node, error)

    def add(self, deployment: str, node: str, error: Exception) -> None:
        """Keep the reason, and log it unless that was done in the turn before."""
        key, reason = (deployment, node), reason_of(error)
        with self._lock:
            known = reason in (self._before.get(key), self._reasons.get(key))
            self._reasons[key] = reason
        if not known:
            foreign = None if isinstance(error, MargraveError) else error
            place = f"{deployment} on {node}" if node else deployment
            _log.error("%s is stalled: %s", place, reason, exc_info=foreign)

    def discard(self, deployment: str, node: str) -> None:
        """Forget the reason of a placement that went on."""
        with self._lock:
            self._reasons.pop((deployment, node), None)

    def reasons(self) -> Mapping[Key, str]:
        """Return the reasons by placement."""
        with self._lock:
            return dict(self._reasons)


def reason_of(error: Exception) -> str:
    """Return why a placement is stalled, for a status.

    The text of an error that nobody foresaw may hold anything, a secret's value too.
    """
    if isinstance(error, MargraveError):
        return str(error)
    return f"{type(error).__name__}, which is a defect: the runner's log has the details"

"""Last stage of publishing: commits become rows, and their requests are published."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final

from controller import measures
from controller.publish.mainline import Committed
from controller.store import requests, stages
from controller.store.words import RequestState
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from controller.publish.mainline import Mainline
    from controller.publish.repository import Repository
    from controller.store import Store

LOG = logging.getLogger(__name__)

STAGE: Final = "index"
AGAIN: Final = 1.0  # seconds until a database that was away is tried again


class IndexStage:
    """Commits that wait to be read, in their order; one controller reads at a time."""

    def __init__(
        self,
        store: Store,
        repository: Repository,
        main: Mainline,
        clock: Callable[[], datetime],
    ) -> None:
        self._store = store
        self._repository = repository
        self._main = main
        self._clock = clock
        self._lock = threading.RLock()
        self._waiting: list[tuple[Committed, float]] = []
        self._woken = threading.Event()

    def add(self, committed: Committed) -> None:
        """Let a commit be read; `work` does that."""
        self._waiting.append((committed, time.perf_counter()))

    def wake(self) -> None:
        """Work now."""
        self._woken.set()

    def length(self) -> int:
        """Return the number of commits that wait to be read."""
        return len(self._waiting)

    def run(self, stop: threading.Event, pause: float) -> None:
        """Read new commits until `stop` is set."""
        while not stop.is_set():
            self._woken.wait(AGAIN if self._waiting else pause)
            self._woken.clear()  # at the end, too, it works off what there is
            try:
                self.work()
            except MargraveError as error:
                LOG.warning("reading commits pauses: %s", error)
            except Exception:  # a defect must not end the thread that all commits go through
                LOG.exception("reading commits pauses")

    def follow(self, head: str | None) -> None:
        """Read a head that somebody pushed."""
        with self._lock, self._store.alone(STAGE):
            self._main.follow(head)

    def work(self) -> None:
        """Read all commits that wait, then call their requests published.

        A commit stands in Git whatever fails here: a defect in reading it is reported by `unread`
        and ends no request. Only a database that is away is waited for.
        """
        with self._lock:
            if not self._waiting and not self._left_behind():
                return
            with self._store.alone(STAGE):
                while self._waiting:
                    committed, since = self._waiting[0]
                    measures.STAGE_WAIT.add((STAGE,), time.perf_counter() - since)
                    self._read(committed)
                    self._publish(committed.head)
                    self._waiting.pop(0)
                if self._left_behind():
                    self._publish(self._repository.head())

    def _read(self, committed: Committed) -> None:
        try:
            with measures.stage(STAGE):
                self._main.follow(committed.head, committed.fresh, committed.values)
        except Unreachable:
            raise
        except Exception:
            LOG.exception("%s stands in Git, and is read with the next look", committed.head)

    def _publish(self, head: str | None) -> None:
        """Call published what a head holds, also what another process left behind."""
        with self._store.session() as session:
            landed = stages.landed(session)
        held = [
            name
            for name, commit in landed.items()
            if commit == head or (head and self._repository.contains(head, commit))
        ]
        for name in held:
            with self._store.write() as session:
                now = self._clock()
                requests.move(session, name, RequestState.PUBLISHED, now, commit=landed[name])

    def _left_behind(self) -> bool:
        with self._store.session() as session:
            return bool(stages.landed(session))

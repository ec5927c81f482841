"""What the controller does without being asked: publish, read sources and Git, notice silence."""

from __future__ import annotations

import logging
import threading
import time
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from controller.publish.publisher import SHARED_PAUSE
from controller.reports.silence import Silence
from controller.store import access, retention
from controller.store.retention import Horizon
from margrave import durations
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from controller.parts import Parts

LOG = logging.getLogger(__name__)

SILENCE_EVERY: Final = 2.0  # seconds: a third of the shortest period that anybody sets
SOURCES_EVERY: Final = 30.0  # a tenth of the interval that is set unless somebody says else
SWEEP_EVERY: Final = 3600.0
USES_EVERY: Final = 10.0
STOP_WITHIN: Final = 20.0


class Chores:
    """Threads of their own, so that no request waits for a chore."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._stop = threading.Event()
        self._look = threading.Event()
        self._pushed: set[str] = set()  # sources that a forge said were pushed to
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Begin."""
        parts = self._parts
        parts.broker.start()
        self._run("publisher", lambda: parts.publisher.run(self._stop))
        self._run("sources", self._sources)
        silence = Silence(parts.store, parts.moment)
        self._run("silence", lambda: self._every(SILENCE_EVERY, "silence", silence.look))
        self._run(
            "token uses", lambda: self._every(USES_EVERY, "token uses", self.record_token_uses)
        )
        self._run("retention", lambda: self._every(SWEEP_EVERY, "retention", self.sweep))

    def sweep(self) -> None:
        """Forget what is older than it has to be kept."""
        if not self._parts.store.leads():
            return
        kept, now = self._parts.settings.retention, self._parts.clock()
        ages = (kept.events, kept.logs, kept.deleted, kept.history, kept.audit)
        horizon = Horizon(*(now - timedelta(seconds=durations.seconds(age)) for age in ages))
        retention.sweep(self._parts.store, horizon)

    def record_token_uses(self) -> None:
        """Record when tokens were last used; what cannot be recorded now is kept for later."""
        uses = self._parts.token_uses.take()
        if not uses:
            return
        try:
            with self._parts.store.write() as session:
                for use in uses:
                    access.used(session, use.token, use.at, of_site=use.of_site)
        except Exception:
            self._parts.token_uses.put_back(uses)
            raise

    def stop(self) -> None:
        """End every stream and let every chore finish the step it is at."""
        self._stop.set()
        self._once("token uses", self.record_token_uses)
        self._look.set()
        self._parts.publisher.wake()
        self._parts.broker.stop()
        deadline = time.monotonic() + STOP_WITHIN
        for thread in self._threads:
            thread.join(max(0.0, deadline - time.monotonic()))

    def end_streams(self) -> None:
        """Let every stream end, so that its thread is free to finish."""
        self._parts.broker.close()

    def look(self, sources: Iterable[str] = ()) -> None:
        """A webhook came: look at Git soon, and at the named sources; a burst is one look."""
        self._pushed.update(sources)
        self._parts.publisher.wake()
        self._look.set()

    def _run(self, name: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        thread.start()
        self._threads.append(thread)

    def _every(self, seconds: float, name: str, step: Callable[[], object]) -> None:
        while not self._stop.wait(seconds):
            self._once(name, step)

    def _sources(self) -> None:
        # Of what another controller was told nobody wakes this one.
        longest = SHARED_PAUSE if self._parts.store.shared else SOURCES_EVERY
        every = min(longest, durations.seconds(self._parts.settings.catalog.sync_interval))
        while not self._stop.is_set():
            self._look.wait(every)
            self._look.clear()
            if not self._stop.is_set():
                self._once("sources", self._sync)

    def _sync(self) -> None:
        """Whoever is told of a push writes it down; one controller reads for all."""
        pushed = {self._pushed.pop() for _ in range(len(self._pushed))}
        if pushed:
            try:
                self._parts.catalog.ask(sorted(pushed))
            except MargraveError:
                self._pushed |= pushed  # the database is away: they are asked for when it is back
                raise
        if self._parts.store.leads():
            self._parts.catalog.sync_due()

    def _once(self, name: str, step: Callable[[], object]) -> None:
        try:
            step()
        except MargraveError as error:
            LOG.warning("%s: %s", name, error)
        except Exception:  # a chore that dies would be missed only when it is needed
            LOG.exception("%s: failed; it is tried again", name)

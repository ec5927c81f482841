"""Keeps the state folder from growing for ever. Nothing that still counts is touched."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from runner.reconcile.journal import Journal
from runner.reconcile.watch import Watch
from runner.store import Store, operations, outbox, placements, site

EVERY_SECONDS: Final = 6 * 3600.0
# A controller that was restored from a backup may ask again for what it had acknowledged.
_REPORTS_KEPT: Final = timedelta(days=7)
# Operations with their logs, and commands: one that comes again so late is nobody's any more.
_PAST_KEPT: Final = timedelta(days=30)


# So much two clocks may differ by being kept in time.
_STEP: Final = 60.0


class Tidying:
    """Drops what is old; packs the clone."""

    def __init__(self, store: Store, journal: Journal, watch: Watch) -> None:
        self._store = store
        self._journal = journal
        self._watch = watch
        self._offset = self._wall_ahead()

    def run(self) -> None:
        """Drop what is old, unless the wall clock was set since the last time.

        By a clock that is a year ahead for a minute everything would be old.
        """
        before, self._offset = self._offset, self._wall_ahead()
        if abs(self._offset - before) <= _STEP:
            self._drop()
        self._watch.tidy()

    def _wall_ahead(self) -> float:
        return self._store.clock().timestamp() - self._store.monotonic()

    def _drop(self) -> None:
        with self._store.write() as tx:
            long_ago = tx.now - _PAST_KEPT
            outbox.forget_before(tx, tx.now - _REPORTS_KEPT)
            operations.forget_before(tx, long_ago)
            site.forget_commands_before(tx, long_ago)
            placements.tidy(tx)
            at_work = [one.id for one in operations.unfinished(tx)]
        self._journal.tidy(long_ago, at_work)

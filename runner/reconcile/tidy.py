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


def tidy(store: Store, journal: Journal, watch: Watch) -> None:
    """Drop what is old; pack the clone."""
    with store.write() as tx:
        long_ago = tx.now - _PAST_KEPT
        outbox.forget_before(tx, tx.now - _REPORTS_KEPT)
        operations.forget_before(tx, long_ago)
        site.forget_commands_before(tx, long_ago)
        placements.tidy(tx)
        at_work = [one.id for one in operations.unfinished(tx)]
    journal.tidy(long_ago, at_work)
    watch.tidy()

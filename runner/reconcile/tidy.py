"""Keeps the state folder from growing for ever. Nothing that still counts is touched."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from runner.reconcile.journal import Journal
from runner.reconcile.watch import Watch
from runner.store import Store, operations, outbox

EVERY_SECONDS: Final = 6 * 3600.0
# A controller that was restored from a backup may ask again for what it had acknowledged.
_REPORTS_KEPT: Final = timedelta(days=7)
_OPERATIONS_KEPT: Final = timedelta(days=30)


def tidy(store: Store, journal: Journal, watch: Watch) -> None:
    """Drop what is old; pack the clone."""
    with store.write() as tx:
        outbox.forget_before(tx, tx.now - _REPORTS_KEPT)
        operations.forget_before(tx, tx.now - _OPERATIONS_KEPT)
    journal.tidy()
    watch.tidy()

"""Delivers reports: in order, in batches, each once, for as long as it takes."""

from __future__ import annotations

import logging
import threading
from typing import Any, Final, Protocol

from margrave.errors import MargraveError
from runner.outbox.backoff import Backoff
from runner.outbox.bodies import body
from runner.outbox.client import Expected
from runner.outbox.snapshot import append_snapshot
from runner.outbox.trouble import trouble_of
from runner.store import Store, Transaction, outbox, site
from runner.store.values import OutboxRow

_log = logging.getLogger(__name__)

_BATCH: Final = 500
_REST: Final = 60.0


class Reports(Protocol):
    """Where reports go."""

    def report(self, body: dict[str, Any]) -> int:
        """Deliver a batch; the last number the other side has."""


class Sender:
    """A thread that empties the outbox whenever something is put into it."""

    def __init__(self, store: Store, reports: Reports) -> None:
        self._store = store
        self._reports = reports
        self._woken = threading.Event()
        self._stopping = threading.Event()
        self.trouble = ""
        store.tell_reports(self._woken)

    def introduce(self) -> None:
        """A new line of reports begins with a snapshot."""
        with self._store.write() as tx:
            if site.identity_of(tx).report_seq == 0:
                append_snapshot(tx)

    def run(self) -> None:
        """Until stopped."""
        backoff = Backoff()
        rest = 0.0
        while not self._stopping.is_set():
            self._woken.wait(rest)
            self._woken.clear()
            try:
                while not self._stopping.is_set() and self.send_some():
                    backoff.succeeded()
                self.trouble, rest = "", _REST
            except Exception as error:  # noqa: BLE001 - without this thread nothing is told again
                self._note(error)
                rest = 0.0
                # New events must not shorten the pause: the other side is in trouble, too.
                self._stopping.wait(backoff.failed())

    def _note(self, error: Exception) -> None:
        """Trouble is told of once: the first time, or when it is another one."""
        told = trouble_of(error)
        if not isinstance(error, MargraveError) and told != self.trouble:
            _log.error("reports wait: %s", told, exc_info=error)
        elif not self.trouble:
            _log.warning("reports wait: %s", told)
        self.trouble = told

    def send_some(self) -> bool:
        """Deliver one batch; whether there was one."""
        with self._store.read() as tx:
            rows = outbox.waiting(tx, _BATCH)
            runner = site.identity_of(tx).runner if rows else ""
        if not rows:
            return False
        try:
            ack = self._reports.report(body(runner, rows))
        except Expected as error:
            self._go_to(rows[0].epoch, error.number, rows)
            return True
        with self._store.write() as tx:
            who = site.identity_of(tx)
            if rows[0].epoch == who.epoch and ack > who.report_seq:
                # It has seen numbers of ours that we never gave: our folder is an older copy.
                _begin_anew(tx, after=ack)
            else:
                outbox.acknowledge(tx, rows[0].epoch, ack)
        return True

    def stop(self) -> None:
        """End `run` at its next turn."""
        self._stopping.set()
        self._woken.set()

    def _go_to(self, epoch: int, expected: int, rows: tuple[OutboxRow, ...]) -> None:
        """The other side lacks earlier events: again from there, or a snapshot."""
        with self._store.write() as tx:
            # What it asks for, although it was just given exactly that, will not be read better
            # the second time.
            if expected == rows[0].seq or not outbox.rewind(tx, epoch, expected):
                _begin_anew(tx, after=0)


def _begin_anew(tx: Transaction, after: int) -> None:
    """Say everything at once instead of step by step, with a number that was never used."""
    if after > site.identity_of(tx).report_seq:
        site.skip_reports(tx, after)
    outbox.drop_waiting(tx)
    append_snapshot(tx)

"""Fast lane for emergency changes of sites: pause, resume, drain and undrain.

They go ahead of everything that waits for Git. Whoever asks has an answer within a second: what is
not done by then is kept in the journal, made as soon as Git and the database take it, and shown
until then.
"""

from __future__ import annotations

import logging
import threading
import uuid
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

from controller.publish.proposals import Landed
from controller.publish.site_edit import SiteEdit
from controller.publish.trunk import Halted
from margrave.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.publish.journal import Journal

LOG = logging.getLogger(__name__)

STAGE: Final = "emergency"
PATIENCE: Final = 0.5  # seconds; the rest of the second is for a machine that is busy
UNHURRIED: Final = 10.0  # seconds, before the publisher runs: a change is not made later then
AGAIN: Final = 2.0  # seconds until a change that failed is tried again
AT_WORK: Final = "Git is at work; it is made as soon as Git answers"
NOT_READ: Final = "an earlier change waits for the database; it is made after that"
NOT_SHOWN: Final = "it stands in Git; it is shown as soon as the database answers"


@dataclass
class Entry:
    """A change in the lane."""

    edit: SiteEdit
    name: str = field(default_factory=lambda: str(uuid.uuid4()))
    problem: str = ""  # why it waits
    landed: Landed | None = None  # where it stands in Git
    error: Exception | None = None
    kept: bool = False  # in the journal
    answered: threading.Event = field(default_factory=threading.Event)
    done: bool = False


class Emergency:
    """Changes in their order, made by a thread that lives as long as there are any."""

    def __init__(
        self, journal: Journal, make: Callable[[Entry], None], problem: Callable[[], str]
    ) -> None:
        self._journal = journal
        self._problem = problem  # why Git does not answer
        self._make = make  # commits a change (`landed`), reads and audits it
        self._patience = UNHURRIED
        self._stop: threading.Event | None = None
        self._lock = threading.Lock()
        self._entries: list[Entry] = []
        self._thread: threading.Thread | None = None

    def begin(self, stop: threading.Event) -> None:
        """Take up what an earlier process left in the journal, and repeat what fails until `stop`
        is set."""
        self._patience, self._stop = PATIENCE, stop
        left = self._journal.read()
        with self._lock:
            known = {entry.name for entry in self._entries}
            self._entries += [
                Entry(SiteEdit.of(value), name, kept=True)
                for name, value in left.items()
                if name not in known
            ]
        self.retry()

    def submit(self, edit: SiteEdit) -> Landed:
        """Make a change, or keep it and return why it waits in `pending`."""
        entry = Entry(edit)
        with self._lock:
            self._entries.append(entry)
        self.retry()
        entry.answered.wait(self._patience)
        with self._lock:
            if entry.error is not None:
                raise entry.error
            if entry.done and entry.landed is not None:
                return entry.landed
            try:
                self._journal.add(entry.name, entry.edit.as_dict())
            except Unreachable:
                if entry in self._entries[1:]:  # the first may be at work already
                    self._entries.remove(entry)
                raise
            entry.kept = True
            return replace(entry.landed or Landed(None), pending=self._why(entry))

    def retry(self) -> None:
        """Make what waits, on a thread of its own."""
        with self._lock:
            if self._entries and self._thread is None:
                self._thread = threading.Thread(target=self._work, name=STAGE, daemon=True)
                self._thread.start()

    def length(self) -> int:
        """Return the number of changes that wait."""
        with self._lock:
            return len(self._entries)

    def pending(self) -> list[dict[str, Any]]:
        """Return the changes that wait: {site, change, since, problem}."""
        with self._lock:
            return [
                {
                    "site": entry.edit.site,
                    "change": entry.edit.title,
                    "since": entry.edit.at,
                    "problem": self._why(entry),
                }
                for entry in self._entries
                if entry.kept
            ]

    def _why(self, entry: Entry) -> str:
        """Return what a change waits for."""
        if entry.landed is not None:
            return entry.problem or NOT_SHOWN
        first = self._entries[0] if self._entries else entry
        if first.landed is not None:  # it is in Git, and is being read
            return entry.problem or NOT_READ
        return self._problem() or entry.problem or AT_WORK

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._entries:
                    self._thread = None
                    return
                entry = self._entries[0]
            try:
                self._make(entry)
            except (Unreachable, Halted) as error:
                self._postponed(entry, error)
                if self._stop is None or self._stop.wait(AGAIN):
                    with self._lock:
                        self._thread = None
                    return
            except Exception as error:  # noqa: BLE001 - whoever asked gets it
                self._ended(entry, error)
            else:
                self._ended(entry, None)

    def _postponed(self, entry: Entry, error: Exception) -> None:
        """Leave it, and all behind it, for the next try."""
        LOG.warning("%s waits: %s", entry.edit.title, error)
        with self._lock:
            for waiting in self._entries:
                waiting.problem = str(error)
                waiting.answered.set()

    def _ended(self, entry: Entry, error: Exception | None) -> None:
        if entry.kept and error is not None:
            LOG.error("%s failed: %s", entry.edit.title, error)
        with self._lock:
            self._entries.remove(entry)
            entry.error, entry.done = error, True
            entry.answered.set()
            try:
                self._journal.done(entry.name)
            except Unreachable as problem:  # it is made once more then, and changes nothing
                LOG.warning("%s stays in the journal: %s", entry.edit.title, problem)

"""The branch main for publishing: its head, commits on top of it, and reading it."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeVar

from controller.publish.building import begun
from controller.publish.packing import Packing
from controller.publish.reader import Fresh, Reader
from controller.publish.trunk import Trunk
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from pathlib import Path

    from controller.publish.proposals import Files
    from controller.publish.repository import Repository
    from controller.publish.said import Values
    from controller.store import Store
    from margrave.digest import File

LOG = logging.getLogger(__name__)

T = TypeVar("T")
# Each lost push means that another one came through; a hundred in a row is no accident, and
# gives the others a turn.
MOST_LOST: Final = 100
SLOW: Final = 5.0  # seconds without an answer that count as a problem


@dataclass(frozen=True, slots=True)
class Committed:
    """A head of main that holds a change, with what is known of it without reading it."""

    head: str | None
    commit: str | None = None  # None when the change changed nothing
    fresh: Fresh | None = None
    values: Values | None = None


class Mainline:
    """Fetches, commits and reads; the caller sees to it that each happens once at a time."""

    def __init__(
        self,
        store: Store,
        repository: Repository,
        clock: Callable[[], datetime],
        signing_key: Path | None,
    ) -> None:
        self._repository = repository
        self._key = signing_key
        self._reader = Reader(store, repository, clock)
        self._trunk = Trunk(store, repository, clock)
        self._packing = Packing(repository)
        self._failure = ""
        self._asked: float | None = None  # start of a request to the remote that is open
        self._unread = ""
        self._unread_commit = ""  # the newest own one, until it is read

    @property
    def unread(self) -> str:
        """Why what stands in Git could not be read, or packed; empty when it could."""
        return self._unread or self._packing.problem

    @property
    def problem(self) -> str:
        """Why Git could not be reached the last time, or does not answer now; else empty."""
        asked = self._asked
        lasts = 0.0 if asked is None else time.monotonic() - asked
        if lasts < SLOW:
            return self._failure
        return f"the remote has not answered for {lasts:.0f} s"

    def look(self) -> str | None:
        """Return the head to build on.

        Rewritten history is judged by what was read. So a head without the newest own commit is
        left alone until that is read.
        """
        head = self.reached(self._trunk.look)
        own = self._unread_commit
        if own and head != own and not (head and self._repository.contains(head, own)):
            words = f"main does not hold {own[:12]}, which was just pushed"
            raise Unreachable(words, "it is looked at again")
        return head

    def reached(self, ask: Callable[[], T]) -> T:
        """Return what the remote answers; `problem` says why it did not."""
        self._asked = time.monotonic()
        try:
            found = ask()
        except Unreachable as error:
            self._failure = str(error)
            raise
        finally:
            self._asked = None
        self._failure = ""
        return found

    def follow(
        self, head: str | None, fresh: Fresh | None = None, values: Values | None = None
    ) -> None:
        """Adopt a head that was found, and read it; `unread` says why that failed."""
        try:
            if self._trunk.overtaken(head, fresh.parent if fresh else None):
                self._was_read(head)
                return
            if head is not None:
                self._repository.adopt(head)
            self._reader.follow(head, fresh, values)
        except Unreachable as error:
            self._unread = f"{head or 'main'} cannot be read: {error}"
            raise
        except Exception as error:
            self._was_read(head)
            what = str(error) if isinstance(error, MargraveError) else f"a defect: {error!r}"
            self._unread = f"{head or 'main'} cannot be read: {what}"
            raise
        self._was_read(head)
        self._unread = ""

    def commit(self, files: Files) -> Committed:
        """Apply a change to the head as it is, again after each lost push."""
        for _ in range(MOST_LOST):
            head = self.look()
            changes, note = files(head)
            if not changes:
                return Committed(head)
            with begun(self._repository.git, head, changes, note, self._key) as finish:
                values = self._ahead(head, changes)  # Git needs as long for its part
                new = finish()
            if self.reached(lambda: self._repository.advance(head, new)):  # noqa: B023 - at once
                self._packing.count()
                self._unread_commit = new
                return Committed(new, new, Fresh.made(head, new, changes, note), values)
        raise Unreachable("others push to the branch without a pause", "it is tried again")

    def _was_read(self, head: str | None) -> None:
        if head == self._unread_commit:
            self._unread_commit = ""

    def _ahead(self, head: str | None, changes: Mapping[str, File | None]) -> Values | None:
        """Read the documents of a commit while it is made; None when that fails."""
        try:
            return self._reader.ahead(head, changes)
        except Exception:  # what cannot be read ends no commit: the index stage reports it
            LOG.exception("what is being committed cannot be read ahead")
            return None

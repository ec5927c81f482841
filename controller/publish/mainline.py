"""Main as publishing sees it: where it stands, what was read of it, and commits on top of it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final, TypeVar

from controller.publish.building import begun
from controller.publish.packing import Packing
from controller.publish.reader import Fresh, Reader
from controller.publish.trunk import Trunk
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from controller.publish.proposals import Files
    from controller.publish.repository import Repository
    from controller.publish.said import Values
    from controller.store import Store

LOG = logging.getLogger(__name__)

T = TypeVar("T")
# Each lost push means that somebody else's came through; a hundred in a row is no accident, and
# gives the others a turn.
MOST_LOST: Final = 100


class Mainline:
    """Looks, follows, commits; whoever asks sees to it that nobody else does so meanwhile."""

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
        self._unread = ""
        self.problem = ""  # why Git could not be reached the last time; empty when it could

    @property
    def unread(self) -> str:
        """Why what stands in Git could not be read, or packed; empty when it could."""
        return self._unread or self._packing.problem

    def look(self) -> str | None:
        """The head to build on."""
        return self.reached(self._trunk.look)

    def reached(self, ask: Callable[[], T]) -> T:
        """What the remote answers; `problem` says why it did not."""
        try:
            found = ask()
        except Unreachable as error:
            self.problem = str(error)
            raise
        self.problem = ""
        return found

    def follow(
        self, head: str | None, fresh: Fresh | None = None, values: Values | None = None
    ) -> None:
        """Stand by a head that was found, and read it; `unread` says why that did not go."""
        try:
            if head is not None:
                self._repository.adopt(head)
            self._reader.follow(head, fresh, values)
        except Exception as error:
            what = str(error) if isinstance(error, MargraveError) else f"a defect: {error!r}"
            self._unread = f"{head or 'main'} cannot be read: {what}"
            raise
        self._unread = ""

    def commit(self, files: Files) -> str | None:
        """Apply to the head as it is, again after each lost push; None when nothing changes."""
        for _ in range(MOST_LOST):
            head = self.look()
            changes, note = files(head)
            if not changes:
                self.settle(head)
                return None
            with begun(self._repository.git, head, changes, note, self._key) as finish:
                values = self._reader.ahead(head, changes)  # Git needs as long for its part
                new = finish()
            if self.reached(lambda: self._repository.advance(head, new)):  # noqa: B023 - at once
                self.settle(new, Fresh.made(head, new, changes, note), values)
                self._packing.count()
                return new
        raise Unreachable("others push to the branch without a pause", "it is tried again")

    def settle(
        self, head: str | None, fresh: Fresh | None = None, values: Values | None = None
    ) -> None:
        """Follow a head that holds what was asked for: that stays so when it cannot be read now.
        The next look reads it, and `unread` is told until then."""
        try:
            self.follow(head, fresh, values)
        except Exception:
            LOG.exception("%s stands in Git, and is read with the next look", head)

"""Main as publishing sees it: where it stands, what was read of it, and commits on top of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

from controller.publish.building import begun
from controller.publish.reader import Fresh, Reader
from controller.publish.trunk import Trunk
from margrave.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from pathlib import Path

    from controller.publish.proposals import Files
    from controller.publish.repository import Repository
    from controller.store import Store

T = TypeVar("T")
# Each lost push means that somebody else's came through; a hundred in a row is no accident, and
# gives the others a turn.
MOST_LOST: Final = 100
TIDY_EVERY: Final = 200  # commits


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
        self._commits = 0
        self.problem = ""  # why Git could not be reached the last time; empty when it could

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

    def follow(self, head: str | None) -> None:
        """Stand by a head that was found, and read it."""
        if head is not None:
            self._repository.adopt(head)
        self._reader.follow(head)

    def commit(self, files: Files) -> str | None:
        """Apply to the head as it is, again after each lost push; None when nothing changes."""
        for _ in range(MOST_LOST):
            head = self.look()
            changes, note = files(head)
            if not changes:
                self.follow(head)
                return None
            with begun(self._repository.git, head, changes, note, self._key) as finish:
                values = self._reader.ahead(head, changes)  # Git needs as long for its part
                new = finish()
            if self.reached(lambda: self._repository.advance(head, new)):  # noqa: B023 - at once
                self._reader.follow(new, Fresh.made(head, new, changes, note), values)
                self._tidy()
                return new
        raise Unreachable("others push to the branch without a pause", "it is tried again")

    def _tidy(self) -> None:
        self._commits += 1
        if self._commits % TIDY_EVERY == 0:
            self._repository.tidy()

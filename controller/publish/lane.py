"""Exclusive access to the branch: in this process by turns, among controllers by the database."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Final

from controller.publish.turn import Turn
from margrave.errors import Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.store import Store

PATIENCE: Final = 10.0  # seconds that a change which is made at once waits for its turn
IN_LANE: Final = 1.0  # seconds that its holder waits for the database: others wait for the lane
MOST_WAITING: Final = 12  # of them: beyond the streams a server has a few threads more


class Lane:
    """Only its holder moves or follows the branch; the holder may take it again."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._turn = Turn()
        self._inside = False

    @contextmanager
    def taken(
        self,
        patience: float | None = None,
        most: int | None = None,
        *,
        first: bool = False,
        problem: str = "",
    ) -> Iterator[None]:
        """Hold the lane; Unreachable when others hold it for longer than `patience` seconds.

        `most`: how many may wait; `first`: ahead of all who wait; `problem`: why it may take long.
        """
        if not self._turn.take(patience, most, first=first):
            words = f"Git is at work: {problem}" if problem else "Git is at work"
            raise Unreachable(f"{words}; the change was not made", "try again in a while")
        try:
            if self._inside:
                yield
                return
            with self._store.alone("publish", patience):
                self._inside = True
                try:
                    yield
                finally:
                    self._inside = False
        finally:
            self._turn.give()

"""Stored events as the broker reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from controller.events.subscription import Message
from controller.store import events

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.store import Store


@dataclass(frozen=True, slots=True)
class StoredEvents:
    """The events of a database."""

    store: Store

    def newest_id(self) -> int:
        """The id of the newest event, 0 before the first."""
        with self.store.session() as session:
            return events.newest_id(session)

    def oldest_id(self) -> int:
        """The id of the oldest event kept, 0 when none is."""
        with self.store.session() as session:
            return events.oldest_id(session)

    def since(self, after: int, limit: int) -> list[Message]:
        """Events behind an id, in order, at most `limit`."""
        with self.store.session() as session:
            return [Message(**row) for row in events.since(session, after, limit)]

    def listen(self, heard: Callable[[], None]) -> Callable[[], None]:
        """Call `heard` when another process stored events; what ends it."""
        return self.store.listen(heard)

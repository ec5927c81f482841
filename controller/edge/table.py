"""Open connections, and which of them has to go when there are too many."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from controller.edge import proxies

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.edge.connection import Connection
    from controller.edge.proxies import Network


class Table:
    """All connections; those without a request at work in the order in which they began to wait.

    Only waiting connections are ever closed for others, so a request at work is never cut off.
    """

    def __init__(self, limit: int, per_address: int, trusted: tuple[Network, ...]) -> None:
        self._limit = limit
        self._per_address = per_address
        self._trusted = trusted
        self._all: set[Connection] = set()
        self._waiting: dict[str, OrderedDict[Connection, None]] = {}

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[Connection]:
        return iter(tuple(self._all))

    def waiting(self, connection: Connection) -> Connection | None:
        """Note that a connection waits for its client; return one that has to go, if any."""
        self._all.add(connection)
        own = self._waiting.setdefault(connection.peer, OrderedDict())
        own[connection] = None
        # Everybody who comes through a proxy shares its address; their own is not known yet.
        shared = proxies.trusted(proxies.address_of(connection.peer), self._trusted)
        if len(own) > self._per_address and not shared:
            return next(iter(own))
        return self.oldest() if len(self._all) > self._limit else None

    def at_work(self, connection: Connection) -> None:
        """Note that a connection does not wait for its client."""
        own = self._waiting.get(connection.peer)
        if own is not None:
            own.pop(connection, None)
            if not own:
                del self._waiting[connection.peer]

    def oldest(self) -> Connection | None:
        """Return the oldest waiting connection of the address that has most of them."""
        most = max(self._waiting.values(), key=len, default=None)
        return next(iter(most)) if most else None

    def remove(self, connection: Connection) -> None:
        """Forget a connection."""
        self.at_work(connection)
        self._all.discard(connection)

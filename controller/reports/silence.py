"""Noticing silence: nobody reports that nobody reports, so the controller looks at its clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from controller.store import events, fleet
from controller.store.words import EventKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.store import Store
    from controller.store.freshness import Moment

LIMIT = 100_000


class Silence:
    """Remembers how fresh each site was at the last look, and tells what has changed."""

    def __init__(self, store: Store, moment: Callable[[], Moment]) -> None:
        self._store = store
        self._moment = moment
        self._before: dict[str, str] | None = None

    def look(self) -> None:
        """Store an event for each site that fell silent or speaks again."""
        moment = self._moment()
        with self._store.session() as session:
            seen = fleet.last_seen(session)
        now = {name: moment.site(at).value for name, at in seen.items()}
        before, self._before = self._before, now
        # At the first look nothing is known to have changed, and nobody has asked yet.
        changed = [] if before is None else [n for n in now if before.get(n, now[n]) != now[n]]
        if changed and self._store.leads():  # each controller looks, one tells
            self._tell(changed, moment)

    def _tell(self, names: list[str], moment: Moment) -> None:
        with self._store.write() as session:
            for name in names:
                shown: dict[str, Any] | None = fleet.site(session, name, moment)
                if shown is not None:
                    events.append(session, EventKind.SITE, shown, name, None, moment.now)

"""Which sites and nodes a list shows: by words, by how they are heard of, by what holds them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import JSON, ColumnElement, String, cast, func, or_

from controller.store import hearing
from controller.store.models import Node, Site
from margrave.lifecycle import Freshness

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.store.freshness import Moment, NodeStatus

MOST_WORDS: Final = 8


class Held(StrEnum):
    """What keeps a site from being brought to what is wanted."""

    PAUSED = "paused"
    DRAINED = "drained"
    LOCKED = "locked"
    HALTED = "halted"
    FINDINGS = "findings"
    ANY = "any"


@dataclass(frozen=True, slots=True)
class WantedSites:
    """Which sites a list is to show; each word of `q` in the name or in the labels."""

    q: str | None = None
    freshness: Freshness | None = None
    held: Held | None = None

    def holds(self, moment: Moment) -> Iterator[ColumnElement[bool]]:
        """What has to hold of a site that is shown."""
        if self.freshness is not None:
            fresh = hearing.heard(moment)
            yield fresh if self.freshness is Freshness.FRESH else ~fresh
        if self.held is not None:
            yield _STANDS[self.held]
        yield from (_has(word, Site.name, Site.labels) for word in _words(self.q))


@dataclass(frozen=True, slots=True)
class WantedNodes:
    """Which nodes a list is to show; each word of `q` in names, address or labels."""

    site: str | None = None
    statuses: tuple[NodeStatus, ...] = ()  # any of them; none is all
    q: str | None = None

    def holds(self, moment: Moment) -> Iterator[ColumnElement[bool]]:
        """What has to hold of a node that is shown."""
        if self.site is not None:
            yield Node.site == self.site
        if self.statuses:
            yield hearing.node_is(self.statuses, moment)
        within = (Node.name, Node.site, Node.address, Node.labels)
        yield from (_has(word, *within) for word in _words(self.q))


EVERY_SITE: Final = WantedSites()
EVERY_NODE: Final = WantedNodes()
_STANDS: Final[dict[Held, ColumnElement[bool]]] = {
    Held.PAUSED: Site.paused.is_not(None),
    Held.DRAINED: Site.drain.is_(True),
    Held.LOCKED: Site.locked.is_not(None),
    Held.HALTED: Site.halted.is_not(None),
    Held.FINDINGS: cast(Site.findings, String) != "[]",
}
_STANDS[Held.ANY] = or_(*_STANDS.values())


def _words(q: str | None) -> list[str]:
    return (q or "").replace("\0", " ").lower().split()[:MOST_WORDS]


def _has(word: str, *places: Any) -> ColumnElement[bool]:
    """Whether one of the places holds a word; labels are looked at as they are written."""
    # zone=shop is how people write a label, "zone": "shop" how it is kept
    key, equals, value = word.partition("=")
    kept = f'"{key}": "{value}' if equals else word
    return or_(
        *(
            func.lower(cast(one, String)).contains(
                kept if isinstance(one.type, JSON) else word, autoescape=True
            )
            for one in places
        )
    )

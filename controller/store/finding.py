"""Which deployments a list shows: a page of keys, at a cost that no total and no history changes.

Each filter has an index that is already in the order of the list, so a page is a short walk. A
search is a walk too where many deployments hold the words; where few do, an index of trigrams
(FTS5 on SQLite, pg_trgm on PostgreSQL) says which, and the other filters look at those alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import (
    BigInteger,
    bindparam,
    column,
    literal_column,
    select,
    table,
    text,
    tuple_,
    union_all,
)
from sqlalchemy.orm import aliased

from controller.store.models import Deployment
from margrave.lifecycle import Outcome, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import BindParameter, ColumnElement, Select
    from sqlalchemy.orm import Session

MANY: Final = 2_000  # hits of a search from which on a walk meets enough of them by itself
FEW_SITES: Final = 50  # of somebody who may not see all: each is walked, and the walks are merged
MOST_WORDS: Final = 8
TRIGRAM: Final = 3  # shorter words are looked for at the beginning of names alone

_SEARCH: Final = table("deployment_search", column("rowid"))


class Sort(StrEnum):
    """In which order a list is shown."""

    NEWEST = "newest"
    UPDATED = "updated"
    NAME = "name"
    SITE = "site"


# The column that each order reads by, all with an index; the key decides among equals.
_ORDERS: Final[dict[Sort, tuple[Any, bool]]] = {
    Sort.UPDATED: (Deployment.updated_at, True),
    Sort.NAME: (Deployment.name, False),
    Sort.SITE: (Deployment.site, False),
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which deployments a list is to show; deleted ones only with their state."""

    site: str | None = None
    app: str | None = None
    name: str | None = None
    state: State | None = None
    outcomes: tuple[Outcome, ...] = ()  # any of them; none is all
    q: str | None = None
    sites: frozenset[str] | None = None  # those that the asker may see; None is all
    sort: Sort = Sort.NEWEST

    @property
    def words(self) -> list[str]:
        """What is searched for: all of it has to be found, each word anywhere."""
        return _words(self.q)

    @property
    def filters(self) -> dict[str, str]:
        """Columns and the value that each has to have, what meets the fewest first."""
        given = {
            "name": self.name,
            "site": self.site,
            "outcome": self.outcomes[0] if len(self.outcomes) == 1 else None,
            "state": self.state,
            "app": self.app,
        }
        usual = {"outcome": Outcome.SUCCEEDED, "state": State.INSTALLED}
        found = {name: value for name, value in given.items() if value is not None}
        return dict(sorted(found.items(), key=lambda one: usual.get(one[0]) == one[1]))


def keys(session: Session, wanted: Wanted, *, after: int | None, limit: int) -> list[int]:
    """The keys of a page, in the order that is wanted, behind the row of a key."""
    if "\0" in (wanted.q or "") or (wanted.sites is not None and not wanted.sites):
        return []
    if wanted == Wanted():
        given = {"limit": limit} if after is None else {"limit": limit, "after": after}
        return list(session.scalars(_newest(behind=after is not None), given))
    sqlite = session.get_bind().dialect.name == "sqlite"
    hits = _hits(session, wanted.words, sqlite=sqlite)
    query = select(Deployment.key).where(*map(_holds, wanted.words))
    if hits is not None:
        query = query.where(Deployment.key.in_(hits))
    query = query.where(*_filtered(wanted, sqlite=sqlite))
    walks = [] if hits is not None or wanted.sort is not Sort.NEWEST else _walks(wanted)
    if not walks:
        query = query.where(*_may_see(wanted))
        return list(session.scalars(_ordered(query, wanted.sort, after).limit(limit)))
    each = [_ordered(query.where(*walk), wanted.sort, after).limit(limit) for walk in walks]
    return list(session.scalars(_merged(each, limit)))


def holding(q: str) -> list[ColumnElement[bool]]:
    """What holds of a deployment that a search finds."""
    return [_holds(word) for word in _words(q.replace("\0", " "))]


def _words(q: str | None) -> list[str]:
    return (q or "").lower().split()[:MOST_WORDS]


@cache
def _newest(*, behind: bool) -> Select[int]:
    """The page that is asked for most, written once: writing it costs more than reading it."""
    after, limit = (bindparam(name, type_=BigInteger) for name in ("after", "limit"))
    query = select(Deployment.key)
    each = [
        _ordered(query.where(*walk), Sort.NEWEST, after if behind else None).limit(limit)
        for walk in _walks(Wanted())
    ]
    return _merged(each, limit)


def _merged(each: Sequence[Select[int]], limit: int | BindParameter[int]) -> Select[int]:
    """The newest of what several walks find."""
    merged = union_all(*(select(one.subquery()) for one in each)).subquery()
    return select(merged.c.key).order_by(merged.c.key.desc()).limit(limit)


def _filtered(wanted: Wanted, *, sqlite: bool) -> Iterator[ColumnElement[bool]]:
    """What has to hold beside the words; the first filter is the one to walk along."""
    for number, (name, value) in enumerate(wanted.filters.items()):
        yield _column(name, plainly=number == 0 or not sqlite) == value
    if len(wanted.outcomes) > 1:
        yield _column("outcome", plainly=not sqlite).in_(wanted.outcomes)
    if wanted.state is None:
        yield _column("state", plainly=not sqlite) != State.DELETED


def _column(name: str, *, plainly: bool) -> ColumnElement[Any]:
    """A column; SQLite, which keeps no statistics, is told to walk along the first one only."""
    own: ColumnElement[Any] = getattr(Deployment, name)
    return own if plainly else literal_column(f"+deployments.{name}", own.type)


def _walks(wanted: Wanted) -> list[list[ColumnElement[bool]]]:
    """Walks that show the newest of the whole when they are merged; none: one along a filter."""
    if wanted.sites is not None and wanted.site is None and len(wanted.sites) <= FEW_SITES:
        return [[Deployment.site == one] for one in sorted(wanted.sites)]
    if wanted.filters:
        return []
    if wanted.outcomes:
        return [[Deployment.outcome == one, *_may_see(wanted)] for one in wanted.outcomes]
    # However many were deleted lately: nobody steps over them.
    there = [state for state in State if state is not State.DELETED]
    return [[Deployment.state == state, *_may_see(wanted)] for state in there]


def _may_see(wanted: Wanted) -> list[ColumnElement[bool]]:
    return [Deployment.site.in_(wanted.sites)] if wanted.sites is not None else []


def _holds(word: str) -> ColumnElement[bool]:
    if len(word) < TRIGRAM:
        return Deployment.name.startswith(word, autoescape=True)
    return Deployment.search.contains(word, autoescape=True)


def _hits(session: Session, words: Sequence[str], *, sqlite: bool) -> list[int] | None:
    """All that hold the words, or None where there are many (or no word to look up)."""
    looked_up = [word for word in words if len(word) >= TRIGRAM]
    if not looked_up:
        return None
    if sqlite:
        phrases = " ".join('"' + word.replace('"', '""') + '"' for word in looked_up)
        query = select(_SEARCH.c.rowid).where(
            literal_column("deployment_search").op("MATCH")(phrases)
        )
        found = list(session.scalars(query.limit(MANY + 1)))
    else:
        # Which index is quick here is known; what a planner guesses of a text's frequency is not.
        session.execute(text("SET LOCAL enable_seqscan = off"))
        query = select(Deployment.key).where(*map(_holds, looked_up))
        found = list(session.scalars(query.limit(MANY + 1)))
        session.execute(text("SET LOCAL enable_seqscan = on"))
    return found if len(found) <= MANY else None


def _ordered(query: Select[int], sort: Sort, after: int | BindParameter[int] | None) -> Select[int]:
    """In order, behind the row of a key: where that one stands now is read with the page."""
    if sort is Sort.NEWEST:
        query = query.order_by(Deployment.key.desc())
        return query if after is None else query.where(Deployment.key < after)
    by, down = _ORDERS[sort]
    pair = (by, Deployment.key)
    query = query.order_by(*(one.desc() if down else one.asc() for one in pair))
    if after is None:
        return query
    last = aliased(Deployment)
    at = select(getattr(last, by.key)).where(last.key == after).scalar_subquery()
    beyond, here = tuple_(*pair), tuple_(at, after)
    return query.where(beyond < here if down else beyond > here)

"""What Git says of deployments, taken into the rows many at a time: a commit may touch thousands.

Documents that came, changed or went; each leaves an event with its deployment as it then is.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import select

from controller.store import bulk, deployments, events, fleet, placements
from controller.store.aggregate import settle_all
from controller.store.columns import table
from controller.store.documents import OTHER_WANTED, RUNS_ALREADY
from controller.store.freshness import Moment
from controller.store.models import Deployment, Placement, Site
from controller.store.words import EventKind
from margrave.lifecycle import WORKING, Outcome, State

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

    from controller.store.documents import Told

CHUNK: Final = 500  # names in one IN (…): databases take a few ten thousand

_UNSEEN: Final = frozenset({"document", "needs", "extensions"})  # no part of the resource
_WRITTEN: Final = _UNSEEN | {"parameters", "findings"}
_KNOWN: Final = (
    Deployment.key,
    Deployment.id,
    Deployment.site,
    Deployment.revision,
    Deployment.in_git,
    Deployment.state,
    Deployment.name,
    Deployment.app,
)
# Indexes hold them, and a database writes an index anew for the same value too.
_SELDOM: Final = ("name", "app")


@dataclass(frozen=True, slots=True)
class Document:
    """A deployment's document as Git has it now: its columns by name, or None when it is gone."""

    deployment: str
    site: str
    values: Mapping[str, Any] | None
    told: Told


class Known(NamedTuple):
    """What a row said before."""

    key: int
    id: str
    site: str
    revision: str | None
    in_git: bool
    state: State
    name: str
    app: str


def take(session: Session, documents: Sequence[Document], at: datetime) -> None:
    """Bring the rows in line with these documents, and tell of each."""
    ensure_sites(session, {one.site for one in documents}, at)
    known = _known(session, documents)
    changed = [
        one
        for one in documents
        if one.values is not None or _in_git(known.get((one.site, one.deployment)))
    ]
    _write(session, changed, known, at)
    after = _after(session, changed, known)
    rows = [after[one.site, one.deployment] for one in changed]
    placed = _wanted(session, changed, known, after, at)
    for some in _chunks(row.key for row in rows if row.key in placed or _unsettled(row)):
        settle_all(session, some, at)
    session.flush()
    for pairs in _chunks(zip(changed, (row.key for row in rows), strict=True)):
        _tell(session, pairs, placed, at)


def _tell(
    session: Session, some: Sequence[tuple[Document, int]], placed: set[int], at: datetime
) -> None:
    """An event for each deployment; `placed` are the keys of those that have placements."""
    moment = Moment(at)
    # What was just written need not be read again: only what follows from it.
    rows = _rows(session, [key for one, key in some if one.values is not None], _WRITTEN)
    rows |= _rows(session, [key for one, key in some if one.values is None], _UNSEEN)
    own = placements.of_deployments(session, [key for _, key in some if key in placed], moment)
    seen = _seen(session, {one.site for one, _ in some})
    made = []
    for one, key in some:
        row = SimpleNamespace(**{**rows[key]._mapping, **(one.values or {})})
        shown = deployments.shape(row, own.get(key, []), moment.site(seen[one.site]))
        made.append(events.row(EventKind.DEPLOYMENT, shown, one.site, one.deployment, at))
    events.append_all(session, made)


def _rows(session: Session, keys: Sequence[int], without: frozenset[str]) -> dict[int, Any]:
    into = table(Deployment)
    columns = [one for one in into.columns if one.name not in without]
    found = session.execute(select(*columns).where(into.c.key.in_(keys))) if keys else ()
    return {row.key: row for row in found}


def wanted_commits(session: Session, wanted: Mapping[str, str], at: datetime) -> None:
    """Note for each site the newest commit that touched its subtree, and tell of it."""
    ensure_sites(session, wanted, at)
    for some in _chunks(sorted(wanted)):
        rows = [{"name": name, "wanted_commit": wanted[name]} for name in some]
        bulk.change(session, Site, rows, "name")
        session.expire_all()
        only, limit = frozenset(some), len(some)
        shown = fleet.sites(session, Moment(at), after=None, limit=limit, only=only)
        told = [events.row(EventKind.SITE, one, one["name"], None, at) for _, one in shown]
        events.append_all(session, told)


def with_findings(session: Session, names: Iterable[str]) -> set[str]:
    """Of these sites those at which findings are shown."""
    found = set()
    for some in _chunks(sorted(set(names))):
        query = select(Site.name, Site.findings).where(Site.name.in_(some))
        found |= {row.name for row in session.execute(query) if row.findings}
    return found


def _seen(session: Session, names: Iterable[str]) -> dict[str, datetime | None]:
    query = select(Site.name, Site.last_seen).where(Site.name.in_(list(names)))
    return {row.name: row.last_seen for row in session.execute(query)}


def ensure_sites(session: Session, names: Iterable[str], at: datetime) -> None:
    """Rows for sites that only Git knows, so that they can be seen."""
    wanted = sorted(set(names))
    known: set[str] = set()
    for some in _chunks(wanted):
        known |= set(session.scalars(select(Site.name).where(Site.name.in_(some))))
    for name in wanted:
        if name not in known:
            empty: dict[str, Any] = {"document": {}, "findings": [], "labels": {}, "drain": False}
            session.add(Site(name=name, created_at=at, **empty))
    session.flush()


def _known(session: Session, documents: Sequence[Document]) -> dict[tuple[str, str], Known]:
    found: dict[tuple[str, str], Known] = {}
    for some in _chunks(sorted({one.deployment for one in documents})):
        for row in session.execute(select(*_KNOWN).where(Deployment.id.in_(some))):
            found[row.site, row.id] = Known(*row)
    return found


def _after(
    session: Session,
    documents: Sequence[Document],
    known: Mapping[tuple[str, str], Known],
) -> dict[tuple[str, str], Known]:
    """What the rows say once they are written; only new ones have to be asked for their keys."""
    found = _known(session, [one for one in documents if (one.site, one.deployment) not in known])
    for one in documents:
        before = known.get((one.site, one.deployment))
        if before is not None:
            here = one.values is not None
            found[one.site, one.deployment] = before._replace(in_git=here)
    return found


def _in_git(row: Known | None) -> bool:
    return row is not None and bool(row.in_git)


def _unsettled(row: Known) -> bool:
    """Without placements a document that is there is PENDING, and nothing else."""
    return row.state is not State.PENDING or not row.in_git


def _write(
    session: Session,
    documents: Sequence[Document],
    known: Mapping[tuple[str, str], Known],
    at: datetime,
) -> None:
    new, there, gone = [], [], []
    for one in documents:
        told = one.told
        row = known.get((one.site, one.deployment))
        values = {
            "in_git": one.values is not None,
            "commit": told.commit,
            "author": told.author,
            "request": told.request,
            "updated_at": told.at,
        }
        if one.values is None:
            assert row is not None, "what is gone was there"
            gone.append({**values, "key": row.key})
        elif row is None:
            fresh = {"state": State.PENDING, "outcome": Outcome.PENDING, "created_at": at}
            new.append({**one.values, **values, **fresh, "id": one.deployment, "site": one.site})
        else:
            there.append({**one.values, **values, "deleted_at": None, "key": row.key})
    bulk.append(session, Deployment, new)
    bulk.change(session, Deployment, _changing(there, known.values()), "key")
    bulk.change(session, Deployment, gone, "key")
    session.expire_all()


def _changing(rows: Sequence[dict[str, Any]], known: Iterable[Known]) -> list[dict[str, Any]]:
    """The rows without those indexed columns that no row changes."""
    before = {row.key: row for row in known}
    same = {
        name
        for name in _SELDOM
        if all(row[name] == getattr(before[row["key"]], name) for row in rows)
    }
    return [{name: value for name, value in row.items() if name not in same} for row in rows]


def _wanted(
    session: Session,
    documents: Sequence[Document],
    known: Mapping[tuple[str, str], Known],
    after: Mapping[tuple[str, str], Known],
    at: datetime,
) -> set[int]:
    """Another revision is wanted, or none any more: the outcome is open until the runner tells.

    Where that revision already runs there is nothing for a runner to do, and so nothing to tell.
    The keys of all that have placements.
    """
    of_key = {after[one.site, one.deployment].key: one for one in documents}
    placed: set[int] = set()
    for some in _chunks(of_key):
        for placement in session.scalars(select(Placement).where(Placement.deployment.in_(some))):
            placed.add(placement.deployment)
            one = of_key[placement.deployment]
            before = known.get((one.site, one.deployment))
            if placement.state is State.DELETED:
                continue
            if one.values is None:
                placement.outcome = Outcome.PENDING
            elif before is None or before.revision != one.values["revision"]:
                _want(placement, one.values, at)
        session.flush()
    return placed


def _want(placement: Placement, values: Mapping[str, Any], at: datetime) -> None:
    revision = values["revision"]
    runs = placement.state is State.INSTALLED and placement.revision == revision
    placement.wanted_revision, placement.wanted_version = revision, values["version"]
    placement.outcome = Outcome.SUCCEEDED if runs else Outcome.PENDING
    if placement.state not in WORKING:
        # What it says of the revision before is no reason for this one; FAILED keeps its error.
        placement.reason = RUNS_ALREADY if runs else OTHER_WANTED
        placement.error = placement.error if placement.state is State.FAILED else None
    placement.updated_at = at


def _chunks(values: Iterable[Any]) -> Iterator[list[Any]]:
    listed = list(values)
    for begin in range(0, len(listed), CHUNK):
        yield listed[begin : begin + CHUNK]

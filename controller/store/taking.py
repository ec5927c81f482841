"""What Git says of deployments, taken into the rows many at a time: a commit may touch thousands.

Documents that came, changed or went; each leaves an event with its deployment as it then is.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import select

from controller.store import bulk, deployments, events, fleet, placements
from controller.store.aggregate import Stand, settle_known
from controller.store.among import among
from controller.store.columns import table
from controller.store.documents import OTHER_WANTED, RUNS_ALREADY
from controller.store.freshness import Moment
from controller.store.models import Deployment, Placement, Site
from controller.store.words import EventKind
from margrave.lifecycle import WORKING, Outcome, State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

    from controller.store.documents import Told

CHUNK: Final = 500  # of what is asked for or told at once

# What is shown of a row that its document does not say anew; the JSON in it only where it is gone.
_DEPLOYMENTS: Final = table(Deployment)
_KEPT: Final = ("parameters", "findings")
_HEAVY: Final = frozenset({*_KEPT, "document", "needs", "extensions", "search"})
_STANDING: Final = [one for one in _DEPLOYMENTS.columns if one.name not in _HEAVY]
# Indexes hold them, and a database writes an index anew for the same value too.
_SELDOM: Final = ("name", "app")

Place = tuple[str, str]  # site and id
Row = SimpleNamespace  # of a deployment, by column names; `last_seen` is its site's


@dataclass(frozen=True, slots=True)
class Document:
    """A deployment's document as Git has it now: its columns by name, or None when it is gone."""

    deployment: str
    site: str
    values: Mapping[str, Any] | None
    told: Told


def take(session: Session, documents: Sequence[Document], at: datetime) -> None:
    """Bring the rows in line with these documents, and tell of each."""
    ensure_sites(session, {one.site for one in documents}, at)
    rows = _standing(session, {one.deployment for one in documents})
    changed = [
        one
        for one in documents
        if one.values is not None or _in_git(rows.get((one.site, one.deployment)))
    ]
    before = {place: row.revision for place, row in rows.items()}
    _write(session, changed, rows, at)
    new = [one for one in changed if (one.site, one.deployment) not in before]
    made = _standing(session, {one.deployment for one in new})
    for one in new:
        row = rows[one.site, one.deployment] = made[one.site, one.deployment]
        vars(row).update(one.values or {})
    by_key = {rows[one.site, one.deployment].key: one for one in changed}
    stands = _wanted(session, by_key, before, at)
    for key, stand in _settle(session, rows.values(), by_key, stands, at).items():
        one = by_key[key]
        row = rows[one.site, one.deployment]
        ended = (row.deleted_at or at) if stand.state is State.DELETED else None
        vars(row).update(stand._asdict(), updated_at=at, deleted_at=ended)
    session.flush()
    for some in _chunks(changed):
        _tell(session, some, rows, stands, at)


def _tell(
    session: Session,
    some: Sequence[Document],
    rows: Mapping[Place, Row],
    placed: Collection[int],
    at: datetime,
) -> None:
    """An event for each deployment; `placed` are the keys of those that have placements."""
    moment = Moment(at)
    shown = [(one, rows[one.site, one.deployment]) for one in some]
    own: dict[int, list[dict[str, Any]]] = {}
    if placed:
        there = [row.key for _, row in shown if row.key in placed]
        own = placements.of_deployments(session, there, moment)
    made = []
    for one, row in shown:
        resource = deployments.shape(row, own.get(row.key, []), moment.site(row.last_seen))
        made.append(events.row(EventKind.DEPLOYMENT, resource, one.site, one.deployment, at))
    events.append_all(session, made)


def _settle(
    session: Session,
    rows: Iterable[Row],
    of_key: Collection[int],
    stands: Mapping[int, Sequence[Stand]],
    at: datetime,
) -> dict[int, Stand]:
    """Bring state and outcome in line with the placements; what they became where they changed.

    Without placements a document that is there is PENDING, and nothing else.
    """
    unsettled = [
        row.key
        for row in rows
        if row.key in of_key
        and (row.key in stands or row.state is not State.PENDING or not row.in_git)
    ]
    found: dict[int, Stand] = {}
    for some in _chunks(unsettled):
        found |= settle_known(session, some, stands, at)
    return found


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


def _standing(session: Session, ids: Iterable[str]) -> dict[Place, Row]:
    """The rows of these ids, at whatever sites."""
    sites = table(Site)
    query = select(*_STANDING, sites.c.last_seen).join(sites, sites.c.name == _DEPLOYMENTS.c.site)
    found = {}
    for some in _chunks(ids):
        for row in session.execute(query.where(among(session, _DEPLOYMENTS.c.id, some))):
            found[row.site, row.id] = Row(**row._mapping)
    return found


def _in_git(row: Row | None) -> bool:
    return row is not None and bool(row.in_git)


def _write(
    session: Session, documents: Sequence[Document], rows: Mapping[Place, Row], at: datetime
) -> None:
    """Write what the documents say, into the rows at hand too."""
    new, there, gone = [], [], []
    for one in documents:
        told = one.told
        row = rows.get((one.site, one.deployment))
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
    known = {row.key: row for row in rows.values()}
    bulk.append(session, Deployment, new)
    bulk.change(session, Deployment, _changing(there, known), "key")
    bulk.change(session, Deployment, gone, "key")
    for written in (*there, *gone):
        vars(known[written["key"]]).update(written)
    for row in _kept(session, [one["key"] for one in gone]):
        vars(known[row.key]).update(row._mapping)
    session.expire_all()


def _kept(session: Session, keys: Iterable[int]) -> Iterator[Any]:
    """What a document that is gone said last, and what is shown all the same."""
    columns = [_DEPLOYMENTS.c[name] for name in ("key", *_KEPT)]
    for some in _chunks(keys):
        query = select(*columns).where(among(session, _DEPLOYMENTS.c.key, some))
        yield from session.execute(query)


def _changing(rows: Sequence[dict[str, Any]], known: Mapping[int, Row]) -> list[dict[str, Any]]:
    """The rows without those indexed columns that no row changes."""
    same = {
        name
        for name in _SELDOM
        if all(row[name] == getattr(known[row["key"]], name) for row in rows)
    }
    return [{name: value for name, value in row.items() if name not in same} for row in rows]


def _wanted(
    session: Session,
    of_key: Mapping[int, Document],
    before: Mapping[Place, str | None],
    at: datetime,
) -> dict[int, list[Stand]]:
    """Another revision is wanted, or none any more: the outcome is open until the runner tells.

    Where that revision already runs there is nothing for a runner to do, and so nothing to tell.
    How each that has placements stands afterwards, on each node in its newest incarnation.
    """
    newest: dict[tuple[int, str], Stand] = {}
    for some in _chunks(of_key):
        query = select(Placement).where(among(session, Placement.deployment, some))
        for placement in session.scalars(query.order_by(Placement.incarnation)):
            one = of_key[placement.deployment]
            if placement.state is not State.DELETED:
                if one.values is None:
                    placement.outcome = Outcome.PENDING
                elif before.get((one.site, one.deployment)) != one.values["revision"]:
                    _want(placement, one.values, at)
            stand = Stand(placement.state, placement.outcome)
            newest[placement.deployment, placement.node] = stand
        session.flush()
    found: dict[int, list[Stand]] = {}
    for (key, _), stand in newest.items():
        found.setdefault(key, []).append(stand)
    return found


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

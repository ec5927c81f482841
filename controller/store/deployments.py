"""Queries of deployments: the resource, lists by keyset, and their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import func, or_, select, tuple_
from sqlalchemy.orm import aliased

from controller.store import placements
from controller.store.freshness import overall
from controller.store.models import Deployment, Site
from controller.store.shapes import stamp
from margrave.lifecycle import Freshness, Outcome, State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from sqlalchemy import ColumnElement
    from sqlalchemy.orm import Session

    from controller.store.freshness import Moment

Row = tuple[tuple[int], dict[str, Any]]

# A resource's columns; the document beside them is what makes a row wide.
_SHOWN: Final = (
    Deployment.key,
    Deployment.id,
    Deployment.site,
    Deployment.name,
    Deployment.app,
    Deployment.version,
    Deployment.profile,
    Deployment.state,
    Deployment.outcome,
    Deployment.revision,
    Deployment.document_digest,
    Deployment.commit,
    Deployment.parameters,
    Deployment.created_at,
    Deployment.updated_at,
    Deployment.request,
    Deployment.author,
    Deployment.in_git,
    Deployment.findings,
    Deployment.deleted_at,
)


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
    outcome: Outcome | None = None
    q: str | None = None
    sites: frozenset[str] | None = None  # those that the asker may see; None is all
    sort: Sort = Sort.NEWEST

    def conditions(self) -> list[ColumnElement[bool]]:
        """The same as SQL."""
        found: list[ColumnElement[bool]] = [
            Deployment.state == self.state if self.state else Deployment.state != State.DELETED
        ]
        for column, value in (
            (Deployment.site, self.site),
            (Deployment.app, self.app),
            (Deployment.name, self.name),
            (Deployment.outcome, self.outcome),
        ):
            if value is not None:
                found.append(column == value)
        if self.q:
            columns = (Deployment.name, Deployment.app, Deployment.site, Deployment.id)
            found.append(or_(*(column.icontains(self.q, autoescape=True) for column in columns)))
        if self.sites is not None:
            found.append(Deployment.site.in_(self.sites))
        return found


@dataclass(frozen=True, slots=True)
class Key:
    """A deployment found by its id."""

    key: int
    id: str
    site: str
    in_git: bool
    state: State
    revision: str | None
    version: str | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A deployment as it is shown: its resource and those of its placements."""

    key: int
    resource: dict[str, Any]
    placements: list[dict[str, Any]]


def find(session: Session, deployment_id: str, site: str | None = None) -> Key | None:
    """The deployment of an id; where sites share one, the one in Git, then the newest."""
    query = (
        select(Deployment)
        .where(Deployment.id == deployment_id)
        .order_by(Deployment.in_git.desc(), Deployment.key.desc())
        .limit(1)
    )
    if site is not None:
        query = query.where(Deployment.site == site)
    row = session.scalar(query)
    return _key(row) if row else None


def find_all(session: Session, ids: Sequence[str], site: str) -> dict[str, Key]:
    """The deployments of these ids at a site, by id."""
    columns = (Deployment.key, Deployment.id, Deployment.site, Deployment.in_git, Deployment.state)
    query = select(*columns, Deployment.revision, Deployment.version)
    found = session.execute(query.where(Deployment.site == site, Deployment.id.in_(ids)))
    return {row.id: Key(*row) for row in found}


def adopt(
    session: Session, deployment_id: str, site: str, name: str, app: str, now: datetime
) -> Key:
    """A deployment that only the runner knows (a database made anew): kept until Git tells more."""
    row = Deployment(
        id=deployment_id,
        site=site,
        name=name,
        app=app,
        profile="",
        in_git=False,
        state=State.PENDING,
        outcome=Outcome.PENDING,
        created_at=now,
        updated_at=now,
    )
    session.add(row)
    session.flush()
    return _key(row)


def _key(row: Deployment) -> Key:
    return Key(row.key, row.id, row.site, row.in_git, row.state, row.revision, row.version)


def resource(session: Session, key: int, moment: Moment) -> dict[str, Any]:
    """The resource of one deployment."""
    return _shown(session, [session.get_one(Deployment, key)], moment)[0].resource


def resources(session: Session, rows: Sequence[Deployment], moment: Moment) -> list[dict[str, Any]]:
    """The resources of deployments that no runner has heard of: nothing of them is placed."""
    seen = _sites_seen(session, {row.site for row in rows})
    return [shape(row, [], moment.site(seen.get(row.site))) for row in rows]


def manifest(session: Session, key: int) -> str | None:
    """The YAML as in Git; the last one after a delete."""
    return session.get_one(Deployment, key).document


def listing(
    session: Session, wanted: Wanted, moment: Moment, *, after: int | None, limit: int
) -> list[Row]:
    """Resources, newest first, with the key of each."""
    return [
        ((one.key,), one.resource)
        for one in overview(session, wanted, moment, after=after, limit=limit)
    ]


def overview(
    session: Session, wanted: Wanted, moment: Moment, *, after: int | None, limit: int
) -> list[Shown]:
    """Deployments with their placements, in the order that is wanted, behind the one of a key."""
    query = _ordered(select(Deployment).where(*wanted.conditions()), wanted.sort, after)
    return _shown(session, session.scalars(query.limit(limit)).all(), moment)


def _ordered(query: Any, sort: Sort, after: int | None) -> Any:
    """In order, behind the row of a key: where that one stands now is read with the page."""
    if sort is Sort.NEWEST:
        query = query.order_by(Deployment.key.desc())
        return query if after is None else query.where(Deployment.key < after)
    column, down = _ORDERS[sort]
    pair = (column, Deployment.key)
    query = query.order_by(*(one.desc() if down else one.asc() for one in pair))
    if after is None:
        return query
    last = aliased(Deployment)
    at = select(getattr(last, column.key)).where(last.key == after).scalar_subquery()
    beyond, here = tuple_(*pair), tuple_(at, after)
    return query.where(beyond < here if down else beyond > here)


def by_state(session: Session) -> dict[tuple[str, str, str], int]:
    """How many deployments there are of each site, state and outcome."""
    columns = (Deployment.site, Deployment.state, Deployment.outcome)
    query = select(*columns, func.count()).where(Deployment.state != State.DELETED)
    return {
        (site, state.value, outcome.value): number
        for site, state, outcome, number in session.execute(query.group_by(*columns))
    }


def rows(session: Session, keys: Collection[int]) -> list[Any]:
    """What the resources of these deployments are made of, newest first."""
    if not keys:
        return []
    query = select(*_SHOWN).where(Deployment.key.in_(keys)).order_by(Deployment.key.desc())
    return list(session.execute(query))


def _shown(session: Session, rows: Sequence[Deployment], moment: Moment) -> list[Shown]:
    found = placements.of_deployments(session, [row.key for row in rows], moment)
    seen = _sites_seen(session, {row.site for row in rows})
    made = []
    for row in rows:
        own = found.get(row.key, [])
        made.append(Shown(row.key, shape(row, own, moment.site(seen.get(row.site))), own))
    return made


def _sites_seen(session: Session, names: Iterable[str]) -> dict[str, datetime | None]:
    query = select(Site.name, Site.last_seen).where(Site.name.in_(list(names)))
    return {row.name: row.last_seen for row in session.execute(query)}


def shape(row: Any, own: list[dict[str, Any]], site: Freshness) -> dict[str, Any]:
    """The resource of the API."""
    parts = [Freshness(one["freshness"]) for one in own if one["state"] != State.DELETED]
    return {
        "id": row.id,
        "name": row.name,
        "app": row.app,
        "version": row.version,
        "profile": row.profile,
        "site": row.site,
        "state": str(row.state),
        "outcome": str(row.outcome),
        "freshness": overall(parts, site).value,
        "revision": row.revision,
        "document_digest": row.document_digest,
        "commit": row.commit,
        "parameters": row.parameters,
        "created_at": stamp(row.created_at),
        "updated_at": stamp(row.updated_at),
        "request": row.request,
        "author": row.author,
        "in_git": row.in_git,
        "findings": row.findings,
        "deleted_at": stamp(row.deleted_at),
    }

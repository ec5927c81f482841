"""Queries of deployments: the resource, lists by keyset, and their numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, case, func, or_, select, tuple_

from controller.store import finding, placements
from controller.store.columns import Utc, table
from controller.store.finding import Sort as Sort
from controller.store.finding import Wanted as Wanted
from controller.store.freshness import overall
from controller.store.models import Deployment, Request, Site
from controller.store.shapes import stamp
from margrave.lifecycle import Freshness, Outcome, State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime

    from sqlalchemy.orm import Session

    from controller.store.freshness import Moment

Row = tuple[tuple[int], dict[str, Any]]

# A resource's columns; the document beside them is what makes a row wide. The statement is written
# once, of tables: the ORM and the writing took longer than the database.
_TABLE: Final = table(Deployment).c
_SITES: Final = table(Site)
_SHOWN: Final = (
    select(
        _TABLE.key,
        _TABLE.id,
        _TABLE.site,
        _TABLE.name,
        _TABLE.app,
        _TABLE.version,
        _TABLE.profile,
        _TABLE.state,
        _TABLE.outcome,
        _TABLE.revision,
        _TABLE.document_digest,
        _TABLE.commit,
        _TABLE.parameters,
        _TABLE.created_at,
        _TABLE.updated_at,
        _TABLE.request,
        _TABLE.author,
        _TABLE.in_git,
        _TABLE.findings,
        _TABLE.deleted_at,
        _SITES.c.last_seen,
    )
    .join(_SITES, _SITES.c.name == _TABLE.site)
    .where(_TABLE.key.in_(bindparam("keys", expanding=True)))
    .order_by(_TABLE.key.desc())
)


_KEY: Final = (
    Deployment.key,
    Deployment.id,
    Deployment.site,
    Deployment.in_git,
    Deployment.state,
    Deployment.revision,
    Deployment.version,
)


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


def names(session: Session, concerned: Sequence[tuple[str, str]]) -> dict[tuple[str, str], str]:
    """Return the names of deployments by id and site."""
    pair = tuple_(Deployment.id, Deployment.site)
    query = select(Deployment.id, Deployment.site, Deployment.name).where(pair.in_(concerned))
    return {(row.id, row.site): row.name for row in session.execute(query)}


def find(
    session: Session,
    deployment_id: str,
    site: str | None = None,
    only: frozenset[str] | None = None,
) -> Key | None:
    """Return the deployment of an id at a site, or at any of the sites in `only`.

    Where sites share an id, the eldest that is in Git (or on its way there) has it: whoever may
    push to one site must not take the ids of another. Of those that are gone, the newest has it.
    """
    wanted = or_(Deployment.in_git, Deployment.commit.is_(None))
    age = case((wanted, Deployment.key), else_=-Deployment.key)
    query = (
        select(*_KEY)
        .where(Deployment.id == deployment_id)
        .order_by(case((wanted, 0), else_=1), age)
        .limit(1)
    )
    if site is not None:
        query = query.where(Deployment.site == site)
    if only is not None:
        query = query.where(Deployment.site.in_(only))
    row = session.execute(query).first()
    return Key(*row) if row else None


def find_all(session: Session, ids: Sequence[str], site: str) -> dict[str, Key]:
    """The deployments of these ids at a site, by id."""
    found = session.execute(select(*_KEY).where(Deployment.site == site, Deployment.id.in_(ids)))
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
    return _resources(session, rows(session, [key]), moment)[0]


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
    """Resources in the order that is wanted, with the key of each, behind the one of a key."""
    page = _page(session, wanted, after, limit)
    shown = _resources(session, page, moment)
    return [((row.key,), one) for row, one in zip(page, shown, strict=True)]


def overview(
    session: Session, wanted: Wanted, moment: Moment, *, after: int | None, limit: int
) -> list[Shown]:
    """Deployments with their placements, in the order that is wanted, behind the one of a key."""
    return _shown(session, _page(session, wanted, after, limit), moment)


def _resources(session: Session, page: Sequence[Any], moment: Moment) -> list[dict[str, Any]]:
    fresh = placements.freshness_of(session, {row.key: row.last_seen for row in page}, moment)
    return [shape(row, fresh.get(row.key, []), moment.site(row.last_seen)) for row in page]


def _page(session: Session, wanted: Wanted, after: int | None, limit: int) -> list[Any]:
    keys = finding.keys(session, wanted, after=after, limit=limit)
    found = {row.key: row for row in rows(session, keys)}
    return [found[key] for key in keys]


def by_state(session: Session) -> dict[tuple[str, str, str], int]:
    """How many deployments there are of each site, state and outcome."""
    columns = (Deployment.site, Deployment.state, Deployment.outcome)
    query = select(*columns, func.count()).where(Deployment.state != State.DELETED)
    return {
        (site, state.value, outcome.value): number
        for site, state, outcome, number in session.execute(query.group_by(*columns))
    }


def pending_since(session: Session) -> dict[str, datetime]:
    """For each site with something that is wanted and does not run yet: since when, at most."""
    asked = func.coalesce(Request.ended_at, Deployment.updated_at, type_=Utc())
    query = (
        select(Deployment.site, func.min(asked, type_=Utc()).label("since"))
        .outerjoin(Request, Request.id == Deployment.request)
        .where(Deployment.outcome == Outcome.PENDING, Deployment.in_git)
        .group_by(Deployment.site)
        .order_by(Deployment.site)
    )
    return {row.site: row.since for row in session.execute(query)}


def rows(session: Session, keys: Collection[int]) -> list[Any]:
    """What the resources of these deployments are made of, newest first."""
    if not keys:
        return []
    return list(session.execute(_SHOWN, {"keys": list(keys)}))


def _shown(session: Session, rows: Sequence[Any], moment: Moment) -> list[Shown]:
    found = placements.of_deployments(session, [row.key for row in rows], moment)
    made = []
    for row in rows:
        own = found.get(row.key, [])
        made.append(Shown(row.key, shape(row, own, moment.site(row.last_seen)), own))
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

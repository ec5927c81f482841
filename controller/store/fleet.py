"""Queries of sites and nodes as they are shown, and what runners tell of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, func, select

from controller.store.choosing import EVERY_NODE, EVERY_SITE
from controller.store.choosing import Held as Held
from controller.store.choosing import WantedNodes as WantedNodes
from controller.store.choosing import WantedSites as WantedSites
from controller.store.models import Deployment, Node, Site
from controller.store.shapes import stamp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session

    from controller.store.freshness import Moment

SiteRow = tuple[tuple[str], dict[str, Any]]
NodeRow = tuple[tuple[str, str], dict[str, Any]]


def site_exists(session: Session, name: str) -> bool:
    """Whether the site is known."""
    return session.get(Site, name) is not None


def tell_site(session: Session, name: str, values: Mapping[str, Any]) -> bool:
    """Keep what a runner says of its site; whether anything but the time changed."""
    return _set(session.get_one(Site, name), values, quiet=("last_seen",))


def tell_node(
    session: Session, site: str, name: str, values: Mapping[str, Any], now: datetime
) -> bool:
    """Keep what a runner says of a node, a new one too; whether anything but the time changed."""
    row = session.get(Node, (site, name))
    if row is None:
        row = Node(site=site, name=name, registered_at=now)
        session.add(row)
        _set(row, values)
        session.flush()
        return True
    return _set(row, values, quiet=("last_seen",))


def forget_node(session: Session, site: str, name: str) -> bool:
    """Remove a node's row; whether there was one."""
    found = session.get(Node, (site, name))
    session.execute(delete(Node).where(Node.site == site, Node.name == name))
    return found is not None


def node_names(session: Session, site: str) -> set[str]:
    """The nodes of a site."""
    return set(session.scalars(select(Node.name).where(Node.site == site)))


def site(session: Session, name: str, moment: Moment) -> dict[str, Any] | None:
    """The resource of one site, with its document as it stands in Git."""
    row = session.get(Site, name)
    return {**_sites(session, [row], moment)[0], "document": row.document} if row else None


def sites(
    session: Session,
    moment: Moment,
    *,
    after: str | None,
    limit: int,
    only: frozenset[str] | None = None,
    wanted: WantedSites = EVERY_SITE,
) -> list[SiteRow]:
    """Resources in the order of names, with the key of each."""
    query = select(Site).order_by(Site.name).limit(limit)
    if after is not None:
        query = query.where(Site.name > after)
    if only is not None:
        query = query.where(Site.name.in_(only))
    query = query.where(*wanted.holds(moment))
    rows = list(session.scalars(query))
    return [((one["name"],), one) for one in _sites(session, rows, moment)]


def node(session: Session, site_name: str, name: str, moment: Moment) -> dict[str, Any] | None:
    """The resource of one node."""
    row = session.get(Node, (site_name, name))
    return _node(row, session.get_one(Site, site_name).last_seen, moment) if row else None


def nodes(
    session: Session,
    moment: Moment,
    *,
    after: tuple[str, str] | None = None,
    limit: int,
    wanted: WantedNodes = EVERY_NODE,
    only: frozenset[str] | None = None,
) -> list[NodeRow]:
    """Resources in the order of sites and names, with the key of each."""
    query = select(Node, Site.last_seen).join(Site, Site.name == Node.site)
    query = query.order_by(Node.site, Node.name).limit(limit)
    if after is not None:
        query = query.where(
            (Node.site > after[0]) | ((Node.site == after[0]) & (Node.name > after[1]))
        )
    query = query.where(*wanted.holds(moment))
    if only is not None:
        query = query.where(Node.site.in_(only))
    return [
        ((row.site, row.name), _node(row, seen, moment)) for row, seen in session.execute(query)
    ]


def _sites(session: Session, rows: list[Site], moment: Moment) -> list[dict[str, Any]]:
    names = [row.name for row in rows]
    states: dict[str, dict[str, int]] = {name: {} for name in names}
    counted = (
        select(Deployment.site, Deployment.state, func.count())
        .where(Deployment.site.in_(names))
        .group_by(Deployment.site, Deployment.state)
    )
    for name, state, number in session.execute(counted):
        states[name][state.value] = number
    had: dict[str, list[str]] = {name: [] for name in names}
    for name, node_name in session.execute(
        select(Node.site, Node.name).where(Node.site.in_(names)).order_by(Node.site, Node.name)
    ):
        had[name].append(node_name)
    return [_site(row, had[row.name], states[row.name], moment) for row in rows]


def _site(
    row: Site, node_names_: list[str], states: dict[str, int], moment: Moment
) -> dict[str, Any]:
    return {
        "name": row.name,
        "labels": row.labels,
        "timezone": row.timezone,
        "freshness": moment.site(row.last_seen).value,
        "last_seen": stamp(row.last_seen),
        "wanted_commit": row.wanted_commit,
        "applied_commit": row.applied_commit,
        "paused": row.paused,
        "drain": row.drain,
        "locked": row.locked,
        "halted": row.halted,
        "clock_offset": row.clock_offset,
        "nodes": node_names_,
        "deployments": states,
        "findings": row.findings,
        "created_at": stamp(row.created_at),
    }


def _node(row: Node, site_seen: datetime | None, moment: Moment) -> dict[str, Any]:
    return {
        "site": row.site,
        "name": row.name,
        "address": row.address,
        "status": moment.node(row.status, site_seen).value,
        "drain": row.drain,
        "last_seen": stamp(row.last_seen),
        "reason": row.reason,
        "labels": row.labels,
        "capabilities": row.capabilities,
        "registered_at": stamp(row.registered_at),
    }


def _set(row: Site | Node, values: Mapping[str, Any], quiet: tuple[str, ...] = ()) -> bool:
    changed = False
    for name, value in values.items():
        if getattr(row, name) != value:
            setattr(row, name, value)
            changed = changed or name not in quiet
    return changed


def last_seen(session: Session) -> dict[str, datetime | None]:
    """When each site's runner was last heard of."""
    rows = session.execute(select(Site.name, Site.last_seen))
    return {row.name: row.last_seen for row in rows}

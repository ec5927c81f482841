"""Queries of placements: a deployment on a node, the newest incarnation of each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select, tuple_

from controller.store.freshness import freshness
from controller.store.models import Deployment, Node, Placement, Site
from controller.store.shapes import stamp
from margrave.lifecycle import State

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime
    from types import SimpleNamespace

    from sqlalchemy import Row, Select
    from sqlalchemy.orm import Session

    from controller.store.freshness import Moment


@dataclass(frozen=True, slots=True)
class Stand:
    """Where a placement stands, as far as a report has to know."""

    incarnation: int
    state: State


def stand(session: Session, key: int, node: str) -> Stand | None:
    """The newest incarnation on a node."""
    row = session.execute(
        select(Placement.incarnation, Placement.state)
        .where(Placement.deployment == key, Placement.node == node)
        .order_by(Placement.incarnation.desc())
        .limit(1)
    ).first()
    return Stand(row.incarnation, row.state) if row else None


def running(session: Session, key: int, node: str) -> str | None:
    """The revision that runs on a node, as far as it was told."""
    return session.scalar(
        select(Placement.revision)
        .where(Placement.deployment == key, Placement.node == node)
        .order_by(Placement.incarnation.desc())
        .limit(1)
    )


def standing(session: Session, site: str) -> dict[tuple[str, str], Stand]:
    """All placements of a site that are not DELETED, by deployment id and node."""
    query = (
        select(Deployment.id, Placement.node, Placement.incarnation, Placement.state)
        .join(Deployment, Deployment.key == Placement.deployment)
        .where(Deployment.site == site, Placement.state != State.DELETED)
    )
    return {(row.id, row.node): Stand(row.incarnation, row.state) for row in session.execute(query)}


def of_deployments(
    session: Session, keys: Iterable[int], moment: Moment
) -> dict[int, list[dict[str, Any]]]:
    """The resources of the newest incarnations, by deployment key, in the order of nodes."""
    found: dict[int, list[dict[str, Any]]] = {}
    for row in session.execute(_newest(list(keys))):
        found.setdefault(row[0].deployment, []).append(_shown(row, moment))
    return found


def freshness_of(
    session: Session, keys: Iterable[int], moment: Moment
) -> dict[int, list[dict[str, Any]]]:
    """State and freshness alone of the newest incarnations, by deployment key."""
    columns = (Placement.deployment, Placement.node, Placement.state, Node.status, Site.last_seen)
    query = (
        select(*columns)
        .join(Deployment, Deployment.key == Placement.deployment)
        .join(Site, Site.name == Deployment.site)
        .outerjoin(Node, (Node.site == Deployment.site) & (Node.name == Placement.node))
        .where(Placement.deployment.in_(list(keys)))
        .order_by(Placement.incarnation)
    )
    newest = {(row.deployment, row.node): row for row in session.execute(query)}
    found: dict[int, list[dict[str, Any]]] = {}
    for (key, _), row in newest.items():
        fresh = freshness(moment.node(row.status, row.last_seen)).value
        found.setdefault(key, []).append({"state": row.state, "freshness": fresh})
    return found


def count_on_node(session: Session, site: str, node: str) -> int:
    """How many placements, not yet DELETED, a node has."""
    query = (
        select(func.count())
        .select_from(Placement)
        .join(Deployment, Deployment.key == Placement.deployment)
        .where(Deployment.site == site, Placement.node == node, Placement.state != State.DELETED)
    )
    return session.scalar(query) or 0


def _newest(keys: list[int]) -> Select[Placement, str, str, str | None, datetime | None]:
    newest = (
        select(Placement.deployment, Placement.node, func.max(Placement.incarnation))
        .where(Placement.deployment.in_(keys))
        .group_by(Placement.deployment, Placement.node)
    )
    own = tuple_(Placement.deployment, Placement.node, Placement.incarnation)
    return _joined().where(own.in_(newest)).order_by(Placement.deployment, Placement.node)


def _joined() -> Select[Placement, str, str, str | None, datetime | None]:
    return (
        select(Placement, Deployment.id, Deployment.site, Node.status, Site.last_seen)
        .join(Deployment, Deployment.key == Placement.deployment)
        .join(Site, Site.name == Deployment.site)
        .outerjoin(Node, (Node.site == Deployment.site) & (Node.name == Placement.node))
    )


def _shown(
    row: Row[Placement, str, str, str | None, datetime | None], moment: Moment
) -> dict[str, Any]:
    placement, deployment, site, reported, seen = row
    return shape(placement, deployment, site, freshness(moment.node(reported, seen)).value)


def shape(
    row: Placement | SimpleNamespace, deployment_id: str, site: str, fresh: str
) -> dict[str, Any]:
    """The resource of the API."""
    return {
        "deployment": deployment_id,
        "site": site,
        "node": row.node,
        "incarnation": row.incarnation,
        "state": str(row.state),
        "outcome": str(row.outcome),
        "freshness": fresh,
        "revision": row.revision,
        "version": row.version,
        "wanted_revision": row.wanted_revision,
        "wanted_version": row.wanted_version,
        "attempt": row.attempt,
        "reason": row.reason,
        "error": row.error,
        "waiting": row.waiting,
        "health": row.health,
        "drift": row.drift,
        "components": row.components,
        "since": stamp(row.since),
    }

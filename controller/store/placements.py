"""Queries of placements: a deployment on a node, the newest incarnation of each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import bindparam, func, select, tuple_

from controller.store.columns import table
from controller.store.freshness import freshness
from controller.store.models import Deployment, Node, Placement, Site
from controller.store.shapes import stamp
from margrave.lifecycle import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime
    from types import SimpleNamespace

    from sqlalchemy import Row, Select
    from sqlalchemy.orm import Session

    from controller.store.freshness import Moment


# Written once, of tables: a page of the list asks it, and the writing took longer than the answer.
_OWN: Final = table(Placement)
_OF: Final = table(Deployment)
_NODES: Final = table(Node)
_STATES: Final = (
    select(_OWN.c.deployment, _OWN.c.node, _OWN.c.state, _NODES.c.status)
    .join(_OF, _OF.c.key == _OWN.c.deployment)
    .outerjoin(_NODES, (_NODES.c.site == _OF.c.site) & (_NODES.c.name == _OWN.c.node))
    .where(_OWN.c.deployment.in_(bindparam("keys", expanding=True)))
    .order_by(_OWN.c.incarnation)
)


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
    session: Session, keys: Mapping[int, datetime | None], moment: Moment
) -> dict[int, list[dict[str, Any]]]:
    """State and freshness alone of the newest incarnations, by deployment key; `keys` with the
    time at which each one's site was last heard of."""
    found: dict[int, dict[str, tuple[State, str | None]]] = {}
    for key, node, state, status in session.execute(_STATES, {"keys": list(keys)}):
        found.setdefault(key, {})[node] = (state, status)
    known = cache(lambda status, seen: freshness(moment.node(status, seen)).value)
    return {
        key: [
            {"state": state, "freshness": known(status, keys[key])}
            for state, status in nodes.values()
        ]
        for key, nodes in found.items()
    }


def on_node(session: Session, site: str, node: str, moment: Moment) -> list[dict[str, Any]]:
    """The resources of what a node has, each with the deployment's name and application."""
    query = (
        _joined()
        .add_columns(Deployment.name, Deployment.app)
        .where(Deployment.site == site, Placement.node == node, Placement.state != State.DELETED)
        .order_by(Deployment.name, Placement.incarnation)
    )
    newest = {}
    for *row, name, app in session.execute(query):
        placement, deployment, at, reported, seen = row
        fresh = freshness(moment.node(reported, seen)).value
        told = {"name": name, "app": app, **shape(placement, deployment, at, fresh)}
        newest[placement.deployment] = told
    return list(newest.values())


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

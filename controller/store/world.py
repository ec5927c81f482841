"""The world as admission sees it: sites with their nodes, and what stands where."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, or_, select

from controller.store import finding
from controller.store.models import Deployment, Node, Placement, Site
from margrave.lifecycle import State

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from sqlalchemy.orm import Session


@dataclass(frozen=True)
class NodeView:
    """A node as its runner reported it."""

    name: str
    status: str | None
    drain: bool
    labels: Mapping[str, str]
    capabilities: Mapping[str, Any]
    load: int


@dataclass(frozen=True)
class SiteView:
    """A site with its nodes."""

    name: str
    labels: Mapping[str, str]
    document: Mapping[str, Any]
    last_seen: datetime | None
    nodes: tuple[NodeView, ...]


@dataclass(frozen=True)
class Standing:
    """A deployment as Git wants it (or soon will), with the nodes that it is on."""

    id: str
    site: str
    name: str
    app: str
    version: str | None
    revision: str | None
    profile: str
    node: str | None
    in_git: bool
    commit: str | None
    document: str | None
    document_digest: str | None
    request: str | None  # the last one that concerned it; None when that was a person's push
    needs: Mapping[str, Any]
    extensions: Mapping[str, Any]
    state: State
    placements: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    left: tuple[str, ...] = ()  # nodes that it was taken off and its data is on, the last first

    @property
    def awaited(self) -> bool:
        """Accepted, and on its way to Git."""
        return not self.in_git and self.commit is None and self.state is not State.DELETED

    @property
    def takes_its_name(self) -> bool:
        """Whether its name is taken: what is gone from Git has given it back."""
        return self.in_git or self.awaited


def sites(session: Session, names: Iterable[str] | None = None) -> dict[str, SiteView]:
    """Sites by name, all of them when no names are given."""
    query, nodes = select(Site).order_by(Site.name), select(Node).order_by(Node.name)
    load = (
        select(Deployment.site, Placement.node, func.count())
        .join(Deployment, Deployment.key == Placement.deployment)
        .where(Placement.state != State.DELETED)
        .group_by(Deployment.site, Placement.node)
    )
    if names is not None:
        wanted = list(names)
        query = query.where(Site.name.in_(wanted))
        nodes = nodes.where(Node.site.in_(wanted))
        load = load.where(Deployment.site.in_(wanted))
    loads = {(site, node): number for site, node, number in session.execute(load)}
    of_site: dict[str, list[NodeView]] = {}
    for row in session.scalars(nodes):
        view = NodeView(
            row.name,
            row.status,
            row.drain,
            row.labels,
            row.capabilities,
            loads.get((row.site, row.name), 0),
        )
        of_site.setdefault(row.site, []).append(view)
    return {
        row.name: SiteView(
            row.name, row.labels, row.document, row.last_seen, tuple(of_site.get(row.name, ()))
        )
        for row in session.scalars(query)
    }


def site_names(session: Session) -> list[str]:
    """All of them."""
    return list(session.scalars(select(Site.name).order_by(Site.name)))


def at_sites(session: Session, names: Iterable[str]) -> list[Standing]:
    """What stands, or is about to stand, at the sites; what is DELETED is left out."""
    query = select(Deployment).where(
        Deployment.site.in_(list(names)), Deployment.state != State.DELETED
    )
    return _standing(
        session, list(session.scalars(query.order_by(Deployment.site, Deployment.key)))
    )


def selected(session: Session, select_by: Mapping[str, Any]) -> list[Standing]:
    """Deployments as a list is filtered, by all that is given; DELETED ones only by id."""
    query = select(Deployment).order_by(Deployment.site, Deployment.key)
    if select_by.get("ids") is not None:
        query = query.where(Deployment.id.in_([one.lower() for one in select_by["ids"]]))
    else:
        query = query.where(
            Deployment.state != State.DELETED,
            or_(Deployment.in_git, Deployment.commit.is_(None)),
        )
    for key in ("name", "app", "state", "outcome"):
        if (wanted := select_by.get(key)) is not None:
            any_of = wanted if isinstance(wanted, list) else [wanted]
            query = query.where(getattr(Deployment, key).in_(any_of))
    if select_by.get("q") is not None:
        query = query.where(*finding.holding(select_by["q"]))
    if select_by.get("sites") is not None:
        query = query.where(Deployment.site.in_(select_by["sites"]))
    return _standing(session, list(session.scalars(query)))


def _standing(session: Session, rows: list[Deployment]) -> list[Standing]:
    placements: dict[int, dict[str, dict[str, Any]]] = {}
    left: dict[int, dict[str, datetime]] = {}
    query = (
        select(Placement)
        .where(Placement.deployment.in_([row.key for row in rows]))
        .order_by(Placement.incarnation)
    )
    for one in session.scalars(query):
        of_deployment = placements.setdefault(one.deployment, {})
        gone = left.setdefault(one.deployment, {})
        of_deployment.pop(one.node, None)
        gone.pop(one.node, None)
        if one.state is not State.DELETED:
            of_deployment[one.node] = {
                "revision": one.revision,
                "version": one.version,
                "state": one.state,
                "outcome": one.outcome,
                "keeps_data": one.keeps_data,
            }
        elif one.keeps_data:
            gone[one.node] = one.since
    return [
        Standing(
            row.id,
            row.site,
            row.name,
            row.app,
            row.version,
            row.revision,
            row.profile,
            row.node,
            row.in_git,
            row.commit,
            row.document,
            row.document_digest,
            row.request,
            row.needs,
            row.extensions,
            row.state,
            placements.get(row.key, {}),
            _latest_first(left.get(row.key, {})),
        )
        for row in rows
    ]


def _latest_first(left: Mapping[str, datetime]) -> tuple[str, ...]:
    return tuple(sorted(left, key=lambda node: left[node], reverse=True))

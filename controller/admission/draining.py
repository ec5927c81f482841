"""What a drain of a node, or of a whole site, would stop and move: a plan that nobody can apply."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from controller.admission import planning
from controller.store import world
from controller.store.shapes import stamp
from margrave import draining
from margrave import planning as site_planning
from margrave.documents.deployment import read_deployment
from margrave.documents.site import SiteDocument, SitePart
from margrave.errors import DocumentError
from margrave.findings import Finding, did_you_mean
from margrave.lifecycle import WORKING, State

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from controller.access.identity import Identity
    from controller.admission.bodies import Drain
    from controller.store import Session
    from controller.store.freshness import Moment
    from controller.store.world import SiteView, Standing
    from margrave.draining import Leaving
    from margrave.planning import Waiting


def decide(
    session: Session, read: Drain, who: Identity, moment: Moment
) -> tuple[dict[str, Any], ...]:
    """A part for each deployment that stands there; DocumentError for an unknown site or node."""
    site, nodes = _where(session, read, who)
    there = {
        one.id: one for one in world.at_sites(session, [site.name]) if nodes & set(one.placements)
    }
    found: dict[str, list[Leaving]] = {}
    for one in draining.drained(_view(site, there, moment), nodes):
        found.setdefault(one.deployment, []).append(one)
    return tuple(_part(site, there[key], leaving) for key, leaving in found.items())


def _where(session: Session, read: Drain, who: Identity) -> tuple[SiteView, set[str]]:
    known = world.sites(session) if who.sites is None else world.sites(session, who.sites)
    site = known.get(read.site)
    if site is None:
        cure = did_you_mean(read.site, known)
        raise DocumentError([Finding("/site", f'no site "{read.site}"', cure, "unknown")])
    names = {one.name for one in site.nodes}
    if read.node is None:
        return site, names
    if read.node not in names:
        words = f"{site.name} has no node {read.node}"
        raise DocumentError([Finding("/node", words, did_you_mean(read.node, names), "unknown")])
    return site, {read.node}


def _view(site: SiteView, there: Mapping[str, Standing], moment: Moment) -> site_planning.SiteView:
    """The site as its runner's planner would see it, of these deployments alone."""
    wanted = []
    for one in there.values():
        if one.in_git and one.document:
            try:
                document = read_deployment(one.document)
            except DocumentError:
                continue  # its site is halted by it, and told so
            wanted.append(site_planning.Wanted(document, document.revision, one.commit or ""))
    return site_planning.SiteView(
        site=site.name,
        now=moment.now,
        wanted=tuple(wanted),
        standing=tuple(place for one in there.values() for place in _standing(one)),
        nodes=tuple(planning.fleet(site, moment)),
        document=_document(site),
    )


def _standing(one: Standing) -> Iterator[site_planning.Standing]:
    for node, runs in one.placements.items():
        yield site_planning.Standing(
            one.id, node, runs["state"], runs["outcome"], one.name,
            release=runs["revision"], good_release=runs["revision"],
            wanted_release=one.revision, busy=runs["state"] in WORKING,
            keeps_data=bool(runs["keeps_data"]),
        )  # fmt: skip
    for node in one.left:
        yield site_planning.Standing(one.id, node, State.DELETED, name=one.name, keeps_data=True)


def _document(site: SiteView) -> SiteDocument:
    known = {key: site.document[key] for key in SitePart.model_fields if key in site.document}
    try:
        return SiteDocument(SitePart.model_validate(known), known)
    except ValidationError:
        return SiteDocument()  # nor would its runner take it


def _part(site: SiteView, one: Standing, leaving: list[Leaving]) -> dict[str, Any]:
    moves = [place for place in leaving if place.to is not None]
    stops = len(leaving) - len(moves)
    words = [f"{stops} stop" if stops > 1 else "it stops"] if stops else []
    words += [f"it moves to {place.to}" for place in moves]
    nodes = [_node(site, one, place.node, "delete", place) for place in leaving]
    nodes += [_node(site, one, place.to or "", "install", place) for place in moves]
    part = planning.shown(site, one, "drain", ", ".join(words))
    return {**part, "changes": True, "nodes": nodes, "batches": [[each["node"] for each in nodes]]}


def _node(site: SiteView, one: Standing, node: str, action: str, place: Leaving) -> dict[str, Any]:
    runs = one.placements[place.node]
    version = runs["version"] or runs["revision"]
    arrives = action == "install"
    images = list(one.needs.get("images", ())) if arrives else []
    here = next(each for each in site.nodes if each.name == node)
    why = place.why if not arrives else f"it moves here from {place.node}"
    if not arrives and runs["keeps_data"] is None and place.to is not None:
        why += ", unless it keeps data there: its site has not told yet"
    return {
        "node": node,
        "action": action,
        "from": None if arrives else version,
        "to": (one.version or one.revision) if arrives else None,
        "images": images,
        "present": [],
        "architecture": str(here.capabilities.get("architecture") or "amd64"),
        "bytes": None,
        "strategy": None,
        "why": why,
        "waiting": _waiting(place.waiting),
    }


def _waiting(waiting: Waiting | None) -> dict[str, Any] | None:
    if waiting is None:
        return None
    return {"for": waiting.reason, "until": stamp(waiting.until)}

"""Nodes: where deployments run."""

from __future__ import annotations

from typing import Any, Final

from controller.access.identity import Role
from controller.api import choices, paging, sites
from controller.api.call import Call, Reply
from controller.api.problems import Problem, invalid, not_found
from controller.api.routes import Route
from controller.store import fleet, placements
from controller.store.freshness import NodeStatus
from controller.store.words import CommandKind
from margrave.findings import Finding


def listed(call: Call, site: str | None = None) -> dict[str, Any]:
    """GET /nodes, or those of a site."""
    page = call.page(2)
    after = (str(page.after[0]), str(page.after[1])) if page.after else None
    findings: list[Finding] = []
    statuses = choices.words(call.args.get("status"), NodeStatus, "/status", findings)
    if findings:
        raise invalid(findings)
    with call.parts.store.session() as session:
        if site is not None:
            sites.find(call, session, site)
        rows = fleet.nodes(
            session,
            call.parts.moment(),
            after=after,
            limit=page.fetch,
            wanted=fleet.WantedNodes(site or call.args.get("site"), statuses, call.args.get("q")),
            only=call.who.sites,
        )
    return paging.listing(page, rows)


def shown(call: Call, site: str, node: str) -> dict[str, Any]:
    """GET /sites/{site}/nodes/{node}."""
    with call.parts.store.session() as session:
        sites.find(call, session, site)
        found = fleet.node(session, site, node, call.parts.moment())
        if found is None:
            raise not_found("node", node, fleet.node_names(session, site))
    return found


def its_placements(call: Call, site: str, node: str) -> dict[str, Any]:
    """GET /sites/{site}/nodes/{node}/placements: what it has, by name."""
    shown(call, site, node)
    with call.parts.store.session() as session:
        found = placements.on_node(session, site, node, call.parts.moment())
    return {"items": found, "next": None}


def removed(call: Call, site: str, node: str) -> dict[str, Any]:
    """DELETE /sites/{site}/nodes/{node}: its runner is told to forget it."""
    shown(call, site, node)
    with call.parts.store.session() as session:
        left = placements.count_on_node(session, site, node)
    if left and call.args.get("forget") != "true":
        raise Problem(
            409,
            f'node "{node}" still has {left} placements',
            cure="drain it first, or send ?forget=true when the machine is gone",
        )
    answer = sites.give(call, site, CommandKind.FORGET, {"node": node})
    with call.parts.store.write() as session:
        fleet.forget_node(session, site, node)
    return answer


def drained(call: Call, site: str, node: str) -> dict[str, Any] | Reply:
    """POST /sites/{site}/nodes/{node}/drain."""
    return _drain(call, site, node, on=True)


def undrained(call: Call, site: str, node: str) -> dict[str, Any] | Reply:
    """POST /sites/{site}/nodes/{node}/undrain."""
    return _drain(call, site, node, on=False)


def reloaded(call: Call, site: str, node: str) -> dict[str, Any]:
    """POST /sites/{site}/nodes/{node}/reload."""
    shown(call, site, node)
    return sites.give(call, site, CommandKind.RELOAD, {"node": node})


def _drain(call: Call, site: str, node: str, *, on: bool) -> dict[str, Any] | Reply:
    shown(call, site, node)
    action = "node.drain" if on else "node.undrain"
    caller = sites.caller_of(call, action, f"{site}/{node}")
    landed = call.parts.sites.drain_node(site, node, on, caller)
    answer = {**shown(call, site, node), **sites.stands(landed)}
    return Reply(answer, 202) if landed.pending else answer


_NODE: Final = "/sites/<site>/nodes/<node>"

ROUTES: Final = (
    Route("GET", "/nodes", listed, Role.VIEWER, "Nodes of all sites"),
    Route("GET", "/sites/<site>/nodes", listed, Role.VIEWER, "Nodes of a site", runner_too=True),
    Route("GET", _NODE, shown, Role.VIEWER, "One node", runner_too=True),
    Route("GET", f"{_NODE}/placements", its_placements, Role.VIEWER, "What it has"),
    Route("DELETE", _NODE, removed, Role.OPERATOR, "Unregister it", None, 202),
    Route("POST", f"{_NODE}/drain", drained, Role.OPERATOR, "Take everything off it"),
    Route("POST", f"{_NODE}/undrain", undrained, Role.OPERATOR, "Use it again"),
    Route("POST", f"{_NODE}/reload", reloaded, Role.OPERATOR, "Look at it again", None, 202),
)

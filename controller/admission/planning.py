"""What would happen at a site, node by node: a plan for people, pure and explained."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from controller.admission import forecast
from controller.store.freshness import Moment, NodeStatus
from margrave.documents.extensions import stored
from margrave.findings import Finding
from margrave.lifecycle import Freshness, State
from margrave.placement import Node, Placed, Wish, place

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.store.world import NodeView, SiteView, Standing
    from margrave.documents.deployment import Deployment


@dataclass(frozen=True)
class Step:
    """What one deployment is to become at one site."""

    action: str  # install, update, rollback, delete, none
    document: Deployment | None  # as it is to be; None when it is to go
    why: str
    needs: Mapping[str, Any] = field(default_factory=dict)
    standing: Standing | None = None  # as it is
    pointer: str = "/targets"
    same: bool = False  # its document in Git would not change at all
    beyond: tuple[str, ...] = ()  # where it reaches further than the site's policy allows

    @property
    def target(self) -> str | None:
        """What it would be then: the version, else the revision."""
        if self.document is None:
            return None
        return self.document.version or self.document.revision


@dataclass(frozen=True)
class SitePlan:
    """A site's part of the plan, and what speaks against it."""

    shown: dict[str, Any]
    findings: tuple[Finding, ...] = ()


def plan_site(site: SiteView, step: Step, others: Sequence[Standing], moment: Moment) -> SitePlan:
    """The plan of a step at a site where the others stand too."""
    if step.document is None:
        return SitePlan(_site(site, step, _leaving(site, step, moment)))
    placed = _placed(site, step, moment)
    findings = [
        *_policy(site, step),
        *_fit(site, step, placed),
        *_ports(site, step, placed.chosen, others),
    ]
    nodes = [_node(site, step, name, moment) for name in placed.chosen]
    nodes += [
        {**_node(site, step, name, moment), "action": "delete", "to": None, "why": words}
        for name, words in _lost(step, placed)
    ]
    return SitePlan(_site(site, step, nodes), tuple(findings))


def told(site: SiteView, one: Standing, action: str, moment: Moment) -> dict[str, Any]:
    """What a command does: nothing in Git; the site's runner is told."""
    heard = moment.site(site.last_seen) is Freshness.FRESH
    why = "its runner is told" if heard else "its runner is told as soon as it is heard of again"
    return shown(site, one, action, why)


def _policy(site: SiteView, step: Step) -> list[Finding]:
    """What the node would refuse anyway, told before anything is written."""
    cure = f"change the application, or widen the policy of sites/{site.name}.yaml"
    return [Finding(step.pointer, f"{site.name}: {words}", cure, "policy") for words in step.beyond]


def _placed(site: SiteView, step: Step, moment: Moment) -> Placed:
    assert step.document is not None
    document = step.document
    pinned = document.device_id.split("/")[-1]
    wish = Wish(
        placement=document.extensions.placement,
        pinned=None if pinned == "*" else pinned,
        profile_type=document.profile_type,
        constraints=document.device_constraints,
        data=_with_data(step),
        well=_in_state(step, State.INSTALLED),
        leaving=_in_state(step, State.DELETING),
        left=step.standing.left if step.standing else (),
    )
    existing = set(step.standing.placements) if step.standing else set()
    return place(wish, fleet(site, moment), existing)


def _in_state(step: Step, state: State) -> set[str]:
    there = step.standing.placements if step.standing else {}
    return {node for node, one in there.items() if one["state"] is state}


def _with_data(step: Step) -> set[str]:
    there = step.standing.placements if step.standing else {}
    return {node for node, one in there.items() if one["keeps_data"]}


def fleet(site: SiteView, moment: Moment) -> list[Node]:
    """The site's nodes as placement sees them."""
    return [
        Node(
            one.name,
            one.labels,
            one.capabilities,
            moment.node(one.status, site.last_seen) is NodeStatus.ACTIVE,
            one.drain,
            one.load,
        )
        for one in site.nodes
    ]


def _fit(site: SiteView, step: Step, placed: Placed) -> list[Finding]:
    """A site with nodes must have as many that fit as are wanted; drained ones come back."""
    assert step.document is not None
    if not site.nodes:
        return []
    wanted = step.document.extensions.placement.nodes
    pinned = step.document.device_id.split("/")[-1]
    refused = [
        one
        for one in placed.candidates
        if not one.chosen and not any(words in one.reason for words in _PASSING)
    ]
    able = len(site.nodes) - len(refused)
    if pinned != "*":
        names: list[str] = [pinned]
    else:
        names = wanted if isinstance(wanted, list) else []
    known = {one.name for one in site.nodes}
    findings = [
        Finding(step.pointer, f"{site.name} has no node {name}", _has(known), "unknown")
        for name in names
        if name not in known
    ]
    short = [one for one in refused if one.node in names] if names else refused
    needed = len(names) or (wanted if isinstance(wanted, int) else 1)
    if not findings and able < needed:
        words = "; ".join(f"{one.node}: {one.reason}" for one in short)
        told = f"{site.name}: {able} of {needed} nodes fit ({words})"
        findings.append(Finding(step.pointer, told, "choose nodes that fit", "unfit"))
    return findings


# Reasons that pass: such a node fits, or may turn out to.
_PASSING: Final = ("drained", "not active", "are enough", "data stays", "not known yet")


def _has(names: set[str]) -> str:
    return f"it has {', '.join(sorted(names))}"


def _ports(
    site: SiteView, step: Step, chosen: Sequence[str], others: Sequence[Standing]
) -> list[Finding]:
    """A host port that another deployment has on one of the nodes."""
    wanted = set(step.needs.get("ports", ()))
    findings = []
    for other in others:
        shared = wanted & set(other.needs.get("ports", ()))
        if not other.takes_its_name:
            continue  # it is leaving, and what leaves goes before what comes
        if not shared or (step.standing and other.id == step.standing.id):
            continue
        on = sorted(set(chosen) & _nodes_of(other, site))
        if on:
            ports = ", ".join(sorted(shared))
            words = f"port {ports} of {', '.join(on)} at {site.name} belongs to {other.name}"
            cure = "choose another port or other nodes"
            findings.append(Finding(step.pointer, words, cure, "port"))
    return findings


def _nodes_of(other: Standing, site: SiteView) -> set[str]:
    """Where another deployment is, or (before it is anywhere) may come to be."""
    if other.placements:
        return set(other.placements)
    if other.node is not None:
        return {other.node}
    wanted = stored(other.extensions).placement.nodes
    return set(wanted) if isinstance(wanted, list) else {one.name for one in site.nodes}


def _lost(step: Step, placed: Placed) -> list[tuple[str, str]]:
    """Nodes that have the deployment and would lose it."""
    had = sorted(set(step.standing.placements) - set(placed.chosen)) if step.standing else []
    return [(name, placed.reason(name)) for name in had]


def _leaving(site: SiteView, step: Step, moment: Moment) -> list[dict[str, Any]]:
    had = sorted(step.standing.placements) if step.standing else []
    return [_node(site, step, name, moment) for name in had]


def _node(site: SiteView, step: Step, name: str, moment: Moment) -> dict[str, Any]:
    runs = step.standing.placements.get(name) if step.standing else None
    action = step.action
    if runs is None and action in ("update", "rollback", "none"):
        action = "install"
    document = step.document
    here = next((one for one in site.nodes if one.name == name), None)
    return {
        "node": name,
        "action": action,
        "from": (runs.get("version") or runs.get("revision")) if runs else None,
        "to": step.target,
        "images": list(step.needs.get("images", ())) if document else [],
        "present": list(step.standing.needs.get("images", ())) if runs and step.standing else [],
        "architecture": str(here.capabilities.get("architecture") or "amd64") if here else "amd64",
        "bytes": None,
        "strategy": forecast.strategy(document, step.needs) if document else None,
        "why": step.why,
        "waiting": _waiting(site, step, action, here, moment),
    }


def _waiting(
    site: SiteView, step: Step, action: str, node: NodeView | None, moment: Moment
) -> dict[str, Any] | None:
    paused = site.document.get("paused")
    if paused:
        return {"for": "pause", "until": paused.get("until")}
    status = moment.node(node.status, site.last_seen) if node else NodeStatus.OFFLINE
    if status is not NodeStatus.ACTIVE:
        return {"for": "node", "until": None}
    if action == "none":
        return None
    # What leaves Git takes its own windows along: its runner knows those of the site alone.
    return forecast.closed(site, step.document, None, moment.now)


def _site(site: SiteView, step: Step, nodes: list[dict[str, Any]]) -> dict[str, Any]:
    why = step.why
    if not site.nodes and step.document is not None:
        why = "the site has no node yet: it waits as PENDING"
    found = shown(site, step.standing, step.action, why)
    if step.document is not None:
        found |= {"name": step.document.name, "app": step.document.application_id}
    return {**found, "changes": not step.same, "nodes": nodes, "batches": _batches(step, nodes)}


def shown(site: SiteView, one: Standing | None, action: str, why: str) -> dict[str, Any]:
    """A site's part of a plan in which nothing is done on nodes."""
    return {
        "site": site.name,
        "deployment": one.id if one else None,
        "name": one.name if one else None,
        "app": one.app if one else None,
        "action": action,
        "changes": False,
        "why": why,
        "nodes": [],
        "batches": [],
        "duration": None,
    }


def _batches(step: Step, nodes: list[dict[str, Any]]) -> list[list[str]]:
    """The nodes on which something is done, in the order in which that happens."""
    busy = [one["node"] for one in nodes if one["action"] != "none"]
    size = step.document.extensions.strategy.batch if step.document else "all"
    return forecast.batches(size, busy)

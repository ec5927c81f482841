"""Which nodes of a site a deployment stands on, and why: stable, and explained per candidate."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from margrave.matching import selector_matches, unmet

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from margrave.documents.extensions import Placement


@dataclass(frozen=True)
class Node:
    """A node as placement sees it."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    capabilities: Mapping[str, Any] = field(default_factory=dict)
    active: bool = True
    drain: bool = False
    load: int = 0  # how many deployments stand on it


@dataclass(frozen=True)
class Wish:
    """What a deployment asks of placement."""

    placement: Placement
    pinned: str | None  # the node of a deviceId that names one
    profile_type: str
    constraints: Mapping[str, Any] | None = None
    keeps_data: bool = False  # it has named volumes somewhere, which a move would leave behind


@dataclass(frozen=True)
class Candidate:
    """A node with the sentence that says why it was chosen or not."""

    node: str
    chosen: bool
    reason: str


@dataclass(frozen=True)
class Placed:
    """The nodes chosen, in a stable order; what speaks against the others is told on demand."""

    chosen: tuple[str, ...]
    against: Mapping[str, str]  # by node, in the order of names; empty text where nothing does
    existing: Collection[str]

    @property
    def candidates(self) -> tuple[Candidate, ...]:
        """Every node of the site with the reason why it was chosen or not."""
        return tuple(
            Candidate(name, name in self.chosen, self.reason(name)) for name in self.against
        )

    def reason(self, node: str) -> str:
        """Why a node was chosen or not; "it is not registered" when it is no candidate."""
        if node in self.chosen:
            return "it has it" if node in self.existing else "it fits"
        return self.against.get(node, "it is not registered")


def place(wish: Wish, nodes: Sequence[Node], existing: Collection[str]) -> Placed:
    """Choose nodes. What has the deployment keeps it, unless it is drained or no longer fits."""
    ordered = sorted(nodes, key=lambda node: node.name)
    against = {node.name: _against(wish, node, node.name in existing) for node in ordered}
    able = [node for node in ordered if not against[node.name]]
    number = wish.placement.nodes if wish.pinned is None else None
    if isinstance(number, int):
        chosen = _some(wish, number, able, ordered, existing, against)
    else:
        chosen = [node.name for node in able]
    return Placed(tuple(sorted(chosen)), against, existing)


def _against(wish: Wish, node: Node, has_it: bool) -> str:
    """What speaks against a node, or nothing."""
    if wish.pinned is not None and node.name != wish.pinned:
        return f"the deployment is pinned to {wish.pinned}"
    wanted = wish.placement.nodes
    if wish.pinned is None and isinstance(wanted, list) and node.name not in wanted:
        return "the deployment names other nodes"
    if node.drain:
        return "it is drained"
    selector = wish.placement.selector
    if selector is not None and not selector_matches(selector.model_dump(), node.labels):
        return "its labels do not match the selector"
    if has_it and not node.capabilities:
        return ""  # a registry that forgot what a node can do is no reason to take things off it
    return "; ".join(unmet(wish.constraints, wish.profile_type, node.capabilities, node.labels))


def _some(
    wish: Wish,
    number: int,
    able: Sequence[Node],
    nodes: Sequence[Node],
    existing: Collection[str],
    against: dict[str, str],
) -> list[str]:
    """That many nodes: first those that have it, then the active ones with the least on them."""
    kept = [node.name for node in able if node.name in existing][:number]
    # A drained node's share goes elsewhere only when nothing would be left behind.
    stays = wish.keeps_data and wish.placement.move == "deny"
    drained = [node.name for node in nodes if node.drain and node.name in existing]
    free = number - len(kept) - (len(drained) if stays else 0)
    fresh = sorted(
        (node for node in able if node.name not in existing and node.active),
        key=lambda node: (node.load, node.name),
    )
    chosen = kept + [node.name for node in fresh[: max(free, 0)]]
    for node in able:
        if node.name not in chosen:
            against[node.name] = (
                "it is not active" if not node.active else f"{number} nodes are enough"
            )
    return chosen

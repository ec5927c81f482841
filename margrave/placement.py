"""Which nodes of a site a deployment stands on, and why: stable, and explained per candidate."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
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
    data: Collection[str] = ()  # nodes with named volumes of it, which a move would leave behind
    well: Collection[str] = ()  # nodes on which it runs as it should
    leaving: Collection[str] = ()  # nodes that it is being taken off
    left: Sequence[str] = ()  # nodes that it was taken off and where they still are, newest first


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
    against = {node.name: _against(wish, node, has_it=node.name in existing) for node in ordered}
    able = [node for node in ordered if not against[node.name]]
    number = wish.placement.nodes if wish.pinned is None else None
    if isinstance(number, int):
        chosen = _some(wish, number, able, ordered, existing, against)
    else:
        chosen = [node.name for node in able]
    return Placed(tuple(sorted(chosen)), against, existing)


def _against(wish: Wish, node: Node, *, has_it: bool) -> str:
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
    """That many nodes: first those that have it, then those where its data is, then the active
    ones with the least on them."""
    chosen = _kept(wish, [node for node in able if node.name in existing])[:number]
    fresh = sorted(
        (node for node in able if node.name not in existing and node.active),
        key=lambda node: (node.load, node.name),
    )
    data = _with_its_data(wish, nodes, existing)[: number - len(chosen)]
    # A share whose data lies on a node stays with it: it stands there, or it waits for that node.
    chosen += [node.name for node in fresh if node.name in data]
    waits = [name for name in data if name not in chosen]
    free = number - len(chosen) - len(waits)
    chosen += [node.name for node in fresh if node.name not in data][:free]
    for node in able:
        if node.name not in chosen:
            against[node.name] = _left_over(node, number, waits)
    return chosen


def _kept(wish: Wish, able: Sequence[Node]) -> list[str]:
    """Nodes that have it, the best first: where there are too many, what runs well is not lost."""

    def worth(node: Node) -> tuple[bool, bool, bool, str]:
        name = node.name
        return (name in wish.leaving, name not in wish.well, not node.active, name)

    return [node.name for node in sorted(able, key=worth)]


def _with_its_data(wish: Wish, nodes: Sequence[Node], existing: Collection[str]) -> list[str]:
    """Nodes with data of shares that must not be moved: what is drained now, then what was left.

    A node that would not fit either when it were not drained was given up by the wish itself.
    """
    if wish.placement.move == "allow":
        return []
    by_name = {node.name: node for node in nodes}
    there = [one.name for one in nodes if one.drain and one.name in {*existing} & {*wish.data}]
    there += [name for name in wish.left if name in by_name and name not in existing]
    return [
        name
        for name in there
        if not _against(wish, replace(by_name[name], drain=False), has_it=True)
    ]


def _left_over(node: Node, number: int, waits: Sequence[str]) -> str:
    if not node.active:
        return "it is not active"
    return f"the data stays on {', '.join(waits)}" if waits else f"{number} nodes are enough"

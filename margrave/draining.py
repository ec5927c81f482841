"""What a drain would do, before anybody asks for it: the planner's own answer, put into words."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from margrave.lifecycle import Kind, State
from margrave.planner import by_deployment, effective, plan
from margrave.planning import Waiting

if TYPE_CHECKING:
    from collections.abc import Collection

    from margrave.planning import SitePlan, SiteView, Standing, Wanted


@dataclass(frozen=True)
class Leaving:
    """A placement that a drain takes off its node."""

    deployment: str
    node: str
    to: str | None  # where it moves; None when it stops
    why: str
    waiting: Waiting | None = None  # what its delete waits for


def drained(view: SiteView, nodes: Collection[str]) -> tuple[Leaving, ...]:
    """What becomes of all that stands on these nodes, in the order of deployments and nodes."""
    fleet = tuple(replace(one, drain=True) if one.name in nodes else one for one in view.nodes)
    before, after = plan(view), plan(replace(view, nodes=fleet))
    wanted = {one.document.id: one for one in view.wanted}
    found: list[Leaving] = []
    for key, mine in sorted(by_deployment(view.standing).items()):
        there = [one for node, one in sorted(mine.items()) if one.state is not State.DELETED]
        leaving = [one for one in there if one.node in nodes]
        places = _places(before, after, key, {one.node for one in there})
        for one in leaving:
            to = places.pop(0) if places else None
            why = _why(view, wanted.get(key), one, to)
            found.append(Leaving(key, one.node, to, why, _waits(after, one)))
    return tuple(found)


def _places(before: SitePlan, after: SitePlan, key: str, there: Collection[str]) -> list[str]:
    """Nodes that get a deployment because of the drain."""
    if key not in after.placed:
        return []
    fresh = set(after.placed[key].chosen) - set(before.placed[key].chosen)
    return sorted(fresh - set(there))


def _waits(after: SitePlan, one: Standing) -> Waiting | None:
    for step in after.steps:
        if (step.deployment, step.node, step.kind) == (one.deployment, one.node, Kind.DELETE):
            return step.waiting
    return Waiting("operation", detail="what is at work there ends first")


def _why(view: SiteView, wanted: Wanted | None, one: Standing, to: str | None) -> str:
    if wanted is None:
        return "it is removed from Git"
    if to is not None:
        return f"it moves to {to}" + (", without its data" if one.keeps_data else "")
    placement = effective(wanted.document, view.document).placement
    if not wanted.document.device_id.endswith("/*"):
        return f"it stops: it is pinned to {one.node}"
    if isinstance(placement.nodes, list):
        return f"it stops: it names {one.node}"
    if placement.nodes == "all":
        return "it stops: it runs on every node that fits, and moves to none"
    if placement.move == "deny" and one.keeps_data:
        return f"it stops: its data stays on {one.node}"
    return "it stops: no other node can take it"

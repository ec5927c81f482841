"""What the engines of nodes can: which profile a site gets, and what a profile's engine cannot do.

Pure.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from margrave.documents.extensions import Placement
from margrave.findings import Finding
from margrave.matching import selector_matches, unmet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from controller.admission.resolving import Target
    from controller.store.world import NodeView
    from margrave.documents.description import Profile


def profile_for(target: Target, profiles: Sequence[Profile], placement: object) -> Profile:
    """The profile that most of the nodes meant can run, as far as so many are wanted; of several
    the one that the author names first. `placement` is as the request writes it."""
    wanted = _placement(placement)
    names = list(target.nodes) or (wanted.nodes if isinstance(wanted.nodes, list) else [])
    meant = [
        node
        for node in target.site.nodes
        if (not names or node.name in names)
        and (wanted.selector is None or selector_matches(_plain(wanted), node.labels))
    ]
    enough = wanted.nodes if isinstance(wanted.nodes, int) else len(meant)
    return max(profiles, key=lambda one: min(enough, sum(_runs(node, one) for node in meant)))


def findings(kind: str, extensions: Mapping[str, Any]) -> list[Finding]:
    """What a request asks of an engine that the engine of this kind of profile cannot do."""
    strategy = extensions.get("strategy")
    update = strategy.get("update") if isinstance(strategy, dict) else None
    where = "/strategy/update"
    if kind == "compose" and update == "start-first":
        words = "Compose cannot start the new one beside the old one: they share names and ports"
        cure = "write auto, or deploy the application as a chart (a profile of type helm)"
        return [Finding(where, words, cure, "strategy")]
    if kind == "helm" and update == "stop-first":
        words = "the chart says itself what stops first, in strategy of its deployments"
        cure = "write auto, and Recreate in the chart where the old one has to end first"
        return [Finding(where, words, cure).as_warning("strategy")]
    return []


def same_kind(before: str, after: str, *, runs: bool) -> list[Finding]:
    """A deployment that runs keeps the kind of its profile: a node could not go back otherwise."""
    if before == after or not runs:
        return []
    words = f"it runs as {before}, and cannot become {after}"
    cure = "delete it first, or make another deployment of the other profile"
    return [Finding("/profile", words, cure, "profile")]


def _runs(node: NodeView, profile: Profile) -> bool:
    return not unmet(profile.device_constraints, profile.type, node.capabilities, node.labels)


def _placement(written: object) -> Placement:
    try:
        return Placement.model_validate(written or {})
    except ValidationError:
        return Placement()  # what is wrong with it is told of the document


def _plain(placement: Placement) -> dict[str, Any]:
    assert placement.selector is not None
    return placement.selector.model_dump()

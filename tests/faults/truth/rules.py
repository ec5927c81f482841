"""Claims compared with the truth: for each, whether it holds, and how long it may not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from tests.faults.truth import delays
from tests.faults.truth.claims import Claim, Kind, Look
from tests.faults.truth.delays import Delay
from tests.faults.truth.judge import Statement
from tests.faults.truth.observed import NodeView, Observer, Release, Truth
from tests.faults.truth.world import Condition, World

# Two clocks are read in sequence, and an answer that was under way still arrives.
MARGIN: Final = 3.0
AT_REST: Final = ("INSTALLED", "succeeded")

Found = Iterator[tuple[Delay, bool, str, str]]  # delay, whether it holds, claimed, observed


class Rules:
    """Compares looks at claims with a look at the truth."""

    def __init__(self, world: World, observer: Observer) -> None:
        self._world = world
        self._observer = observer
        self._by_kind = {
            Kind.SITE: self._site,
            Kind.NODE: self._node,
            Kind.DEPLOYMENT: self._deployment,
            Kind.PLACEMENT: self._placement,
        }

    def statements(self, look: Look, truth: Truth, *, fresh: bool) -> Iterable[Statement]:
        """Return a statement for each claim of a look of which the truth is known."""
        for claim in look.claims:
            for delay, holds, claimed, observed in self._by_kind[claim.kind](claim, truth):
                yield Statement(
                    look.channel, claim.subject, delay, holds, claimed, observed, fresh, look.lag
                )

    def _site(self, claim: Claim, truth: Truth) -> Found:
        runner, fields = truth.sites[claim.site].runner, claim.fields
        freshness = fields.get("freshness", "")
        if runner is Condition.DOWN:
            yield delays.SITE_SILENT, freshness == "unknown", freshness, "the runner is dead"
        elif runner is Condition.UP:
            yield delays.SITE_BACK, freshness == "fresh", freshness, "the runner is alive"
        if "last_seen" in fields:
            away = self._world.presence[claim.site].was_away(_epoch(fields["last_seen"]), MARGIN)
            yield delays.SITE_LAST_SEEN, not away, fields["last_seen"], "the runner was dead then"
        applied = fields.get("applied_commit")
        if applied and runner is Condition.UP:
            whole = self._observer.contains(applied, truth.head, claim.site)
            yield delays.APPLIED, whole, applied[:12], f"Git is at {truth.head[:12]}"
            # `behind` has to be false then; how soon it becomes true is the delay above.
            if whole and "behind" in fields:
                yield delays.APPLIED, fields["behind"] == "False", "behind", "it has all of Git"

    def _node(self, claim: Claim, truth: Truth) -> Found:
        runner, view = truth.sites[claim.site].runner, truth.nodes[claim.node]
        status, seen = claim.fields.get("status", ""), claim.fields.get("last_seen")
        if runner is Condition.DOWN:
            yield delays.SITE_SILENT, status != "active", status, "the runner is dead"
        if view.reachable is False and runner is Condition.UP:
            yield delays.NODE_SILENT, status != "active", status, "the node is away"
            yield delays.NODE_OFFLINE, status == "offline", status, "the node is away"
        if view.reachable and runner is Condition.UP:
            recent = bool(seen) and truth.at - _epoch(seen or "") < self._recent()
            good = status == "active" and recent
            yield delays.NODE_BACK, good, f"{status}, last seen {seen}", "the node answers"
        if seen:
            away = self._world.presence[claim.node].was_away(_epoch(seen), MARGIN)
            yield delays.LAST_SEEN, not away, seen, "the node was away then"

    def _recent(self) -> float:
        return delays.NODE_SILENT.limit(self._world.pace)

    def _deployment(self, claim: Claim, truth: Truth) -> Found:
        wanted = truth.sites[claim.site].wanted.get(claim.deployment)
        state, version = claim.fields["state"], claim.fields.get("version", "")
        if state == "DELETED":
            left = [node for node in self._world.sites[claim.site] if _has(truth, node, claim)]
            yield delays.DELETED, not left, state, f"containers are left on {', '.join(left)}"
            yield delays.INDEX, wanted is None, state, f"Git wants {wanted}"
        elif wanted is None:
            if self._is_whole(claim.site, truth):
                gone = state in ("DELETING", "FAILED")
                yield delays.OUTCOME, gone, state, "Git does not want it any more"
        else:
            yield delays.INDEX, version == wanted.version, version, f"Git wants {wanted}"

    def _is_whole(self, site: str, truth: Truth) -> bool:
        """Return whether the runner of a site is there, and all of its nodes."""
        answers = [truth.nodes[node].reachable for node in self._world.sites[site]]
        return truth.sites[site].runner is Condition.UP and all(answers)

    def _placement(self, claim: Claim, truth: Truth) -> Found:
        site, view = truth.sites[claim.site], truth.nodes[claim.node]
        fresh = claim.fields.get("freshness")
        if site.runner is Condition.DOWN:
            yield delays.SITE_SILENT, fresh == "unknown", f"{fresh}", "the runner is dead"
        elif site.runner is Condition.UP and view.reachable is not None:
            delay = delays.NODE_BACK if view.reachable else delays.NODE_SILENT
            expected = "fresh" if view.reachable else "unknown"
            seen = "the node answers" if view.reachable else "the node is away"
            yield delay, fresh == expected, f"{fresh}", seen
        if fresh == "fresh" and site.runner is Condition.UP and view.reachable:
            yield from _running(claim, view)
            wanted = site.wanted.get(claim.deployment)
            if wanted:
                yield from _outcome(claim, view, wanted)


def _running(claim: Claim, view: NodeView) -> Found:
    """Compare health and version of an installed release; during work both are the last known."""
    if claim.fields["state"] != "INSTALLED":
        return
    health, healthy = claim.fields.get("health", ""), view.healthy(claim.deployment)
    if healthy is not None:
        seen = f"its containers are {_containers(view, claim.deployment)}"
        yield delays.HEALTH, (health == "healthy") == healthy, health, seen
    version = claim.fields.get("version", "")
    if view.answer:
        yield delays.VERSION, version == view.answer.version, version, f"{view.answer} answers"


def _outcome(claim: Claim, view: NodeView, wanted: Release) -> Found:
    state, outcome = claim.fields["state"], claim.fields["outcome"]
    shown, seen = f"{state} {outcome}", f"{view.answer} answers, Git wants {wanted}"
    if view.answer is None:
        return
    if outcome == "succeeded":
        yield delays.OUTCOME, view.answer == wanted, shown, seen
    if view.answer == wanted and view.healthy(claim.deployment):
        yield delays.COMPLETION, (state, outcome) == AT_REST, shown, f"{seen}, and is healthy"


def _containers(view: NodeView, deployment: str) -> str:
    return ", ".join(map(str, (view.containers or {}).get(deployment, ()))) or "none"


def _has(truth: Truth, node: str, claim: Claim) -> bool:
    return claim.deployment in (truth.nodes[node].containers or {})


def _epoch(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()

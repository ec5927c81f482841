"""What stands between a step and its start: lock, pause, node, backoff, windows, batch."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from datetime import datetime
from enum import Enum
from typing import TYPE_CHECKING

from margrave import windows
from margrave.lifecycle import WORKING, Kind, Outcome, State
from margrave.planning import Waiting

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from margrave.documents.extensions import Extensions
    from margrave.planning import SiteView, Standing, Step, Wanted


class Cause(Enum):
    """Why a step is proposed; which gates it meets follows from this alone."""

    NEW = "a new wanted state"
    RETRY = "a retry of the same"
    REPAIR = "going back or healing"
    TOLD = "nothing is done on the node"


@dataclass
class Batch:
    """How many nodes may be changed at once, and whether the revision has failed here."""

    limit: int
    in_flight: int
    broken: bool

    @classmethod
    def of(
        cls,
        view: SiteView,
        wanted: Wanted,
        chosen: Sequence[str],
        mine: Mapping[str, Standing],
        size: str | int,
    ) -> Batch:
        """The batch as it stands now."""
        target = wanted.release
        members = [mine[node] for node in chosen if node in mine]
        reached = sum(one.state is State.INSTALLED and one.release == target for one in members)
        active = {node.name for node in view.nodes if node.active}
        tried = [one for one in members if one.wanted_release == target and not one.healing]
        failed = any(
            one.outcome in (Outcome.FAILED, Outcome.ROLLED_BACK, Outcome.ROLLBACK_FAILED)
            or (one.state is State.ROLLINGBACK)
            for one in tried
            if one.release != target
        )
        # An offline node blocks nobody: what waits for it is not in flight.
        flight = sum(
            one.node in active and (one.state in WORKING or one.state is State.FAILED)
            for one in tried
        )
        broken = failed or (wanted.document.id, target) in view.quarantine
        return cls(_limit(size, len(chosen), reached), flight, broken)

    def take(self) -> bool:
        """Whether one more may start; it is counted when it may."""
        if self.in_flight >= self.limit:
            return False
        self.in_flight += 1
        return True


def _limit(size: str | int, members: int, reached: int) -> int:
    text = str(size)
    if text == "all" or (text == "canary" and reached):
        return members
    if text == "canary":
        return 1
    if text.endswith("%"):
        return max(1, math.ceil(members * int(text[:-1]) / 100))
    return int(text)


class Gates:
    """The gates of one site at one moment."""

    def __init__(self, view: SiteView, policies: Mapping[str, Extensions]) -> None:
        self._view = view
        self._active = {node.name for node in view.nodes if node.active}
        self._wanted = {one.document.id: one.release for one in view.wanted}
        self._names = {one.document.id: one.document.name for one in view.wanted}
        self._requires = {self._names[key]: one.requires for key, one in policies.items()}

    def passed(
        self,
        step: Step,
        cause: Cause,
        one: Standing | None,
        extensions: Extensions | None,
        batch: Batch | None = None,
    ) -> Step:
        """The step, due or with the first thing it waits for."""
        waiting = (
            self._closed_site(step, cause)
            or self._node(step)
            or self._backoff(step, one)
            or self._required(step, extensions)
            or self._window(step, cause, extensions)
        )
        if waiting is None and cause is Cause.NEW and batch is not None and not batch.take():
            waiting = Waiting("batch", detail="the nodes before it are not healthy yet")
        return replace(step, waiting=waiting) if waiting else step

    def _closed_site(self, step: Step, cause: Cause) -> Waiting | None:
        if self._view.locked:
            return Waiting("lock", self._view.locked_until, self._view.locked)
        paused = self._view.document.paused
        if paused is None or (cause is Cause.REPAIR and step.kind is Kind.ROLLBACK):
            return None
        until = datetime.fromisoformat(paused.until) if paused.until else None
        if until is not None and until <= self._view.now:
            return None
        return Waiting("pause", until, f"{paused.reason} ({paused.by})")

    def _node(self, step: Step) -> Waiting | None:
        if step.node in self._active:
            return None
        return Waiting("node", detail=f"{step.node} does not answer")

    def _backoff(self, step: Step, one: Standing | None) -> Waiting | None:
        if one is None:
            return None
        if step.heal and one.heal_after is not None and one.heal_after > self._view.now:
            return Waiting("budget", one.heal_after, "healed too often, there is a cause to find")
        first = step.attempt == 1 and one.state is not State.FAILED
        later = one.next_attempt_at
        # A newer revision does not wait for the backoff of the one before it.
        if first or later is None or later <= self._view.now or step.attempt == 1:
            return None
        return Waiting("backoff", later, f"attempt {step.attempt} follows")

    def _required(self, step: Step, extensions: Extensions | None) -> Waiting | None:
        # The order is about what begins: what ran already comes back whatever else is ill.
        if (
            extensions is None
            or step.heal
            or step.prove
            or step.kind in (Kind.ROLLBACK, Kind.DELETE)
        ):
            return None
        for name in extensions.requires:
            there = [one for one in self._view.standing if one.name == name]
            there = [one for one in there if one.state is not State.DELETED]
            if not there or any(one.state is not State.INSTALLED or one.degraded for one in there):
                return Waiting("requires", detail=f"{name} is not healthy at this site yet")
            # Of two that require each other neither can be the first: then both begin.
            changes = any(self._changes(one) for one in there)
            if changes and self._names[step.deployment] not in self._behind(name):
                return Waiting("requires", detail=f"{name} is updated before it")
        return None

    def _changes(self, one: Standing) -> bool:
        """Whether another release is wanted of what runs here, and is not held back."""
        target = self._wanted.get(one.deployment, one.release)
        if one.release == target:
            return False
        tried = one.wanted_release == target or (one.deployment, target) in self._view.quarantine
        return not (tried and one.outcome in (Outcome.HELD, Outcome.ROLLED_BACK))

    def _behind(self, name: str) -> set[str]:
        """All that a deployment requires, near and far."""
        behind: set[str] = set()
        further = list(self._requires.get(name, ()))
        while further:
            one = further.pop()
            if one not in behind:
                behind.add(one)
                further += self._requires.get(one, ())
        return behind

    def _window(self, step: Step, cause: Cause, extensions: Extensions | None) -> Waiting | None:
        if cause is Cause.REPAIR or (extensions and extensions.priority == "urgent"):
            return None
        zone, now = self._view.document.timezone, self._view.now
        own = extensions.windows if extensions else []
        for spans in (own, self._view.document.windows):
            if not windows.open_at(spans, now, zone):
                until = windows.next_opening(spans, now, zone)
                return Waiting("window", until, f"no window is open for this {step.kind}")
        return None

"""The values that go into a plan and come out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from margrave.documents.site import SiteDocument
from margrave.error_classes import ErrorClass
from margrave.lifecycle import Kind, Outcome, State

if TYPE_CHECKING:
    from collections.abc import Mapping

    from margrave.documents.deployment import Deployment
    from margrave.placement import Node, Placed


@dataclass(frozen=True)
class Waiting:
    """What a step waits for, and when it is looked at again at the latest."""

    # node, window, pause, lock, batch, backoff, requires, budget, operation, secrets, person
    reason: str
    until: datetime | None = None
    detail: str = ""


@dataclass(frozen=True)
class Wanted:
    """A deployment as Git wants it at this site."""

    document: Deployment
    release: str  # 64 hex: SHA-256 over revision and secrets; empty where that cannot be told
    commit: str = ""
    obstacle: Waiting | None = None  # why nothing is begun for it, whatever it needs


@dataclass(frozen=True)
class Standing:
    """The newest incarnation of a placement, as the runner knows it."""

    deployment: str
    node: str
    state: State
    outcome: Outcome = Outcome.PENDING
    name: str = ""  # the deployment's name, for `requires`
    release: str | None = None  # what runs
    good_release: str | None = None  # the last one that was proven
    wanted_release: str | None = None  # what the last operation was for
    attempt: int = 0  # attempts at wanted_release, while it failed or is not proven
    failed_kind: Kind | None = None  # of the operation that led to FAILED
    error: ErrorClass | None = None
    next_attempt_at: datetime | None = None
    cancelled: bool = False
    healing: bool = False  # the last operation was a heal
    drift: str = ""  # what differs on the node; empty when nothing does
    unstable: bool = False  # what runs did not stay healthy until it was proven
    degraded: bool = False  # it was seen to be ill: who requires it waits
    heal_after: datetime | None = None  # set while the budget for heals is spent
    busy: bool = False  # an operation is at work
    leads_to: str | None = None  # the release of a call at work that a newer one may overtake
    keeps_data: bool = False  # it has, or may have, named volumes; of one that is DELETED: still
    last: tuple[int, int] = (0, 0)  # epoch and number of its last operation


@dataclass(frozen=True)
class SiteView:
    """Everything a plan depends on, at one moment."""

    site: str
    now: datetime
    wanted: tuple[Wanted, ...]
    standing: tuple[Standing, ...]
    nodes: tuple[Node, ...]
    document: SiteDocument = field(default_factory=SiteDocument)
    quarantine: frozenset[tuple[str, str]] = frozenset()  # (deployment, release)
    locked: str = ""  # the reason of a lock at the site; empty when there is none
    locked_until: datetime | None = None  # when that lock ends by itself


@dataclass(frozen=True)
class Step:
    """What is to happen with one deployment on one node, and why.

    `kind` None with an `outcome` means that only the outcome is to be written (held); a step
    with `waiting` is not due yet.
    """

    deployment: str
    node: str
    kind: Kind | None
    why: str
    from_release: str | None = None
    to_release: str | None = None
    attempt: int = 1
    new_placement: bool = False  # a placement (or its next incarnation) begins at PENDING
    heal: bool = False
    prove: bool = False  # the release runs already, and has to prove itself
    overtakes: bool = False  # it ends the call that is at work there, at its next safe point
    keeps_data: bool = False  # of a delete: named volumes are, or may be, what it finds
    outcome: Outcome | None = None
    waiting: Waiting | None = None

    @property
    def due(self) -> bool:
        """Whether the operation may start now."""
        return self.kind is not None and self.waiting is None


@dataclass(frozen=True)
class SitePlan:
    """Steps in their order (urgent first, deletes before what may need their place), explained."""

    steps: tuple[Step, ...]
    placed: Mapping[str, Placed] = field(default_factory=dict)
    failed: Mapping[str, Exception] = field(default_factory=dict)  # deployments without a plan

    @property
    def due(self) -> tuple[Step, ...]:
        """The steps that may start now."""
        return tuple(step for step in self.steps if step.due)

    @property
    def next_look(self) -> datetime | None:
        """When the first waiting step is to be looked at again; None when only events help."""
        times = [one.waiting.until for one in self.steps if one.waiting and one.waiting.until]
        return min(times, default=None)

"""What the store hands out: frozen values, never rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from margrave.lifecycle import Kind, Outcome, State


class OperationState(StrEnum):
    """Where an operation stands."""

    RUNNING = "running"  # a call is on its way to the node
    WAITING = "waiting"  # not ended: tried again at `next_try_at` or when the node is back
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    CANCELLED = "cancelled"


UNFINISHED = (OperationState.RUNNING, OperationState.WAITING)


@dataclass(frozen=True, slots=True)
class Placement:
    """A deployment on a node, as the runner knows it."""

    deployment: str
    node: str
    incarnation: int
    name: str
    state: State
    outcome: Outcome
    since: datetime
    application: str = ""
    release: str | None = None  # release, revision and version of what runs
    revision: str | None = None
    version: str | None = None
    good_release: str | None = None  # … of what was healthy last
    good_revision: str | None = None
    good_version: str | None = None
    wanted_revision: str | None = None  # … of what Git wants
    wanted_version: str | None = None
    tried_release: str | None = None  # what the last install, update or heal was for
    operation: str | None = None
    kind: Kind | None = None  # of the operation tried last
    attempt: int = 0
    next_attempt_at: datetime | None = None
    cancelled: bool = False
    healing: bool = False  # the last operation was a heal
    keeps_data: bool = False  # it has named volumes
    reason: str = ""
    error: Mapping[str, Any] | None = None
    waiting: Mapping[str, Any] | None = None
    health: str = "unknown"
    drift: Sequence[Any] = ()
    components: Sequence[Mapping[str, Any]] = ()
    heals: Sequence[str] = ()  # times of the latest heals: the budget is counted over them
    commit: str | None = None

    @property
    def key(self) -> tuple[str, str, int]:
        """What tells one placement from another."""
        return (self.deployment, self.node, self.incarnation)


@dataclass(frozen=True, slots=True)
class Operation:
    """One attempt to change one placement: one fence, one module call (repeated if need be)."""

    id: str
    deployment: str
    node: str
    incarnation: int
    kind: Kind
    state: OperationState
    reason: str
    attempt: int
    epoch: int
    seq: int
    deadline: int
    started_at: datetime
    release: str | None = None  # release, revision and version of what is attempted
    revision: str | None = None
    version: str | None = None
    commit: str | None = None
    arguments: Mapping[str, Any] = field(default_factory=dict)
    phase: str = ""
    tries: int = 0
    next_try_at: datetime | None = None
    log_file: str = ""
    ended_at: datetime | None = None
    error: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Identity:
    """Who this runner is."""

    runner: str
    epoch: int
    fence_seq: int
    report_seq: int


@dataclass(frozen=True, slots=True)
class SiteState:
    """What holds the whole site, and how far it has come."""

    locked: Mapping[str, Any] | None = None
    halted: Mapping[str, Any] | None = None
    stood_down: str | None = None  # another runner's mark was met: what it says
    known_epoch: int = 0  # the highest that any node or the controller has told
    accepted_commit: str | None = None
    applied_commit: str | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A verified state of the site's subtree: texts by path, as they stand in Git."""

    commit: str
    tree: str
    documents: Mapping[str, str]
    site_document: str | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)  # encrypted files in base64, by path


@dataclass(frozen=True, slots=True)
class OutboxRow:
    """An event to be reported."""

    epoch: int
    seq: int
    at: datetime
    kind: str
    data: Mapping[str, Any]

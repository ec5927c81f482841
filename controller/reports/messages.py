"""The bodies that runners send, read tolerantly: a newer runner may say more than we know."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
)

from controller.store.words import CommandState, OperationState
from margrave.lifecycle import Kind, Outcome, State
from margrave.names import LABEL, UUID, is_trace
from margrave.times import in_utc


def _written(at: object) -> object:
    """A number would be read as seconds since 1970, and nobody would notice."""
    if isinstance(at, datetime) or (isinstance(at, str) and at[:5].endswith("-")):
        return at
    raise ValueError("is no time (write RFC 3339: 2026-03-01T12:00:00Z)")


Time = Annotated[datetime, BeforeValidator(_written), AfterValidator(in_utc)]
Label = Annotated[str, Field(pattern=f"^{LABEL}$")]
Uuid = Annotated[str, StringConstraints(pattern=f"^{UUID}$", to_lower=True)]
Digest = Annotated[str, Field(pattern=r"^sha256:[0-9a-f]{64}$")]
Text = Annotated[str, Field(max_length=16_384)]
Word = Annotated[str, Field(max_length=200)]
Number = Annotated[int, Field(ge=0, le=2**53)]  # what JSON carries exactly everywhere

# Texts of nodes may be long; a node's status is worth more than the end of its reason.
NodeError = Annotated[
    str | None, BeforeValidator(lambda text: text[:2_000] if isinstance(text, str) else None)
]

# A report is worth more than the id that it can be followed by: what is none is left out.
Trace = Annotated[str | None, BeforeValidator(lambda said: said if is_trace(said) else None)]


class EventKind(StrEnum):
    """What an event of a report tells of."""

    SNAPSHOT = "snapshot"
    PLACEMENT = "placement"
    OPERATION = "operation"
    NODE = "node"
    SITE = "site"
    COMMAND = "command"
    LOG = "log"


class Message(BaseModel):
    """The base: unknown keys are left alone."""

    model_config = ConfigDict(extra="ignore", populate_by_name=True)


class ReportedEvent(Message):
    """One event; its data is read by its kind, so that one bad event harms no other."""

    seq: Annotated[int, Field(ge=1, le=2**53)]
    at: Any = None
    kind: Any = None
    data: Any = None


class Batch(Message):
    """The body of POST reports."""

    protocol: int
    runner: Uuid
    epoch: Annotated[int, Field(ge=1, le=2**53)]
    first_seq: Annotated[int, Field(ge=1, le=2**53)]
    events: list[ReportedEvent]


class PlacementData(Message):
    """A placement as it stands, and the transition that led there (`to` is null without one)."""

    deployment: Uuid
    node: Label
    incarnation: Annotated[int, Field(ge=1, le=2**31)] = 1
    state: State
    outcome: Outcome
    revision: Digest | None = None
    version: Word | None = None
    wanted_revision: Digest | None = None
    wanted_version: Word | None = None
    attempted_revision: Digest | None = None
    attempted_version: Word | None = None
    attempt: Annotated[int, Field(ge=0, le=2**31)] = 0
    reason: Text | None = None
    error: dict[str, Any] | None = None
    waiting: dict[str, Any] | None = None
    health: Word = "unknown"
    drift: list[Any] = Field(default_factory=list)
    components: list[Any] = Field(default_factory=list)
    keeps_data: bool | None = None
    since: Time | None = None
    name: Word | None = None
    frm: State | None = Field(default=None, validation_alias=AliasChoices("from", "frm"))
    to: State | None = None
    actor: Word = "runner"
    operation: Uuid | None = None
    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")] | None = None

    @property
    def attempted(self) -> tuple[str | None, str | None]:
        """Revision and version that the transition is about: those of its operation.

        What is wanted may be another one by the time that a call ends. A transition without an
        operation is about what is wanted; going back is about what runs.
        """
        if self.attempted_revision is not None:
            return self.attempted_revision, self.attempted_version
        back = State.ROLLINGBACK in (self.frm, self.to)
        if back or self.wanted_revision is None:
            return self.revision, self.version
        return self.wanted_revision, self.wanted_version


class OperationData(Message):
    """An operation as it stands."""

    id: Uuid
    deployment: Uuid
    node: Label
    kind: Kind
    state: OperationState
    phase: Word | None = None
    attempt: Annotated[int, Field(ge=0, le=2**31)] = 1
    started_at: Time | None = None
    ended_at: Time | None = None
    fence: dict[str, Any] | None = None
    revision: Digest | None = None
    error: dict[str, Any] | None = None
    trace: Trace = None


class NodeData(Message):
    """A node as its runner knows it, or that it was removed."""

    name: Label
    removed: bool = False
    address: Word | None = None
    status: Word | None = None
    last_seen: Time | None = None
    error: NodeError = None
    labels: dict[str, Any] | None = None
    capabilities: dict[str, Any] | None = None


class SiteData(Message):
    """What holds the site, and how far it has come."""

    locked: Any = None
    halted: dict[str, Any] | None = None
    applied_commit: Word | None = None


class CommandData(Message):
    """A command that the runner is done with."""

    id: Uuid
    result: CommandState
    detail: Text | None = None


class LogData(Message):
    """Lines of an operation's log."""

    operation: Uuid
    lines: list[str] = Field(default_factory=list)
    line: str | None = None


class SnapshotData(Message):
    """All that the runner knows."""

    placements: list[PlacementData] = Field(default_factory=list)
    nodes: list[NodeData] = Field(default_factory=list)
    site: SiteData | None = None


class HeartbeatNode(Message):
    """A node in a heartbeat."""

    name: Label
    status: Word | None = None
    last_seen: Time | None = None
    error: NodeError = None


class Heartbeat(Message):
    """The body of POST heartbeat."""

    protocol: int
    runner: Uuid
    epoch: Annotated[int, Field(ge=1, le=2**53)]
    at: Time
    applied_commit: Word | None = None
    nodes: list[HeartbeatNode] = Field(default_factory=list)

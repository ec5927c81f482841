"""What the controller's API answers: the fields that are always there. More may be."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from margrave.digest import PATTERN as DIGEST
from margrave.error_classes import ErrorClass
from margrave.lifecycle import Freshness, Kind, Outcome, State
from margrave.names import LABEL, UUID

Time = Annotated[str, Field(json_schema_extra={"format": "date-time"})]
Name = Annotated[str, Field(pattern=f"^{LABEL}$")]
Uuid = Annotated[str, Field(pattern=f"^{UUID}$")]
Digest = Annotated[str, Field(pattern=f"^{DIGEST}$")]
Count = Annotated[int, Field(ge=0)]


class Resource(BaseModel):
    """The base: a newer controller may say more."""

    model_config = ConfigDict(extra="allow", populate_by_name=True)


class OperationError(Resource):
    """Why an attempt failed, and what helps."""

    error_class: ErrorClass = Field(alias="class")
    code: str
    message: str
    cure: str


class Place(Resource):
    """One thing that is wrong, at its place."""

    file: str
    line: Count
    column: Count
    pointer: str
    severity: Literal["error", "warning"]
    message: str
    cure: str


class Waiting(Resource):
    """What has to come first, and when it is looked at again."""

    for_: str = Field(alias="for")
    until: Time | None


class AppComponent(Resource):
    """A component of a profile."""

    name: str


class AppProfile(Resource):
    """One way to run the application."""

    id: str
    type: str
    components: list[AppComponent]


class AppParameter(Resource):
    """A parameter with its default."""

    name: str
    default: Any


class App(Resource):
    """A version of an application in the catalogue."""

    id: str
    name: str
    version: str
    versions: list[str]
    description: str | None
    source: str | None  # none any more when the source was taken away
    profiles: list[AppProfile]
    parameters: list[AppParameter]
    findings: list[Place]


class Halted(Resource):
    """Why a site takes nothing from Git for now."""

    reason: str
    commit: str | None
    since: Time | None


class Site(Resource):
    """A site and its runner."""

    name: Name
    labels: dict[str, str]
    timezone: str
    freshness: Freshness
    last_seen: Time | None
    wanted_commit: str | None
    applied_commit: str | None
    behind: bool | None = None  # whether what is applied lacks what is wanted; null if not known
    paused: dict[str, Any] | None
    locked: Any
    halted: Halted | None
    clock_offset: int | None  # seconds the runner's clock is ahead; null while it is about right
    nodes: list[Name]
    deployments: dict[State, Count]


class Node(Resource):
    """An edge node."""

    site: Name
    name: Name
    address: str | None
    status: Literal["active", "unusable", "stale", "offline"]
    drain: bool
    last_seen: Time | None  # its last answer
    reason: str | None  # why its last check failed, or why nothing can run there
    labels: dict[str, Any]
    capabilities: dict[str, Any]


class Deployment(Resource):
    """A deployment over all its nodes."""

    id: Uuid
    name: Name
    app: str
    version: str | None
    profile: str
    site: Name
    state: State
    outcome: Outcome
    freshness: Freshness
    revision: Digest | None
    document_digest: Digest | None
    commit: str | None
    parameters: dict[str, Any]
    created_at: Time
    updated_at: Time
    request: Uuid | None
    author: str | None


class PlacementComponent(Resource):
    """A component as it stands on a node."""

    name: str
    state: str | None
    error: Any


class Placement(Resource):
    """A deployment on a node."""

    deployment: Uuid
    site: Name
    node: Name
    incarnation: Annotated[int, Field(ge=1)]
    state: State
    outcome: Outcome
    freshness: Freshness
    revision: Digest | None
    version: str | None
    wanted_revision: Digest | None
    wanted_version: str | None
    attempt: Count
    reason: str | None
    error: OperationError | None
    waiting: Waiting | None
    health: Literal["healthy", "degraded", "unknown"]
    drift: list[Any]
    components: list[PlacementComponent]
    since: Time | None


class Transition(Resource):
    """One line of a placement's history; a deployment's lines come oldest first."""

    at: Time
    deployment: Uuid
    node: Name
    incarnation: Annotated[int, Field(ge=1)]
    frm: State | None = Field(alias="from")
    to: State
    actor: str
    reason: str | None
    operation: Uuid | None
    trace: str | None  # of the operation
    attempt: Count
    revision: Digest | None
    version: str | None
    commit: str | None
    error: OperationError | None


class Fence(Resource):
    """Whose claim and which turn an operation has."""

    runner: Uuid
    epoch: Annotated[int, Field(ge=1)]
    seq: Count


class Operation(Resource):
    """One kind of work on one node, over all its attempts."""

    id: Uuid
    deployment: Uuid
    site: Name
    node: Name
    kind: Kind
    state: Literal["running", "waiting", "succeeded", "failed", "cancelled"]
    phase: str | None
    attempt: Count
    started_at: Time | None
    ended_at: Time | None
    fence: Fence | None
    error: OperationError | None
    trace: str | None  # the id of the request that led to it

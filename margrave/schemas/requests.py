"""What the controller answers about requests: the plan, the request, the stream of events."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from margrave.schemas.resources import Count, Digest, Name, Place, Resource, Time, Uuid, Waiting


class PlannedNode(Resource):
    """What would happen on a node."""

    node: Name
    action: Literal["install", "update", "rollback", "delete", "none"]
    frm: str | None = Field(alias="from")
    to: str | None
    images: list[str]
    bytes: Count | None
    strategy: dict[str, Any] | None
    why: str
    waiting: Waiting | None


class PlannedSite(Resource):
    """What would happen at a site, to one deployment there."""

    site: Name
    deployment: Uuid | None
    name: Name | None
    app: str | None
    nodes: list[PlannedNode]
    batches: list[list[Name]]
    duration: float | None


class Plan(Resource):
    """What a request would do; asked for again under its hash it does just that, or nothing."""

    hash: Digest | None
    sites: list[PlannedSite]
    duration: float | None = None
    findings: list[Place]


class Concerned(Resource):
    """A deployment that a request is about."""

    id: Uuid
    site: Name


class Request(Resource):
    """What somebody asked for, and how far it has come."""

    id: Uuid
    action: str
    actor: str
    state: Literal["queued", "publishing", "published", "refused", "cancelled", "failed"]
    position: Count | None
    eta: Time | None
    commit: str | None
    deployments: list[Concerned]  # in lists the first 20
    deployments_total: Count
    plan: Plan | None  # in lists null
    trace: str | None  # X-Request-Id
    created_at: Time


class Event(Resource):
    """One event of the stream; `data` is the resource that `event` names, with the time."""

    id: Count
    event: Literal["deployment", "placement", "operation", "node", "site", "request", "log"]
    data: dict[str, Any]


class FieldError(Resource):
    """One thing that is wrong in a body."""

    pointer: str
    code: str
    detail: str


class Problem(Resource):
    """An answer that is no success (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: list[FieldError]

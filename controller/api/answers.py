"""What the API answers beside the resources of `margrave.schemas`; more fields may be there."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from margrave.lifecycle import Freshness, Outcome, State
from margrave.schemas import requests, resources
from margrave.schemas.resources import Count, Digest, Name, Resource, Time, Uuid

RoleName = Literal["viewer", "operator", "admin"]


class Check(Resource):
    """One part of the controller and how it fares."""

    name: str
    ok: bool
    detail: str
    needed: bool


class Health(Resource):
    """How the controller fares, part by part."""

    status: Literal["ok", "failing"]
    checks: list[Check]


class Capabilities(Resource):
    """What this controller speaks."""

    version: str
    api: str
    protocol: int
    profiles: list[str]
    states: list[State]
    outcomes: list[Outcome]
    features: list[str]


class Keys(Resource):
    """Public halves and addresses, for who has to trust or find this controller."""

    repository: str
    own: bool
    mode: str
    signing_key: str | None
    hook: str
    hook_secrets: Count


class Halt(Resource):
    """Why nothing is published: main did not go forward."""

    reason: str
    cure: str
    commit: str | None
    known: str
    since: Time


class Branch(Resource):
    """A change that waits to be merged."""

    branch: str
    commit: str
    request: Uuid | None
    site: Name | None


class Repository(Resource):
    """The deployments repository as it is followed."""

    own: bool
    mode: Literal["direct", "branch"]
    head: str | None
    problem: str | None
    halted: Halt | None
    waiting: list[Branch]


class Source(Resource):
    """Where applications come from, and how the last look at it went."""

    name: Name
    url: str
    ref: str | None
    path: str
    credentials: str | None
    commit: str | None
    error: str | None
    findings: list[resources.Place]
    synced_at: Time | None
    created_at: Time


class SyncedApp(Resource):
    """A version that a source has and that can be deployed."""

    id: str
    version: str


class Synced(Resource):
    """What a look at a source found."""

    commit: str | None
    apps: list[SyncedApp]
    findings: list[resources.Place]


class MadeSite(Resource):
    """A new site, and its runner's token, which is shown this once."""

    site: resources.Site
    token: str


class MadeSiteToken(Resource):
    """A new token of a site's runner, which is shown this once."""

    id: Uuid
    token: str


class ChangedSite(resources.Site):
    """A site after a change, with the commit that carries it; null where nothing changed."""

    commit: str | None


class ChangedNode(resources.Node):
    """A node after a change, with the commit that carries it; null where nothing changed."""

    commit: str | None


class Given(Resource):
    """A command that was stored for a site's runner."""

    id: Uuid
    kind: str


class Planned(Resource):
    """What would happen."""

    plan: requests.Plan


class Accepted(Resource):
    """A request that was taken in: `id` is the request's."""

    id: Uuid
    deployments: list[requests.Concerned]
    position: Count | None
    eta: Time | None
    plan: requests.Plan


class Step(Resource):
    """One step of a change's way."""

    step: str
    ok: bool
    detail: str
    at: Time | None


class Explained(Resource):
    """Why a deployment stands where it stands: `answer` in a sentence, `steps` in order."""

    deployment: Uuid
    site: Name
    state: State
    outcome: Outcome
    answer: str
    steps: list[Step]


class Artifact(Resource):
    """What an operation was made from and what came of it."""

    id: str
    operation: Uuid
    deployment: Uuid


class AuditEntry(Resource):
    """Who did what; each entry's hash covers the one before."""

    id: Count
    at: Time
    actor: str
    address: str | None
    action: str
    target: str
    outcome: str
    request_id: str | None
    detail: dict[str, Any]
    hash: str


class AuditChain(Resource):
    """Whether every entry is what was written; `broken_at` is the first that is not."""

    entries: Count
    newest: str | None
    broken_at: Count | None


class Token(Resource):
    """An API token, without its secret."""

    id: Uuid
    name: str
    role: RoleName
    sites: list[str] | dict[str, Any] | None
    user: str | None
    created_by: str
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None


class MadeToken(Resource):
    """A new token, which is shown this once."""

    id: Uuid
    token: str
    expires_at: Time | None


class User(Resource):
    """A person who may sign in."""

    name: str
    role: RoleName
    sites: list[str] | dict[str, Any] | None
    disabled: bool
    created_at: Time


class Taken(Resource):
    """Up to where a runner's reports are in."""

    ack: Count


class Command(Resource):
    """Something that a runner is to do."""

    id: Uuid
    kind: str


class Beaten(Resource):
    """What a runner hears in answer to its heartbeat."""

    head: str | None
    commands: list[Command]
    time: Time
    epoch: Annotated[int, Field(ge=0)]


class RunTaken(Resource):
    """How many results were written into the history, and which deployments nobody knows."""

    results: Count
    unknown: list[str]


class Revision(Resource):
    """What a deployment's document said at a commit."""

    commit: str
    revision: Digest | None
    version: str | None
    parameters: dict[str, Any]
    manifest: str


class Activity(Resource):
    """A stored event."""

    id: Count
    event: str
    at: Time
    site: str | None
    deployment: str | None
    data: dict[str, Any]


class Span(Resource):
    """From when on a site was heard of, or was silent."""

    freshness: Freshness
    frm: Time = Field(alias="from")


class Heard(Resource):
    """When a site was heard of."""

    site: Name
    since: Time
    until: Time
    spans: list[Span]


class Progress(Resource):
    """How what a request asked for fares."""

    id: Uuid


class Summary(Resource):
    """The fleet in numbers, and what needs somebody."""

    at: Time
    deployments: Any
    sites: dict[str, Any]
    nodes: dict[str, Count]
    attention: list[Any]


class PushTaken(Resource):
    """What a forge hears of its push."""

    status: str

"""What is asked for, and how it fares."""

from __future__ import annotations

from typing import Any, Literal

from margrave.lifecycle import Outcome, State
from margrave.schemas import requests
from margrave.schemas.resources import Count, Digest, Name, Resource, Time, Uuid


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


class Change(Resource):
    """Something that happened to a deployment, a request, a site or a node."""

    kind: Literal["deployment", "request", "site", "node"]
    at: Time


class Progress(Resource):
    """How what a request asked for fares."""

    id: Uuid
    outcomes: dict[Outcome, Count]
    unknown: dict[Outcome, Count]
    others: Count


class Summary(Resource):
    """The fleet in numbers, and what needs somebody."""

    at: Time
    deployments: Any
    unknown: dict[Outcome, Count]
    sites: dict[str, Any]
    nodes: dict[str, Count]
    attention: list[Any]
    needs: dict[str, Count]

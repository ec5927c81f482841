"""The service itself: health, what it speaks, and its repository."""

from __future__ import annotations

from typing import Any, Literal

from margrave.lifecycle import Outcome, State
from margrave.schemas.resources import Count, Name, Resource, Time, Uuid


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


class Setting(Resource):
    """A key of the configuration as it runs; a secret's value is `set` or null."""

    key: str
    value: Any
    default: bool
    about: str


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


class PushTaken(Resource):
    """What a forge hears of its push."""

    status: str

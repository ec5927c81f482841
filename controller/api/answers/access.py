"""People, tokens, and who did what."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel

from margrave.schemas.resources import Count, Resource, Time, Uuid

RoleName = Literal["viewer", "operator", "admin"]


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


class Pruned(BaseModel):
    """Entries that were deleted by age: how many, and the time of the last of them."""

    entries: Count
    before: Time


class AuditChain(Resource):
    """Whether every entry is what was written; `broken_at` is the first that is not."""

    entries: Count
    newest: str | None
    broken_at: Count | None
    pruned: Pruned | None


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

"""App sources, and what a look at one found."""

from __future__ import annotations

from margrave.schemas import resources
from margrave.schemas.resources import Name, Resource, Time


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

"""Sites and nodes after a change, and what their runners hear."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from margrave.lifecycle import Freshness
from margrave.schemas import resources
from margrave.schemas.resources import Count, Name, Resource, Time, Uuid


class MadeSite(Resource):
    """A new site, and its runner's token, which is shown this once."""

    site: resources.Site
    token: str


class Awaited(Resource):
    """A change that waits on a branch until people merge it."""

    commit: str | None
    branch: str


class AwaitedSite(MadeSite, Awaited):
    """A new site that is there once its branch is merged."""


class PolicyNeed(Resource):
    """Something that an application asks of a site's nodes beyond its own objects."""

    app: str
    version: str | None
    profile: str
    component: str
    path: str
    reason: str
    opens: str | None
    allowed: bool
    deployment: Uuid | None
    name: Name | None


class SiteToken(Resource):
    """A token of a site's runner, without its secret."""

    id: Uuid
    created_by: str
    created_at: Time
    expires_at: Time | None
    last_used_at: Time | None


class MadeSiteToken(Resource):
    """A new token of a site's runner, which is shown this once."""

    id: Uuid
    token: str


class NodePlacement(resources.Placement):
    """What a node has, with the deployment's name and application."""

    name: Name
    app: str


class PendingChange(Resource):
    """An emergency change of a site that is kept until its problem is over."""

    site: Name
    change: str
    since: Time
    problem: str


class ShownSite(resources.Site):
    """A site with the emergency changes that wait."""

    pending: list[PendingChange]


class ChangedSite(ShownSite):
    """A site after a change, with the commit that carries it; null where nothing changed."""

    commit: str | None


class WaitingSite(ChangedSite):
    """A site after an emergency change that is not done yet, and why."""

    waits: str


class ChangedNode(resources.Node):
    """A node after a change, with the commit that carries it; null where nothing changed."""

    commit: str | None


class WaitingNode(ChangedNode):
    """A node after an emergency change that is not done yet, and why."""

    waits: str


class Given(Resource):
    """A command that was stored for a site's runner."""

    id: Uuid
    kind: str


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

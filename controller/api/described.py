"""What /openapi.json says of each route beyond its path: queries, bodies and answers.

A table of its own: a route is read by who follows a request, this by who writes a client. The
models are those that the bodies are read with and that the tests hold answers against.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, create_model

from controller.admission.bodies import BESIDE, Act, Body, Create, Drain
from controller.api import answers, paging, told
from controller.reports import messages
from controller.store.choosing import Held
from controller.store.freshness import NodeStatus
from controller.store.words import OperationState, RequestState
from margrave.lifecycle import Freshness, Outcome, State
from margrave.schemas import requests, resources

if TYPE_CHECKING:
    from collections.abc import Mapping
    from enum import StrEnum

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Many:
    """A list, a page at a time."""

    item: type[BaseModel]


@dataclass(frozen=True, slots=True)
class Text:
    """An answer that is no JSON."""

    media: str


@dataclass(frozen=True, slots=True)
class Nothing:
    """An empty answer."""


Answer = type[BaseModel] | Many | Text | Nothing


@dataclass(frozen=True, slots=True)
class Described:
    """What one route asks for and answers."""

    answer: Answer
    asks: Mapping[str, Schema] = field(default_factory=dict)  # in the query
    headers: Mapping[str, Schema] = field(default_factory=dict)
    body: tuple[type[BaseModel], ...] = ()  # where the service behind the route reads it
    also: Mapping[int, Answer] = field(default_factory=dict)  # by other statuses


def _one_of(kind: type[StrEnum]) -> Schema:
    return {"type": "string", "enum": [member.value for member in kind]}


def _any_of(kind: type[StrEnum]) -> Schema:
    """Words with commas between them."""
    one = f"({'|'.join(member.value for member in kind)})"
    return {"type": "string", "pattern": f"^{one}(,{one})*$", "maxLength": TEXT_LIMIT}


TEXT_LIMIT: Final = 200  # nothing that a list is asked by is longer
_TEXT: Final[Schema] = {"type": "string", "maxLength": TEXT_LIMIT}
_PAGE: Final[Mapping[str, Schema]] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": paging.MOST, "default": paging.DEFAULT},
    "cursor": {"type": "string", "description": "`next` of the page before"},
}
_SITE: Final = {"site": _TEXT}
_KEY: Final = {"Idempotency-Key": {"type": "string", "minLength": 1, "maxLength": 200}}
_MATCH: Final = {"If-Match": {"type": "string", "description": "the ETag of the document"}}
_RESUME: Final = {"Last-Event-ID": {"type": "string", "pattern": "^[0-9]{1,18}$"}}
_STREAM: Final = Text("text/event-stream")
_NOTHING: Final = Nothing()


def _many(item: type[BaseModel], **asks: Schema) -> Described:
    return Described(Many(item), {**asks, **_PAGE})


def _beside(action: str) -> type[BaseModel]:
    """The body of one deployment's action: what the action has a use for, read as Act reads it."""
    keys = {*BESIDE[action], "plan_hash"}
    fields: dict[str, Any] = {
        name: (info.annotation, info) for name, info in Act.model_fields.items() if name in keys
    }
    made: type[BaseModel] = create_model(f"{action.capitalize()}Body", __base__=Body, **fields)
    return made


def _acts(action: str, **headers: Schema) -> Described:
    return Described(answers.Accepted, _SITE, {**_KEY, **headers}, (_beside(action),))


_DEPLOYMENT: Final = "/deployments/<deployment>"
_NODE: Final = "/sites/<site>/nodes/<node>"

TABLE: Final[Mapping[tuple[str, str], Described]] = {
    ("GET", "/meta/capabilities"): Described(answers.Capabilities),
    ("GET", "/meta/keys"): Described(answers.Keys),
    ("GET", "/meta/settings"): Described(Many(answers.Setting)),
    ("GET", "/apps"): _many(resources.App, q=_TEXT),
    ("GET", "/apps/<app>"): Described(resources.App),
    ("GET", "/apps/<app>/versions/<version>"): Described(resources.App),
    ("GET", "/app-sources"): _many(answers.Source),
    ("POST", "/app-sources"): Described(answers.Source, body=(told.NewSource,)),
    ("GET", "/app-sources/<source>"): Described(answers.Source),
    ("DELETE", "/app-sources/<source>"): Described(_NOTHING),
    ("POST", "/app-sources/<source>/sync"): Described(answers.Synced),
    ("GET", "/sites"): _many(
        resources.Site, q=_TEXT, freshness=_one_of(Freshness), held=_one_of(Held)
    ),
    ("POST", "/sites"): Described(
        answers.MadeSite, body=(told.NewSite,), also={202: answers.AwaitedSite}
    ),
    ("GET", "/sites/<site>"): Described(answers.ShownSite),
    ("PATCH", "/sites/<site>"): Described(answers.ChangedSite, body=(told.SitePatch,)),
    ("DELETE", "/sites/<site>"): Described(_NOTHING, also={202: answers.Awaited}),
    ("GET", "/sites/<site>/policy"): Described(
        Many(answers.PolicyNeed), {"app": _TEXT, "version": _TEXT}
    ),
    ("GET", "/sites/<site>/tokens"): Described(Many(answers.SiteToken)),
    ("POST", "/sites/<site>/tokens"): Described(answers.MadeSiteToken),
    ("DELETE", "/sites/<site>/tokens/<token>"): Described(_NOTHING),
    **{
        ("POST", f"/sites/<site>/{verb}"): Described(
            answers.ChangedSite, also={202: answers.WaitingSite}
        )
        for verb in ("pause", "resume", "drain", "undrain")
    },
    ("POST", "/sites/<site>/reload"): Described(answers.Given),
    ("POST", "/sites/<site>/accept"): Described(answers.Given),
    ("GET", "/sites/<site>/freshness"): Described(answers.Heard),
    ("GET", "/nodes"): _many(resources.Node, site=_TEXT, status=_any_of(NodeStatus), q=_TEXT),
    ("GET", "/sites/<site>/nodes"): _many(resources.Node, status=_any_of(NodeStatus), q=_TEXT),
    ("GET", _NODE): Described(resources.Node),
    ("GET", f"{_NODE}/placements"): Described(Many(answers.NodePlacement)),
    ("DELETE", _NODE): Described(answers.Given, {"forget": {"enum": ["true", "false"]}}),
    ("POST", f"{_NODE}/drain"): Described(answers.ChangedNode, also={202: answers.WaitingNode}),
    ("POST", f"{_NODE}/undrain"): Described(answers.ChangedNode, also={202: answers.WaitingNode}),
    ("POST", f"{_NODE}/reload"): Described(answers.Given),
    ("POST", "/plans"): Described(answers.Planned, body=(Create, Act, Drain)),
    ("POST", "/deployments"): Described(answers.Accepted, {}, _KEY, (Create,)),
    ("POST", "/deployments/actions"): Described(answers.Accepted, {}, _KEY, (Act,)),
    ("GET", "/deployments"): _many(
        resources.Deployment,
        site=_TEXT,
        app=_TEXT,
        name=_TEXT,
        state=_one_of(State),
        outcome=_any_of(Outcome),
        q=_TEXT,
    ),
    ("GET", _DEPLOYMENT): Described(resources.Deployment, _SITE),
    ("PATCH", _DEPLOYMENT): _acts("update", **_MATCH),
    ("DELETE", _DEPLOYMENT): Described(
        answers.Accepted,
        _SITE,
        {**_KEY, **_MATCH},
        (_beside("delete"),),
        {200: resources.Deployment},
    ),
    **{
        ("POST", f"{_DEPLOYMENT}/{verb}"): _acts(verb)
        for verb in ("rollback", "retry", "cancel", "release")
    },
    ("GET", f"{_DEPLOYMENT}/placements"): _many(resources.Placement, site=_TEXT),
    ("GET", f"{_DEPLOYMENT}/history"): _many(
        resources.Transition, site=_TEXT, order={"type": "string", "enum": ["oldest", "newest"]}
    ),
    ("GET", f"{_DEPLOYMENT}/explain"): Described(answers.Explained, _SITE),
    ("GET", f"{_DEPLOYMENT}/manifest"): Described(Text("application/yaml"), _SITE),
    ("GET", f"{_DEPLOYMENT}/revisions"): Described(Many(answers.Revision), _SITE),
    ("GET", "/requests"): _many(requests.Request, state=_any_of(RequestState)),
    ("GET", "/requests/<request_id>"): Described(requests.Request),
    ("DELETE", "/requests/<request_id>"): Described(requests.Request),
    ("GET", "/requests/<request_id>/progress"): Described(answers.Progress),
    ("GET", "/operations"): _many(
        resources.Operation,
        deployment=_TEXT,
        site=_TEXT,
        node=_TEXT,
        state=_one_of(OperationState),
    ),
    ("GET", "/operations/<operation>"): Described(resources.Operation),
    ("GET", "/operations/<operation>/log"): Described(Text("text/plain")),
    ("GET", "/operations/<operation>/events"): Described(_STREAM),
    ("GET", "/artifacts/<artifact>"): Described(answers.Artifact),
    ("GET", "/events"): Described(_STREAM, {"deployment": _TEXT, **_SITE}, _RESUME),
    ("GET", "/sites/<site>/stream"): Described(_STREAM),
    ("GET", "/summary"): Described(answers.Summary),
    ("GET", "/activity"): _many(answers.Activity),
    ("GET", "/changes"): _many(answers.Change),
    ("GET", "/audit"): _many(answers.AuditEntry),
    ("GET", "/audit/verify"): Described(answers.AuditChain),
    ("GET", "/repository"): Described(answers.Repository),
    ("POST", "/repository/accept"): Described(answers.Repository),
    ("GET", "/tokens"): _many(answers.Token),
    ("POST", "/tokens"): Described(answers.MadeToken),
    ("DELETE", "/tokens/<token>"): Described(_NOTHING),
    ("GET", "/users"): _many(answers.User),
    ("POST", "/users"): Described(answers.User),
    ("PATCH", "/users/<user>"): Described(answers.User),
    ("DELETE", "/users/<user>"): Described(_NOTHING),
    ("POST", "/sites/<site>/reports"): Described(answers.Taken, body=(told.Batch,)),
    ("POST", "/sites/<site>/heartbeat"): Described(answers.Beaten, body=(messages.Heartbeat,)),
    ("POST", "/sites/<site>/runs"): Described(answers.RunTaken),
}

# The doors beside the table of routes.
DOORS: Final[Mapping[str, Described]] = {
    "/healthz": Described(answers.Health),
    "/readyz": Described(answers.Health, also={503: answers.Health}),
    "/metrics": Described(Text("text/plain")),
    "/schemas/{name}.json": Described(Text("application/schema+json")),
    "/hooks/git": Described(answers.PushTaken),
    "/api/v1/login": Described(answers.MadeToken),
}

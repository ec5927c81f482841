"""Bodies as they are told rightly, for schemas and types; what reads them takes them apart itself.

Of a batch of reports the reader takes an event whatever it holds, for one bad event must not block
the line; sources and sites are checked by the rooms that keep them, all findings at once.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from controller.api import bodies
from controller.reports import messages
from margrave.names import LABEL

Name = Annotated[str, Field(pattern=f"^{LABEL}$")]


class Event(messages.Message):
    """What every event has."""

    seq: Annotated[int, Field(ge=1, le=2**53)]
    at: messages.Time


class SnapshotEvent(Event):
    """An event that tells of a snapshot."""

    kind: Literal["snapshot"]
    data: messages.SnapshotData


class PlacementEvent(Event):
    """An event that tells of a placement."""

    kind: Literal["placement"]
    data: messages.PlacementData


class OperationEvent(Event):
    """An event that tells of an operation."""

    kind: Literal["operation"]
    data: messages.OperationData


class NodeEvent(Event):
    """An event that tells of a node."""

    kind: Literal["node"]
    data: messages.NodeData


class SiteEvent(Event):
    """An event that tells of a site."""

    kind: Literal["site"]
    data: messages.SiteData


class CommandEvent(Event):
    """An event that tells of a command."""

    kind: Literal["command"]
    data: messages.CommandData


class LogEvent(Event):
    """An event that tells of a log."""

    kind: Literal["log"]
    data: messages.LogData


class Batch(messages.Batch):
    """The body of POST reports."""

    events: list[  # type: ignore[assignment]  # narrower than what is read, on purpose
        SnapshotEvent
        | PlacementEvent
        | OperationEvent
        | NodeEvent
        | SiteEvent
        | CommandEvent
        | LogEvent
    ]


class NewSource(bodies.Body):
    """The body of POST app-sources."""

    name: Name
    url: Annotated[str, Field(min_length=1)]
    ref: str | None = None
    path: str | None = None
    credentials: str | None = None


class SitePatch(bodies.Body):
    """The body of PATCH sites/{site}: a JSON merge patch of the site's document."""

    labels: dict[str, Any] | None = None
    timezone: str | None = None
    windows: list[dict[str, Any]] | None = None
    policy: dict[str, Any] | None = None
    paused: dict[str, Any] | None = None
    drain: bool | None = None
    nodes: dict[str, Any] | None = None
    defaults: dict[str, Any] | None = None


class NewSite(SitePatch):
    """The body of POST sites: the name, and whatever its document says from the beginning."""

    name: Name

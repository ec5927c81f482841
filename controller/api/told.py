"""A batch of reports as it is told rightly: for schemas and types, not for reading.

The reader takes an event whatever it holds, for one bad event must not block the line.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from controller.reports import messages


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

"""Reports as they travel: small enough for the other side, whatever an event holds. Pure."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from runner.store.resources import moment
from runner.store.values import OutboxRow

PROTOCOL: Final = 1
# The controller takes 8 MiB, counted after unpacking; proxies in front of it often take 1 MiB.
BATCH_BYTES: Final = 1024 * 1024
# One event alone may be larger than a batch, up to here: half of what the controller takes.
EVENT_BYTES: Final = 4 * 1024 * 1024
# Of an event beyond that the texts are cut. It is one of a log, or quotes one.
_TEXT: Final = 2_000
_LINES: Final = 500


def body(runner: str, rows: Sequence[OutboxRow]) -> dict[str, Any]:
    """As many of the events, the oldest first, as one report may carry; one at least."""
    events: list[dict[str, Any]] = []
    size = 0
    for row in rows:
        event = fitting(_event(row))
        size += length(event)
        if events and size > BATCH_BYTES:
            break
        events.append(event)
    return {
        "protocol": PROTOCOL,
        "runner": runner,
        "epoch": rows[0].epoch,
        "first_seq": rows[0].seq,
        "events": events,
    }


def fitting(event: dict[str, Any]) -> dict[str, Any]:
    """The event, its texts cut where the other side would refuse it: it must not stop the line."""
    if length(event) <= EVENT_BYTES:
        return event
    return {**event, "data": _cut(event["data"])}


def length(value: Any) -> int:
    """How many bytes it is as JSON."""
    return len(json.dumps(value, separators=(",", ":")))


def _event(row: OutboxRow) -> dict[str, Any]:
    return {"seq": row.seq, "at": moment(row.at), "kind": row.kind, "data": dict(row.data)}


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _TEXT:
        return f"{value[:_TEXT]}… {len(value) - _TEXT} characters are left out"
    if isinstance(value, Mapping):
        return {
            key: _tail(one) if key == "lines" and isinstance(one, list) else _cut(one)
            for key, one in value.items()
        }
    if isinstance(value, list):
        return [_cut(one) for one in value]
    return value


def _tail(lines: list[Any]) -> list[Any]:
    """The last lines of a log: how it ended is what is read first."""
    left = len(lines) - _LINES
    told = [f"… {left} lines are left out"] if left > 0 else []
    return told + [_cut(one) for one in lines[-_LINES:]]

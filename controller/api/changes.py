"""List of changes for operators, newest first: one entry for each deployment and action.

Three sources are merged by time. A cursor holds how far each of them was read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from heapq import merge
from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api import paging
from controller.api.problems import invalid
from controller.api.routes import Route
from controller.store import changes
from controller.store.shapes import stamp
from controller.store.words import OperationState
from margrave.findings import Finding

if TYPE_CHECKING:
    from datetime import datetime

    from controller.api.call import Call
    from controller.store import Session
    from controller.store.changes import Change

BATCH: Final = 100  # operations that are read at once: a rollout has one for each node
NODES: Final = 50  # operations that an entry lists; more of them are counted
SOURCES: Final = ("operations", "requests", "states")
# Of the operations of a rollout the one that needs attention first gives the entry its state.
WORST: Final = (
    OperationState.FAILED,
    OperationState.RUNNING,
    OperationState.WAITING,
    OperationState.CANCELLED,
    OperationState.SUCCEEDED,
)
Read = Callable[[int | None, int], "list[Change]"]


def listed(call: Call) -> dict[str, Any]:
    """GET /changes."""
    page = call.page(len(SOURCES))
    with call.parts.store.session() as session:
        entries, position = _entries(session, call.who.sites, page)
    return {"items": entries, "next": paging.cursor(position) if position else None}


def _entries(
    session: Session, only: changes.Sites, page: paging.Page
) -> tuple[list[dict[str, Any]], list[int] | None]:
    """Return the entries of a page, and how far each source was read when there are more."""
    position = _position(page)
    reads: tuple[Read, ...] = (
        lambda after, limit: changes.operations(session, only, after, limit),
        lambda after, limit: changes.requests(session, only, after, limit),
        lambda after, limit: changes.states(session, only, after, limit),
    )
    streams = [_stream(read, source, position[source] or None) for source, read in enumerate(reads)]
    entries: dict[object, dict[str, Any]] = {}
    for _, source, change in merge(*streams, key=lambda row: (row[0], -row[1]), reverse=True):
        key = _key(source, change)
        if key not in entries and len(entries) >= page.limit:
            return list(entries.values()), position
        position[source] = change.key
        if key in entries:
            _add(entries[key], change)
        else:
            entries[key] = _ENTRIES[source](change)
    return list(entries.values()), None


def _position(page: paging.Page) -> list[int]:
    """Return how far each source was read; 0 is not at all."""
    numbers = [number for number in page.after or () if isinstance(number, int)]
    if page.after is not None and len(numbers) != len(SOURCES):
        raise invalid([Finding("/cursor", "not a cursor of this list", "pass `next` as it came")])
    return numbers or [0] * len(SOURCES)


def _stream(read: Read, source: int, after: int | None) -> Iterator[tuple[datetime, int, Change]]:
    while True:
        rows = read(after, BATCH)
        yield from ((change.at, source, change) for change in rows)
        if len(rows) < BATCH:
            return
        after = rows[-1].key


def _key(source: int, change: Change) -> object:
    """Return what belongs together: the operations that one change caused at one deployment."""
    operation = change.values.get("operation")
    if operation is None:
        return source, change.key
    cause = (operation.fence or {}).get("trace") or change.values["reason"]
    return operation.deployment, operation.kind, change.values["version"], cause


def _of_operation(change: Change) -> dict[str, Any]:
    operation = change.values["operation"]
    entry = {
        "kind": "deployment",
        "at": stamp(change.at),
        "site": operation.site,
        "deployment": change.values["deployment"],
        "name": change.values["name"],
        "action": operation.kind.value,
        "version": change.values["version"],
        "reason": change.values["reason"],
        "state": operation.state.value,
        "error": operation.error,
        "operations": [],
        "operations_total": 0,
    }
    _add(entry, change)
    return entry


def _add(entry: dict[str, Any], change: Change) -> None:
    operation = change.values["operation"]
    entry["operations_total"] += 1
    if len(entry["operations"]) < NODES:
        shown = {"id": operation.id, "node": operation.node, "state": operation.state.value}
        entry["operations"].append(shown)
    if WORST.index(operation.state) < WORST.index(OperationState(entry["state"])):
        entry["state"], entry["error"] = operation.state.value, operation.error


def _of_request(change: Change) -> dict[str, Any]:
    row = change.values["request"]
    return {
        "kind": "request",
        "at": stamp(change.at),
        "request": row.id,
        "action": row.action.value,
        "actor": row.actor,
        "state": row.state.value,
        "sites": sorted(change.values["sites"]),
        "error": row.error,
    }


def _of_state(change: Change) -> dict[str, Any]:
    values = change.values
    data = values["data"]
    return {
        "kind": values["kind"],
        "at": stamp(change.at),
        "site": values["site"],
        "name": data.get("name"),
        "changed": values["changed"],
        "new": {name: data.get(name) for name in values["changed"]},
        "old": values["old"],
        "reason": data.get("reason"),
    }


_ENTRIES: Final = (_of_operation, _of_request, _of_state)
ROUTES: Final = (
    Route("GET", "/changes", listed, Role.VIEWER, "Changes that an operator acts on, newest first"),
)

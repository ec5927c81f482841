"""Operations: lists, one of them, its log, and its progress as a stream."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import Response

from controller.access.identity import Role
from controller.api import events, paging
from controller.api.call import Call
from controller.api.problems import invalid, not_found
from controller.api.routes import Route
from controller.events import stream
from controller.events.subscription import Message
from controller.store import operations
from controller.store.words import OperationState
from margrave.findings import Finding, did_you_mean

if TYPE_CHECKING:
    from controller.store import Session

ENDED: Final = {"succeeded": "end", "failed": "error", "cancelled": "end"}


def listed(call: Call) -> dict[str, Any]:
    """GET /operations."""
    page = call.page()
    args = call.args
    wanted = operations.Wanted(
        _lower(args.get("deployment")),
        args.get("site"),
        args.get("node"),
        _state(args.get("state")),
        call.who.sites,
    )
    with call.parts.store.session() as session:
        rows = operations.listing(session, wanted, after=paging.number(page), limit=page.fetch)
    return paging.listing(page, rows)


def shown(call: Call, operation: str) -> dict[str, Any]:
    """GET /operations/{id}."""
    with call.parts.store.session() as session:
        return find(call, session, operation)


def its_log(call: Call, operation: str) -> Response:
    """GET /operations/{id}/log, as plain text."""
    with call.parts.store.session() as session:
        found = find(call, session, operation)
        text = operations.log(session, found["id"])
    return Response(text, content_type="text/plain; charset=utf-8")


def its_events(call: Call, operation: str) -> Response:
    """GET /operations/{id}/events: started, progress, log, then end or error."""
    with call.parts.store.session() as session:
        name = find(call, session, operation)["id"]
    told = 0  # the newest event that what was read holds already

    def wants(message: Message) -> bool:
        key = "operation" if message.event == "log" else "id"
        theirs = message.event in ("operation", "log") and message.data.get(key) == name
        return theirs and (message.id or 0) > told

    def first() -> list[Message]:
        nonlocal told
        told = call.parts.broker.newest()
        with call.parts.store.session() as session:
            found = find(call, session, name)
            text = operations.log(session, name)
        begun = [Message("started", found)]
        if text:
            begun.append(Message("log", {"operation": name, "lines": text.splitlines()}))
        if found["state"] in ENDED:
            begun.append(Message(ENDED[found["state"]], found))
        return begun

    return stream.respond(
        call.parts.broker,
        events.listener(call.parts, call.who),
        wants,
        None,
        first=first,
        last=lambda message: message.event in ("end", "error"),
        name=_named,
    )


def _state(word: str | None) -> str | None:
    known = [state.value for state in OperationState]
    if word is not None and word not in known:
        cure = did_you_mean(word, known)
        raise invalid([Finding("/state", f'"{word[:40]}" is not one', cure)])
    return word


def _lower(text: str | None) -> str | None:
    return text.lower() if text is not None else None


def _named(message: Message) -> Message:
    if message.event != "operation":
        return message
    return Message(ENDED.get(message.data["state"], "progress"), message.data, message.id)


def find(call: Call, session: Session, operation: str) -> dict[str, Any]:
    """The operation of an id; 404 when there is none that they may see."""
    found = operations.get(session, operation.lower())
    if found is None or not call.who.sees(found["site"]):
        raise not_found("operation", operation)
    return found


ROUTES: Final = (
    Route("GET", "/operations", listed, Role.VIEWER, "Operations, newest first"),
    Route("GET", "/operations/<operation>", shown, Role.VIEWER, "One operation"),
    Route("GET", "/operations/<operation>/log", its_log, Role.VIEWER, "Its log"),
    Route("GET", "/operations/<operation>/events", its_events, Role.VIEWER, "Its progress as SSE"),
)

"""The stream of events, and the stream of hints that a runner listens to."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from flask import Response, request

from controller.access.identity import Role
from controller.api import guard, seeing
from controller.api.problems import invalid
from controller.api.routes import Route
from controller.events import stream
from controller.events.stream import Listener
from controller.store.words import EventKind
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.access.identity import Identity
    from controller.api.call import Call
    from controller.events.subscription import Message
    from controller.parts import Parts


def all_events(call: Call) -> Response:
    """GET /events: id, event, data; Last-Event-ID resumes."""
    return respond(call.parts, call.who)


def respond(parts: Parts, who: Identity) -> Response:
    """The stream of what somebody may see, filtered by the query."""
    return stream.respond(
        parts.broker, listener(parts, who), _filter(who), _resume(), name=_seen_by(who)
    )


def listener(parts: Parts, who: Identity) -> Listener:
    """Return who listens to the stream that this request opens."""
    return Listener(who.holder, guard.unchanged(parts, who))


def hints(call: Call, site: str) -> Response:
    """GET /sites/{site}/stream: `revision` and `command`, for the site's runner."""

    def wants(message: Message) -> bool:
        return message.event.startswith("hint:") and message.site in (None, site)

    return stream.respond(call.parts.broker, listener(call.parts, call.who), wants, None)


def _filter(who: Identity) -> Callable[[Message], bool]:
    site = request.args.get("site")
    deployment = request.args.get("deployment", "").lower() or None

    def wants(message: Message) -> bool:
        if message.event.startswith("hint:"):
            return False
        sites, named = _concerned(message)
        if who.sites is not None and who.sites.isdisjoint(sites):
            return False
        if site is not None and site not in sites:
            return False
        return deployment is None or deployment in named

    return wants


def _concerned(message: Message) -> tuple[set[str | None], set[str | None]]:
    """The sites and deployments that a message is about: a request may be about many."""
    if message.event != EventKind.REQUEST:
        return {message.site}, {message.deployment}
    told = message.data.get("deployments", ())
    return {one["site"] for one in told}, {one["id"] for one in told}


def _seen_by(who: Identity) -> Callable[[Message], Message]:
    """A request without the sites that are not theirs; all else as it is."""

    def named(message: Message) -> Message:
        if message.event != EventKind.REQUEST or who.sites is None:
            return message
        return replace(message, data=seeing.request(who, dict(message.data)))

    return named


def _resume() -> int | None:
    text = request.headers.get("Last-Event-ID") or request.args.get("last_event_id")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 18):
        raise invalid([Finding("/Last-Event-ID", "not an id of ours", "send the last id you got")])
    return int(text)


ROUTES: Final = (
    Route("GET", "/events", all_events, Role.VIEWER, "What happens, as SSE"),
    Route("GET", "/sites/<site>/stream", hints, Role.SITE, "Hints for the runner, as SSE"),
)

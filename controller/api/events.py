"""The stream of events, and the stream of hints that a runner listens to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from flask import Response, request

from controller.access.identity import Role
from controller.api.problems import invalid
from controller.api.routes import Route
from controller.events import stream
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
    return stream.respond(parts.broker, _filter(who), _resume())


def hints(call: Call, site: str) -> Response:
    """GET /sites/{site}/stream: `revision` and `command`, for the site's runner."""

    def wants(message: Message) -> bool:
        return message.event.startswith("hint:") and message.site in (None, site)

    return stream.respond(call.parts.broker, wants, None)


def _filter(who: Identity) -> Callable[[Message], bool]:
    site = request.args.get("site")
    deployment = request.args.get("deployment", "").lower() or None

    def wants(message: Message) -> bool:
        if message.event.startswith("hint:"):
            return False
        if who.sites is not None and message.site not in who.sites:
            return False
        if site is not None and message.site != site:
            return False
        return deployment is None or message.deployment == deployment

    return wants


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

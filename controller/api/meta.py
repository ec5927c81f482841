"""What the controller says of itself: health, readiness, abilities, metrics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import Blueprint, Response, g, request

import margrave
from controller.access.identity import Role
from controller.api import bodies, guard, metrics, openapi, tokens
from controller.api.openapi import Door
from controller.api.problems import Problem
from controller.api.routes import Route, respond
from controller.health import Readiness
from controller.reports.intake import PROTOCOL
from margrave.errors import MargraveError
from margrave.lifecycle import Outcome, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from controller.api.call import Call
    from controller.parts import Parts

LOOPBACK: Final = ("127.0.0.1", "::1")
HIDDEN_REASON: Final = "failing; a viewer's token shows the reason"

# What is answered beside the table of routes: outside /api, or before somebody has a token.
DOORS: Final = (
    Door("GET", "/healthz", "Whether the process lives"),
    Door("GET", "/readyz", "Whether it can serve, and which part cannot"),
    Door("GET", "/metrics", "Numbers for Prometheus; a viewer's token, or loopback"),
    Door("GET", "/openapi.json", "This description"),
    Door("GET", "/schemas/{name}.json", "JSON Schemas of documents, requests and answers"),
    Door("POST", "/hooks/git", "A forge's push, signed with one of hooks.secrets", status=202),
    Door("POST", "/api/v1/login", "A token for user and password", tokens.Login, 201),
)


def capabilities(call: Call) -> dict[str, Any]:
    """GET /meta/capabilities: what this controller speaks."""
    del call
    return {
        "version": margrave.__version__,
        "api": "v1",
        "protocol": PROTOCOL,
        "profiles": ["compose", "helm"],
        "states": [state.value for state in State],
        "outcomes": [outcome.value for outcome in Outcome],
        "features": ["events", "plans", "git"],
    }


def blueprint(parts: Parts, routes: Sequence[Route]) -> Blueprint:
    """The doors that need no token: health, readiness, sign-in, the API's description."""
    made = Blueprint("open", __name__)
    readiness = Readiness(parts)

    @made.get("/healthz")
    def healthz() -> dict[str, Any]:
        return {"status": "ok", "checks": []}

    @made.get("/readyz")
    def readyz() -> Response:
        found = readiness()
        shown = found if _may_see_reasons(parts) else _outline(found)
        return respond(shown, 200 if found["status"] == "ok" else 503)

    @made.get("/metrics")
    def metrics_() -> Response:
        sites = None
        if not _is_near():
            who = guard.identify(parts)
            guard.require(who, Role.VIEWER)
            sites = who.sites
        return Response(metrics.text(parts, sites), content_type="text/plain; version=0.0.4")

    @made.get("/openapi.json")
    def openapi_() -> dict[str, Any]:
        return openapi.document(routes, DOORS)

    @made.post("/api/v1/login")
    def login() -> Response:
        body = bodies.read(tokens.Login, bodies.json_object())
        return respond(tokens.log_in(parts, body, str(g.request_id)), 201)

    return made


def _is_near() -> bool:
    """Whether a program on this machine asks, other than a proxy, which names whom it asks for."""
    return request.remote_addr in LOOPBACK and "X-Forwarded-For" not in request.headers


def _may_see_reasons(parts: Parts) -> bool:
    """Whether the client may see commits, addresses and errors of others."""
    if _is_near():
        return True
    try:
        return guard.identify(parts).may(Role.VIEWER)
    except (Problem, MargraveError):  # nobody's token, or a database that cannot say whose
        return False


def _outline(found: dict[str, Any]) -> dict[str, Any]:
    """Readiness without the reasons."""
    checks = [
        {**check, "detail": "ok" if check["ok"] else HIDDEN_REASON} for check in found["checks"]
    ]
    return {**found, "checks": checks}


ROUTES: Final = (
    Route("GET", "/meta/capabilities", capabilities, Role.VIEWER, "What this controller speaks"),
)

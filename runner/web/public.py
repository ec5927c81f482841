"""The door to the outside: health, metrics, status, and a plain page."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from uuid import UUID

from flask import Blueprint, Flask, Response, jsonify, render_template

from margrave.errors import NotFound
from margrave.secret import Secret
from runner.web import problems
from runner.web.access import allow
from runner.web.status import Status

# One sheet inside the page, allowed by its own digest: the page is one file that needs no other,
# and nothing that gets into it can bring a style or a script along.
_STYLE: Final = """
:root { color-scheme: light dark; font: 15px/1.45 system-ui, sans-serif; }
body { margin: 1.5rem auto; max-width: 75rem; padding: 0 1rem; }
h1 { margin: 0; font-size: 1.5rem; } h2 { font-size: 1.05rem; margin: 1.6rem 0 .4rem; }
table { border-collapse: collapse; width: 100%; display: block; overflow-x: auto; }
th, td { text-align: left; padding: .3rem .9rem .3rem 0; vertical-align: top; }
th { font-weight: 600; border-bottom: 1px solid GrayText; }
td { border-bottom: 1px solid color-mix(in srgb, GrayText 25%, transparent); }
td:last-child { min-width: 14rem; }
[role=alert] { border-left: 4px solid #c0392b; padding: .3rem .8rem; }
.good { color: light-dark(#1b7f3b, #6fd38f); } .bad { color: light-dark(#b3261e, #ff8a80); }
.odd { color: light-dark(#8a5a00, #f0c060); } .past { color: light-dark(#5f6368, #a9adb3); }
"""
_POLICY: Final = (
    "default-src 'none'; img-src data:; style-src 'sha256-"
    + base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    + "'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)


def create_app(status: Status, token: Secret | None, *doors: Blueprint) -> Flask:
    """Health is open to all; what tells more needs the token, or to come from this machine."""
    app = Flask("runner", template_folder="web/templates")
    app.add_template_filter(_clock, "clock")
    problems.install(app)
    for door in doors:
        app.register_blueprint(door)

    @app.get("/healthz")
    def healthz() -> Response:
        return jsonify(status="ok")

    @app.get("/readyz")
    def readyz() -> Response:
        found = status.readiness()
        answer = jsonify(found)
        answer.status_code = 200 if found["status"] == "ok" else 503
        return answer

    @app.get("/metrics")
    def metrics() -> Response:
        allow(token)
        return Response(status.metrics(), content_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/status")
    def whole_status() -> Response:
        allow(token)
        return jsonify(status.value())

    _pages(app, status, token)
    return app


def _pages(app: Flask, status: Status, token: Secret | None) -> None:
    """What a person reads: the site as it stands, and what an operation said."""

    @app.get("/operations/<uuid:operation>/log")
    def log(operation: UUID) -> Response:
        allow(token)
        said = status.log(str(operation))
        if not said:
            raise NotFound(f"no log of an operation {operation} is kept")
        return Response(said, content_type="text/plain; charset=utf-8")

    @app.get("/")
    def page() -> Response:
        allow(token)
        value = status.value()
        text = render_template(
            "status.html",
            s=value,
            ready=status.readiness(),
            now=f"{datetime.now(UTC):%Y-%m-%d %H:%M:%S} UTC",
            style=_STYLE,
            tone=_tone,
            names={one["deployment"]: one["name"] for one in value["placements"]},
        )
        answer = Response(text)
        answer.headers["Content-Security-Policy"] = _POLICY
        answer.headers["Referrer-Policy"] = "no-referrer"
        answer.headers["X-Content-Type-Options"] = "nosniff"
        return answer


def _clock(moment: str | None) -> str:
    """A time as it travels, as a person reads it: all of the page is in UTC, as its head says."""
    if not moment:
        return "never"
    return f"{datetime.fromisoformat(moment).astimezone(UTC):%Y-%m-%d %H:%M:%S}"


def _tone(placement: Mapping[str, Any]) -> str:
    """The colour that stands beside the word: green only for what was wanted and runs.

    Of a node that is silent only the past is known: grey, whatever it was.
    """
    if placement["freshness"] == "unknown":
        return "past"
    if placement["state"] == "FAILED":
        return "bad"
    fine = placement["state"] == "INSTALLED" and placement["outcome"] == "succeeded"
    return "good" if fine and placement["health"] == "healthy" else "odd"

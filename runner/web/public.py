"""The door to the outside: health, metrics, status, and a plain page."""

from __future__ import annotations

from flask import Blueprint, Flask, Response, jsonify, render_template_string

from margrave.secret import Secret
from runner.web import problems
from runner.web.access import allow
from runner.web.status import Status

_PAGE = """<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5"><title>{{ s.site.name }} · Margrave runner</title>
<link rel="icon" href="data:,"><h1>Site {{ s.site.name }}</h1>
<p>Commit {{ (s.site.applied_commit or "none yet")[:12] }} ·
{{ s.controller.reports_waiting }} reports wait{% if s.controller.trouble %} ·
controller: {{ s.controller.trouble }}{% endif %}</p>
{% if s.site.halted %}<p role="alert">Halted: {{ s.site.halted.reason }}</p>{% endif %}
{% if s.site.locked %}<p role="alert">Locked: {{ s.site.locked.reason }}</p>{% endif %}
<h2>Nodes</h2><ul>{% for n in s.nodes %}<li>{{ n.name }} {{ n.address }}: {{ n.status }}
{% else %}<li>none yet: margrave node add{% endfor %}</ul>
<h2>Placements</h2><ul>{% for p in s.placements %}<li>{{ p.name }} on {{ p.node }}: {{ p.state }},
{{ p.outcome }}, {{ p.version or "nothing runs" }}{% if p.waiting %}, waits for {{ p.waiting.for }}
{% endif %}{% else %}<li>none{% endfor %}</ul></html>
"""


def create_app(status: Status, token: Secret | None, *doors: Blueprint) -> Flask:
    """Health is open to all; what tells more needs the token, or to come from this machine."""
    app = Flask("runner")
    problems.install(app)
    for door in doors:
        app.register_blueprint(door)

    @app.get("/healthz")
    def healthz() -> Response:
        return jsonify(status="ok")

    @app.get("/readyz")
    def readyz() -> Response:
        reason = status.unready()
        answer = jsonify(status="unready" if reason else "ok", reason=reason)
        answer.status_code = 503 if reason else 200
        return answer

    @app.get("/metrics")
    def metrics() -> Response:
        allow(token)
        return Response(status.metrics(), content_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/status")
    def whole_status() -> Response:
        allow(token)
        return jsonify(status.value())

    @app.get("/")
    def page() -> Response:
        allow(token)
        answer = Response(render_template_string(_PAGE, s=status.value()))
        answer.headers["Content-Security-Policy"] = "default-src 'none'; img-src data:"
        return answer

    return app

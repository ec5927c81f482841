"""The admin API on the UNIX socket: whoever may open the socket may do all of it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Protocol

from flask import Flask, Response, jsonify, request

from margrave.errors import DocumentError, Refused
from margrave.findings import Finding
from margrave.names import check_label
from margrave.secret import Secret
from margrave.times import in_utc
from runner.ports import Check, NodeRequest, Onboarded, Onboarding
from runner.store.resources import node_resource
from runner.web import problems
from runner.web.status import Status

_NODE_KEYS = frozenset(
    {"name", "address", "port", "user", "login", "labels", "host_key", "replace"}
)


class Desk(Protocol):
    """What an administrator can ask of the running runner."""

    def lock(self, owner: str, reason: str, until: str | None) -> dict[str, Any]:
        """Start nothing new until unlocked."""

    def unlock(self) -> dict[str, Any]:
        """Go on."""

    def takeover(self) -> dict[str, Any]:
        """Claim the site from another runner."""

    def accept(self, commit: str) -> dict[str, Any]:
        """Take a rewritten history."""

    def once(self) -> dict[str, Any]:
        """Fetch and work until nothing is due."""

    def remove_node(self, name: str, *, forget: bool) -> None:
        """Take a node off the site."""

    def beacon(self, name: str, *, rotate: bool) -> dict[str, Any]:
        """What a node's beacon is told."""

    def changed(self) -> None:
        """Something was added: look at it."""


def create_app(status: Status, desk: Desk, onboarding: Onboarding, ssh_port: int = 22) -> Flask:
    """The socket's application; `ssh_port` is a node's where a request names none."""
    app = Flask("runner.admin")
    problems.install(app)
    _nodes(app, desk, onboarding, ssh_port)

    @app.get("/status")
    def whole_status() -> Response:
        return jsonify(status.value())

    @app.post("/lock")
    def lock() -> Response:
        given = problems.body({"owner", "reason", "until"}, {"owner", "reason"})
        until = given.get("until")
        return jsonify(desk.lock(str(given["owner"]), str(given["reason"]), _moment(until)))

    @app.post("/unlock")
    def unlock() -> Response:
        return jsonify(desk.unlock())

    @app.post("/takeover")
    def takeover() -> Response:
        return jsonify(desk.takeover())

    @app.post("/accept")
    def accept() -> Response:
        return jsonify(desk.accept(str(problems.body({"commit"}, {"commit"})["commit"])))

    @app.post("/once")
    def once() -> Response:
        return jsonify(desk.once())

    return app


def _nodes(app: Flask, desk: Desk, onboarding: Onboarding, ssh_port: int) -> None:
    @app.post("/nodes/probe")
    def probe() -> Response:
        given = problems.body({"address", "port"}, {"address"})
        return jsonify(host_key=onboarding.probe(str(given["address"]), _port(given, ssh_port)))

    @app.post("/nodes")
    def add() -> tuple[Response, int]:
        given = problems.body(_NODE_KEYS, {"name", "address", "login"})
        added = onboarding.add(node_request(given, ssh_port))
        desk.changed()
        return jsonify(_onboarded(added)), 201

    @app.post("/nodes/<name>/beacon")
    def beacon(name: str) -> Response:
        rotate = problems.body({"rotate"}).get("rotate") is True
        return jsonify(desk.beacon(check_label(name, "node"), rotate=rotate))

    @app.get("/nodes/<name>/checks")
    def checks(name: str) -> Response:
        return jsonify(items=_checks(onboarding.look(check_label(name, "node"))), next=None)

    @app.delete("/nodes/<name>")
    def remove(name: str) -> tuple[str, int]:
        forget = request.args.get("forget") == "true"
        desk.remove_node(check_label(name, "node"), forget=forget)
        return "", 204


def node_request(given: dict[str, Any], ssh_port: int = 22) -> NodeRequest:
    """The request as a value; DocumentError where it is none.

    A login without a secret is the runner's own: its key is on the node already.
    """
    login = given["login"]
    if not isinstance(login, dict):
        cure = "give user and password or private_key, or {} where the runner's key is in place"
        raise DocumentError([Finding("/login", "is not an object", cure)])
    labels = given.get("labels") or {}
    if not isinstance(labels, dict):
        raise DocumentError([Finding("/labels", "is not an object", '{"zone": "shop"}')])
    return NodeRequest(
        name=check_label(str(given["name"]), "node"),
        address=str(given["address"]),
        port=_port(given, ssh_port),
        user=str(login.get("user") or ""),
        password=_secret(login.get("password")),
        private_key=_secret(login.get("private_key")),
        labels={str(key): str(value) for key, value in labels.items()},
        host_key=str(given.get("host_key") or ""),
        replace=given.get("replace") is True,
    )


def _port(given: dict[str, Any], default: int) -> int:
    port = given.get("port", default)
    if isinstance(port, bool) or not isinstance(port, int) or not 0 < port < 65536:
        raise DocumentError([Finding("/port", f"{port!r} is no port", "1 to 65535")])
    return port


def _secret(value: object) -> Secret | None:
    return Secret(str(value)) if value else None


def _moment(text: object) -> str | None:
    if text is None:
        return None
    try:
        when = datetime.fromisoformat(str(text))
        if when.tzinfo is not None:
            in_utc(when)
    except ValueError as error:
        raise Refused(f'until: "{text}" is no time', "2026-01-31T12:00:00Z") from error
    if when.tzinfo is None:
        raise Refused(f'until: "{text}" names no zone', "2026-01-31T12:00:00Z")
    return when.isoformat()


def _onboarded(added: Onboarded) -> dict[str, Any]:
    return {
        "node": node_resource(added.node),
        "host_key": added.host_key,
        "checks": _checks(added.checks),
    }


def _checks(found: Iterable[Check]) -> list[dict[str, Any]]:
    return [
        {"name": one.name, "ok": one.ok, "detail": one.detail, "cure": one.cure} for one in found
    ]

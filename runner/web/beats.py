"""The beacons' door: POST /heartbeat. docs/beacon.md is the wire."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from flask import Blueprint, Response, jsonify, request

from margrave.errors import MargraveError, Refused
from runner.ports import Clock

LIMIT: Final = 16 * 1024

Take = Callable[[str, str, str, bytes], datetime]  # node, time, signature, body


def door(
    take: Take, clock: Clock, interval: int, count: Callable[[str], None] = lambda _: None
) -> Blueprint:
    """A blueprint that counts beats which are believed, and tells all others why they are not."""
    blueprint = Blueprint("beats", __name__)

    @blueprint.post("/heartbeat")
    def heartbeat() -> Response:
        request.max_content_length = LIMIT
        given = request.headers
        try:
            came = take(
                given.get("X-Margrave-Node", ""),
                given.get("X-Margrave-Timestamp", ""),
                given.get("X-Margrave-Signature", ""),
                request.get_data(cache=False),
            )
        except MargraveError as error:
            refused = isinstance(error, Refused)
            count("refused" if refused else "unreadable")
            return _problem(401 if refused else 400, error, clock())
        count("taken")
        return jsonify(time=_milliseconds(came), interval=interval)

    return blueprint


def _problem(status: int, error: MargraveError, now: datetime) -> Response:
    """The time stands beside it: whose clock is wrong is the first question of a beacon."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": "not believed" if status == 401 else "not understood",
        "status": status,
        "detail": str(error),
        "errors": [],
        "time": _milliseconds(now),
    }
    answer = jsonify(body)
    answer.status_code = status
    answer.content_type = "application/problem+json"
    return answer


def _milliseconds(moment: datetime) -> int:
    return int(moment.timestamp() * 1000)

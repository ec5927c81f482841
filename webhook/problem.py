"""Refusals of the door, in the shape of RFC 9457 that all of Margrave speaks."""

from __future__ import annotations

import json
from http import HTTPStatus

from flask import Response, g


class Turned(Exception):
    """A delivery that is not let in; says the status and what would help."""

    def __init__(self, status: HTTPStatus, detail: str, cure: str) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.cure = cure


def answer(turned: Turned) -> Response:
    """The refusal as a problem document."""
    body = {
        "type": "about:blank",
        "title": turned.status.phrase,
        "status": int(turned.status),
        "detail": turned.detail,
        "cure": turned.cure,
        "errors": [],
        "request_id": g.get("request_id", ""),  # where the application has given it one
    }
    return Response(json.dumps(body), turned.status, mimetype="application/problem+json")

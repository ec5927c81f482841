"""Errors as RFC 9457 tells them, and bodies that are what they should be."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from flask import Flask, Response, jsonify, request
from werkzeug.exceptions import HTTPException

from margrave.errors import (
    Conflict,
    DocumentError,
    MargraveError,
    NotFound,
    Refused,
    SettingsError,
    Unreachable,
)
from margrave.findings import Finding

BODY_LIMIT: Final = 1024 * 1024

_STATUS: Final = (
    (NotFound, 404, "not found"),
    (Conflict, 409, "conflict"),
    (Refused, 409, "refused"),
    (Unreachable, 503, "unreachable"),
    (MargraveError, 422, "not possible"),
)


def install(app: Flask) -> None:
    """All errors of this application are problems."""
    app.config["MAX_CONTENT_LENGTH"] = BODY_LIMIT
    app.register_error_handler(MargraveError, _refusal)
    app.register_error_handler(HTTPException, _http)


def body(known: Collection[str], required: Collection[str] = ()) -> dict[str, Any]:
    """The request's JSON object; DocumentError for keys that are unknown or missing."""
    value = request.get_json(force=True)
    if not isinstance(value, dict):
        raise DocumentError([Finding("", "is not a JSON object", "send {…}")])
    findings = [
        Finding(f"/{key}", "is no known key", f"known are {', '.join(sorted(known))}")
        for key in sorted(set(value) - set(known))
    ]
    findings += [
        Finding(f"/{key}", "is missing", "add it", code="missing")
        for key in sorted(required)
        if value.get(key) in (None, "")
    ]
    if findings:
        raise DocumentError(findings)
    return value


def _refusal(error: MargraveError) -> Response:
    status, title = next((s, t) for kind, s, t in _STATUS if isinstance(error, kind))
    findings = error.findings if isinstance(error, (DocumentError, SettingsError)) else ()
    return _problem(
        status,
        title,
        str(error),
        [{"pointer": one.pointer, "code": one.code, "detail": one.message} for one in findings],
    )


def _http(error: HTTPException) -> Response:
    return _problem(error.code or 500, error.name.lower(), error.description or "", [])


def _problem(status: int, title: str, detail: str, errors: list[dict[str, str]]) -> Response:
    answer = jsonify(
        {
            "type": "about:blank",
            "title": title,
            "status": status,
            "detail": detail,
            "errors": errors,
        }
    )
    answer.status_code = status
    answer.content_type = "application/problem+json"
    return answer

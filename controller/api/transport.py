"""What every request and answer has in common: an id, limits, and headers that protect."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING, Final

from flask import g, request

from controller.api.bodies import BODY_LIMIT
from controller.api.problems import Problem, invalid
from margrave.findings import Finding
from margrave.names import is_trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flask import Flask, Response

HEADER: Final = "X-Request-Id"
FORM: Final = "application/x-www-form-urlencoded"
NULL: Final = "\0"
UNLIMITED: Final = 1 << 62

# Nothing from elsewhere, nothing inline: a text that slips into a page can do nothing there.
POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
}


def register(app: Flask) -> None:
    """Give each request its id and each answer its headers."""
    app.config["MAX_CONTENT_LENGTH"] = BODY_LIMIT
    app.before_request(_begin)
    app.after_request(_end)


def _begin() -> None:
    wanted = request.headers.get(HEADER, "")
    g.request_id = wanted if is_trace(wanted) else str(uuid.uuid4())
    if request.path.startswith("/git/"):
        # Packs are streamed, never held in memory. None would mean the limit of all others.
        request.max_content_length = UNLIMITED
    else:
        _refuse_nulls()


def _refuse_nulls() -> None:
    """No text of ours holds a null character, and one of the two databases takes none."""
    if NULL in request.path:
        raise Problem(404, "there is nothing at an address with a null character")
    findings = [
        Finding(f"/{name}", "holds a null character", "leave it out")
        for name, value in _texts()
        if NULL in name + value
    ]
    if findings:
        raise invalid(findings)


def _texts() -> Iterator[tuple[str, str]]:
    """What the query and a form say; JSON is read elsewhere."""
    yield from request.args.items(multi=True)
    # A forge signs the bytes that it sends: whoever reads them as a form leaves none for the door.
    if request.mimetype == FORM and not request.path.startswith("/hooks/"):
        yield from request.form.items(multi=True)


def _end(response: Response) -> Response:
    response.headers[HEADER] = str(g.get("request_id", ""))
    for name, value in HEADERS.items():
        response.headers.setdefault(name, value)
    if request.path.startswith("/api/"):
        response.headers.setdefault("Cache-Control", "no-store")
    return response

"""Every refusal as RFC 9457 problem details."""

from __future__ import annotations

import logging
from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from flask import Flask, Response, g, json
from werkzeug.exceptions import HTTPException, MethodNotAllowed, TooManyRequests

from margrave.errors import (
    Conflict,
    DocumentError,
    MargraveError,
    NotFound,
    Refused,
    SettingsError,
    Unreachable,
    UnsafeArchive,
)
from margrave.findings import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from margrave.findings import Finding

LOG = logging.getLogger(__name__)

# The product's errors and the status that tells each of them; the first that fits is taken.
STATUS_OF: Final[tuple[tuple[type[MargraveError], int], ...]] = (
    (DocumentError, 422),
    (SettingsError, 422),
    (UnsafeArchive, 422),
    (NotFound, 404),
    (Conflict, 409),
    (Refused, 422),
    (Unreachable, 503),
    (MargraveError, 422),
)


class Problem(Exception):
    """A refusal with its status; `errors` are findings at places of the request."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        cure: str = "",
        errors: Iterable[Finding] = (),
        headers: Mapping[str, str] | None = None,
        more: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.cure = cure
        self.errors = tuple(errors)
        self.headers = dict(headers or {})
        self.more = dict(more or {})


def invalid(findings: Iterable[Finding], detail: str = "") -> Problem:
    """422 with all findings at once."""
    found = tuple(findings)
    return Problem(422, detail or _count(len(found)), errors=found)


def not_found(what: str, name: str, known: Iterable[str] = ()) -> Problem:
    """404 for a thing named in the path; of those that are known the nearest is named."""
    cure = nearest(name, known) or f"list the {what}s that exist"
    return Problem(404, f'there is no {what} "{name}"', cure=cure)


def error_entry(finding: Finding) -> dict[str, object]:
    """A finding as an entry of `errors`."""
    entry: dict[str, object] = {
        "pointer": finding.pointer,
        "code": finding.code,
        "detail": finding.message,
    }
    entry["cure"] = finding.cure or "write it as /openapi.json describes it"
    for key in ("file", "line", "column"):
        if value := getattr(finding, key):
            entry[key] = value
    return entry


def answer(problem: Problem) -> Response:
    """The response that tells a problem."""
    body = {
        "type": "about:blank",
        "title": HTTPStatus(problem.status).phrase,
        "status": problem.status,
        "detail": problem.detail,
        "cure": cure_of(problem),
        "errors": [error_entry(finding) for finding in problem.errors],
        "request_id": g.get("request_id", ""),
        **problem.more,
    }
    return Response(
        json.dumps(body),
        status=problem.status,
        content_type="application/problem+json",
        headers=problem.headers,
    )


def cure_of(problem: Problem) -> str:
    """What helps, also where nobody said it better: no refusal is without a next step."""
    if problem.cure:
        return problem.cure
    if problem.errors:
        return "see errors: each has its place and its cure"
    return _CURES.get(problem.status, "look at /openapi.json for what this address takes")


def of_error(error: MargraveError) -> Problem:
    """The problem that one of the product's own errors is."""
    wait = getattr(error, "retry_after", None)
    if wait is not None:
        return Problem(
            429, error.message, cure=error.cure, headers={"Retry-After": str(max(1, round(wait)))}
        )
    status = next(code for kind, code in STATUS_OF if isinstance(error, kind))
    findings = getattr(error, "findings", ())
    if any(finding.code == "forbidden" for finding in findings):
        status = 403  # whatever else is wrong with it, it is not theirs to ask for
    detail = _count(len(findings)) if findings else error.message
    headers = {"Retry-After": "5"} if status == 503 else {}
    return Problem(status, detail, cure=error.cure, errors=findings, headers=headers)


def of_http(error: HTTPException) -> Problem:
    """The problem that one of Flask's own refusals is."""
    headers = {}
    if isinstance(error, MethodNotAllowed) and error.valid_methods:
        headers["Allow"] = ", ".join(sorted(error.valid_methods))
    if isinstance(error, TooManyRequests):
        headers["Retry-After"] = "10"
    status = error.code or 500
    return Problem(status, _WORDS.get(status, error.description or ""), headers=headers)


_WORDS: Final = {
    400: "the request cannot be read as HTTP with a JSON body",
    404: "there is nothing at this address; /openapi.json lists what there is",
    405: "this address does not take that method; Allow lists those it takes",
    408: "the body did not arrive in time",
    413: "the body is larger than this address takes",
    415: "the body's encoding is not one this address takes",
}

_CURES: Final = {
    400: "send one JSON object, in UTF-8",
    401: "send Authorization: Bearer <token>; sign in with margrave login URL",
    403: "ask an admin",
    404: "look at /openapi.json for the addresses, and at the lists for the names",
    405: "use one of the methods that Allow lists",
    408: "send the request without pauses; http.body_timeout limits them",
    409: "read it again, then decide",
    413: "send less at once",
    415: "send it as it is, or gzipped",
    429: "wait as long as Retry-After says",
    500: "try again; tell an admin the request id when it stays",
    503: "try again as Retry-After says; /readyz names the part that is ill",
}


def _unexpected(error: Exception) -> Problem:
    # The trace belongs in the log, where the request id finds it; never in an answer.
    LOG.error("request failed: %s", type(error).__name__, exc_info=error)
    return Problem(500, "an error inside the controller; its log tells more under this request id")


def _count(number: int) -> str:
    return "1 finding" if number == 1 else f"{number} findings"


def register(app: Flask, tell: Callable[[Problem], Response] = answer) -> None:
    """Make every error of the application a problem; `tell` says how it is told to who asked."""
    app.register_error_handler(Problem, tell)
    app.register_error_handler(MargraveError, lambda error: tell(of_error(error)))
    app.register_error_handler(TimeoutError, lambda _: tell(Problem(408, _WORDS[408])))
    app.register_error_handler(HTTPException, lambda error: tell(of_http(error)))
    app.register_error_handler(Exception, lambda error: tell(_unexpected(error)))

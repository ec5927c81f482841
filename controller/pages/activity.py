"""What happened and who did what: events, the audit, requests and operations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.pages.asking import ask, may, page_of, wanted
from controller.pages.frame import go, render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from werkzeug.wrappers import Response as Answer

    from controller.api.call import Call

ROWS: Final = 40
STATES: Final = ("queued", "publishing", "published", "failed,refused", "cancelled")
FARES: Final = 20  # deployments of a request
PLANNED: Final = 8  # sites of its plan
LOG_LINES: Final = 250  # the rest is the log's own page
_REQUEST: Final = "/requests/<request_id>"
_DEPLOYMENT: Final = "/deployments/<deployment>"
_OPERATION: Final = "/operations/<operation>"


def listed(call: Call) -> str:
    """GET /activity: events, or for admins the audit."""
    audit = request.args.get("show") == "audit"
    path = "/audit" if audit else "/activity"
    found = page_of(call, path, ROWS)
    names = {
        one["deployment"]: one["data"]["name"]
        for one in found["items"]
        if not audit and one["event"] == "deployment"
    }
    entries = found["items"] if audit else [_told(one, names) for one in found["items"]]
    return render(
        "activity.html",
        audit=audit,
        entries=entries,
        more=found["next"],
        audited=may(call, "GET", "/audit"),
    )


def requests(call: Call) -> str:
    """GET /requests, all or those in a state."""
    given = wanted("state")
    found = page_of(call, "/requests", ROWS, given)
    return render(
        "requests.html",
        items=found["items"],
        more=found["next"],
        wanted=given,
        states=STATES,
        audited=may(call, "GET", "/audit"),
    )


def request_shown(call: Call, request_id: str) -> str | Answer:
    """GET /requests/{id}: its plan and how it fares; POST takes it back."""
    if request.method == "POST":
        ask(call, "DELETE", _REQUEST, request_id=request_id)
        return go(f"/requests/{request_id}", "taken-back")
    return render(
        "request.html",
        most=FARES,
        planned=PLANNED,
        asked=ask(call, "GET", _REQUEST, request_id=request_id),
        fares=ask(call, "GET", f"{_REQUEST}/progress", request_id=request_id),
    )


def operation(call: Call, operation: str) -> str:
    """GET /operations/{id}: what it did, with the end of its log."""
    one = ask(call, "GET", _OPERATION, operation=operation)
    where = {"site": one["site"]}
    of = ask(call, "GET", _DEPLOYMENT, None, where, deployment=one["deployment"])
    lines = ask(call, "GET", f"{_OPERATION}/log", operation=operation).splitlines()
    return render(
        "operation.html",
        f"operation:{one['id']}",
        one=one,
        of=of["name"],
        lines=lines[-LOG_LINES:],
        all=len(lines),
    )


def log(call: Call, operation: str) -> Response:
    """GET /operations/{id}/log: all of it, as text."""
    text = ask(call, "GET", f"{_OPERATION}/log", operation=operation)
    return Response(text, content_type="text/plain; charset=utf-8")


def _told(one: dict[str, Any], names: Mapping[str, str]) -> dict[str, Any]:
    """An event as a line: what it is about, where that leads, and what was said of it."""
    data, kind = one["data"], one["event"]
    name, link, words = data.get("name") or "", None, ""
    of = names.get(one["deployment"]) or str(one["deployment"] or "")[:8]
    if kind in ("deployment", "placement"):
        link = f"/deployments/{one['deployment']}?site={one['site']}"
        name = of
    if kind == "placement":
        name, words = f"{name} on {data.get('node')}", data.get("reason") or ""
    elif kind == "operation":
        name, words = f"{data.get('kind')} {of} on {data.get('node')}", data.get("phase") or ""
        link = f"/operations/{data.get('id')}"
    elif kind == "request":
        name, link = str(data.get("action")), f"/requests/{data.get('id')}"
        words = f"by {data.get('actor')}"
    elif kind == "site":
        link = f"/sites/{data.get('name')}"
        if commit := data.get("applied_commit"):
            words = f"has applied {commit[:8]}"
    elif kind == "node":
        link = f"/sites/{data.get('site')}/nodes/{name}"
    error = data.get("error") if isinstance(data.get("error"), dict) else None
    return {**one, "name": name, "link": link, "words": words, "error": error}

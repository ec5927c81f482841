"""Activity pages: changes, the audit, requests and operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.pages.asking import ask, may, page_of, wanted
from controller.pages.frame import go, render

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

    from controller.api.call import Call

ROWS: Final = 40
STATES: Final = ("queued", "publishing", "published", "failed,refused", "cancelled")
FARES: Final = 20  # deployments of a request
MOST_SITES: Final = 5  # of a request, in its row
PLANNED: Final = 8  # sites of its plan
LOG_LINES: Final = 250  # the rest is the log's own page
_REQUEST: Final = "/requests/<request_id>"
_DEPLOYMENT: Final = "/deployments/<deployment>"
_OPERATION: Final = "/operations/<operation>"


def listed(call: Call) -> str:
    """GET /activity: changes, or for admins the audit."""
    audit = request.args.get("show") == "audit"
    found = page_of(call, "/audit" if audit else "/changes", ROWS)
    entries = found["items"] if audit else [_entry(change) for change in found["items"]]
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


def _entry(change: dict[str, Any]) -> dict[str, Any]:
    """Return a change as a row with its title, link, place and result."""
    if change["kind"] == "deployment":
        return {**change, **_of_deployment(change)}
    if change["kind"] == "request":
        return {
            **change,
            "what": f"{change['action']} requested by {change['actor']}",
            "link": f"/requests/{change['request']}",
            "where": ", ".join(change["sites"][:MOST_SITES]),
            "details": "",
        }
    return {**change, **_of_state(change), "error": None}


def _of_deployment(change: dict[str, Any]) -> dict[str, Any]:
    version = f" {change['version']}" if change["version"] else ""
    only = change["operations"][0]["id"] if change["operations_total"] == 1 else None
    deployment = f"/deployments/{change['deployment']}?site={change['site']}"
    nodes = list(dict.fromkeys(operation["node"] for operation in change["operations"]))
    return {
        "what": f"{change['action']} {change['name']}{version}",
        "link": f"/operations/{only}" if only else deployment,
        "where": f"{change['site']}/{nodes[0]}" if len(nodes) == 1 else change["site"],
        "nodes": nodes if len(nodes) > 1 else [],
        "details": change["reason"] or "",
    }


def _of_state(change: dict[str, Any]) -> dict[str, Any]:
    """Return a change of a site or a node in words: each of its fields that is another one."""
    new, place = change["new"], f"/sites/{change['site']}"
    if change["kind"] == "node":
        place += f"/nodes/{change['name']}"
    words = [_WORDS[field](new.get(field)) for field in change["changed"] if field in _WORDS]
    if "added" in change["changed"]:
        words = ["added"]
    gone = bool(new.get("removed"))
    return {
        "what": f"{change['kind']} {change['name']}",
        "link": None if gone else place,
        "where": change["site"],
        "state": ", ".join(["removed"] if gone else words),
        "details": change["reason"] or "",
    }


def _held(word: str, free: str) -> Callable[[Any], str]:
    def words(value: Any) -> str:
        reason = value.get("reason") if isinstance(value, dict) else None
        return f"{word}: {reason}" if reason else word if value else free

    return words


_WORDS: Final[Mapping[str, Callable[[Any], str]]] = {
    "freshness": lambda value: "online" if value == "fresh" else "silent",
    "status": str,
    "paused": _held("paused", "resumed"),
    "drain": lambda value: "draining" if value else "no longer drained",
    "locked": _held("locked", "unlocked"),
    "halted": _held("halted", "no longer halted"),
}

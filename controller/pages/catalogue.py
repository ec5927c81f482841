"""What can be deployed, and where it comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.api.problems import Problem, not_found
from controller.pages.acting import said
from controller.pages.asking import app_at, ask, page_of, wanted, whole
from controller.pages.frame import HTML, doubt, go, render
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

    from controller.api.call import Call

ROWS: Final = 40
SOURCES: Final = 20
RUNNING: Final = 20
FINDINGS: Final = 20  # of a source that are told on the page
_SOURCE: Final = "/app-sources/<source>"


def listed(call: Call) -> str:
    """GET /apps."""
    given = wanted("q")
    found = page_of(call, "/apps", ROWS, given)
    return render(
        "apps.html",
        apps=found["items"],
        more=found["next"],
        q=given.get("q", ""),
        ill=[one for one in whole(call, "/app-sources") if one["error"]],
    )


def shown(call: Call, app: str) -> str:
    """GET /apps/{app}, at the version that the query names, else the newest."""
    found = app_at(call, app, request.args.get("version"))
    running = ask(call, "GET", "/deployments", None, {"app": app, "limit": str(RUNNING)})
    return render("app.html", app=found, running=running["items"], more=running["next"])


def sources(call: Call) -> str | Response | Answer:
    """GET /sources shows them, POST adds one."""
    findings: Any = []
    if request.method == "POST":
        keys = ("name", "url", "ref", "path", "credentials")
        body = {key: request.form[key].strip() for key in keys if request.form.get(key, "").strip()}
        try:
            ask(call, "POST", "/app-sources", body)
            return go("/sources", "source-added")
        except (Problem, MargraveError) as error:
            findings = said(error)
    found = page_of(call, "/app-sources", SOURCES)
    text = render(
        "sources.html",
        "none" if findings else "all",
        sources=found["items"],
        more=found["next"],
        most=FINDINGS,
        findings=findings,
        form=request.form,
    )
    return Response(text, 422 if findings else 200, content_type=HTML)


def source_act(call: Call, source: str, verb: str) -> str | Answer:
    """POST /sources/{name}/(sync|remove)."""
    if verb == "sync":
        ask(call, "POST", f"{_SOURCE}/sync", source=source)
        return go("/sources", "synced")
    if verb == "remove":
        means = "Its applications go, but for the versions that deployments use."
        if page := doubt(f"Remove the source {source}?", means, "Remove", "/sources"):
            return page
        ask(call, "DELETE", _SOURCE, source=source)
        return go("/sources", "source-removed")
    raise not_found("action", verb)

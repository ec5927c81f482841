"""Acting on a deployment: the form, the plan, then the act."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.access.identity import Role
from controller.api import guard
from controller.api.problems import Problem, error_entry, not_found, of_error
from controller.pages import fields
from controller.pages.asking import app_at, ask
from controller.pages.frame import HTML, go, render, step
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from werkzeug.datastructures import MultiDict
    from werkzeug.wrappers import Response as Answer

    from controller.api.call import Call

_ONE: Final = "/deployments/<deployment>"
# verb: (title, word of the button, what it does)
VERBS: Final = {
    "update": ("Update", "Update", "Another version or other values; one commit in Git."),
    "rollback": (
        "Roll back",
        "Roll back",
        "Content that its document had before comes back; one commit in Git.",
    ),
    "retry": ("Retry", "Retry", "Its runner tries the wanted revision again."),
    "cancel": (
        "Cancel",
        "Cancel the operation",
        "What is under way stops at its next safe point and goes back.",
    ),
    "release": (
        "Release",
        "Release",
        "The wanted revision is taken out of quarantine, so it is tried again.",
    ),
    "delete": (
        "Delete",
        "Delete",
        "It leaves Git and is taken off its nodes. Named volumes are kept.",
    ),
}
COMMITTED: Final = ("update", "rollback", "delete")


def one(call: Call, deployment: str, verb: str) -> str | Response | Answer:
    """GET shows the form and what would happen; POST with do=act and the plan's hash does it."""
    if verb not in VERBS:
        raise not_found("action", verb)
    guard.require(call.who, Role.OPERATOR)
    site = request.values.get("site")
    where = {"site": site} if site else {}
    target = ask(call, "GET", _ONE, None, where, deployment=deployment)
    app = _app(call, target) if verb == "update" else None
    body = wanted(verb, app, request.form)
    findings: list[Mapping[str, Any]] = []
    do = step()
    if do == "act":
        try:
            return _do(call, verb, target, {**body, "plan_hash": request.form["plan_hash"]})
        except (Problem, MargraveError) as error:
            findings = said(error)
    changes = verb != "update" or bool({"version", "parameters"} & set(body))
    select = {"ids": [target["id"]], "sites": [target["site"]]}
    plan = plan_for(call, verb, select, body) if changes else None
    if plan and plan["findings"]:
        findings = [one for one in plan["findings"] if one["severity"] == "error"] or findings
    text = _page(call, verb, target, app, plan, findings)
    bad = do in ("act", "plan") and findings
    return Response(text, 422 if bad else 200, content_type=HTML)


def said(error: Problem | MargraveError) -> list[Mapping[str, Any]]:
    """A refusal as findings: its own, else the refusal itself; what is not theirs is no finding."""
    problem = error if isinstance(error, Problem) else of_error(error)
    if problem.status in (401, 403):
        raise problem
    entries = [error_entry(one) for one in problem.errors]
    found: list[Mapping[str, Any]] = [
        {**one, "message": one["detail"], "cure": one.get("cure", "")} for one in entries
    ]
    return found or [{"pointer": "", "message": problem.detail, "cure": problem.cure}]


def _page(
    call: Call,
    verb: str,
    target: dict[str, Any],
    app: dict[str, Any] | None,
    plan: dict[str, Any] | None,
    findings: list[Mapping[str, Any]],
) -> str:
    asked = (
        fields.fields(app["parameters"], request.form, findings, target["parameters"])
        if app
        else []
    )
    told = {id(one) for each in asked for one in each.findings}
    return render(
        "act.html",
        "none",
        one=target,
        verb=verb,
        words=VERBS[verb],
        app=app,
        fields=asked,
        earlier=_earlier(call, target) if verb == "rollback" else [],
        plan=plan,
        findings=[one for one in findings if id(one) not in told],
        form=request.form,
    )


def _app(call: Call, target: Mapping[str, Any]) -> dict[str, Any] | None:
    """The application at the version that is asked for; None when the catalogue lost it."""
    for version in (request.form.get("version") or target["version"], None):
        try:
            return app_at(call, target["app"], version)
        except Problem as problem:
            if problem.status != 404:
                raise
            # Not in the catalogue any more: its newest version, or no fields at all.
    return None


def wanted(verb: str, app: Mapping[str, Any] | None, form: MultiDict[str, str]) -> dict[str, Any]:
    """What a form says, as the API takes it beside the action and the selection."""
    body: dict[str, Any] = {}
    if form.get("reason", "").strip():
        body["reason"] = form["reason"].strip()
    if verb in COMMITTED and form.get("priority"):
        body["priority"] = form["priority"]
    if verb == "rollback" and form.get("to", "").strip():
        body["to"] = form["to"].strip()
    if verb == "update":
        if form.get("version"):
            body["version"] = form["version"]
        if app and (given := fields.values(app["parameters"], form)):
            body["parameters"] = given
    return body


def plan_for(
    call: Call, verb: str, select: Mapping[str, Any], body: Mapping[str, Any]
) -> dict[str, Any]:
    """What would happen to the selected."""
    return planned(call, {**body, "action": verb, "select": select})


def planned(call: Call, body: Mapping[str, Any]) -> dict[str, Any]:
    """What would happen. A refusal is told as the plan's findings, and leaves no hash to act on."""
    try:
        made: dict[str, Any] = ask(call, "POST", "/plans", body)["plan"]
    except (Problem, MargraveError) as error:
        findings = [{"severity": "error", **one} for one in said(error)]
        return {"hash": None, "sites": [], "findings": findings}
    refused = any(one["severity"] == "error" for one in made["findings"])
    return {**made, "hash": None} if refused else made


def _do(call: Call, verb: str, target: Mapping[str, Any], body: Mapping[str, Any]) -> Answer:
    where = {"site": target["site"]}
    name = target["id"]
    if verb == "update":
        answer = ask(call, "PATCH", _ONE, body, where, deployment=name)
    elif verb == "delete":
        answer = ask(call, "DELETE", _ONE, body, where, deployment=name)
    else:
        answer = ask(call, "POST", f"{_ONE}/{verb}", body, where, deployment=name)
    page = f"/deployments/{name}?site={target['site']}"
    # A deployment that is deleted already answers with itself: there is no request to show.
    return go(page if answer["id"] == name else f"{page}&request={answer['id']}")


def _earlier(call: Call, target: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Other contents that it had, each once, the newest first."""
    where = {"site": target["site"]}
    found = ask(call, "GET", f"{_ONE}/revisions", None, where, deployment=target["id"])["items"]
    seen = {target["revision"], None}
    made = []
    for each in found:
        if each["revision"] not in seen:
            seen.add(each["revision"])
            made.append(each)
    return made

"""Acting on many at once: what is ticked in the list, or all that its filter finds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.access.identity import Role
from controller.api import guard
from controller.api.problems import Problem, not_found
from controller.pages import fields
from controller.pages.acting import COMMITTED, VERBS, plan_for, said, wanted
from controller.pages.asking import app_at, ask
from controller.pages.frame import HTML, go, render, step
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from werkzeug.datastructures import MultiDict
    from werkzeug.wrappers import Response as Answer

    from controller.api.call import Call

FILTERS: Final = ("q", "site", "app", "state", "outcome")
PICK: Final = "pick"  # <id>@<site>, for each that is ticked
SHOWN: Final = 20  # deployments of a plan that are told one by one
EACH: Final = "as it is at each"  # what holds where nothing is typed
WORDS: Final = {
    "update": "Another version or other values for all of them, in one commit.",
    "rollback": "Each gets content back that its document had before, in one commit.",
    "retry": "Their runners try the wanted revisions again.",
    "cancel": "What is under way stops at its next safe point and goes back.",
    "release": "The wanted revisions are taken out of quarantine, so they are tried again.",
    "delete": "All of them leave Git in one commit and are taken off their nodes. "
    "Named volumes are kept.",
}


def act(call: Call, verb: str) -> str | Response | Answer:
    """What would become of them; POST with do=act and the plan's hash does it."""
    if verb not in VERBS:
        raise not_found("action", verb)
    guard.require(call.who, Role.OPERATOR)
    given = request.form if request.method == "POST" else request.args
    select = selected(given)
    if not select:
        cure = "tick some in the list, or filter it and take all that match"
        raise Problem(422, "nothing is chosen", cure=cure)
    app = _app(call, select, given.get("version")) if verb == "update" else None
    body = wanted(verb, app, given)
    findings: list[Mapping[str, Any]] = []
    do = step()
    if do == "act":
        try:
            asked = {**body, "action": verb, "select": select, "plan_hash": given.get("plan_hash")}
            answer = ask(call, "POST", "/deployments/actions", asked)
            return go(f"/requests/{answer['id']}")
        except (Problem, MargraveError) as error:
            findings = said(error)
    plan = plan_for(call, verb, select, body)
    findings = [one for one in plan["findings"] if one["severity"] == "error"] or findings
    text = _page(verb, app, plan, findings, given)
    bad = do in ("act", "plan") and findings
    return Response(text, 422 if bad else 200, content_type=HTML)


def selected(given: MultiDict[str, str]) -> dict[str, Any]:
    """What the list's form says, as the API's selection; empty when it says nothing.

    Everything there is cannot be meant: without a filter `all` says nothing either.
    """
    if given.get("all"):
        found: dict[str, Any] = {key: given[key] for key in FILTERS if given.get(key)}
        if "," in found.get("outcome", ""):
            found["outcome"] = found["outcome"].split(",")
        return found | {"sites": [found.pop("site")]} if "site" in found else found
    picked = [one.partition("@") for one in given.getlist(PICK)]
    if not picked:
        return {}
    return {
        "ids": [one for one, _, _ in picked],
        "sites": sorted({site for _, _, site in picked}),
    }


def _app(call: Call, select: Mapping[str, Any], version: str | None) -> dict[str, Any] | None:
    """The application that all of them are of, at that version; None when they are of several."""
    found = {one["app"] for one in plan_for(call, "update", select, {})["sites"]}
    if len(found) != 1:
        return None
    try:
        return app_at(call, found.pop(), version)
    except Problem as problem:
        if problem.status != 404:
            raise
        return None  # no source has it any more, or not in that version


def _page(
    verb: str,
    app: dict[str, Any] | None,
    plan: dict[str, Any],
    findings: list[Mapping[str, Any]],
    given: MultiDict[str, str],
) -> str:
    asked = []
    if app:
        parameters = app["parameters"]
        each = {one["name"]: EACH for one in parameters}
        asked = fields.fields(parameters, given, findings, each)
    told = {id(one) for each_ in asked for one in each_.findings}
    tally: dict[str, int] = {}
    for one in plan["sites"]:
        tally[one["action"]] = tally.get(one["action"], 0) + 1
    # An update that says nothing yet would change nothing: that is no plan to be shown.
    blank = verb == "update" and set(tally) <= {"none"} and not findings
    return render(
        "act_many.html",
        "none",
        verb=verb,
        words=VERBS[verb],
        lead=WORDS[verb],
        committed=verb in COMMITTED,
        app=app,
        apps=sorted({one["app"] for one in plan["sites"]}),
        fields=asked,
        plan=plan,
        blank=blank,
        tally=tally,
        most=SHOWN,
        findings=[one for one in findings if id(one) not in told],
        picked=given.getlist(PICK),
        filters={key: given[key] for key in ("all", *FILTERS) if given.get(key)},
        form=given,
    )

"""The form that deploys an application: checked as one types, planned, then sent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.access.identity import Role
from controller.api import guard
from controller.api.problems import Problem
from controller.pages import fields
from controller.pages.acting import planned, said
from controller.pages.asking import app_at, ask, page_of
from controller.pages.frame import HTML, go, render, step
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from werkzeug.datastructures import MultiDict
    from werkzeug.wrappers import Response as Answer

    from controller.api.call import Call

APPS: Final = 60
CHOSEN: Final = 30  # sites or nodes that are ticked; of more the names are typed
SHOWN: Final = 20  # sites of a plan that are told one by one


def form(call: Call) -> str | Response | Answer:
    """GET shows the form; POST checks it (do=check, do=plan) or deploys (do=act, with the hash)."""
    guard.require(call.who, Role.OPERATOR)
    given = request.form if request.method == "POST" else request.args
    if not given.get("app"):
        found = page_of(call, "/apps", APPS)
        return render("deploy_choose.html", "none", apps=found["items"], more=found["next"])
    app = app_at(call, given["app"], given.get("version"))
    do = step()
    findings: list[Mapping[str, Any]] = []
    plan: dict[str, Any] | None = None
    if do == "act":
        try:
            return _deploy(call, app, given)
        except (Problem, MargraveError) as error:
            findings = said(error)
    if do:
        plan = _plan(call, app, given)
        findings = [one for one in plan["findings"] if one["severity"] == "error"] or findings
    text = _page(call, app, given, plan, findings)
    return Response(text, 422 if findings and do != "check" else 200, content_type=HTML)


def body_of(app: Mapping[str, Any], given: MultiDict[str, str]) -> dict[str, Any]:
    """What the form says, as the API takes it."""
    body: dict[str, Any] = {
        "app": app["id"],
        "version": given.get("version") or app["version"],
        "targets": _targets(given),
        "parameters": fields.values(app["parameters"], given),
    }
    for key in ("name", "profile", "reason", "priority"):
        if given.get(key, "").strip():
            body[key] = given[key].strip()
    if given.get("batch", "").strip():
        batch = given["batch"].strip()
        body["strategy"] = {"batch": int(batch) if re.fullmatch("[0-9]{1,9}", batch) else batch}
    return body


def _targets(given: MultiDict[str, str]) -> dict[str, Any]:
    by = given.get("by", "sites")
    if by == "labels":
        pairs = [pair.partition("=") for pair in _names(given.getlist("labels"))]
        return {"selector": {"matchLabels": {key.strip(): one.strip() for key, _, one in pairs}}}
    return {by if by == "nodes" else "sites": _names(given.getlist(by))}


def _names(texts: list[str]) -> list[str]:
    """Names that were ticked, or typed with commas or blanks between them."""
    return list(dict.fromkeys(name for text in texts for name in text.replace(",", " ").split()))


def _deploy(call: Call, app: Mapping[str, Any], given: MultiDict[str, str]) -> Answer:
    body = {**body_of(app, given), "plan_hash": given["plan_hash"]}
    answer = ask(call, "POST", "/deployments", body)
    made = answer["deployments"]
    if len(made) == 1:
        one = made[0]
        return go(f"/deployments/{one['id']}?site={one['site']}&request={answer['id']}")
    return go(f"/requests/{answer['id']}")


def _plan(call: Call, app: Mapping[str, Any], given: MultiDict[str, str]) -> dict[str, Any]:
    """What would happen. Where only values are wrong, where it would go is told all the same."""
    body = body_of(app, given)
    plan = planned(call, body)
    wrong = [str(one["pointer"]) for one in plan["findings"] if one["severity"] == "error"]
    if wrong and all(one.startswith("/parameters/") for one in wrong):
        bad = {one.split("/")[2] for one in wrong}
        right = {name: one for name, one in body["parameters"].items() if name not in bad}
        plan["sites"] = planned(call, {**body, "parameters": right})["sites"]
    return plan


def _page(
    call: Call,
    app: dict[str, Any],
    given: MultiDict[str, str],
    plan: dict[str, Any] | None,
    findings: list[Mapping[str, Any]],
) -> str:
    asked = fields.fields(app["parameters"], given, findings)
    told = {id(one) for each in asked for one in each.findings}
    few = {"limit": str(CHOSEN + 1)}
    sites = ask(call, "GET", "/sites", None, few)["items"]
    nodes = ask(call, "GET", "/nodes", None, few)["items"]
    return render(
        "deploy.html",
        "none",
        app=app,
        given=given,
        by=given.get("by", "sites"),
        chosen={name: set(_names(given.getlist(name))) for name in ("sites", "nodes")},
        sites=sites if len(sites) <= CHOSEN else None,
        nodes=nodes if len(nodes) <= CHOSEN else None,
        fields=asked,
        plan=plan,
        most=SHOWN,
        findings=[one for one in findings if id(one) not in told],
    )

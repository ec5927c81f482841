"""Deployments: the list, one of them, and what changed between two of its revisions."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any, Final

from flask import request

from controller.access.identity import Role
from controller.api.problems import Problem
from controller.pages import many
from controller.pages.acting import VERBS
from controller.pages.asking import ask, page_of, wanted, whole
from controller.pages.frame import render
from controller.pages.overview import TROUBLE
from margrave.lifecycle import Freshness, Outcome, State

if TYPE_CHECKING:
    from collections.abc import Iterator

    from controller.api.call import Call

ROWS: Final = 32  # as many as fit into 30 KB with long names and ticks, all of them silent
FILTERS: Final = ("q", "site", "app", "state", "outcome", "sort")
SITES_TO_CHOOSE: Final = 30  # more are typed, not chosen from a list
# What stands on a deployment's page of its own lists: all of them are pages of their own.
STEPS: Final = 9
NODES: Final = 6
OPERATIONS: Final = 6
STEPS_TOLD: Final = 8  # of the way of its change
HISTORY: Final = 25
PLACEMENTS: Final = 25
LOG_LINES: Final = 30
_ONE: Final = "/deployments/<deployment>"


def listed(call: Call) -> str:
    """GET /deployments: what the query asks for, a page at a time."""
    given = wanted(*FILTERS)
    found = page_of(call, "/deployments", ROWS, given)
    few = {"limit": str(SITES_TO_CHOOSE + 1)}
    sites = [one["name"] for one in ask(call, "GET", "/sites", None, few)["items"]]
    return render(
        "deployments.html",
        items=found["items"],
        more=found["next"],
        wanted=given,
        sites=sites if len(sites) <= SITES_TO_CHOOSE else None,
        pick=call.who.may(Role.OPERATOR) and given.get("state") != State.DELETED,
        verbs=[(verb, words[0]) for verb, words in VERBS.items()],
        filter={key: one for key, one in given.items() if key in many.FILTERS},
        states=[state.value for state in State],
        outcomes=[one.value for one in Outcome],
        not_as_wanted=",".join(TROUBLE),
    )


def shown(call: Call, deployment: str) -> str:
    """GET /deployments/{id}: where it stands, why, and how it came there."""
    one = ask(call, "GET", _ONE, None, wanted("site"), deployment=deployment)
    where = {"site": one["site"]}
    placed = whole(call, f"{_ONE}/placements", where, deployment=deployment)
    newest = {**where, "order": "newest", "limit": str(STEPS)}
    history = ask(call, "GET", f"{_ONE}/history", None, newest, deployment=deployment)
    ran = {"deployment": one["id"], "site": one["site"], "limit": str(OPERATIONS)}
    operations = ask(call, "GET", "/operations", None, ran)["items"]
    asked = request.args.get("request") or one["request"]
    return render(
        "deployment.html",
        f"deployment:{one['id']}",
        one=one,
        here=f"/deployments/{one['id']}",
        placements=sorted(placed, key=_is_right)[:NODES],
        nodes=len(placed),
        progress=_tally(placed),
        history=history["items"],
        more=history["next"],
        operations=operations,
        log=_log(call, operations),
        most_steps=STEPS_TOLD,
        why=ask(call, "GET", f"{_ONE}/explain", None, where, deployment=deployment),
        manifest=_manifest(call, deployment, where),
        asked=_asked(call, asked),
        verbs=_verbs(one),
    )


def history(call: Call, deployment: str) -> str:
    """GET /deployments/{id}/history: every transition, newest first, a page at a time."""
    one = ask(call, "GET", _ONE, None, wanted("site"), deployment=deployment)
    given = {"site": one["site"], "order": "newest"}
    found = page_of(call, f"{_ONE}/history", HISTORY, given, deployment=deployment)
    look = f"deployment:{one['id']}" if not request.args.get("cursor") else "none"
    return render("history.html", look, one=one, history=found["items"], more=found["next"])


def placements(call: Call, deployment: str) -> str:
    """GET /deployments/{id}/placements: every node that has it, a page at a time."""
    one = ask(call, "GET", _ONE, None, wanted("site"), deployment=deployment)
    given = {"site": one["site"]}
    found = page_of(call, f"{_ONE}/placements", PLACEMENTS, given, deployment=deployment)
    look = f"deployment:{one['id']}"
    return render("placements.html", look, one=one, placements=found["items"], more=found["next"])


def compared(call: Call, deployment: str) -> str:
    """GET /deployments/{id}/compare: two of its contents, line by line."""
    one = ask(call, "GET", _ONE, None, wanted("site"), deployment=deployment)
    where = {"site": one["site"]}
    found = ask(call, "GET", f"{_ONE}/revisions", None, where, deployment=deployment)["items"]
    by_commit = {item["commit"]: item for item in found}
    new = by_commit.get(request.args.get("new", ""), found[0] if found else None)
    place = found.index(new) if new else 0
    older = found[place + 1] if place + 1 < len(found) else None
    old = by_commit.get(request.args.get("old", ""), older)
    return render(
        "compare.html",
        f"deployment:{one['id']}",
        one=one,
        revisions=found,
        old=old,
        new=new,
        lines=list(_lines(old, new)) if new else [],
    )


def _lines(old: dict[str, Any] | None, new: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Lines with what became of each: +, - or a blank."""
    before = old["manifest"].splitlines() if old else []
    for line in difflib.unified_diff(before, new["manifest"].splitlines(), n=4, lineterm=""):
        if line.startswith(("---", "+++")):
            continue
        yield (line[:1], line[1:]) if line[:1] in "+- " else ("@", line)


def _is_right(one: dict[str, Any]) -> bool:
    """What is open, went wrong or is not known stands first; among equals the order of names."""
    return bool(one["outcome"] == Outcome.SUCCEEDED and one["freshness"] == Freshness.FRESH)


def _tally(placed: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    """Nodes by outcome, and of how many of these nobody knows whether it holds now."""
    found: dict[str, dict[str, int]] = {"outcomes": {}, "unknown": {}}
    for one in placed:
        if one["state"] == State.DELETED:
            continue
        own, lost = one["outcome"], one["freshness"] == Freshness.UNKNOWN
        for told in (found["outcomes"], *([found["unknown"]] if lost else [])):
            told[own] = told.get(own, 0) + 1
    return found


def _log(call: Call, operations: list[dict[str, Any]]) -> dict[str, Any] | None:
    """The end of the log of what runs, else of what ran last."""
    running = [one for one in operations if one["state"] in ("running", "waiting")]
    newest = next(iter(running or operations), None)
    if newest is None:
        return None
    text = ask(call, "GET", "/operations/<operation>/log", operation=newest["id"])
    lines = text.splitlines()
    return {"operation": newest, "lines": lines[-LOG_LINES:], "all": len(lines)}


def _manifest(call: Call, deployment: str, given: dict[str, str]) -> str | None:
    try:
        made: str = ask(call, "GET", f"{_ONE}/manifest", None, given, deployment=deployment)
    except Problem as problem:
        if problem.status != 404:
            raise
        return None  # not in Git yet: explain says so
    return made


def _asked(call: Call, request_id: str | None) -> dict[str, Any] | None:
    """The request that is about it, unless it was published: then its history tells more."""
    if not request_id:
        return None
    try:
        found: dict[str, Any] = ask(call, "GET", "/requests/<request_id>", request_id=request_id)
    except Problem as problem:
        if problem.status != 404:
            raise
        return None  # forgotten, or a person's push: nothing to show
    open_or_bad = found["state"] != "published" or request.args.get("request")
    return found if open_or_bad else None


def _verbs(one: dict[str, Any]) -> list[tuple[str, str]]:
    """What can sensibly be asked of it now, as (verb, word)."""
    if not one["in_git"]:
        return []
    found = [("update", "Update"), ("rollback", "Roll back")]
    if one["outcome"] in ("failed", "rollback-failed", "rolled-back", "held"):
        found.append(("retry", "Retry"))
    if one["outcome"] in ("rolled-back", "held"):
        found.append(("release", "Release"))
    if one["outcome"] == "pending":
        found.append(("cancel", "Cancel"))
    return [*found, ("delete", "Delete")]

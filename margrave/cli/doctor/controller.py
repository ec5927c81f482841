"""The controller as this user reaches it, and what the fleet needs somebody for."""

from __future__ import annotations

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from margrave.cli.doctor.check import Check, bad, good, same_version
from margrave.cli.exits import Problem
from margrave.cli.paths import at
from margrave.errors import MargraveError, Unreachable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.cli.api import Api

WHERE = "controller"
# Tokens expire and windows open by the clock: a minute is well above a slow answer.
SKEW = 60.0
# A fleet with more ills than this has one cause; the list would hide it.
NAMED = 5
MOST_QUEUED = 100


def look(api: Api) -> Iterator[Check]:
    """From the connection outwards; what can't be asked any more is left out."""
    try:
        api.get("/healthz")
    except Unreachable as error:
        cure = "start it (margrave controller serve), or name another: MARGRAVE_URL, --context"
        yield bad(WHERE, "answers", error.message, cure)
        return
    yield good(WHERE, "answers", api.url)
    yield _clock(api)
    yield from _parts(api)
    try:
        about = api.get(at("meta", "capabilities"))
    except MargraveError as error:
        yield bad(WHERE, "signed in", error.message, f"margrave login {api.url}")
        return
    yield good(WHERE, "signed in", "the token is taken")
    yield same_version(WHERE, str(about["version"]))
    yield from _requests(api)
    yield from _sites(api)
    yield from _nodes(api)


def _clock(api: Api) -> Check:
    told = parsedate_to_datetime(api.head("/healthz")["date"])
    apart = abs((datetime.now(UTC) - told).total_seconds())
    if apart > SKEW:
        return bad(WHERE, "clock", f"{apart:.0f} s from this machine's", "set both by NTP")
    return good(WHERE, "clock", "agrees with this machine's")


def _parts(api: Api) -> Iterator[Check]:
    try:
        found = api.get("/readyz")
    except Problem as problem:  # it answers 503 with the same list
        found = problem.body
    for one in found.get("checks") or []:
        name, detail = str(one["name"]), str(one["detail"])
        cure = str(one.get("cure") or "see the controller's log")
        yield good(WHERE, name, detail) if one["ok"] else bad(WHERE, name, detail, cure)


def _requests(api: Api) -> Iterator[Check]:
    """Requests that were tried and wait: a registry or the remote did not answer."""
    queued = api.page(at("requests"), MOST_QUEUED, state="queued")["items"]
    ills = [
        (f"request {request['id'][:8]}", f"waits: {error.get('message')}", str(error.get("cure")))
        for request in queued
        if isinstance(error := request.get("error"), dict)
    ]
    yield from _told("requests", len(queued), ills)


def _sites(api: Api) -> Iterator[Check]:
    found = api.items(at("sites"))
    ills = [(str(one["name"]), *ill) for one in found if (ill := _site(one))]
    yield from _told("sites", len(found), ills)


def _site(one: dict[str, Any]) -> tuple[str, str] | None:
    name = one["name"]
    if one["halted"]:
        commit = one["halted"].get("commit") or one["wanted_commit"]
        cure = f"mend it in Git, or: margrave site accept {name} --commit {commit}"
        return f"halted: {one['halted']['reason']}", cure
    if one["freshness"] == "unknown" and one["nodes"]:
        return "is silent: its runner does not report", "margrave doctor on the runner's machine"
    if one["locked"]:
        return f"locked: {one['locked'].get('reason')}", "margrave runner unlock, at the site"
    if one["paused"]:
        return f"paused: {one['paused'].get('reason')}", f"margrave site resume {name}"
    return None


def _nodes(api: Api) -> Iterator[Check]:
    found = api.items(at("nodes"))
    ills = [(f"{node['site']}/{node['name']}", *ill) for node in found if (ill := _node(node))]
    yield from _told("nodes", len(found), ills)


def _node(node: dict[str, Any]) -> tuple[str, str] | None:
    """Return what is wrong with a node and its cure, or None."""
    reason = f": {node['reason']}" if node.get("reason") else ""
    if node["status"] == "unusable":
        return f"is unusable{reason}", "install what it lacks; the runner inspects it by itself"
    cure = "is it on, and its network up?"
    since = f", last answer {node['last_seen']}" if node.get("last_seen") else ""
    if node["status"] != "active":
        return f"is {node['status']}{since}{reason}", cure
    return (f"did not pass its last check{since}{reason}", cure) if reason else None


def _told(name: str, count: int, ills: list[tuple[str, str, str]]) -> Iterator[Check]:
    for which, detail, cure in ills[:NAMED]:
        yield bad("fleet", which, detail, cure)
    if len(ills) > NAMED:
        more = f"{len(ills) - NAMED} more {name} are not well"
        yield bad("fleet", name, more, f"margrave {name.removesuffix('s')} list")
    if not ills:
        yield good("fleet", name, f"{count}, all well" if count else "none yet")

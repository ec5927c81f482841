"""Why a deployment is not where it is wanted: the way of its change, step by step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.admission import forecast
from controller.api.deployments import find
from controller.api.routes import Route
from controller.store import (
    commands,
    deployments,
    fleet,
    operations,
    placements,
    requests,
    world,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from controller.api.call import Call

RECENT: Final = 100  # operations among which the newest of each node is found


@dataclass(frozen=True, slots=True)
class Way:
    """Everything that a change passes on its way to the nodes, as it stands now."""

    wanted: dict[str, Any]
    asked: dict[str, Any] | None
    site: dict[str, Any]
    placed: list[dict[str, Any]]
    ran: Mapping[str, dict[str, Any]]  # the newest operation by node
    told: list[dict[str, Any]]  # commands that the runner has not acknowledged
    drained: frozenset[str]
    window: dict[str, Any] | None
    received: dict[str, Any]


def explained(call: Call, deployment: str) -> dict[str, Any]:
    """GET /deployments/{id}/explain."""
    way = _way(call, deployment)
    steps = list(_steps(way))
    stuck = next((step for step in steps if not step["ok"]), None)
    return {
        "deployment": way.wanted["id"],
        "site": way.wanted["site"],
        "state": way.wanted["state"],
        "outcome": way.wanted["outcome"],
        "answer": stuck["detail"] if stuck else "it is as wanted",
        "steps": steps,
    }


def _way(call: Call, deployment: str) -> Way:
    moment = call.parts.moment()
    with call.parts.store.session() as session:
        key = find(call, session, deployment)
        wanted = deployments.resource(session, key.key, moment)
        site = fleet.site(session, key.site, moment) or {}
        which = operations.Wanted(deployment=key.id, site=key.site)
        ran = [one for _, one in operations.listing(session, which, after=None, limit=RECENT)]
        own = [
            one for one in commands.pending(session, key.site) if one.get("deployment") == key.id
        ]
        views = world.sites(session, [key.site])
        standing = world.selected(session, {"ids": [key.id], "sites": [key.site]})
        request = requests.open_for(session, key.id, key.site) or wanted["request"]
        asked = requests.one(session, request, moment.now) if request else None
        placed = placements.of_deployments(session, [key.key], moment).get(key.key, [])
    view = views.get(key.site)
    pending = wanted["outcome"] == "pending" and view is not None and standing
    return Way(
        wanted,
        asked,
        site,
        placed,
        {one["node"]: one for one in reversed(ran)},
        own,
        frozenset(node.name for node in view.nodes if node.drain) if view else frozenset(),
        forecast.closed(view, None, standing[0], moment.now) if pending and view else None,
        _received(site, call.parts.repository.contains),
    )


def _steps(way: Way) -> Iterator[dict[str, Any]]:
    wanted = way.wanted
    yield from _request_steps(way.asked)
    in_git = wanted["commit"] is not None
    words = f"in Git since commit {str(wanted['commit'])[:12]} of {wanted['author']}"
    yield _step("commit", in_git, words if in_git else "its document is not in Git yet")
    for found in wanted["findings"] or ():
        yield _step("document", ok=False, detail=f"{found.get('pointer')}: {found.get('message')}")
    yield from _site_steps(way.site, way.received)
    for one in way.told:
        words = f"{one['kind']} waits for the site's runner"
        yield _step("command", ok=False, detail=words, trace=one.get("trace"))
    if way.window is not None:
        until = way.window["until"]
        words = f"no window is open{f' before {until}' if until else ''}"
        yield _step("window", ok=False, detail=words)
    if not way.placed and wanted["state"] != "DELETED":
        yield _step("placement", ok=False, detail=f"no node of {wanted['site']} has it yet")
    for one in way.placed:
        if one["node"] in way.drained:
            words = f"{one['node']} is drained"
            yield _step("drain", one["state"] == "DELETED", words, node=one["node"])
        yield _placement_step(one)
        yield from _operation_steps(one, way.ran.get(one["node"]))


def _request_steps(asked: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """From what was asked for to what was pushed; nothing of what a person pushed."""
    if asked is None:
        return
    state, at = asked["state"], asked["created_at"]
    words = f"the request is {state}"
    if asked["position"]:
        words += f", number {asked['position']} in the queue"
    yield _step("request", state == "published", words, at, trace=asked["trace"])
    branch = asked.get("branch")
    if branch and state != "published":
        yield _step("merge", ok=False, detail=f"branch {branch.get('name')} waits to be merged")
    error = asked["error"]
    if error and state != "published":
        yield _step("push", ok=False, detail=str(error.get("message") or error))


def _operation_steps(one: dict[str, Any], ran: dict[str, Any] | None) -> Iterator[dict[str, Any]]:
    """What was tried last on the node, and when it is tried again."""
    if ran is not None:
        phase = f" at {ran['phase']}" if ran["phase"] and ran["state"] != "succeeded" else ""
        words = f"{ran['node']}: {ran['kind']}, attempt {ran['attempt']}, {ran['state']}{phase}"
        error = ran["error"]
        if error and ran["state"] != "succeeded":
            words += f"; {error.get('message')}; {error.get('cure')}"
        right = ran["state"] == "succeeded"
        at = ran["ended_at"] or ran["started_at"]
        which = {"node": one["node"], "operation": ran["id"], "trace": ran["trace"]}
        yield _step("operation", right, words, at, **which)
    waiting = one["waiting"]
    if waiting and waiting.get("until"):
        words = f"{one['node']}: looked at again at {waiting['until']}"
        yield _step("next", ok=False, detail=words, node=one["node"])


def _site_steps(site: dict[str, Any], received: dict[str, Any]) -> Iterator[dict[str, Any]]:
    heard = site.get("last_seen")
    fresh = site.get("freshness") == "fresh"
    since = f"heard of at {heard}" if fresh else f"silent since {heard}"
    words = f"the site's runner is {since}" if heard else "no runner of the site was heard of yet"
    yield _step("runner", fresh, words.replace("is heard", "was heard"), heard)
    yield received
    offset = site.get("clock_offset")
    if offset is not None:
        which = "ahead of" if offset > 0 else "behind"
        words = f"the clock of the site's runner is {abs(offset)} s {which} the controller's"
        yield _step("clock", ok=False, detail=f"{words}: windows and times are told by it")
    if site.get("drain"):
        yield _step("drain", ok=False, detail="the whole site is drained")
    for word in ("paused", "locked", "halted"):
        if site.get(word):
            why = site[word].get("reason") or "no reason given"
            until = f", until {site[word]['until']}" if site[word].get("until") else ""
            yield _step(word, ok=False, detail=f"the site is {word}: {why}{until}")


def _received(site: dict[str, Any], contains: Callable[[str, str], bool]) -> dict[str, Any]:
    """Whether the runner has what Git wants: that commit, or a later one of somebody else's."""
    applied, wanted = site.get("applied_commit"), site.get("wanted_commit")
    if wanted is None or applied is None:
        words = "nothing is wanted of it" if wanted is None else f"wanted is {wanted[:12]}"
        return _step("received", wanted is None, f"the site has applied nothing yet; {words}")
    there = applied == wanted or contains(applied, wanted)
    held = "which holds" if there and applied != wanted else "wanted is"
    return _step("received", there, f"the site has applied {applied[:12]}, {held} {wanted[:12]}")


def _placement_step(one: dict[str, Any]) -> dict[str, Any]:
    where = f"{one['node']}: {one['state']}, {one['outcome']}"
    waiting, error = one["waiting"], one["error"]
    if waiting:
        until = waiting.get("until")
        where += f", waits for {waiting.get('for')}" + (f" until {until}" if until else "")
        where += f" ({waiting['detail']})" if waiting.get("detail") else ""
    if error:
        where += f"; {error.get('class')}: {error.get('message')}"
    elif one["reason"]:
        where += f"; {one['reason']}"
    right = one["outcome"] == "succeeded" and one["freshness"] == "fresh" and not waiting
    return _step("placement", right, where, one["since"], node=one["node"])


def _step(name: str, ok: bool, detail: str, at: str | None = None, **more: Any) -> dict[str, Any]:
    return {"step": name, "ok": ok, "detail": detail, "at": at, **more}


ROUTES: Final = (
    Route(
        "GET",
        "/deployments/<deployment>/explain",
        explained,
        Role.VIEWER,
        "Why it stands where it stands",
    ),
)

"""Why a deployment is not where it is wanted: the way of its change, step by step."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api.deployments import find
from controller.api.routes import Route
from controller.store import deployments, fleet, placements, requests

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from controller.api.call import Call


def explained(call: Call, deployment: str) -> dict[str, Any]:
    """GET /deployments/{id}/explain."""
    moment = call.parts.moment()
    with call.parts.store.session() as session:
        key = find(call, session, deployment)
        wanted = deployments.resource(session, key.key, moment)
        asked = requests.one(session, wanted["request"]) if wanted["request"] else None
        site = fleet.site(session, key.site, moment) or {}
        placed = placements.of_deployments(session, [key.key], moment).get(key.key, [])
    received = _received(site, call.parts.repository.contains)
    steps = list(_steps(wanted, asked, site, placed, received))
    stuck = next((step for step in steps if not step["ok"]), None)
    return {
        "deployment": key.id,
        "site": key.site,
        "state": wanted["state"],
        "outcome": wanted["outcome"],
        "answer": stuck["detail"] if stuck else "it is as wanted",
        "steps": steps,
    }


def _steps(
    wanted: dict[str, Any],
    asked: dict[str, Any] | None,
    site: dict[str, Any],
    placed: list[dict[str, Any]],
    received: dict[str, Any],
) -> Iterator[dict[str, Any]]:
    if asked is not None:
        state = asked["state"]
        yield _step("request", state == "published", f"the request is {state}", asked["created_at"])
    yield _step(
        "commit",
        wanted["commit"] is not None,
        f"in Git since commit {str(wanted['commit'])[:12]} of {wanted['author']}"
        if wanted["commit"]
        else "its document is not in Git yet",
    )
    yield from _site_steps(site, received)
    if not placed and wanted["state"] != "DELETED":
        yield _step("placement", ok=False, detail=f"no node of {wanted['site']} has it yet")
    for one in placed:
        yield _placement_step(one)


def _site_steps(site: dict[str, Any], received: dict[str, Any]) -> Iterator[dict[str, Any]]:
    heard = site.get("last_seen")
    fresh = site.get("freshness") == "fresh"
    since = f"heard of at {heard}" if fresh else f"silent since {heard}"
    words = f"the site's runner is {since}" if heard else "no runner of the site was heard of yet"
    yield _step("runner", fresh, words.replace("is heard", "was heard"), heard)
    yield received
    for word in ("paused", "locked", "halted"):
        if site.get(word):
            why = site[word].get("reason") or "no reason given"
            yield _step(word, ok=False, detail=f"the site is {word}: {why}")


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

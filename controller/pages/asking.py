"""How a page asks: by the API's table, so role, rules and audit are those of the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.api import ROUTES, bodies, guard, refusals
from controller.api.call import Call, Reply
from controller.api.problems import Problem
from controller.api.routes import Object

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.api.routes import Route

_TABLE: Final[Mapping[tuple[str, str], Route]] = {
    (route.method, route.path): route for route in ROUTES
}
MOST_ITEMS: Final = "200"
WRITES_NOTHING: Final = ("/plans",)


def ask(
    call: Call,
    method: str,
    path: str,
    body: Mapping[str, Any] | None = None,
    given: Mapping[str, str] | None = None,
    **names: str,
) -> Any:
    """What the API answers there: its JSON as a value, its text as text, None for nothing.

    `given` is the query, `names` what stands in the path. A refusal is the API's own.
    """
    _came_by_a_form(method, path)
    route = _TABLE[method, path]
    with refusals.told(call.parts, call.who, method, request.path):
        return _answer(call, route, body, given, names)


def _answer(
    call: Call,
    route: Route,
    body: Mapping[str, Any] | None,
    given: Mapping[str, str] | None,
    names: Mapping[str, str],
) -> Any:
    guard.require(call.who, route.needs, names.get("site"), whole_fleet=route.whole_fleet)
    arguments: dict[str, Any] = dict(names)
    if isinstance(route.body, Object):
        arguments["body"] = dict(body or {})
    elif route.body is not None:
        arguments["body"] = bodies.read(route.body, body or {})
    answer = route.handler(Call(call.parts, call.who, given or {}), **arguments)
    if isinstance(answer, Response):
        return answer.get_data(as_text=True)
    return answer.body if isinstance(answer, Reply) else answer


def _came_by_a_form(method: str, path: str) -> None:
    """A page that is merely opened changes nothing, whatever its address says.

    A link on somebody else's page opens ours with the reader's session; only a form carries the
    token that proves it is our own (`session.check_form`), and only forms are sent by POST.
    """
    if method != "GET" and path not in WRITES_NOTHING and request.method != "POST":
        raise Problem(405, "opening a page changes nothing", cure="use the page's form")


def whole(
    call: Call, path: str, given: Mapping[str, str] | None = None, **names: str
) -> list[dict[str, Any]]:
    """All of a list that is short by its nature: sources, the nodes that have a deployment."""
    found: list[dict[str, Any]] = []
    more: dict[str, str] | None = {}
    while more is not None:
        asked = {"limit": MOST_ITEMS, **(given or {}), **more}
        page = ask(call, "GET", path, None, asked, **names)
        found += page["items"]
        more = {"cursor": page["next"]} if page["next"] else None
    return found


def page_of(
    call: Call,
    path: str,
    rows: int,
    given: Mapping[str, str] | None = None,
    *,
    cursor: str = "cursor",
    **names: str,
) -> Any:
    """A page of a list: {items, next}, behind what the address names as `cursor`."""
    at = {"cursor": request.args[cursor]} if request.args.get(cursor) else {}
    return ask(call, "GET", path, None, {"limit": str(rows), **(given or {}), **at}, **names)


def wanted(*names: str) -> dict[str, str]:
    """What the address filters a list by."""
    return {name: request.args[name] for name in names if request.args.get(name)}


def app_at(call: Call, app: str, version: str | None) -> dict[str, Any]:
    """An application at a version, the newest when none is named."""
    if version:
        path = "/apps/<app>/versions/<version>"
        found: dict[str, Any] = ask(call, "GET", path, app=app, version=version)
    else:
        found = ask(call, "GET", "/apps/<app>", app=app)
    return found


def may(call: Call, method: str, path: str) -> bool:
    """Whether who looks may ask that: a button that would be refused is not shown."""
    route = _TABLE[method, path]
    return call.who.may(route.needs) and (call.who.has_all_sites or not route.whole_fleet)

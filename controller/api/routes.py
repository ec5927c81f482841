"""One way through for every request of the API: route, asker, body, handler, answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from flask import Blueprint, Response, json, request

from controller.access.identity import Role
from controller.api import bodies, described, guard, refusals
from controller.api.call import Call, Reply
from controller.api.problems import invalid
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from pydantic import BaseModel

    from controller.access.identity import Identity
    from controller.parts import Parts


class Object(StrEnum):
    """A body that the handler's service reads itself."""

    REQUIRED = "required"
    OPTIONAL = "optional"


@dataclass(frozen=True, slots=True)
class Route:
    """A line of the API's table."""

    method: str
    path: str
    handler: Callable[..., Any]
    needs: Role
    says: str
    body: type[BaseModel] | Object | None = None
    status: int = 200
    limit: int = bodies.BODY_LIMIT
    runner_too: bool = False  # also for the runner of the site in the path
    whole_fleet: bool = False  # only for identities that are not limited to some sites

    @property
    def name(self) -> str:
        """A name that is its own: method and path."""
        words = self.path.replace("<path:", "<").translate(str.maketrans("/<>-.", "_____"))
        return f"{self.method.lower()}_{words.strip('_') or 'root'}"


def blueprint(name: str, parts: Parts, routes: Iterable[Route]) -> Blueprint:
    """The routes of a table as Flask takes them."""
    made = Blueprint(name, __name__)
    for route in routes:
        made.add_url_rule(
            route.path,
            endpoint=route.name,
            view_func=_view(parts, route),
            methods=[route.method],
            strict_slashes=False,
        )
    return made


def _view(parts: Parts, route: Route) -> Callable[..., Response]:
    def view(**path: str) -> Response:
        who = guard.identify(parts)
        with refusals.told(parts, who, route.method, request.path):
            _require(who, route, path)
            _check_query(route)
            body = _body(route)
            given = path if body is None else {**path, "body": body}
            return respond(route.handler(Call(parts, who), **given), route.status)

    return view


def _require(who: Identity, route: Route, path: dict[str, str]) -> None:
    site = path.get("site")
    if route.runner_too and who.is_site:
        guard.require(who, Role.SITE, site)
        return
    guard.require(who, route.needs, site, whole_fleet=route.whole_fleet)


def _check_query(route: Route) -> None:
    """422 for a text that is longer than anything it could be compared with."""
    told = described.TABLE.get((route.method, route.path))
    asks = told.asks if told else {}
    findings = [
        Finding(f"/{name}", "is too long", f"{described.TEXT_LIMIT} characters at most")
        for name, value in request.args.items()
        if name in asks and len(value) > asks[name].get("maxLength", len(value))
    ]
    if findings:
        raise invalid(findings)


def _body(route: Route) -> Any:
    if route.body is None:
        return None
    if isinstance(route.body, Object):
        optional = route.body is Object.OPTIONAL
        return bodies.json_object(empty_ok=optional, limit=route.limit)
    needed = any(field.is_required() for field in route.body.model_fields.values())
    value = bodies.json_object(empty_ok=not needed, limit=route.limit)
    return bodies.read(route.body, value)


def respond(answer: Any, status: int = 200) -> Response:
    """A handler's answer as a response."""
    if isinstance(answer, Response):
        return answer
    reply = answer if isinstance(answer, Reply) else Reply(answer, status)
    if reply.body is None:
        return Response(status=204, headers=dict(reply.headers))
    return Response(
        json.dumps(reply.body, separators=(",", ":")) + "\n",
        status=reply.status,
        content_type="application/json",
        headers=dict(reply.headers),
    )

"""App sources: where applications come from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api import paging
from controller.api.call import Call, Reply
from controller.api.problems import not_found
from controller.api.routes import Object, Route
from controller.store import catalog
from margrave.errors import MargraveError

if TYPE_CHECKING:
    from controller.store import Session


def listed(call: Call) -> dict[str, Any]:
    """GET /app-sources."""
    page = call.page()
    with call.parts.store.session() as session:
        rows = catalog.sources(session, after=paging.text(page) or "", limit=page.fetch)
    return paging.listing(page, rows)


def shown(call: Call, source: str) -> dict[str, Any]:
    """GET /app-sources/{name}."""
    with call.parts.store.session() as session:
        return _find(session, source)


def added(call: Call, body: dict[str, Any]) -> dict[str, Any]:
    """POST /app-sources."""
    made = call.parts.catalog.add(body)
    with call.parts.store.write() as session:
        call.write_down(session, "app-source.create", str(made["name"]), {"url": made["url"]})
    return made


def removed(call: Call, source: str) -> Reply:
    """DELETE /app-sources/{name}: what deployments use is kept."""
    with call.parts.store.session() as session:
        _find(session, source)
    call.parts.catalog.remove(source)
    with call.parts.store.write() as session:
        call.write_down(session, "app-source.remove", source)
    return Reply(None)


def synced(call: Call, source: str) -> dict[str, Any]:
    """POST /app-sources/{name}/sync."""
    with call.parts.store.session() as session:
        old = _find(session, source)["commit"]
    try:
        answer = call.parts.catalog.sync(source)
    except MargraveError as error:
        _written_down(call, source, {"old": old, "error": str(error)}, "failed")
        raise
    _written_down(call, source, {"old": old, "new": answer["commit"]}, "done")
    return answer


def _written_down(call: Call, source: str, told: dict[str, Any], outcome: str) -> None:
    with call.parts.store.write() as session:
        call.write_down(session, "app-source.sync", source, told, outcome)


def _find(session: Session, source: str) -> dict[str, Any]:
    found = catalog.source(session, source)
    if found is None:
        known = [name for (name,), _ in catalog.sources(session)]
        raise not_found("app source", source, known)
    return found


ROUTES: Final = (
    Route("GET", "/app-sources", listed, Role.VIEWER, "Sources of applications"),
    Route(
        "POST",
        "/app-sources",
        added,
        Role.ADMIN,
        "Add a source",
        Object.REQUIRED,
        201,
        whole_fleet=True,
    ),
    Route("GET", "/app-sources/<source>", shown, Role.VIEWER, "One source"),
    Route(
        "DELETE",
        "/app-sources/<source>",
        removed,
        Role.ADMIN,
        "Remove a source",
        whole_fleet=True,
    ),
    Route("POST", "/app-sources/<source>/sync", synced, Role.OPERATOR, "Read it now"),
)

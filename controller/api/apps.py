"""Applications, as the catalogue knows them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api import paging
from controller.api.problems import not_found
from controller.api.routes import Route
from controller.store import apps

if TYPE_CHECKING:
    from controller.api.call import Call


def listed(call: Call) -> dict[str, Any]:
    """GET /apps: the newest version of each."""
    page = call.page()
    with call.parts.store.session() as session:
        query = call.args.get("q") or ""
        rows = apps.listed(session, q=query, after=paging.text(page) or "", limit=page.fetch)
    return paging.listing(page, rows)


def shown(call: Call, app: str, version: str | None = None) -> dict[str, Any]:
    """GET /apps/{app}, or one version of it."""
    with call.parts.store.session() as session:
        found = apps.one(session, app, version)
        if found is not None:
            return found
        newest = apps.one(session, app)
        if newest is None or version is None:
            raise not_found("application", app, apps.names(session))
    versions = [f"{app}@{one}" for one in newest["versions"]]
    raise not_found("application", f"{app}@{version}", versions)


ROUTES: Final = (
    Route("GET", "/apps", listed, Role.VIEWER, "Applications, newest version of each"),
    Route("GET", "/apps/<app>", shown, Role.VIEWER, "One application"),
    Route("GET", "/apps/<app>/versions/<version>", shown, Role.VIEWER, "One version of it"),
)

"""The audit: who did what, newest first."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api import paging
from controller.api.routes import Route
from controller.store import audit

if TYPE_CHECKING:
    from controller.api.call import Call


def listed(call: Call) -> dict[str, Any]:
    """GET /audit."""
    page = call.page()
    with call.parts.store.session() as session:
        rows = audit.listing(session, after=paging.number(page), limit=page.fetch)
    return paging.listing(page, rows)


def verified(call: Call) -> dict[str, Any]:
    """GET /audit/verify: the chain read from its beginning."""
    with call.parts.store.session() as session:
        return audit.verified(session)


ROUTES: Final = (
    Route("GET", "/audit", listed, Role.ADMIN, "Who did what, newest first", whole_fleet=True),
    Route(
        "GET",
        "/audit/verify",
        verified,
        Role.ADMIN,
        "Whether the chain of entries is whole",
        whole_fleet=True,
    ),
)

"""How the deployments repository is followed, and accepting a main that was rewritten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from controller.access.identity import Role
from controller.api import bodies
from controller.api.routes import Route
from controller.publish import trunk
from controller.store import facts, proposals

if TYPE_CHECKING:
    from controller.api.call import Call
    from controller.store.proposals import Proposed


class AcceptMain(bodies.Body):
    """Where main stands now, as whoever accepts it has seen it."""

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")]


def shown(call: Call) -> dict[str, Any]:
    """GET /repository."""
    settings = call.parts.settings.git
    with call.parts.store.session() as session:
        sites = facts.get(session, facts.EDITS) or {}
        return {
            "own": settings.remote is None,
            "mode": settings.mode,
            "head": facts.head(session),
            "problem": call.parts.publisher.problem or None,
            "halted": trunk.halt(session),
            "waiting": [
                *({"branch": one.name, "commit": one.commit, "request": one.id, "site": None}
                  for one in proposals.waiting(session) if _concerns(call, one)),
                *({"branch": name, "commit": one["commit"], "request": None, "site": one["site"]}
                  for name, one in sorted(sites.items()) if call.who.sees(one["site"])),
            ],
        }  # fmt: skip


def _concerns(call: Call, proposed: Proposed) -> bool:
    """Return whether a request that waits to be merged changes a site of the caller's."""
    sites = {deployment["site"] for deployment in proposed.work["deployments"]}
    return call.who.has_all_sites or any(call.who.sees(site) for site in sites)


def accepted(call: Call, body: AcceptMain) -> dict[str, Any]:
    """POST /repository/accept: a rewritten main is followed from this commit on."""
    with call.parts.store.write() as session:
        commit = trunk.accept(session, body.commit)
        call.write_down(session, "repository.accept", commit)
    call.parts.publisher.wake()
    return shown(call)


ROUTES: Final = (
    Route("GET", "/repository", shown, Role.VIEWER, "How the deployments repository is followed"),
    Route(
        "POST",
        "/repository/accept",
        accepted,
        Role.ADMIN,
        "Accept a main that was rewritten",
        AcceptMain,
        202,
        whole_fleet=True,
    ),
)

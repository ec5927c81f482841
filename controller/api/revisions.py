"""What a deployment's document said before: its versions in Git, newest first."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api.deployments import find
from controller.api.routes import Route
from controller.gate import checking
from margrave.errors import DocumentError

if TYPE_CHECKING:
    from controller.api.call import Call

MOST: Final = 20  # each costs a read from Git


def listed(call: Call, deployment: str) -> dict[str, Any]:
    """GET /deployments/{id}/revisions: the newest of them, each with the document as it was."""
    with call.parts.store.session() as session:
        key = find(call, session, deployment)
    repository = call.parts.repository
    path = f"deployments/{key.site}/{key.id}.yaml"
    head = repository.head()
    told = repository.versions(head, path) if head else iter(())
    items = [_shown(path, commit, data) for commit, data in islice(told, MOST)]
    return {"items": items, "next": None}


def _shown(path: str, commit: str, data: bytes) -> dict[str, Any]:
    made: dict[str, Any] = {
        "commit": commit,
        "revision": None,
        "version": None,
        "parameters": {},
        "manifest": data.decode("utf-8", "replace"),
    }
    try:
        document = checking.deployment_at(path, data)
    except DocumentError:
        return made  # a person pushed what cannot be read: it stands in history all the same
    told = {"revision": document.revision, "version": document.version}
    return {**made, **told, "parameters": dict(document.values)}


ROUTES: Final = (
    Route(
        "GET",
        "/deployments/<deployment>/revisions",
        listed,
        Role.VIEWER,
        "What its document said before, newest first",
    ),
)

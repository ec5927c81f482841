"""What an operation was made from and what came of it: plan, manifest, log, result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from controller.access.identity import Role
from controller.api import operations as reading
from controller.api import seeing
from controller.api.problems import not_found
from controller.api.routes import Route
from controller.store import history, operations, requests

if TYPE_CHECKING:
    from controller.api.call import Call

KINDS: Final = ("plan", "manifest", "log", "result")


def shown(call: Call, artifact: str) -> dict[str, Any]:
    """GET /artifacts/{id}: of an operation's id all four, of <operation>.<kind> that one."""
    name, _, kind = artifact.lower().partition(".")
    if kind and kind not in KINDS:
        raise not_found("artifact", artifact)
    found = _all(call, name)
    wanted = (kind,) if kind else KINDS
    return {
        "id": artifact.lower(),
        "operation": name,
        "deployment": found["deployment"],
        **{one: found[one] for one in wanted},
    }


def _all(call: Call, operation: str) -> dict[str, Any]:
    with call.parts.store.session() as session:
        one = reading.find(call, session, operation)
        steps = history.of_operation(session, one["id"])
        commit = next((step["commit"] for step in steps if step["commit"]), None)
        wrote, manifest = _manifest(call, commit, one["site"], one["deployment"])
        return {
            "deployment": one["deployment"],
            "plan": seeing.plan(call.who, requests.plan_of_commit(session, wrote))
            if wrote
            else None,
            "manifest": manifest,
            "log": operations.log(session, one["id"]),
            "result": {**one, "transitions": steps},
        }


def _manifest(
    call: Call, commit: str | None, site: str, deployment: str
) -> tuple[str | None, str | None]:
    """The document as it stood when the operation began, and the commit that wrote it."""
    repository = call.parts.repository
    if commit is None or not repository.has(commit):
        return None, None
    path = f"deployments/{site}/{deployment}.yaml"
    wrote, data = next(repository.versions(commit, path), (None, b""))
    return wrote, data.decode("utf-8", "replace") if wrote else None


ROUTES: Final = (
    Route(
        "GET",
        "/artifacts/<artifact>",
        shown,
        Role.VIEWER,
        "Plan, manifest, log and result of an operation; <operation>.<kind> for one of them",
    ),
)

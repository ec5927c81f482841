"""Accepting rewritten history at a site: which commit is meant, and whether it can end the halt."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from controller.api import bodies
from controller.api.problems import Problem, invalid
from controller.publish import trunk
from margrave.findings import Finding

if TYPE_CHECKING:
    from controller.api.call import Call
    from controller.publish import Repository
    from controller.store import Session


class Accept(bodies.Body):
    """The commit up to which rewritten history is accepted."""

    commit: Annotated[str, Field(pattern=r"^[0-9a-f]{7,64}$")]


def commit_to_accept(call: Call, session: Session, site: dict[str, Any], text: str) -> str:
    """Return the whole id of the commit; 422 for one that is unknown, or that main does not hold.

    The commit that halts the site is known to its runner, also where the controller has yet to
    fetch it. A rewritten main that halts the controller too is fetched, and not followed.
    """
    halting = str((site["halted"] or {}).get("commit") or "")
    if halting.startswith(text):
        return halting
    repository = call.parts.repository
    commit = repository.commit_id(text)
    heads = [repository.head(), (trunk.halt(session) or {}).get("commit")]
    known = [str(head) for head in heads if head]
    if commit is None:
        raise _refused(f"there is no commit {text} in the deployments repository", "unknown", known)
    if not any(_leads(repository, commit, head) for head in known):
        raise _refused(f"main does not hold the commit {text}", "invalid", known)
    return commit


def _leads(repository: Repository, commit: str, head: str) -> bool:
    return commit == head or repository.contains(head, commit)


def _refused(message: str, code: str, heads: list[str]) -> Problem:
    cure = f"main is at {heads[-1]}" if heads else "look at the deployments repository"
    return invalid([Finding("/commit", message, cure, code)])

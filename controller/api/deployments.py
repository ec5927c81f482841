"""Deployments: lists, one of them, its placements, history and manifest."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Any, Final

from flask import Response, request

from controller.access.identity import Role
from controller.api import choices, paging
from controller.api.call import Call, Reply
from controller.api.problems import Problem, invalid, not_found
from controller.api.routes import Route
from controller.store import deployments, history, placements
from margrave.findings import Finding
from margrave.lifecycle import Outcome, State

if TYPE_CHECKING:
    from controller.store import Session
    from controller.store.deployments import Key


class Order(StrEnum):
    """From which end a history is read."""

    OLDEST = "oldest"
    NEWEST = "newest"


def find(call: Call, session: Session, deployment: str) -> Key:
    """The deployment of an id; 404 when there is none that they may see."""
    site = call.args.get("site")
    found = deployments.find(session, deployment.lower(), site, call.who.sites)
    if found is None:
        raise not_found("deployment", deployment)
    return found


def listed(call: Call) -> dict[str, Any]:
    """GET /deployments."""
    page = call.page()
    wanted = wanted_by(call)
    with call.parts.store.session() as session:
        rows = deployments.listing(
            session, wanted, call.parts.moment(), after=paging.number(page), limit=page.fetch
        )
    return paging.listing(page, rows)


def wanted_by(call: Call) -> deployments.Wanted:
    """The filters of the query; a word nobody knows is a finding."""
    findings: list[Finding] = []
    state = choices.word(call.args.get("state"), State, "/state", findings)
    outcomes = choices.words(call.args.get("outcome"), Outcome, "/outcome", findings)
    sort = choices.word(call.args.get("sort"), deployments.Sort, "/sort", findings)
    if findings:
        raise invalid(findings)
    args = call.args
    return deployments.Wanted(
        site=args.get("site"),
        app=args.get("app"),
        name=args.get("name"),
        state=state,
        outcomes=outcomes,
        q=args.get("q"),
        sites=call.who.sites,
        sort=sort or deployments.Sort.NEWEST,
    )


def shown(call: Call, deployment: str) -> Reply:
    """GET /deployments/{id}; the ETag is what If-Match of a change refers to."""
    with call.parts.store.session() as session:
        key = find(call, session, deployment)
        resource = deployments.resource(session, key.key, call.parts.moment())
    return Reply(resource, headers={"ETag": etag(resource)})


def etag(resource: dict[str, Any]) -> str:
    """The document as it stands, as an entity tag."""
    return f'"{resource["document_digest"] or "none"}"'


def matched(call: Call, session: Session, deployment: str) -> dict[str, str | None] | None:
    """The document that If-Match names, by its path; 412 when that no longer stands.

    None where any will do. That it still stands when the change is made is seen to then.
    """
    wanted = request.headers.get("If-Match")
    if wanted is None or wanted.strip() == "*":
        return None
    key = find(call, session, deployment)
    resource = deployments.resource(session, key.key, call.parts.moment())
    if etag(resource) not in [tag.strip() for tag in wanted.split(",")]:
        raise Problem(
            412, "the document has changed since", cure="read it again, then send the change again"
        )
    return {f"deployments/{key.site}/{key.id}.yaml": resource["document_digest"]}


def its_placements(call: Call, deployment: str) -> dict[str, Any]:
    """GET /deployments/{id}/placements."""
    page = call.page()
    after = paging.text(page)
    with call.parts.store.session() as session:
        key = find(call, session, deployment)
        all_of_it = placements.of_deployments(session, [key.key], call.parts.moment())
    rows = [
        ((one["node"],), one)
        for one in all_of_it.get(key.key, [])
        if after is None or one["node"] > after
    ]
    return paging.listing(page, rows[: page.fetch])


def its_history(call: Call, deployment: str) -> dict[str, Any]:
    """GET /deployments/{id}/history."""
    page = call.page()
    findings: list[Finding] = []
    newest = choices.word(call.args.get("order"), Order, "/order", findings) is Order.NEWEST
    if findings:
        raise invalid(findings)
    with call.parts.store.session() as session:
        key = find(call, session, deployment)
        after = paging.number(page)
        rows = history.of_deployment(
            session, key.key, key.id, after=after, limit=page.fetch, newest=newest
        )
    return paging.listing(page, rows)


def its_manifest(call: Call, deployment: str) -> Response:
    """GET /deployments/{id}/manifest: the YAML as in Git, byte for byte."""
    with call.parts.store.session() as session:
        key = find(call, session, deployment)
        text = deployments.manifest(session, key.key)
    if text is None:
        raise Problem(
            404,
            "this deployment has no document in Git yet",
            cure="its request is still in the queue; ask again when that is published",
        )
    return Response(text, content_type="application/yaml; charset=utf-8")


ROUTES: Final = (
    Route("GET", "/deployments", listed, Role.VIEWER, "Deployments, newest first"),
    Route("GET", "/deployments/<deployment>", shown, Role.VIEWER, "One deployment"),
    Route(
        "GET",
        "/deployments/<deployment>/placements",
        its_placements,
        Role.VIEWER,
        "Where it stands on each node",
    ),
    Route(
        "GET",
        "/deployments/<deployment>/history",
        its_history,
        Role.VIEWER,
        "Every transition, oldest first",
    ),
    Route(
        "GET",
        "/deployments/<deployment>/manifest",
        its_manifest,
        Role.VIEWER,
        "The document as in Git",
    ),
)

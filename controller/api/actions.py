"""What operators want done: plans, new deployments, changes, and the queue of requests."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import request

from controller.access.identity import Role
from controller.admission import admission
from controller.admission.decision import Asked
from controller.api import deployments as reading
from controller.api import paging, seeing, targets
from controller.api.call import Call, Reply
from controller.api.problems import Problem, invalid, not_found
from controller.api.routes import Object, Route
from controller.store import deployments, request_list, requests
from margrave.findings import Finding
from margrave.lifecycle import State

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from controller.admission.decision import Look
    from controller.store import Session

KEY_LIMIT: Final = 200
# What takes a request back at each stage behind the queue.
_UNDONE: Final = {
    "publishing": "its commit is being pushed: in a moment it is published, or queued again",
    "published": "cancel its deployments (they go back at the next safe point), or roll back",
}


def planned(call: Call, body: dict[str, Any]) -> dict[str, Any]:
    """POST /plans: what would happen; nothing is written."""
    return {"plan": call.parts.admission.plan(body, call.who)}


def created(call: Call, body: dict[str, Any]) -> dict[str, Any]:
    """POST /deployments."""
    answer = call.parts.admission.create(body, call.who, _asked(call, "create", body))
    call.parts.publisher.wake()
    return answer


def acted(call: Call, body: dict[str, Any]) -> dict[str, Any]:
    """POST /deployments/actions: the same to many."""
    answer = call.parts.admission.act(body, call.who, _asked(call, str(body.get("action")), body))
    call.parts.publisher.wake()
    return answer


def changed(call: Call, deployment: str, body: dict[str, Any]) -> dict[str, Any]:
    """PATCH /deployments/{id}: the update."""
    return _one(call, "update", deployment, body)


def removed(call: Call, deployment: str, body: dict[str, Any]) -> Reply:
    """DELETE /deployments/{id}: removed from Git; one that is gone already answers itself."""
    with call.parts.store.session() as session:
        key = reading.find(call, session, deployment)
        if key.state is State.DELETED and not _is_known(call, session):
            reading.matched(call, session, deployment)
            return Reply(deployments.resource(session, key.key, call.parts.moment()))
    return Reply(_one(call, "delete", deployment, body), 202)


def verb(action: str) -> Callable[..., dict[str, Any]]:
    """The handler of POST /deployments/{id}/<action>."""

    def handler(call: Call, deployment: str, body: dict[str, Any]) -> dict[str, Any]:
        return _one(call, action, deployment, body)

    return handler


def requests_listed(call: Call) -> dict[str, Any]:
    """GET /requests."""
    page = call.page()
    with call.parts.store.session() as session:
        rows = request_list.listing(
            session,
            call.parts.clock(),
            after=paging.number(page),
            limit=page.fetch,
            state=call.args.get("state"),
            only=call.who.sites,
        )
    return paging.listing(page, rows)


def request_shown(call: Call, request_id: str) -> dict[str, Any]:
    """GET /requests/{id}."""
    with call.parts.store.session() as session:
        return _request(call, session, request_id)


def request_cancelled(call: Call, request_id: str) -> dict[str, Any]:
    """DELETE /requests/{id}: taken back as long as its commit is not on its way."""
    with call.parts.store.write() as session:
        found = _request(call, session, request_id)
        for site in requests.sites_of(session, found["id"]):
            call.must_see(site)
        if not requests.cancel(session, found["id"], call.parts.clock()):
            raise Problem(
                409,
                f"this request is {found['state']}: it cannot be taken back",
                cure=_UNDONE.get(found["state"], "there is nothing left to take back"),
            )
        concerned = sorted(requests.concerned_by(session, found["id"]))
        target = f"{found['action']} {targets.of_deployments(session, concerned)}"
        call.write_down(session, "request.cancel", target, {"request": found["id"]})
        session.flush()
        session.expire_all()
        return _request(call, session, request_id)


def _one(
    call: Call,
    action: str,
    deployment: str,
    body: dict[str, Any],
) -> dict[str, Any]:
    with call.parts.store.session() as session:
        key = reading.find(call, session, deployment)
    foreign = [
        Finding(f"/{name}", "unknown key", "the address says it already", "unknown-key")
        for name in ("action", "select")
        if name in body
    ]
    if foreign:
        raise invalid(foreign)
    whole = {**body, "action": action, "select": {"ids": [key.id], "sites": [key.site]}}

    def look(session: Session) -> Mapping[str, str | None] | None:
        return reading.matched(call, session, deployment)

    answer = call.parts.admission.act(whole, call.who, _asked(call, action, body, look))
    call.parts.publisher.wake()
    return answer


def _asked(call: Call, action: str, body: Mapping[str, Any], look: Look | None = None) -> Asked:
    """How it is asked; the audit is written in the transaction that lets it in."""

    def note(session: Session, request_id: str, concerned: Sequence[tuple[str, str]]) -> None:
        target = targets.of_deployments(session, concerned)
        ids = [deployment for deployment, _ in concerned]
        detail = {"request": request_id, "deployments": ids}
        # Why windows were passed has to be found later; what was asked for is checked by now.
        detail |= {name: body[name] for name in ("priority", "reason") if body.get(name)}
        call.write_down(session, f"deployment.{action}", target, detail)

    return Asked(_key(), call.trace, look=look, note=note)


def _is_known(call: Call, session: Session) -> bool:
    """Whether this request repeats one that was accepted under the same Idempotency-Key."""
    key = _key()
    return key is not None and admission.repeated(session, call.who, key, call.parts.clock())


def _key() -> str | None:
    key = request.headers.get("Idempotency-Key")
    if key is not None and not 1 <= len(key) <= KEY_LIMIT:
        raise invalid(
            [Finding("/Idempotency-Key", "is empty or too long", f"1 to {KEY_LIMIT} characters")]
        )
    return key


def _request(call: Call, session: Session, request_id: str) -> dict[str, Any]:
    found = requests.one(session, request_id.lower(), call.parts.clock())
    theirs = seeing.request(call.who, found) if found else None
    if theirs is None or (call.who.sites is not None and not theirs["deployments"]):
        raise not_found("request", request_id)
    return theirs


_ONE: Final = "/deployments/<deployment>"
_OPERATOR: Final = Role.OPERATOR

ROUTES: Final = (
    Route("POST", "/plans", planned, Role.VIEWER, "What would happen", Object.REQUIRED),
    Route("POST", "/deployments", created, _OPERATOR, "Deploy", Object.REQUIRED, 202),
    Route("POST", "/deployments/actions", acted, _OPERATOR, "Act on many", Object.REQUIRED, 202),
    Route("PATCH", _ONE, changed, _OPERATOR, "Update", Object.REQUIRED, 202),
    Route("DELETE", _ONE, removed, _OPERATOR, "Remove from Git", Object.OPTIONAL, 202),
    *(
        Route("POST", f"{_ONE}/{word}", verb(word), _OPERATOR, says, Object.OPTIONAL, 202)
        for word, says in (
            ("rollback", "Update to older content"),
            ("retry", "Try again"),
            ("cancel", "Go back at the next safe point"),
            ("release", "Take out of quarantine"),
        )
    ),
    Route("GET", "/requests", requests_listed, Role.VIEWER, "What was asked, newest first"),
    Route("GET", "/requests/<request_id>", request_shown, Role.VIEWER, "One request"),
    Route("DELETE", "/requests/<request_id>", request_cancelled, _OPERATOR, "Take it back"),
)

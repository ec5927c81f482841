"""API tokens, and signing in for one."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NoReturn

from flask import request
from pydantic import Field

from controller.access import passwords
from controller.access.identity import Role
from controller.api import bodies, paging
from controller.api.call import Call, Reply
from controller.api.problems import Problem, invalid, not_found
from controller.api.routes import Route
from controller.edge import proxies
from controller.store import access, audit, fleet, world
from controller.store.audit import Deed
from controller.store.shapes import stamp
from controller.store.words import Role as StoredRole
from margrave.documents.extensions import LabelSelector
from margrave.findings import Finding, nearest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from controller.parts import Parts
    from controller.store import Session

LOGIN_LASTS: Final = timedelta(days=30)
# What other controllers of the same database refused counts too; the audit knows it.
TRIES: Final = 10
TRIES_WITHIN: Final = timedelta(seconds=60)
SOURCE_COST: Final = 1 / 3  # an address may be an office: it has three times the tries of a person

RoleName = Literal["viewer", "operator", "admin"]
Name = Annotated[str, Field(min_length=1, max_length=100)]
Sites = list[str] | LabelSelector | None  # by name, or by label as labels come and go


class NewToken(bodies.Body):
    """What a new token is to be."""

    name: Name
    role: RoleName
    sites: Sites = None
    expires_at: bodies.AnyTime | None = None


class Login(bodies.Body):
    """Who signs in."""

    user: Name
    password: Annotated[str, Field(max_length=passwords.MOST)]


def listed(call: Call) -> dict[str, Any]:
    """GET /tokens: those that are valid and reach no further than who asks; never the token."""
    page = call.page()
    with call.parts.store.session() as session:
        now = call.parts.clock()
        rows = paging.within_reach(
            page,
            lambda after, limit: access.tokens(session, now, after=after, limit=limit),
            lambda token: call.who.may_give(token["sites"]),
        )
    return paging.listing(page, rows)


def made(call: Call, body: NewToken) -> dict[str, Any]:
    """POST /tokens: the token is shown this once."""
    token, token_id = passwords.new_token("mgt"), str(uuid.uuid4())
    now = call.parts.clock()
    expires_at = expiry(body.expires_at, now)
    with call.parts.store.write() as session:
        check_sites(session, body.sites)
        must_give(call, stored_sites(body.sites))
        values = {
            "id": token_id,
            "name": body.name,
            "digest": passwords.token_hash(token),
            "role": StoredRole(body.role),
            "sites": stored_sites(body.sites),
            "created_by": call.who.actor,
            "created_at": now,
            "expires_at": expires_at,
        }
        access.add_token(session, values)
        call.write_down(session, "token.create", token_id, {"name": body.name, "role": body.role})
    return {
        "id": token_id,
        "token": token,
        "name": body.name,
        "role": body.role,
        "sites": stored_sites(body.sites),
        "expires_at": stamp(expires_at),
    }


def revoked(call: Call, token: str) -> Reply:
    """DELETE /tokens/{id}."""
    with call.parts.store.write() as session:
        must_give(call, access.sites_of_token(session, token))
        if not access.revoke(session, token, call.parts.clock()):
            raise not_found("token", token)
        call.write_down(session, "token.revoke", token)
    return Reply(None)


def stored_sites(sites: Sites) -> Any:
    """Sites as they are kept: names, a selector, or none for all."""
    return sites.model_dump() if isinstance(sites, LabelSelector) else sites


def check_sites(session: Session, sites: Sites) -> None:
    """422 for a site nobody knows."""
    if not isinstance(sites, list):
        return
    wrong = [
        (f"/sites/{place}", site)
        for place, site in enumerate(sites)
        if not fleet.site_exists(session, site)
    ]
    known = world.site_names(session) if wrong else []
    findings = [
        Finding(
            where,
            f'there is no site "{site}"',
            nearest(site, known) or "margrave site list",
            "unknown",
        )
        for where, site in wrong
    ]
    if findings:
        raise invalid(findings)


def expiry(wanted: datetime | None, now: datetime) -> datetime | None:
    """When a token ends; 422 for a time that has passed."""
    if wanted is None:
        return None
    if wanted <= now:
        raise invalid([Finding("/expires_at", "lies in the past", "a time to come, or leave it")])
    return wanted


def must_give(call: Call, sites: Any) -> None:
    """403 for more sites than who asks has; `sites` as they are kept."""
    if not call.who.may_give(sites):
        raise Problem(
            403, "this reaches sites that are not yours", cure="name some of your own sites"
        )


def log_in(parts: Parts, body: Login, trace: str) -> dict[str, Any]:
    """POST /login: a token that speaks for the person; 429 after too many attempts."""
    person = check_password(parts, body.user, body.password, trace)
    token, token_id, now = passwords.new_token("mgt"), str(uuid.uuid4()), parts.clock()
    with parts.store.write() as session:
        access.add_token(
            session,
            {
                "id": token_id,
                "name": f"sign-in of {person['name']}",
                "digest": passwords.token_hash(token),
                "role": StoredRole(person["role"]),
                "sites": person["sites"],
                "user": person["name"],
                "created_by": person["name"],
                "created_at": now,
                "expires_at": now + LOGIN_LASTS,
            },
        )
    return {"id": token_id, "token": token, "expires_at": stamp(now + LOGIN_LASTS)}


def check_password(parts: Parts, user: str, password: str, trace: str) -> dict[str, Any]:
    """The person whose password it is; 401 without saying which of the two was wrong."""
    # By source, never by account alone: nobody can lock out a person who signs in from elsewhere.
    source = proxies.source_of(request.remote_addr or "")
    costs = {f"from {source}": SOURCE_COST, f"from {source} as {user}": 1.0}
    slow_down(parts, costs)
    _look_elsewhere(parts, source, user)
    with parts.store.session() as session:
        person = access.user(session, user)
    stored = None if person is None or person["disabled"] else str(person["password_hash"])
    right = passwords.verify(stored, password)
    with parts.store.write() as session:
        outcome = "done" if right else "refused"
        deed = Deed(user, "login", user, outcome, request.remote_addr, trace)
        audit.add(session, deed, parts.clock())
    if not right or person is None:
        raise Problem(401, "user or password is wrong", cure="an admin can set a new password")
    for key, cost in costs.items():
        parts.sign_ins.give_back(key, cost)
    return person


def slow_down(parts: Parts, costs: Mapping[str, float]) -> None:
    """Raise 429 for a source that tries too often at this process."""
    wait = max(parts.sign_ins.take(key, cost) for key, cost in costs.items())
    if wait:
        _too_many(wait)


def _look_elsewhere(parts: Parts, source: str, user: str) -> None:
    """Raise 429 for what other controllers of the same database have refused."""
    with parts.store.session() as session:
        refused = audit.refusals(session, parts.clock() - TRIES_WITHIN)
    own = [one for one in refused if proxies.source_of(one.address or "") == source]
    for entries, most in (
        ([one for one in own if one.target == user], TRIES),
        (own, round(TRIES / SOURCE_COST)),
    ):
        if len(entries) >= most:
            _too_many((entries[most - 1].at + TRIES_WITHIN - parts.clock()).total_seconds())


def _too_many(wait: float) -> NoReturn:
    seconds = max(1, round(wait))
    raise Problem(
        429,
        "too many attempts to sign in",
        cure=f"wait {seconds} seconds",
        headers={"Retry-After": str(seconds)},
    )


ROUTES: Final = (
    Route("GET", "/tokens", listed, Role.ADMIN, "Tokens that are valid"),
    Route("POST", "/tokens", made, Role.ADMIN, "Make a token", NewToken, 201),
    Route("DELETE", "/tokens/<token>", revoked, Role.ADMIN, "Revoke a token"),
)

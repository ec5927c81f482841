"""API tokens, and signing in for one."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from flask import request
from pydantic import Field

from controller.access import passwords
from controller.access.identity import Role
from controller.api import bodies, paging
from controller.api.call import Call, Reply
from controller.api.problems import Problem, invalid, not_found
from controller.api.routes import Route
from controller.store import access, audit, fleet
from controller.store.audit import Deed
from controller.store.shapes import stamp
from controller.store.words import Role as StoredRole
from margrave.findings import Finding

if TYPE_CHECKING:
    from controller.parts import Parts
    from controller.store import Session

LOGIN_LASTS: Final = timedelta(days=30)

RoleName = Literal["viewer", "operator", "admin"]
Name = Annotated[str, Field(min_length=1, max_length=100)]


class NewToken(bodies.Body):
    """What a new token is to be."""

    name: Name
    role: RoleName
    sites: list[str] | None = None
    expires_at: datetime | None = None


class Login(bodies.Body):
    """Who signs in."""

    user: Name
    password: Annotated[str, Field(max_length=passwords.MOST)]


def listed(call: Call) -> dict[str, Any]:
    """GET /tokens: those that are valid; never the token itself."""
    page = call.page()
    with call.parts.store.session() as session:
        now = call.parts.clock()
        rows = access.tokens(session, now, after=paging.text(page), limit=page.fetch)
    return paging.listing(page, rows)


def made(call: Call, body: NewToken) -> dict[str, Any]:
    """POST /tokens: the token is shown this once."""
    token, token_id = passwords.new_token("mgt"), str(uuid.uuid4())
    now = call.parts.clock()
    expires_at = _expiry(body.expires_at, now)
    with call.parts.store.write() as session:
        check_sites(session, body.sites)
        values = {
            "id": token_id,
            "name": body.name,
            "digest": passwords.token_hash(token),
            "role": StoredRole(body.role),
            "sites": body.sites,
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
        "sites": body.sites,
        "expires_at": stamp(expires_at),
    }


def revoked(call: Call, token: str) -> Reply:
    """DELETE /tokens/{id}."""
    with call.parts.store.write() as session:
        if not access.revoke(session, token, call.parts.clock()):
            raise not_found("token", token)
        call.write_down(session, "token.revoke", token)
    return Reply(None)


def check_sites(session: Session, sites: list[str] | None) -> None:
    """422 for a site nobody knows."""
    findings = [
        Finding(f"/sites/{place}", f'there is no site "{site}"', "margrave site list", "unknown")
        for place, site in enumerate(sites or [])
        if not fleet.site_exists(session, site)
    ]
    if findings:
        raise invalid(findings)


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
    address = request.remote_addr or ""
    # By address and by name: neither many names from one place nor one name from many.
    wait = max(parts.sign_ins.take(f"from {address}"), parts.sign_ins.take(f"as {user}"))
    if wait:
        raise Problem(
            429,
            "too many attempts to sign in",
            cure=f"wait {wait:.0f} seconds",
            headers={"Retry-After": f"{wait:.0f}"},
        )
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
    return person


def _expiry(wanted: datetime | None, now: datetime) -> datetime | None:
    if wanted is None:
        return None
    if wanted.tzinfo is None:
        wanted = wanted.replace(tzinfo=UTC)
    if wanted <= now:
        raise invalid([Finding("/expires_at", "lies in the past", "a time to come, or leave it")])
    return wanted


ROUTES: Final = (
    Route("GET", "/tokens", listed, Role.ADMIN, "Tokens that are valid"),
    Route("POST", "/tokens", made, Role.ADMIN, "Make a token", NewToken, 201),
    Route("DELETE", "/tokens/<token>", revoked, Role.ADMIN, "Revoke a token"),
)

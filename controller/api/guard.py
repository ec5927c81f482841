"""Who is asking: bearer tokens and sign-in sessions to identities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from flask import request

from controller.access.identity import Identity, Role
from controller.access.passwords import token_hash
from controller.access.uses import TokenUse
from controller.api.problems import Problem
from controller.store import access

if TYPE_CHECKING:
    from collections.abc import Callable

    from controller.parts import Parts
    from controller.store.access import Holder

COOKIE: Final = "margrave_session"
CHALLENGE: Final = {"WWW-Authenticate": 'Bearer realm="margrave"'}
TOKEN_LIMIT: Final = 512


def identify(parts: Parts) -> Identity:
    """The holder of the bearer token; 401 when there is none that is valid."""
    token = _bearer()
    if not token:
        raise Problem(
            401, "no token was sent", cure="send Authorization: Bearer <token>", headers=CHALLENGE
        )
    found = by_token(parts, token)
    if found is None:
        raise Problem(
            401,
            "this token is not valid: unknown, revoked or expired",
            cure="sign in with margrave login URL, or ask an admin for a token",
            headers=CHALLENGE,
        )
    return found


def by_token(parts: Parts, token: str) -> Identity | None:
    """The identity of a token, of people's as well as of runners'."""
    if len(token) > TOKEN_LIMIT:
        return None
    now = parts.clock()
    with parts.store.session() as session:
        holder = access.token(session, token_hash(token), now)
    if holder is None:
        return None
    if holder.stale_use:
        parts.token_uses.note(TokenUse(holder.id, holder.site is not None, now))
    return _identity(holder)


def by_session(parts: Parts, cookie: str | None = None) -> tuple[Identity, str] | None:
    """The identity of the sign-in cookie, and the token that its forms carry."""
    if cookie is None:
        cookie = request.cookies.get(COOKIE, "")
    if not cookie or len(cookie) > TOKEN_LIMIT:
        return None
    with parts.store.session() as session:
        holder = access.signed_in(session, token_hash(cookie), parts.clock())
    return (_identity(holder), holder.csrf) if holder else None


def unchanged(parts: Parts, who: Identity) -> Callable[[], bool]:
    """Return a function that tells whether this request's credential still gives the same rights.

    It can be called long after the request was read: a stream asks it again and again.
    """
    token, cookie = _bearer(), request.cookies.get(COOKIE, "")

    def holds() -> bool:
        if token:
            return by_token(parts, token) == who
        found = by_session(parts, cookie)
        return found is not None and found[0] == who

    return holds


def _bearer() -> str:
    """The bearer token that was sent, or an empty text."""
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme.lower() == "bearer" else ""


def require(
    who: Identity, needs: Role, site: str | None = None, *, whole_fleet: bool = False
) -> None:
    """403 when the role does not hold the one needed, or a runner asks beyond its site.

    What concerns the `whole_fleet` is for identities that are not limited to some sites.
    """
    if who.is_site:
        if needs is Role.SITE and site is not None and who.sees(site):
            return
        if needs is Role.SITE and site is not None and who.sites:
            own = ", ".join(sorted(who.sites))
            raise Problem(
                403,
                f"this token belongs to site {own}",
                cure=f"use a token of site {site}: margrave site token create {site}",
            )
        raise Problem(
            403,
            "a runner's token reports, sends heartbeats, reads its own site and fetches the"
            " repository, nothing else",
            cure="use a person's token",
        )
    if needs is Role.SITE:
        raise Problem(403, "only the site's runner does this", cure="use the site's token")
    if not who.may(needs):
        raise Problem(403, f"this needs the role {needs}, yours is {who.role}", cure="ask an admin")
    if whole_fleet and not who.has_all_sites:
        raise Problem(
            403,
            "this concerns all sites, and you are limited to some",
            cure=f"ask {'an admin' if needs is Role.ADMIN else 'somebody'} of all sites",
        )


def _identity(holder: Holder) -> Identity:
    sites = frozenset(holder.sites) if holder.sites is not None else None
    token = None if holder.person else holder.id
    return Identity(holder.name, Role(holder.role), sites, token)

"""Signing in with a provider's account: to the provider and back."""

from __future__ import annotations

import base64
import hmac
import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Final

from flask import g, redirect, request

from controller.access.identity import Role
from controller.api.problems import Problem
from controller.api.tokens import slow_down
from controller.edge import proxies
from controller.pages import session as signing
from controller.store import access, audit
from controller.store.audit import Deed
from controller.store.words import Role as StoredRole
from margrave.errors import Refused

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

    from controller.access.oidc import Begun, Person, Provider
    from controller.parts import Parts

PATH: Final = "/sign-in/oidc"
BACK: Final = f"{PATH}/back"
COOKIE: Final = "margrave_oidc"
LASTS: Final = 600  # seconds that somebody may take to sign in there


def begin(parts: Parts) -> Answer:
    """GET /sign-in/oidc: to the provider."""
    url, begun = _provider(parts).begin(signing.inner(request.args.get("next", "")))
    answer = redirect(url, 303)
    packed = base64.urlsafe_b64encode(json.dumps(asdict(begun)).encode()).decode()
    signing.set_cookie(parts, answer, COOKIE, packed, LASTS)
    return answer


def end(parts: Parts) -> Answer:
    """GET /sign-in/oidc/back: the provider has sent the browser back."""
    slow_down(parts, {f"from {proxies.source_of(request.remote_addr or '')}": 1.0})
    begun = _begun()
    if request.args.get("error"):
        raise Problem(401, "the provider let nobody in", cure="sign in there, or with a password")
    try:
        person = _provider(parts).finish(request.args.get("code", ""), begun)
        name = _known(parts, person)
    except Refused as error:
        _write_down(parts, "", "refused", error.message)
        raise Problem(403, error.message, cure=error.cure) from error
    _write_down(parts, name, "done", person.role)
    answer = signing.begin(parts, name, begun.target)
    answer.delete_cookie(COOKIE)
    return answer


def _provider(parts: Parts) -> Provider:
    settings = parts.settings
    if settings.oidc.issuer is None:
        raise Problem(404, "no provider is configured", cure="sign in with a password")
    from controller.access.oidc import Provider  # what has no provider does not pay for it

    outside = str(settings.http.external_url).rstrip("/")
    return Provider(settings.oidc, f"{outside}{BACK}", parts.clock)


def _begun() -> Begun:
    """What was remembered when it began; only our own browser's answer continues it."""
    from controller.access.oidc import Begun

    try:
        kept = Begun(**json.loads(base64.urlsafe_b64decode(request.cookies.get(COOKIE, ""))))
        same = hmac.compare_digest(kept.state.encode(), request.args.get("state", "").encode())
    except (ValueError, TypeError, AttributeError):
        same = False
    if not same:
        raise Problem(403, "this sign-in was not begun here, or too long ago", cure="begin again")
    return kept


def _known(parts: Parts, person: Person) -> str:
    """The person's row, made or brought up to date."""
    with parts.store.write() as session:
        role = StoredRole(person.role)
        if not access.vouched(session, person.name, person.subject, role, parts.clock()):
            words = f'the name "{person.name}" belongs to somebody else here, or is disabled'
            raise Refused(words, "ask an admin")
    return person.name


def _write_down(parts: Parts, name: str, outcome: str, why: str | Role) -> None:
    with parts.store.write() as session:
        detail = {"provider": parts.settings.oidc.issuer, "told": str(why)}
        address, trace = request.remote_addr, str(g.request_id)
        deed = Deed(name or "somebody", "login", name, outcome, address, trace, detail)
        audit.add(session, deed, parts.clock())

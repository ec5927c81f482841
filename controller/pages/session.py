"""Signing in and out with a form; every form carries a token that only our pages know."""

from __future__ import annotations

import hmac
import secrets
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from flask import Response, g, redirect, request

from controller.access.passwords import new_token, token_hash
from controller.api import guard
from controller.api.problems import Problem
from controller.api.tokens import check_password
from controller.store import access

if TYPE_CHECKING:
    from werkzeug.wrappers import Response as Answer

    from controller.access.identity import Identity
    from controller.parts import Parts

LASTS: Final = timedelta(hours=12)
FORM_COOKIE: Final = "margrave_form"


def who(parts: Parts) -> Identity | None:
    """Who looks at a page: by bearer token, else by the sign-in cookie."""
    if "Authorization" in request.headers:
        found = guard.identify(parts)
        if found.is_site:
            raise Problem(403, "a runner's token opens no page", cure="use a person's token")
        return found
    session = guard.by_session(parts)
    if session is None:
        return None
    g.csrf = session[1]
    return session[0]


def form_token() -> str:
    """The token of the sign-in form, kept in a cookie until it is sent."""
    return request.cookies.get(FORM_COOKIE) or secrets.token_urlsafe(24)


def sign_in(parts: Parts) -> Answer:
    """Take the form; a session begins."""
    _check(request.form.get("token", ""), request.cookies.get(FORM_COOKIE, ""))
    user, password = request.form.get("user", ""), request.form.get("password", "")
    person = check_password(parts, user[:100], password[:1024], str(g.request_id))
    return begin(parts, person["name"], inner(request.form.get("next", "")))


def begin(parts: Parts, user: str, target: str) -> Answer:
    """Somebody has shown who they are: a session begins, and the page they wanted is next."""
    cookie, now = new_token("mgw"), parts.clock()
    with parts.store.write() as session:
        values = {
            "digest": token_hash(cookie),
            "user": user,
            "csrf": secrets.token_urlsafe(24),
            "created_at": now,
            "expires_at": now + LASTS,
        }
        access.open_session(session, values, now)
    answer = redirect(target, 303)
    set_cookie(parts, answer, guard.COOKIE, cookie, int(LASTS.total_seconds()))
    return answer


def sign_out(parts: Parts) -> Answer:
    """End the session."""
    held = guard.by_session(parts)
    if held is not None:
        _check(request.form.get("token", ""), held[1])
        with parts.store.write() as session:
            access.close_session(session, token_hash(request.cookies[guard.COOKIE]))
    answer = redirect("/sign-in", 303)
    answer.delete_cookie(guard.COOKIE)
    return answer


def check_form() -> None:
    """A form that changes something comes from a page of ours; a bearer token needs no proof."""
    if "Authorization" not in request.headers:
        _check(request.form.get("token", ""), g.csrf)


def set_cookie(parts: Parts, answer: Response | Answer, name: str, value: str, age: int) -> None:
    """A cookie that no script reads and no other site sends."""
    outside = parts.settings.http.external_url or ""
    secure = bool(parts.settings.http.tls.cert) or outside.startswith("https://")
    answer.set_cookie(name, value, max_age=age, httponly=True, samesite="Lax", secure=secure)


def inner(target: str) -> str:
    """Where to go after signing in: only ever to a page of ours."""
    parsed = urlsplit(target)
    ours = target.startswith("/") and not target.startswith(("//", "/\\"))
    return target if ours and not parsed.netloc and not parsed.scheme else "/"


def _check(sent: str, kept: str) -> None:
    if not kept or not hmac.compare_digest(sent.encode(), kept.encode()):
        raise Problem(403, "this form is not from our page, or too old", cure="load it again")

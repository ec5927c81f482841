"""Who may look: whoever has the token, or comes from this machine."""

from __future__ import annotations

import hmac
import ipaddress

from flask import abort, request

from margrave.secret import Secret


def allow(token: Secret | None) -> None:
    """Go on, or end the request with 401."""
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    if token is not None and hmac.compare_digest(given.encode(), token.reveal().encode()):
        return
    # A proxy on this machine speaks for others: what it forwards is not from here.
    forwarded = "X-Forwarded-For" in request.headers or "Forwarded" in request.headers
    if forwarded or not _is_loopback(request.remote_addr or ""):
        abort(401, "give the runner's http.token as a Bearer token")


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False

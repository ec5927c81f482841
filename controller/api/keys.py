"""What others need to trust this controller: where its repository is, and who signs in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from flask import request

from controller.access.identity import Role
from controller.api.routes import Route

if TYPE_CHECKING:
    from pathlib import Path

    from controller.api.call import Call

OWN: Final = "/git/deployments.git"


def shown(call: Call) -> dict[str, Any]:
    """GET /meta/keys: public halves and addresses; never a secret."""
    settings = call.parts.settings
    own = call.parts.repository.own
    base = (settings.http.external_url or request.host_url).rstrip("/")
    return {
        "repository": f"{base}{OWN}" if own else str(settings.git.remote),
        "own": own,
        "mode": settings.git.mode,
        "signing_key": _public(settings.git.signing_key),
        "hook": f"{base}/hooks/git",
        "hook_secrets": len(settings.hooks.secrets),
    }


def _public(key: Path | None) -> str | None:
    """The line that runners have in `allowed_signers`; None when commits are not signed."""
    if key is None:
        return None
    public = key.with_name(f"{key.name}.pub")
    return public.read_text(encoding="utf-8").strip() if public.is_file() else None


ROUTES: Final = (
    Route("GET", "/meta/keys", shown, Role.ADMIN, "Its repository's address and public keys"),
)

"""GitLab: the secret itself in `X-Gitlab-Token`, or a Standard Webhooks signature."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from webhook.forges.forge import Delivery, Forge, Move, Told, mapping, text, urls
from webhook.forges.standard import signed_and_fresh
from webhook.signature import token_fits

EVENTS: Final = {"Push Hook": "push", "System Hook": "push"}
URLS: Final = ("git_http_url", "git_ssh_url", "web_url", "http_url", "ssh_url", "homepage", "url")


def _verified(came: Delivery, secrets: Sequence[bytes]) -> bool:
    # Who signs is held to the signature: a token beside it must not be a way around it.
    if came.header("webhook-signature"):
        return signed_and_fresh(came, secrets)
    # Headers arrive as the characters of their bytes.
    given = came.header("X-Gitlab-Token").encode("latin-1", "replace")
    return bool(given) and token_fits(secrets, given)


def _event(came: Delivery, payload: Mapping[str, Any]) -> str:
    named = EVENTS.get(came.header("X-Gitlab-Event"), came.header("X-Gitlab-Event"))
    # System hooks carry every kind of event under one header; the body tells which.
    kind = text(payload.get("object_kind")) or text(payload.get("event_name")) or named
    return kind if named == "push" else named


def _read(payload: Mapping[str, Any]) -> Told:
    places = urls(mapping(payload.get("project")), URLS)
    places += urls(mapping(payload.get("repository")), URLS)
    return Told(places, (Move(text(payload.get("ref")), text(payload.get("after"))),))


GITLAB: Final = Forge(
    name="gitlab",
    recognised=lambda came: bool(came.header("X-Gitlab-Event") or came.header("X-Gitlab-Token")),
    verified=_verified,
    event=_event,
    delivery=lambda came, _: (
        came.header("webhook-id")
        or came.header("Idempotency-Key")
        or came.header("X-Gitlab-Event-UUID")
    ),
    read=_read,
    signs_id=lambda came: bool(came.header("webhook-signature")),
)

"""Anybody who signs as Standard Webhooks says: id, time and body under one HMAC."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from webhook.forges.forge import Delivery, Forge, Move, Told, mapping, text, urls
from webhook.push import BRANCHES
from webhook.signature import standard_fits

SECONDS: Final = re.compile(r"[0-9]{1,12}")  # no more: a number of any length is no time
TOLERANCE: Final = 300  # seconds either way, as the specification's own libraries have it


def signed_and_fresh(came: Delivery, secrets: Sequence[bytes]) -> bool:
    """Whether a secret signed this id, time and body, and the time is near ours."""
    named, stamp = came.header("webhook-id"), came.header("webhook-timestamp")
    signed = f"{named}.{stamp}.".encode() + came.body
    fits = standard_fits(secrets, signed, came.header("webhook-signature"))
    return bool(named) and fits and _fresh(stamp, came.at)


def _fresh(stamp: str, now: float) -> bool:
    if not SECONDS.fullmatch(stamp):
        return False
    return abs(now - int(stamp)) <= TOLERANCE


def _event(_: Delivery, payload: Mapping[str, Any]) -> str:
    kind = text(payload.get("type")) or text(payload.get("event")) or "push"
    return kind.removeprefix("git.")


def _read(payload: Mapping[str, Any]) -> Told:
    """`{type: push, data: {repository, ref, commit}}`, or the same without the envelope."""
    inner = mapping(payload.get("data")) or payload
    repository = inner.get("repository")
    places = (repository,) if isinstance(repository, str) else urls(mapping(repository))
    ref = text(inner.get("ref"))
    return Told(
        repositories=places,
        moves=(
            Move(
                ref=ref if ref.startswith("refs/") or not ref else BRANCHES + ref,
                commit=text(inner.get("commit")) or text(inner.get("after")),
            ),
        ),
    )


STANDARD: Final = Forge(
    name="standard",
    recognised=lambda came: bool(came.header("webhook-signature")),
    verified=signed_and_fresh,
    event=_event,
    delivery=lambda came, _: came.header("webhook-id"),
    read=_read,
    signs_id=lambda _: True,
)

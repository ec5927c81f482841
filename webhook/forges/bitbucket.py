"""Bitbucket, Cloud and Data Center: `X-Hub-Signature: sha256=<hex>`, several refs in one push."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from webhook.forges.forge import Delivery, Forge, Move, Told, mapping, objects, text
from webhook.push import BRANCHES, NOWHERE, TAGS
from webhook.signature import prefixed_hmac_fits

EVENTS: Final = {"repo:push": "push", "repo:refs_changed": "push", "diagnostics:ping": "ping"}
KINDS: Final = {"branch": BRANCHES, "named_branch": BRANCHES, "tag": TAGS}


def _verified(came: Delivery, secrets: Sequence[bytes]) -> bool:
    # GitHub sends SHA-1 under this header's name; the prefix keeps that out.
    return prefixed_hmac_fits(secrets, came.body, came.header("X-Hub-Signature"))


def _event(came: Delivery, _: Mapping[str, Any]) -> str:
    key = came.header("X-Event-Key")
    return EVENTS.get(key, key)


def _read_cloud(payload: Mapping[str, Any]) -> Told:
    links = mapping(mapping(payload.get("repository")).get("links"))
    # Only the page's address is sent; behind the same host and path Git answers too.
    place = text(mapping(links.get("html")).get("href"))
    changes = objects(mapping(payload.get("push")).get("changes"))
    return Told((place,) if place else (), tuple(_cloud_move(one) for one in changes))


def _cloud_move(change: Mapping[str, Any]) -> Move:
    """`new` is null when the branch is gone; then `old` still tells its name."""
    new, old = mapping(change.get("new")), mapping(change.get("old"))
    named = new or old
    ref = KINDS.get(text(named.get("type")), "") + text(named.get("name"))
    return Move(ref, text(mapping(new.get("target")).get("hash")) if new else NOWHERE)


def _read_data_center(payload: Mapping[str, Any]) -> Told:
    links = mapping(mapping(payload.get("repository")).get("links"))
    places = [text(one.get("href")) for one in objects(links.get("clone"))]
    moves = [
        Move(text(mapping(one.get("ref")).get("id")), text(one.get("toHash")))
        for one in objects(payload.get("changes"))
    ]
    return Told(tuple(filter(None, places)), tuple(moves))


BITBUCKET_CLOUD: Final = Forge(
    name="bitbucket-cloud",
    recognised=lambda came: bool(
        came.header("X-Event-Key")
        and (came.header("X-Hook-UUID") or came.header("X-Event-Key") == "repo:push")
    ),
    verified=_verified,
    event=_event,
    delivery=lambda came, _: came.header("X-Request-UUID"),
    read=_read_cloud,
)

BITBUCKET_DATA_CENTER: Final = Forge(
    name="bitbucket-data-center",
    recognised=lambda came: bool(came.header("X-Event-Key")),
    verified=_verified,
    event=_event,
    # Its releases differ in the name; a proxy's own X-Request-Id at worst hides a repeat.
    delivery=lambda came, _: came.header("X-Request-UUID") or came.header("X-Request-Id"),
    read=_read_data_center,
)

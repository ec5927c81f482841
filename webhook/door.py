"""POST /hooks/git: verify the raw bytes, then read them, then say "look" to the sink."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import parse_qs

from flask import Blueprint, Response, jsonify, request
from werkzeug.exceptions import RequestEntityTooLarge

from margrave.secret import Secret
from webhook.deliveries import Deliveries
from webhook.forges import FORGES, Delivery, Forge, Move
from webhook.problem import Turned, answer
from webhook.push import BRANCHES, Push
from webhook.repositories import Followed, names_one_of

LIMIT: Final = 1024 * 1024  # a push of a thousand commits stays below half of it
FORM: Final = "application/x-www-form-urlencoded"
_JSON: Final = "set the webhook's content type to application/json"


@dataclass(frozen=True, slots=True)
class _Door:
    secrets: Callable[[], Sequence[Secret]]
    followed: Callable[[], Sequence[Followed]]
    sink: Callable[[Push], None]
    now: Callable[[], float]
    deliveries: Deliveries

    def take(self, came: Delivery, forge: Forge | None) -> tuple[HTTPStatus, dict[str, str]]:
        """Status and body of the answer; raises Turned for what is not let in."""
        forge = self._proven(came, forge)
        payload = _payload(came)
        event = forge.event(came, payload)
        if event == "ping":
            return HTTPStatus.OK, {"status": "pong"}
        if event != "push":
            return _ignored(f'"{event}" is not a push')
        # An id that is not signed is anybody's to choose: a recorded body is known by itself then.
        known_by = "" if forge.signs_id(came) else hashlib.sha256(came.body).hexdigest()
        followed = self.followed()
        push = _push(forge, came, payload, followed)
        return self._hand_on(push, followed, came.at, known_by)

    def _proven(self, came: Delivery, forge: Forge | None) -> Forge:
        """The forge that sent it, its signature checked before a byte of the body is read."""
        keys = [one.reveal().encode() for one in self.secrets() if one]
        if not keys:
            words = "no webhook secret is set here"
            raise Turned(HTTPStatus.UNAUTHORIZED, words, "set hooks.secrets")
        if forge is None:
            words = "no forge's signature is there"
            raise Turned(HTTPStatus.UNAUTHORIZED, words, "set a secret for the webhook there")
        if not forge.verified(came, keys):
            cure = "check the secret at both ends, and the clock where the time is signed"
            words = f"{forge.name}: the signature does not fit"
            raise Turned(HTTPStatus.UNAUTHORIZED, words, cure)
        return forge

    def _hand_on(
        self, push: Push, followed: Sequence[Followed], at: float, known_by: str
    ) -> tuple[HTTPStatus, dict[str, str]]:
        ours = _meant([push.repository], followed)
        if not ours:
            return _ignored("another repository")
        if not any(one.hears(push.ref) for one in ours):
            refs = {one.ref.removeprefix(BRANCHES) for one in ours if one.ref is not None}
            names = " or ".join(sorted(refs)) or "that a source has"
            return _ignored(f'"{push.ref}" is not the branch {names}')
        if push.deletes:
            return _ignored(f"the branch {push.branch or push.ref} was deleted")
        before = self.deliveries.take(push, at, known_by)
        if before is not None:
            return HTTPStatus.ACCEPTED, {"status": "duplicate", "id": before}
        try:
            self.sink(push)
        except BaseException:
            self.deliveries.forget(push.delivery)  # the forge sends it again, and then it counts
            raise
        return HTTPStatus.ACCEPTED, {"status": "accepted", "id": push.delivery}


def door(
    secrets: Sequence[Secret] | Callable[[], Sequence[Secret]],
    followed: Sequence[Followed] | Callable[[], Sequence[Followed]],
    sink: Callable[[Push], None],
    now: Callable[[], float] = time.time,
    deliveries: Deliveries | None = None,
    count: Callable[[str, str], None] = lambda _forge, _result: None,
) -> Blueprint:
    """A blueprint with POST /hooks/git that calls the sink once per push to what is followed.

    `secrets` are all valid at once (rotation needs two); a callable is asked at each delivery.
    Without a secret every delivery is refused. What was taken is found in `deliveries` by its id.
    `count` hears of each delivery whose it seems to be (the forge's name, or unknown), and of the
    answer: accepted, duplicate, ignored, pong or refused.
    """
    ask = secrets if callable(secrets) else lambda: secrets
    follow = followed if callable(followed) else lambda: followed
    inside = _Door(ask, follow, sink, now, deliveries or Deliveries())
    blueprint = Blueprint("webhook", __name__)

    @blueprint.post("/hooks/git")
    def take() -> Response:
        whose = "unknown"
        try:
            came = _delivery(inside.now())
            forge = next((one for one in FORGES if one.recognised(came)), None)
            whose = forge.name if forge else whose
            status, body = inside.take(came, forge)
        except Turned as turned:
            count(whose, "refused")
            return answer(turned)
        count(whose, body["status"])
        response = jsonify(body)
        response.status_code = status
        return response

    return blueprint


def _delivery(at: float) -> Delivery:
    request.max_content_length = LIMIT
    try:
        body = request.get_data(cache=False)
    except RequestEntityTooLarge as large:
        words = f"a delivery has at most {LIMIT} bytes"
        cure = "send push events only"
        raise Turned(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, words, cure) from large
    return Delivery({key.lower(): value for key, value in request.headers.items()}, body, at)


def _payload(came: Delivery) -> Mapping[str, Any]:
    body: bytes | str = came.body
    if came.headers.get("content-type", "").partition(";")[0].strip().lower() == FORM:
        body = parse_qs(came.body.decode("latin-1")).get("payload", [""])[0]
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as broken:
        raise Turned(HTTPStatus.BAD_REQUEST, "the body is not JSON", _JSON) from broken
    if not isinstance(payload, dict):
        raise Turned(HTTPStatus.BAD_REQUEST, "the body is not a JSON object", _JSON)
    return payload


def _push(
    forge: Forge, came: Delivery, payload: Mapping[str, Any], followed: Sequence[Followed]
) -> Push:
    told = forge.read(payload)
    places = told.repositories
    named = names_one_of(places, [one.url for one in followed]) or next(iter(places), "")
    # One push may move many refs: what counts is ours, wherever in the list it stands.
    ours = _meant([named], followed)
    heard = (move for move in told.moves if any(one.hears(move.ref) for one in ours))
    move = next(heard, next(iter(told.moves), Move("", "")))
    # A sender without delivery ids is known by what it sent.
    delivery = forge.delivery(came, payload) or hashlib.sha256(came.body).hexdigest()
    return Push(forge.name, named, move.ref, move.commit, delivery[:200])


def _meant(named: Sequence[str], followed: Sequence[Followed]) -> list[Followed]:
    """What is followed of the repositories that a forge names."""
    return [one for one in followed if names_one_of(named, [one.url])]


def _ignored(why: str) -> tuple[HTTPStatus, dict[str, str]]:
    return HTTPStatus.ACCEPTED, {"status": "ignored", "reason": why}

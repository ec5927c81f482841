"""What became of a delivery that the webhook door answered with an id."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from flask import Blueprint, Response, abort, jsonify

from margrave.secret import Secret
from runner.store.resources import moment
from runner.web.access import allow
from runner.web.status import Status
from webhook import Deliveries


def lookup(
    deliveries: Deliveries,
    looked_at: Callable[[], datetime | None],
    status: Status,
    token: Secret | None,
) -> Blueprint:
    """A blueprint with GET /hooks/git/<id>; `looked_at` is when Git was last begun to be asked."""
    blueprint = Blueprint("deliveries", __name__)

    @blueprint.get("/hooks/git/<path:delivery>")
    def find(delivery: str) -> Response:
        allow(token)
        taken = deliveries.find(delivery)
        if taken is None:
            abort(404, "no delivery of this id is remembered: it was ignored, refused or long ago")
        came, looked, held = datetime.fromtimestamp(taken.at, UTC), looked_at(), status.site_value()
        return jsonify(
            {
                "id": taken.push.delivery,
                "forge": taken.push.forge,
                "repository": taken.push.repository,
                "ref": taken.push.ref,
                "commit": taken.push.commit,
                "received_at": moment(came),
                "looked": looked is not None and looked >= came,
                "applied_commit": held["applied_commit"],
                "halted": held["halted"],
            }
        )

    return blueprint

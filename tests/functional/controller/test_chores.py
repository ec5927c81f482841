"""What the controller does by itself: notice silence, forget what is old enough."""

from __future__ import annotations

from controller.chores import Chores
from controller.parts import Parts
from controller.reports.silence import Silence
from controller.store import events
from tests.functional.controller.kit import Api, Clock, Runner, add_deployment, placed

MONTH = 31 * 24 * 3600


def _told(parts: Parts) -> list[tuple[str, str]]:
    with parts.store.session() as session:
        found = events.since(session, 0, 1000)
    return [(one["event"], one["data"].get("freshness", "")) for one in found]


def test_silence_is_an_event(parts: Parts, harbor: Runner, clock: Clock):
    """A site that falls silent, and one that speaks again, are told to everybody once."""
    silence = Silence(parts.store, parts.moment)
    harbor.beat()
    silence.look()
    before = len(_told(parts))
    clock.forward(31)
    silence.look()
    silence.look()
    assert _told(parts)[before:] == [("site", "unknown")]
    harbor.beat()
    silence.look()
    assert ("site", "fresh") in _told(parts)[before + 1 :]


def test_what_is_old_is_deleted_and_ids_are_not_given_twice(
    parts: Parts, harbor: Runner, clock: Clock, viewer: Api
):
    """Past retention events and ended deployments are gone; the next event has a new id."""
    ended = add_deployment(parts, "harbor", "ended", in_git=False)
    kept = add_deployment(parts, "harbor", "kept")
    for uuid in (ended, kept):
        harbor.report("placement", placed(uuid, "harbor-1", "PENDING"))
    harbor.report("placement", placed(ended, "harbor-1", "DELETING", "PENDING"))
    harbor.report("placement", placed(ended, "harbor-1", "DELETED", "DELETING"))
    newest = parts.broker.newest()
    clock.forward(MONTH)
    Chores(parts).sweep()
    assert len(_told(parts)) == 1
    assert viewer.get(f"/deployments/{ended}").status_code == 404
    assert viewer.get(f"/deployments/{kept}").status_code == 200
    harbor.report("placement", placed(kept, "harbor-1", "INSTALLING", "PENDING"))
    assert parts.broker.newest() > newest

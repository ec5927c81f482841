"""Nothing that the controller keeps grows without limit: history, operations and the audit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

import pytest
from sqlalchemy import func, insert, select, text

from controller.access.refusal_budget import BURST, EVERY, RefusalBudget
from controller.app import create_app
from controller.chores import Chores
from controller.keeping.rebuild import rebuild
from controller.parts import Parts
from controller.store import audit, pruning
from controller.store.audit import Deed
from controller.store.models import AuditEntry, Deployment, History, Operation
from tests.functional.controller.kit import Api, Clock, Runner, add_deployment, clear
from tests.support.runner_process import free_port

YEAR = 366 * 24 * 3600.0
KEPT = pruning.KEPT


def _lived(parts: Parts, uuid: str, at: datetime, many: int) -> None:
    """Transitions and operations of a deployment at a time, one of them still running."""
    with parts.store.write() as session:
        key = session.scalars(select(Deployment.key).where(Deployment.id == uuid)).one()
        newest = session.scalar(select(func.max(Operation.number))) or 0
        rows = [_operation(key, newest + number, at, "succeeded") for number in range(many)]
        session.execute(insert(Operation), [_operation(key, newest + many, at, "running"), *rows])
        session.execute(insert(History), [_transition(key, at) for _ in range(many)])


def _operation(key: int, number: int, at: datetime, state: str) -> dict[str, Any]:
    return {
        "id": f"00000000-0000-4000-8000-{number:012d}",
        "deployment": key,
        "site": "harbor",
        "node": "harbor-1",
        "kind": "update",
        "state": state,
        "attempt": 1,
        "updated_at": at,
    }


def _transition(key: int, at: datetime) -> dict[str, Any]:
    return {
        "deployment": key,
        "node": "harbor-1",
        "incarnation": 1,
        "at": at,
        "from_state": "INSTALLED",
        "to_state": "UPDATING",
        "actor": "runner",
        "attempt": 1,
        "irregular": False,
    }


def _counted(parts: Parts, uuid: str) -> Mapping[str, int]:
    with parts.store.session() as session:
        key = session.scalars(select(Deployment.key).where(Deployment.id == uuid)).one()
        return {
            kind.__tablename__: session.scalar(
                select(func.count()).select_from(kind).where(kind.deployment == key)
            )
            or 0
            for kind in (History, Operation)
        }


def test_a_living_deployment_keeps_its_newest_history(
    parts: Parts, harbor: Runner, clock: Clock, viewer: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Behind the newest transitions and operations, old ones are deleted, whatever state it is in;
    a deployment with few keeps all of them, however old they are."""
    monkeypatch.setattr(pruning, "ROWS", 7)
    busy, quiet = (add_deployment(parts, "harbor", name) for name in ("busy", "quiet"))
    _lived(parts, quiet, clock(), 3)
    _lived(parts, busy, clock(), KEPT + 30)
    clock.forward(YEAR)
    _lived(parts, busy, clock(), 2)
    Chores(parts).sweep()
    assert _counted(parts, busy) == {"history": KEPT, "operations": KEPT + 1}  # one runs
    assert _counted(parts, quiet) == {"history": 3, "operations": 4}
    newest = viewer.get(f"/deployments/{busy}/history?limit=200").json["items"][-1]
    assert newest["at"].startswith(str(clock().year))


def test_what_became_old_behind_the_sweep_is_found_by_a_later_one(
    parts: Parts, harbor: Runner, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A sweep looks at a bounded number of rows and the next one goes on from there, round and
    round: what the first one had to keep goes when newer rows have taken its place."""
    monkeypatch.setattr(pruning, "ROWS", 10)
    monkeypatch.setattr(pruning, "LOOKS", 40)
    one = add_deployment(parts, "harbor")
    _lived(parts, one, clock(), KEPT)
    clock.forward(YEAR)
    Chores(parts).sweep()
    assert _counted(parts, one)["history"] == KEPT
    _lived(parts, one, clock(), KEPT)
    for _ in range(8):
        Chores(parts).sweep()
    assert _counted(parts, one)["history"] == KEPT


def _audited(parts: Parts, number: int) -> None:
    for place in range(number):
        with parts.store.write() as session:
            audit.add(session, Deed("ada", "site.pause", f"site-{place}", "done"), parts.clock())


def test_old_entries_of_the_audit_go_and_the_chain_stays_whole(
    parts: Parts, admin: Api, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The chain begins behind what was deleted by age; an entry cut out besides is still found."""
    monkeypatch.setattr(pruning, "ROWS", 3)
    _audited(parts, 8)
    clock.forward(YEAR)
    _audited(parts, 2)
    Chores(parts).sweep()
    found = admin.get("/audit/verify").json
    assert (found["entries"], found["broken_at"]) == (2, None)
    assert found["pruned"]["entries"] == 8
    assert len(admin.get("/audit").json["items"]) == 2
    Chores(parts).sweep()
    with parts.store.write() as session:
        oldest = session.scalar(select(func.min(AuditEntry.id)))
        session.execute(text("DELETE FROM audit WHERE id = :id"), {"id": oldest})
    assert admin.get("/audit/verify").json["broken_at"] == int(oldest or 0) + 1


def test_the_newest_entry_of_the_audit_stays(parts: Parts, admin: Api, clock: Clock) -> None:
    """The next one covers it, so the chain goes on."""
    _audited(parts, 3)
    clock.forward(YEAR)
    Chores(parts).sweep()
    assert [one["target"] for one in admin.get("/audit").json["items"]] == ["site-2"]
    _audited(parts, 1)
    assert admin.get("/audit/verify").json["broken_at"] is None


def test_a_rebuild_carries_the_beginning_of_the_chain(
    parts: Parts, clock: Clock, admin: Api
) -> None:
    """The audit that is carried over verifies as it did."""
    _audited(parts, 3)
    clock.forward(YEAR)
    _audited(parts, 1)
    Chores(parts).sweep()
    http = parts.settings.http.model_copy(update={"bind": f"127.0.0.1:{free_port()}"})
    parts.store.close()
    rebuild(parts.settings.model_copy(update={"http": http}))
    with parts.store.session() as session:
        found = audit.verified(session)
    assert (found["entries"], found["broken_at"], found["pruned"]["entries"]) == (1, None, 3)


def _refused(admin: Api) -> list[dict[str, Any]]:
    entries = admin.get("/audit?limit=200").json["items"]
    return [one for one in entries if one["outcome"] == "refused"]


def test_repeated_refusals_do_not_fill_the_audit(admin: Api, harbor: Runner, parts: Parts) -> None:
    """The first ones of a caller are written one by one; of the others there is a number with the
    next that is written. Another caller's refusals stand beside them."""
    now = [0.0]
    limited = replace(parts, refusals=RefusalBudget(lambda: now[0]))
    client = create_app(limited).test_client()
    viewer, operator = Api(client, "viewer"), Api(client, "operator")
    for _ in range(3 * BURST):
        clear(viewer.post("/sites/harbor/pause", json={}), 403)
    entries = _refused(admin)
    assert len(entries) == BURST
    assert operator.post("/sites", json={"name": "quay"}).status_code == 403
    assert len(_refused(admin)) == BURST + 1
    now[0] += EVERY
    clear(viewer.post("/sites/harbor/pause", json={}), 403)
    assert _refused(admin)[0]["detail"]["not_written"] == 2 * BURST

"""What is older than it has to be kept is deleted for real, and nobody waits for it."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text

from controller.chores import Chores
from controller.events.log import StoredEvents
from controller.parts import Parts
from controller.store import Session, Store, retention
from controller.store.retention import Horizon
from tests.functional.controller.kit import Api, Clock, Runner, add_deployment, placed

MONTH = 31 * 24 * 3600
TABLES = ("events", "rejected_reports", "operation_log", "deployments", "placements", "history",
          "operations")  # fmt: skip


def _rows(parts: Parts) -> dict[str, int]:
    with parts.store.session() as session:
        return {
            one: session.execute(text(f"SELECT count(*) FROM {one}")).scalar_one() for one in TABLES
        }


def _operation(number: int, deployment: str) -> dict[str, Any]:
    return {
        "id": f"00000000-0000-4000-8000-{number:012d}",
        "deployment": deployment,
        "node": "node-1",
        "kind": "install",
        "state": "succeeded",
    }


def _lived(parts: Parts, runner: Runner) -> None:
    """A deployment that ended and one that goes on, each with an operation and its log."""
    for number, name in enumerate(("ended", "kept")):
        one = add_deployment(parts, "harbor", name, in_git=name == "kept")
        runner.report("placement", placed(one, "node-1", "PENDING"))
        runner.report("operation", _operation(number, one))
        lines = {"operation": _operation(number, one)["id"], "lines": ["pulled", "started"]}
        runner.report("log", lines)
        if name == "ended":
            runner.report("placement", placed(one, "node-1", "DELETING", "PENDING"))
            runner.report("placement", placed(one, "node-1", "DELETED", "DELETING"))
    runner.report("nonsense", {})


def test_what_is_old_is_gone_from_every_table(
    parts: Parts, harbor: Runner, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events, logs, unreadable reports, and all that a deleted deployment had, however many
    parts it takes; what still lives keeps its history."""
    monkeypatch.setattr(retention, "ROWS", 2)
    _lived(parts, harbor)
    Chores(parts).sweep()
    before = _rows(parts)
    assert before["operation_log"] == 2
    assert before["rejected_reports"] == 1
    clock.forward(MONTH)
    Chores(parts).sweep()
    assert _rows(parts) == {
        "events": 1,  # the newest: ids count on from it
        "rejected_reports": 0,
        "operation_log": 0,
        "deployments": 1,
        "placements": 1,
        "history": 1,
        "operations": 1,
    }


def test_lines_of_logs_stand_in_the_log_alone(
    parts: Parts, harbor: Runner, clock: Clock, viewer: Api
) -> None:
    """No event holds them, so that a log that is forgotten is forgotten everywhere."""
    _lived(parts, harbor)
    with parts.store.session() as session:
        rows = session.execute(text("SELECT data FROM events WHERE event = 'log'")).scalars().all()
    assert len(rows) == 2
    assert not any("pulled" in str(row) for row in rows)
    told = [one for one in StoredEvents(parts.store).since(0, 500) if one.event == "log"]
    assert [one.data["lines"] for one in told] == [["pulled", "started"]] * 2


def test_what_was_asked_long_ago_is_forgotten(
    parts: Parts, harbor: Runner, admin: Api, clock: Clock
) -> None:
    """Requests and commands that ended, and tokens that are not valid any more."""
    one = add_deployment(parts, "harbor", "kept")
    assert admin.post(f"/deployments/{one}/retry").status_code == 202
    command = harbor.beat().json["commands"][0]["id"]
    harbor.report("command", {"id": command, "result": "done"})
    token = admin.post("/tokens", json={"name": "ci", "role": "viewer"}).json["id"]
    assert admin.delete(f"/tokens/{token}").status_code == 204
    Chores(parts).sweep()
    assert len(admin.get("/requests").json["items"]) == 1
    clock.forward(MONTH)
    Chores(parts).sweep()
    assert admin.get("/requests").json["items"] == []
    with parts.store.session() as session:
        for gone in ("commands WHERE state = 'done'", "tokens WHERE revoked_at IS NOT NULL"):
            count = f"SELECT count(*) FROM {gone}"
            assert session.execute(text(count)).scalar_one() == 0


def test_a_log_that_was_forgotten_is_an_empty_one(
    parts: Parts, harbor: Runner, clock: Clock, viewer: Api
) -> None:
    """The operation stays, its log is gone."""
    _lived(parts, harbor)
    path = f"/operations/{_operation(1, '')['id']}/log"
    assert "pulled" in viewer.get(path).text
    clock.forward(MONTH)
    Chores(parts).sweep()
    answer = viewer.get(path)
    assert answer.status_code == 200
    assert "pulled" not in answer.text


def _fill(store: Store, clock: Clock, rows: int) -> None:
    data = json.dumps({"text": "x" * 1000})
    with store.write() as session:
        session.execute(
            text("INSERT INTO events (event, data, at) VALUES ('log', :data, :at)"),
            [{"data": data, "at": clock().replace(tzinfo=None)} for _ in range(rows)],
        )


def _everything(clock: Clock) -> Horizon:
    later = clock() + timedelta(days=1)
    return Horizon(later, later, later, later, later)


def test_the_disk_has_its_space_back(tmp_path: Path, clock: Clock) -> None:
    """A SQLite file of which most was deleted is a small file."""
    store = Store(f"sqlite:///{tmp_path / 'x.db'}")
    store.migrate()
    _fill(store, clock, 8_000)
    store.give_back()
    full = (tmp_path / "x.db").stat().st_size
    assert full > 8_000_000
    assert retention.sweep(store, _everything(clock)) == 7_999
    store.close()
    assert (tmp_path / "x.db").stat().st_size < full / 5


def test_a_file_from_before_learns_to_give_back(tmp_path: Path, clock: Clock) -> None:
    """A database that was made without is written anew at its migration, and loses nothing."""
    path = tmp_path / "old.db"
    with sqlite3.connect(path) as old:
        old.execute("PRAGMA auto_vacuum=NONE")
        old.execute("CREATE TABLE somebodys (x)")
        old.execute("INSERT INTO somebodys VALUES (42)")
    old.close()
    store = Store(f"sqlite:///{path}")
    store.migrate()
    with store.session() as session:
        assert session.execute(text("PRAGMA auto_vacuum")).scalar_one() == 2
        assert session.execute(text("SELECT x FROM somebodys")).scalar_one() == 42
    store.close()


def test_reports_get_in_while_a_sweep_goes_on(
    parts: Parts, harbor: Runner, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two parts of a sweep a writer has its turn: nothing waits for all of it."""
    monkeypatch.setattr(retention, "ROWS", 10)
    _fill(parts.store, clock, 200)
    writes: list[str] = []
    reported = threading.Event()

    def written() -> None:
        # Said by each write as it ends: of the sweep's parts the first lets the report begin.
        writes.append(threading.current_thread().name)
        if threading.current_thread().name == "sweep" and not reported.is_set():
            report = threading.Thread(target=harbor.snapshot, args=("node-1",), name="report")
            report.start()
            report.join(60)
            reported.set()

    write = Store.write

    @contextmanager
    def told(store: Store) -> Iterator[Session]:
        with write(store) as session:
            yield session
        written()

    monkeypatch.setattr(Store, "write", told)
    sweep = threading.Thread(
        target=retention.sweep, args=(parts.store, _everything(clock)), name="sweep"
    )
    sweep.start()
    sweep.join(60)
    assert reported.is_set()
    assert "report" in writes[: writes.count("sweep")]
    assert writes.count("sweep") >= 20

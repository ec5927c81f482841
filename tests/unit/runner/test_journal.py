"""What operations say: a file each, compressed at their end, and reports that do not lag."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from runner.ports import Progress
from runner.reconcile import journal as room
from runner.reconcile.journal import Journal
from runner.store import Store, outbox
from tests.support.waiting import eventually

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A new state folder's store."""
    made = Store(tmp_path / "state")
    yield made
    made.close()


@pytest.fixture
def journal(tmp_path: Path, store: Store) -> Iterator[Journal]:
    """A journal in a folder of its own."""
    made = Journal(tmp_path / "logs", store)
    yield made
    made.stop()


def say(journal: Journal, *lines: str, operation: str = "one") -> None:
    """An operation says something."""
    for line in lines:
        journal.add(Progress(operation, NOW, line))


def told(store: Store) -> list[Any]:
    """The lines that were reported, by event."""
    with store.read() as tx:
        return [row.data["lines"] for row in outbox.waiting(tx, 100) if row.kind == "log"]


def age(path: Path, days: float) -> None:
    """As if it had been written so long before NOW."""
    moment = (NOW - timedelta(days=days)).timestamp()
    os.utime(path, (moment, moment))


def test_a_line_is_told_although_no_other_follows(journal: Journal, store: Store) -> None:
    """What an operation is at is seen while it is at it; lines that come together go together."""
    say(journal, "fetching the images", "the images are there")
    eventually(lambda: told(store) == [["fetching the images", "the images are there"]])
    say(journal, "waiting for health")
    eventually(lambda: told(store)[1:] == [["waiting for health"]])


def test_lines_that_cannot_be_reported_are_in_the_file(
    journal: Journal, store: Store, monkeypatch: pytest.MonkeyPatch, caplog: Any
) -> None:
    """A database that is ill costs a report of them and nothing else."""
    monkeypatch.setattr(outbox, "append", lambda *_: 1 // 0)
    say(journal, "fetching")
    eventually(lambda: "could not be reported" in caplog.text)
    monkeypatch.undo()
    say(journal, "switching")
    eventually(lambda: told(store) == [["switching"]])
    assert journal.read("one").count("\n") == 2


def test_the_log_of_an_operation_that_ended_is_compressed(journal: Journal, tmp_path: Path) -> None:
    """And read as before; so is one that had more to say."""
    say(journal, *["the same line again"] * 1000)
    plain = journal.read("one")
    journal.close("one")
    assert [one.name for one in (tmp_path / "logs").iterdir()] == ["one.log.gz"]
    assert journal.path("one").stat().st_size < len(plain) / 10
    with gzip.open(journal.path("one"), "rt") as text:
        assert journal.read("one") == text.read() == plain
    say(journal, "one more")
    journal.close("one")
    assert journal.read("one").endswith("one more\n")
    assert journal.read("another") == ""


def test_logs_go_when_they_are_old_or_too_many(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The oldest first. What is at work keeps its file, and what was left open is compressed."""
    for number in range(5):
        say(journal, "hello", operation=f"ended-{number}")
        journal.close(f"ended-{number}")
        age(journal.path(f"ended-{number}"), days=35 - 2 * number)
    say(journal, "hello", operation="at-work")
    say(journal, "hello", operation="cut-off")
    journal.tidy(NOW - timedelta(days=30), ["at-work"])
    kept = {one.name for one in (tmp_path / "logs").iterdir()}
    assert kept == {"ended-3.log.gz", "ended-4.log.gz", "at-work.log", "cut-off.log.gz"}
    monkeypatch.setattr(room, "_KEPT_FILES", 1)
    journal.tidy(NOW - timedelta(days=30), ["at-work"])
    kept = {one.name for one in (tmp_path / "logs").iterdir()}
    assert kept == {"at-work.log", "cut-off.log.gz"}

"""Reports are small enough for the other side, whatever there is to tell."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from controller.api.bodies import REPORT_LIMIT
from margrave.lifecycle import State
from runner.outbox.bodies import body
from runner.outbox.sender import Sender
from runner.outbox.snapshot import append_snapshot
from runner.store import Store, desired, outbox, site, transitions
from runner.store.values import Snapshot

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
WANTED = "3f0c8f7e-5d0e-4c7a-9b1e-2f7f2a1c9d10"
GONE = "7f1f5bd2-6a3c-4a52-8d2e-0d6f5f3f2a11"


class Strict:
    """Refuses what the controller would refuse for its size, and keeps the rest."""

    def __init__(self) -> None:
        self.taken: list[dict[str, Any]] = []

    def report(self, told: dict[str, Any]) -> int:
        """Take a batch in."""
        assert len(json.dumps(told)) < REPORT_LIMIT
        self.taken += told["events"]
        return int(told["events"][-1]["seq"])


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    """A store with an identity."""
    made = Store(tmp_path, clock=lambda: NOW)
    with made.write() as tx:
        site.identity_of(tx)
    yield made
    made.close()


def sent(store: Store) -> list[dict[str, Any]]:
    """All events as they reach the other side."""
    strict = Strict()
    sender = Sender(store, strict)
    while sender.send_some():
        pass
    return strict.taken


def test_large_events_travel_in_several_reports(store: Store) -> None:
    """In their order and whole: fifty megabytes of log are no reason to stand still."""
    lines = ["x" * 100_000] * 5
    with store.write() as tx:
        for number in range(100):
            outbox.append(tx, "log", {"operation": str(number), "lines": lines})
    taken = sent(store)
    assert [one["seq"] for one in taken] == list(range(1, 101))
    assert all(one["data"]["lines"] == lines for one in taken)


@pytest.mark.parametrize(
    "data",
    [
        {"operation": "o", "lines": ["y" * 9_000_000, "the end"]},
        {"operation": "o", "lines": ["y" * 90] * 200_000 + ["the end"]},
        {"operation": "o", "lines": ["\u00e9" * 4_000_000, "the end"]},
    ],
)
def test_an_event_too_large_for_any_report_is_cut_and_blocks_nothing(
    store: Store, data: dict[str, Any]
) -> None:
    """How it ended is kept, what is missing is said, and what comes after it arrives."""
    with store.write() as tx:
        outbox.append(tx, "log", data)
        outbox.append(tx, "placement", {"state": "FAILED"})
    cut, after = sent(store)
    assert cut["data"]["lines"][-1] == "the end"
    assert "are left out" in cut["data"]["lines"][0]
    assert after["data"] == {"state": "FAILED"}


def test_an_error_that_quotes_megabytes_is_cut_where_it_is_long(store: Store) -> None:
    """The rest of the event stays as it is."""
    with store.write() as tx:
        error = {"class": "engine", "message": "z" * 9_000_000}
        outbox.append(tx, "operation", {"id": "o", "error": error})
        row = outbox.waiting(tx, 1)
    (event,) = body("r", row)["events"]
    assert event["data"]["id"] == "o"
    assert event["data"]["error"]["message"].endswith("characters are left out")


def place(store: Store, deployment: str, node: str, *states: State, error: str = "") -> None:
    """A placement that went through these states."""
    with store.write() as tx:
        made = transitions.create(tx, deployment, node, "shop", "wanted")
        for state in states:
            made = transitions.move(tx, made, state, "so it goes")
        if error:
            transitions.note(tx, made, error={"class": "engine", "message": error})


def snapshot(store: Store) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A snapshot's data, and that of the events that follow it."""
    with store.write() as tx:
        outbox.drop_waiting(tx)
        append_snapshot(tx)
        first, *rest = outbox.waiting(tx, 10_000)
    assert first.kind == "snapshot"
    return dict(first.data), [dict(one.data) for one in rest]


def test_a_snapshot_leaves_out_what_was_taken_off_for_good(store: Store) -> None:
    """Such placements gather for ever; one that Git still wants may stand elsewhere again."""
    with store.write() as tx:
        kept = Snapshot("a" * 40, "t", {f"deployments/harbor/{WANTED}.yaml": "…"})
        desired.save(tx, kept)
    place(store, WANTED, "harbor-1", State.DELETING, State.DELETED)
    place(store, WANTED, "harbor-2", State.INSTALLING)
    place(store, GONE, "harbor-1", State.DELETING, State.DELETED)
    place(store, GONE, "harbor-2", State.DELETING)
    told, rest = snapshot(store)
    assert not rest
    assert [(one["deployment"], one["node"], one["state"]) for one in told["placements"]] == [
        (GONE, "harbor-2", "DELETING"),
        (WANTED, "harbor-1", "DELETED"),
        (WANTED, "harbor-2", "INSTALLING"),
    ]


def test_a_snapshot_beyond_one_report_goes_on_in_events_of_its_own(store: Store) -> None:
    """Each placement is told once, and none of them as a transition."""
    for number in range(60):
        place(store, WANTED, f"harbor-{number}", error="e" * 100_000)
    told, rest = snapshot(store)
    assert told["placements"]
    assert {one["to"] for one in rest} == {None}
    names = [one["node"] for one in (*told["placements"], *rest)]
    assert sorted(names) == sorted(f"harbor-{number}" for number in range(60))
    assert len(sent(store)) == 1 + len(rest)

"""The runner's database: numbers are given once, states and reports go together."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

from margrave.errors import Conflict
from margrave.lifecycle import Outcome, State
from runner.ports import Beacon, Node, NodeStatus, Sign
from runner.store import Store, desired, outbox, placements, site, transitions
from runner.store.beacons import Beacons
from runner.store.engine import newest
from runner.store.nodes import Nodes
from runner.store.schema import metadata
from runner.store.values import Snapshot

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
DEPLOYMENT = "7f1f5bd2-6a3c-4a52-8d2e-0d6f5f3f2a11"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A new state folder's store, at a fixed time."""
    return Store(tmp_path, clock=lambda: NOW)


def test_migrations_make_exactly_the_tables_of_the_schema(store: Store) -> None:
    """Whoever changes a table writes the step that leads there."""
    with store.read() as tx:
        context = MigrationContext.configure(
            tx.connection, opts={"compare_type": False, "target_metadata": metadata}
        )
        assert compare_metadata(context, metadata) == []


def test_a_database_that_is_up_to_date_is_opened_without_migrating(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of the newest step is the one that it bears."""
    with store.read() as tx:
        found = MigrationContext.configure(tx.connection).get_current_revision()
    assert found == newest()
    store.close()
    monkeypatch.setattr("alembic.command.upgrade", lambda *_: pytest.fail("it migrated"))
    Store(tmp_path).close()


def test_fence_numbers_survive_a_restart(store: Store, tmp_path: Path) -> None:
    """A number that was given is never given again, and the runner stays who it is."""
    with store.write() as tx:
        who = site.identity_of(tx)
        assert [site.take_fence_seq(tx) for _ in range(3)] == [1, 2, 3]
    store.close()
    with Store(tmp_path).write() as tx:
        assert site.take_fence_seq(tx) == 4
        assert site.identity_of(tx).runner == who.runner


def test_a_failed_transaction_leaves_no_state_and_no_report(store: Store) -> None:
    """State and report are written together or not at all."""
    with pytest.raises(RuntimeError), store.write() as tx:
        transitions.create(tx, DEPLOYMENT, "harbor-1", "storefront", "wanted")
        raise RuntimeError("power cut")
    with store.read() as tx:
        assert placements.newest(tx) == ()
        assert outbox.count_waiting(tx) == 0


def test_each_transition_is_one_event(store: Store) -> None:
    """The controller hears of every step, with what led to it."""
    with store.write() as tx:
        made = transitions.create(tx, DEPLOYMENT, "harbor-1", "storefront", "wanted")
        transitions.move(tx, made, State.INSTALLING, "install scheduled", attempt=1)
    with store.read() as tx:
        events = [row.data for row in outbox.waiting(tx, 10)]
        (stored,) = placements.newest(tx)
    assert [(e["from"], e["to"]) for e in events] == [(None, "PENDING"), ("PENDING", "INSTALLING")]
    assert events[1]["actor"] == "runner"
    assert stored.state is State.INSTALLING
    assert stored.since == NOW


def test_a_transition_outside_the_table_is_refused(store: Store) -> None:
    """The runner never makes an irregular transition."""
    with store.write() as tx:
        made = transitions.create(tx, DEPLOYMENT, "harbor-1", "storefront", "wanted")
        with pytest.raises(Conflict):
            transitions.move(tx, made, State.ROLLINGBACK, "no reason")


def test_a_note_that_changes_nothing_says_nothing(store: Store) -> None:
    """A tick that finds all as it was is silent."""
    with store.write() as tx:
        made = transitions.create(tx, DEPLOYMENT, "harbor-1", "storefront", "wanted")
        transitions.note(tx, made, outcome=made.outcome)
        assert outbox.count_waiting(tx) == 1
        held = transitions.note(tx, made, outcome=Outcome.HELD)
        assert outbox.count_waiting(tx) == 2
    assert held.outcome is Outcome.HELD


def test_a_deployment_that_returns_gets_a_new_incarnation(store: Store) -> None:
    """DELETED is final: what comes back begins anew."""
    with store.write() as tx:
        made = transitions.create(tx, DEPLOYMENT, "harbor-1", "storefront", "wanted")
        gone = transitions.move(tx, made, State.DELETING, "removed from Git")
        transitions.move(tx, gone, State.DELETED, "deleted")
        again = transitions.create(tx, DEPLOYMENT, "harbor-1", "storefront", "wanted again")
        assert again.incarnation == 2
        assert [p.incarnation for p in placements.newest(tx)] == [2]


def test_acknowledged_events_can_be_asked_for_again(store: Store) -> None:
    """A controller restored from yesterday gets what it lacks, as far as it is kept."""
    with store.write() as tx:
        for number in range(5):
            outbox.append(tx, "log", {"n": number})
        outbox.acknowledge(tx, 1, 4)
        assert [row.seq for row in outbox.waiting(tx, 10)] == [5]
        assert outbox.rewind(tx, 1, 3)
        assert [row.seq for row in outbox.waiting(tx, 10)] == [3, 4, 5]
        outbox.acknowledge(tx, 1, 5)
        assert outbox.forget_before(tx, NOW + timedelta(days=8)) == 5
        assert not outbox.rewind(tx, 1, 3)


def test_a_node_is_reported_when_it_changes_not_when_it_breathes(store: Store) -> None:
    """Signs of life travel with heartbeats, not with reports."""
    nodes = Nodes(store)
    nodes.save(Node("harbor-1", "192.0.2.1"))
    nodes.seen([Sign("harbor-1", NOW, NodeStatus.ACTIVE)])
    nodes.seen([Sign("harbor-1", NOW + timedelta(seconds=10), NodeStatus.ACTIVE)])
    with store.read() as tx:
        told = [row.data["status"] for row in outbox.waiting(tx, 10)]
    assert told == ["offline", "active"]
    assert nodes.get("harbor-1").last_seen == NOW + timedelta(seconds=10)


def test_a_look_at_many_nodes_is_written_at_once(store: Store) -> None:
    """What was silent keeps its last time; who is gone stays gone."""
    nodes = Nodes(store)
    names = [f"n{number}" for number in range(4)]
    for name in names:
        nodes.save(Node(name, "192.0.2.1", last_seen=NOW, status=NodeStatus.ACTIVE))
    nodes.remove("n3")
    later = NOW + timedelta(seconds=10)
    status = (NodeStatus.ACTIVE, NodeStatus.ACTIVE, NodeStatus.STALE, NodeStatus.ACTIVE)
    errors = ("", "no engine", "no route", "")
    times = (later, later, None, later)
    nodes.seen(Sign(*sign) for sign in zip(names, times, status, errors, strict=True))
    found = {one.name: (one.last_seen, one.status, one.error) for one in nodes.list()}
    assert found == {
        "n0": (later, NodeStatus.ACTIVE, ""),
        "n1": (later, NodeStatus.ACTIVE, "no engine"),
        "n2": (NOW, NodeStatus.STALE, "no route"),
    }


def test_the_last_subtree_is_kept(store: Store) -> None:
    """A commit that leaves the subtree alone moves the commit and nothing else."""
    with store.write() as tx:
        desired.save(tx, Snapshot("c1", "t1", {"a": "1"}))
        desired.save(tx, Snapshot("c2", "t2", {"a": "2"}))
        desired.save(tx, Snapshot("c3", "t2", {"a": "is not written"}))
        assert desired.load(tx) == Snapshot("c3", "t2", {"a": "2"})


@pytest.mark.parametrize(
    ("seen", "heard", "found"),
    [
        (timedelta(minutes=-2), timedelta(minutes=-1), timedelta(minutes=-1)),
        (timedelta(minutes=-1), timedelta(minutes=-2), timedelta(minutes=-1)),
        (timedelta(days=1), timedelta(minutes=-1), timedelta(minutes=-1)),
        (timedelta(days=1), timedelta(days=1), timedelta()),
    ],
)
def test_a_sign_of_life_from_the_future_is_not_kept(
    store: Store, seen: timedelta, heard: timedelta, found: timedelta
) -> None:
    """It was noted while the clock was wrong; the next sign takes its place."""
    nodes, kept = Nodes(store), Beacons(store)
    nodes.save(Node("n", "192.0.2.1", last_seen=NOW + seen))
    beacon = Beacon("n", "00" * 32, heard_at=NOW + heard)
    kept.save(beacon)
    kept.heard([(beacon, [])])
    assert nodes.get("n").last_seen == NOW + found

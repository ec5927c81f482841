"""The runner's own page and status: whatever the site has, they are shown and they are true."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from margrave.lifecycle import Kind, Outcome, State
from runner.ports import Node, NodeStatus
from runner.store import Operation, OperationState, Placement, Store, operations, placements, site
from runner.store.nodes import Nodes
from runner.web import public
from runner.web.status import Status

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
STATUS = {"one": NodeStatus.ACTIVE, "two": NodeStatus.STALE, "three": NodeStatus.OFFLINE}
SHOP = Placement(
    deployment="7f1f5bd2-6a3c-4a52-8d2e-0d6f5f3f2a11",
    node="one",
    incarnation=1,
    name="shop",
    state=State.INSTALLED,
    outcome=Outcome.SUCCEEDED,
    since=NOW,
    health="healthy",
)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A site with three nodes, one of them silent, one nearly."""
    made = Store(tmp_path, clock=lambda: NOW)
    with made.write() as tx:
        site.identity_of(tx)
    registry = Nodes(made)
    registry.save(Node("one", "192.0.2.1", last_seen=NOW))
    registry.save(Node("two", "192.0.2.2", problems=("hot", "disk is full"), drain=True))
    registry.save(Node("three", "192.0.2.3", error="no route to host"))
    return made


@pytest.fixture
def client(store: Store) -> FlaskClient:
    """The runner's public doors, asked from this machine."""
    status = Status("harbor", store, node_status=lambda one: STATUS[one.name])
    return public.create_app(status, None).test_client()


def place(store: Store, *some: Placement) -> None:
    """Put placements into the store."""
    with store.write() as tx:
        for one in some:
            placements.write(tx, one)


def word(state: str) -> Callable[[str], str]:
    """The class of the cell that shows this state, in a page."""

    def of(text: str) -> str:
        found = re.search(rf'<td class="(\w+)">{state}', text)
        assert found, text
        return found[1]

    return of


def test_the_page_names_every_node_and_what_is_wrong_with_it(client: FlaskClient) -> None:
    """What it tells by itself, and what its beacon tells."""
    answer = client.get("/")
    assert answer.status_code == 200
    assert "no route to host" in answer.text
    assert "hot; disk is full" in answer.text
    assert "2026-01-02 03:04:05" in answer.text


def test_the_page_shows_placements_and_operations_in_every_state(
    store: Store, client: FlaskClient
) -> None:
    """With a wait, an error, drift, and an operation whose placement is gone."""
    error = {"class": "health", "code": "x", "message": "never got healthy", "cure": "mend it"}
    waits = {"for": "window", "until": "2026-01-03T00:00:00Z", "detail": "opens then"}
    known = [
        replace(SHOP, deployment=f"d{number}", name=f"app-{number}", state=state)
        for number, state in enumerate(State)
    ]
    more = [
        replace(SHOP, deployment="e1", error=error),
        replace(SHOP, deployment="e2", waiting=waits),
        replace(SHOP, deployment="e3", drift=("web missing", "db stopped")),
    ]
    place(store, *known, *more)
    with store.write() as tx:
        for number, state in enumerate(OperationState):
            operations.add(tx, operation(number, f"d{number}", state))
        operations.add(tx, operation(99, "0123456789ab", OperationState.FAILED))
    page = client.get("/")
    assert page.status_code == 200
    shown = set(State) - {State.DELETED}
    assert "DELETED" not in page.text
    assert "1 was taken off." in page.text
    for text in (*shown, *OperationState, "app-0", "never got healthy → mend it", "01234567"):
        assert text in page.text
    assert "waits for window until 2026-01-03 00:00:00: opens then" in page.text
    assert "differs: web missing; db stopped" in page.text


def test_a_lock_is_shown_with_its_end_in_the_pages_own_time(
    store: Store, client: FlaskClient
) -> None:
    """Whoever set it may have named another zone."""
    held = {"owner": "eva", "reason": "inventory", "until": "2026-01-03T02:00:00+02:00"}
    with store.write() as tx:
        site.change_site(tx, locked=held)
    assert "by eva: inventory (until 2026-01-03 00:00:00)" in client.get("/").text


def operation(number: int, deployment: str, state: OperationState) -> Operation:
    """An operation on the first node."""
    return Operation(
        id=f"o{number}",
        deployment=deployment,
        node="one",
        incarnation=1,
        kind=Kind.UPDATE,
        state=state,
        reason="another revision is wanted",
        attempt=1,
        epoch=1,
        seq=number,
        deadline=60,
        started_at=NOW - timedelta(minutes=1),
    )


@pytest.mark.parametrize(("node", "freshness"), [("one", "fresh"), ("two", "unknown")])
def test_a_placement_is_as_fresh_as_its_node(
    store: Store, client: FlaskClient, node: str, freshness: str
) -> None:
    """Silent means not active; a node that was taken off is silent too."""
    place(store, replace(SHOP, node=node), replace(SHOP, node="gone"))
    told = {one["node"]: one["freshness"] for one in client.get("/status").json["placements"]}
    assert told == {node: freshness, "gone": "unknown"}


def test_what_a_silent_node_ran_is_not_shown_as_good(store: Store, client: FlaskClient) -> None:
    """Green is for what runs; of a silent node only the past is known."""
    place(store, SHOP)
    assert word("INSTALLED")(client.get("/").text) == "good"
    place(store, replace(SHOP, node="three"))
    with store.write() as tx:
        placements.write(tx, replace(SHOP, outcome=Outcome.ROLLED_BACK))
    text = client.get("/").text
    assert word("INSTALLED, when last seen")(text) == "past"
    assert 'class="good">INSTALLED' not in text


def test_a_site_without_anything_says_what_to_do_first(tmp_path: Path) -> None:
    """A page of an empty runner is no page of errors."""
    empty = Store(tmp_path / "empty", clock=lambda: NOW)
    status = Status("harbor", empty, node_status=lambda _: NodeStatus.OFFLINE)
    page = public.create_app(status, None).test_client().get("/")
    assert page.status_code == 200
    assert "margrave node add --site harbor" in page.text

"""Lists of deployments: what each filter finds, in which order, and on which way."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from sqlalchemy import event, text

from controller.parts import Parts
from controller.store import finding
from controller.store.finding import Wanted
from margrave.lifecycle import Outcome, State
from tests.functional.controller.kit import Api, Runner, add_deployment, add_site, placed

FAILED = {"state": State.FAILED, "outcome": Outcome.FAILED}
FILTERS = ("site=harbor", "app=com-example-storefront", "name=shop-3", "state=PENDING",
           "outcome=pending", "q=shop", "q=sh")  # fmt: skip


@pytest.fixture
def shops(parts: Parts) -> list[str]:
    """Nine deployments at three sites; their ids, oldest first."""
    for name in ("harbor", "forest", "meadow"):
        add_site(parts, name)
    sites = ("harbor", "forest", "meadow")
    return [add_deployment(parts, sites[one % 3], f"shop-{one}") for one in range(9)]


def _names(api: Api, query: str) -> list[str]:
    return [one["name"] for one in api.get(f"/deployments?{query}").json["items"]]


def test_newest_come_first_page_by_page(viewer: Api, shops: list[str]) -> None:
    """Pages joined are the whole list, newest first, each deployment once."""
    found, path = [], "/deployments?limit=4"
    while path:
        answer = viewer.get(path).json
        found += [one["id"] for one in answer["items"]]
        path = f"/deployments?limit=4&cursor={answer['next']}" if answer["next"] else ""
    assert found == shops[::-1]


SEARCHES = {
    "shop-3": ["shop-3"],
    "SHOP-3": ["shop-3"],
    "hop-3": ["shop-3"],
    "shop forest": ["shop-7", "shop-4", "shop-1"],
    "forest shop-4": ["shop-4"],
    "sh shop-8": ["shop-8"],
    "op": [],
    "no-such-thing": [],
    '"; drop table': [],
    "100%25": [],
    "shop_3": [],
}


def test_search_finds_every_word_anywhere(viewer: Api, shops: list[str]) -> None:
    """All words have to be found in name, app, site or id; short ones begin a name."""
    assert {q: _names(viewer, f"q={q}") for q in SEARCHES} == SEARCHES


def test_search_by_part_of_an_id(viewer: Api, shops: list[str]) -> None:
    """What one copies out of a log finds the deployment."""
    assert _names(viewer, f"q={shops[5][4:20]}") == ["shop-5"]


def test_search_follows_what_is_removed(parts: Parts, viewer: Api, shops: list[str]) -> None:
    """A deployment that is gone from the tables is gone from the search."""
    with parts.store.write() as session:
        session.execute(text("DELETE FROM deployments WHERE name = 'shop-3'"))
    assert _names(viewer, "q=shop-3") == []
    again = add_deployment(parts, "harbor", "shop-3")
    assert [one["id"] for one in viewer.get("/deployments?q=shop-3").json["items"]] == [again]


def test_a_search_with_many_hits_is_a_walk(
    parts: Parts, viewer: Api, shops: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same deployments are found whichever way the search takes."""
    few = {q: _names(viewer, q) for q in ("q=shop", "q=shop&site=forest", "q=shop-1&limit=1")}
    monkeypatch.setattr(finding, "MANY", 2)
    assert {q: _names(viewer, q) for q in few} == few


def test_filters_hold_together(viewer: Api, shops: list[str]) -> None:
    """What two filters show is what both show each for itself."""
    each = {one: _names(viewer, one) for one in FILTERS}
    for first, second in itertools.combinations(FILTERS, 2):
        both = [name for name in each[first] if name in each[second]]
        assert _names(viewer, f"{first}&{second}") == both, (first, second)


def test_every_order_with_every_filter(viewer: Api, shops: list[str]) -> None:
    """A filter leaves the order alone."""
    each = {one: _names(viewer, one) for one in FILTERS}
    for sort in ("newest", "updated", "name", "site"):
        whole = _names(viewer, f"sort={sort}")
        assert sorted(whole) == sorted(f"shop-{one}" for one in range(9))
        for one in FILTERS:
            left = [name for name in whole if name in each[one]]
            assert _names(viewer, f"{one}&sort={sort}") == left, (sort, one)


def test_whoever_may_see_some_sites_sees_those(parts: Parts, shops: list[str]) -> None:
    """The newest of a few sites, merged, are what is left of the whole list."""
    with parts.store.session() as session:
        every = finding.keys(session, Wanted(), after=None, limit=100)
        some = Wanted(sites=frozenset({"harbor", "meadow"}))
        first = finding.keys(session, some, after=None, limit=4)
        rest = finding.keys(session, some, after=first[-1], limit=100)
        forest = finding.keys(session, Wanted(site="forest"), after=None, limit=100)
        nothing = finding.keys(session, Wanted(sites=frozenset()), after=None, limit=100)
    assert first + rest == [key for key in every if key not in forest]
    assert nothing == []


WALKS = (
    (Wanted(), "ix_deployments_state_key"),
    (Wanted(site="site-1"), "ix_deployments_site_key"),
    (Wanted(name="shop-1"), "ix_deployments_name_key"),
    (Wanted(outcomes=(Outcome.FAILED,)), "ix_deployments_outcome_key"),
    (Wanted(outcomes=(Outcome.FAILED,), app="app"), "ix_deployments_outcome_key"),
    (Wanted(outcomes=(Outcome.FAILED, Outcome.HELD)), "ix_deployments_outcome_key"),
    (Wanted(state=State.DELETED), "ix_deployments_state_key"),
    (Wanted(sites=frozenset({"site-1", "site-2"})), "ix_deployments_site_key"),
    (Wanted(q="shop-1777"), "deployment_search"),
)


def test_a_page_is_a_walk_along_an_index(
    parts: Parts, many: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No list looks at all deployments, and none sorts them."""
    for wanted, index in WALKS:
        plan = _plan(parts, wanted, monkeypatch)
        # PostgreSQL, which counts what there is, may know a way that is as short.
        assert index in plan or "Index Scan Backward" in plan, (wanted, plan)
        for word in ("Seq Scan on deployments", "SCAN deployments\n"):
            assert word not in plan, (wanted, plan)


@pytest.fixture
def many(parts: Parts) -> None:
    """Two thousand deployments, and what the database knows of them."""
    for one in range(20):
        add_site(parts, f"site-{one}")
    with parts.store.write() as session:
        session.execute(
            text(
                "INSERT INTO deployments (id, site, name, app, profile, in_git, parameters,"
                " extensions, needs, findings, state, outcome, created_at, updated_at)"
                " WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2000)"
                " SELECT 'id-' || i, 'site-' || (i % 20), 'shop-' || i, 'app', 'compose',"
                " true, '{}', '{}', '{}', '[]', CASE WHEN i % 50 = 0 THEN 'FAILED' ELSE"
                " 'INSTALLED' END, CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'succeeded' END,"
                " '2026-03-01 12:00:00', '2026-03-01 12:00:00' FROM n"
            )
        )
        session.execute(text("ANALYZE deployments"))


def _plan(parts: Parts, wanted: Wanted, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the database says of its way for each query of a page."""
    monkeypatch.setattr(finding, "MANY", 100)
    told: list[str] = []
    with parts.store.session() as session:
        connection = session.connection()
        sqlite = parts.store.url.startswith("sqlite")
        explain = "EXPLAIN QUERY PLAN " if sqlite else "EXPLAIN "

        def explained(_: Any, cursor: Any, statement: str, given: Any, *__: Any) -> None:
            if statement.startswith("SELECT"):
                cursor.execute(explain + statement, given)
                told.extend(" ".join(map(str, row)) for row in cursor.fetchall())

        event.listen(connection, "before_cursor_execute", explained)
        finding.keys(session, wanted, after=None, limit=10)
    return "\n".join(told) + "\n"


def test_totals_are_counted_as_things_happen(parts: Parts, harbor: Runner, viewer: Api) -> None:
    """Metrics of what happened come from numbers that are kept, and survive what is forgotten."""
    deployment = add_deployment(parts, "harbor")
    harbor.snapshot("node-1")
    harbor.report("placement", placed(deployment, "node-1", "PENDING"))
    harbor.report("placement", placed(deployment, "node-1", "INSTALLED", "PENDING"))
    harbor.report("nonsense", {})
    with parts.store.write() as session:
        session.execute(text("DELETE FROM history"))
        session.execute(text("DELETE FROM rejected_reports"))
    told = viewer.get("/metrics").text
    assert 'margrave_placement_transitions_total{to="INSTALLED"} 1\n' in told
    assert "margrave_irregular_transitions_total 1\n" in told
    assert "margrave_rejected_reports_total 1\n" in told

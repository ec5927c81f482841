"""Lists on pages: each has a way to all of it, and each stays small where it is fullest."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta
from typing import Any

import pytest
from flask.testing import FlaskClient
from sqlalchemy import insert

from controller.parts import Parts
from controller.store.columns import table
from controller.store.models import (
    Deployment,
    History,
    Node,
    Site,
)
from margrave.lifecycle import State
from tests.functional.controller.kit import (
    COMMIT,
    NOON,
    REVISION,
    Api,
    Clock,
    Runner,
    add_deployment,
    add_site,
)

HTML = {"Authorization": "Bearer admin", "Accept": "text/html"}
MANY = 45  # more of each than any page holds


def _text(client: FlaskClient, path: str) -> str:
    answer = client.get(path, headers=HTML)
    assert answer.status_code == 200, answer.text
    return answer.text


def _key(parts: Parts, deployment: str) -> int:
    with parts.store.session() as session:
        return int(session.query(Deployment.key).filter_by(id=deployment).scalar())


def _put(parts: Parts, kind: Any, rows: list[dict[str, Any]]) -> None:
    with parts.store.write() as session:
        session.connection().execute(insert(table(kind)), rows)


def _transitions(key: int, number: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"deployment": key, "node": "node-with-a-long-name-01", "incarnation": 1, "irregular": True,
         "at": NOON + timedelta(seconds=one), "from_state": State.UPDATING, "attempt": 2,
         "to_state": State.INSTALLED, "actor": "runner", "reason": f"step {one}", "commit": COMMIT,
         "revision": REVISION["a"], "version": "1.0.0", "operation": str(uuid.uuid4()), **more}
        for one in range(number)
    ]  # fmt: skip


def test_the_newest_of_a_long_history_is_shown(client: FlaskClient, harbor: Runner, parts: Parts):
    """Beyond a thousand transitions too; the page of all of them leads to the very first."""
    one = add_deployment(parts, "harbor")
    _put(parts, History, _transitions(_key(parts, one), 1001))
    page = _text(client, f"/deployments/{one}")
    assert "step 1000" in page
    assert "step 900" not in page
    path = re.search(r'href="(/deployments/[^"]+/history\?[^"]+)"', page)
    assert path
    found: list[str] = []
    follow: str | None = path[1]
    while follow:
        page = _text(client, follow)
        found += re.findall(r"step (\d+)", page)
        older = re.search(r'rel="next" href="(\?[^"]+)"', page)
        follow = path[1].partition("?")[0] + older[1].replace("&amp;", "&") if older else None
    assert [int(one) for one in found] == list(range(1000, -1, -1))


def test_the_api_reads_a_history_from_either_end(harbor: Runner, parts: Parts, viewer: Api):
    """Oldest first unless the newest are asked for; both are paged."""
    one = add_deployment(parts, "harbor")
    _put(parts, History, _transitions(_key(parts, one), 5))

    def told(order: str) -> list[str]:
        found, cursor = [], ""
        while cursor is not None:
            page = viewer.get(f"/deployments/{one}/history?limit=2&cursor={cursor}{order}").json
            found += [each["reason"] for each in page["items"]]
            cursor = page["next"]
        return found

    forward = [f"step {number}" for number in range(5)]
    assert told("") == told("&order=oldest") == forward
    assert told("&order=newest") == forward[::-1]
    wrong = viewer.get(f"/deployments/{one}/history?order=new")
    assert wrong.json["errors"][0]["pointer"] == "/order"


@pytest.fixture
def places(parts: Parts, clock: Clock) -> None:
    """Four sites: one heard of, one paused and drained, one locked, one never heard of."""
    now = clock()
    for name in ("alpha", "bravo", "coda", "delta"):
        add_site(parts, name)
    with parts.store.write() as session:
        for site in session.query(Site).filter(Site.name != "delta"):
            site.last_seen = now
        session.query(Site).filter_by(name="alpha").one().labels = {"zone": "shop"}
        bravo = session.query(Site).filter_by(name="bravo").one()
        bravo.paused, bravo.drain = {"reason": "stocktaking", "by": "ada", "until": None}, True
        coda = session.query(Site).filter_by(name="coda").one()
        coda.locked, coda.last_seen = {"reason": "by hand"}, now - timedelta(seconds=60)
    nodes = [
        {"site": site, "name": name, "drain": False, "status": status, "labels": {},
         "address": f"{name}.{site}.example", "capabilities": {}, "registered_at": now}
        for site, name, status in (
            ("alpha", "one", "active"), ("alpha", "two", "stale"), ("alpha", "three", None),
            ("coda", "four", "active"), ("delta", "five", "active"),
        )
    ]  # fmt: skip
    _put(parts, Node, nodes)


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["alpha", "bravo", "coda", "delta"]),
        ("freshness=fresh", ["alpha", "bravo"]),
        ("freshness=unknown", ["coda", "delta"]),
        ("held=any", ["bravo", "coda"]),
        ("held=drained", ["bravo"]),
        ("held=locked&freshness=unknown", ["coda"]),
        ("q=zone=shop", ["alpha"]),
        ("q=A%20shop", ["alpha"]),
        ("q=%25", []),
    ],
)
def test_sites_are_found(places: None, client: FlaskClient, viewer: Api, query: str, names: Any):
    """By words, by silence and by what holds them: on the page as from the API, page by page."""
    assert [one["name"] for one in viewer.get(f"/sites?{query}").json["items"]] == names
    assert re.findall(r'<tr id="s-(\w+)"', _text(client, f"/sites?{query}")) == names
    first = viewer.get(f"/sites?{query}&limit=1").json
    if len(names) > 1:
        rest = viewer.get(f"/sites?{query}&cursor={first['next']}").json["items"]
        assert [one["name"] for one in rest] == names[1:]


@pytest.mark.parametrize(
    ("query", "names"),
    [
        ("", ["one", "three", "two", "four", "five"]),
        ("status=active", ["one"]),
        ("status=stale", ["two", "four"]),
        ("status=offline", ["three", "five"]),
        ("status=stale,offline", ["three", "two", "four", "five"]),
        ("site=alpha&status=stale", ["two"]),
        ("q=example%20coda", ["four"]),
    ],
)
def test_nodes_are_found(places: None, client: FlaskClient, viewer: Api, query: str, names: Any):
    """All nodes have a page; a node is never better known than its site's runner."""
    assert sorted(one["name"] for one in viewer.get(f"/nodes?{query}").json["items"]) == sorted(
        names
    )
    shown = re.findall(r'href="/sites/\w+/nodes/(\w+)"', _text(client, f"/nodes?{query}"))
    assert sorted(shown) == sorted(names)
    for one in viewer.get(f"/nodes?{query}").json["items"]:
        assert "status=" not in query or one["status"] in query


def test_a_word_that_no_list_knows_is_a_finding(viewer: Api):
    """Each filter says at its place what it takes."""
    for path, pointer in (
        ("/nodes?status=up", "/status"),
        ("/sites?freshness=old", "/freshness"),
        ("/sites?held=tight", "/held"),
    ):
        answer = viewer.get(path)
        assert (answer.status_code, answer.json["errors"][0]["pointer"]) == (422, pointer)


def test_each_tile_leads_to_what_it_counts(places: None, client: FlaskClient):
    """Below a number stands what it is made of, and each part is a list."""
    page = _text(client, "/").partition('class="tiles"')[2].partition("</section>")[0]
    told = dict(re.findall(r'<a href="([^"]+)">(\d+) ', page))
    assert told["/sites?freshness=unknown"] == "2"
    assert told["/sites?held=paused"] == "1"
    assert told["/sites?held=drained"] == "1"
    assert told["/nodes?status=stale"] == "2"
    for path, number in told.items():
        shown = re.search(r'role="status">(\d+) shown', _text(client, path))
        assert shown and shown[1] == number, path


def test_lists_by_name_go_on_and_back_by_name(client: FlaskClient, parts: Parts, harbor: Runner):
    """Newest and older where time decides, else first and next; every page has its way back."""
    for number in range(MANY):
        add_site(parts, f"site-{number:02}")
        add_deployment(parts, "harbor", f"shop-{number:02}")
    first = _text(client, "/sites")
    assert ">Next</a>" in first and ">Older</a>" not in first
    on = re.search(r'rel="next" href="(\?[^"]+)"', first)
    assert on and ">First</a>" in _text(client, f"/sites{on[1]}")
    assert ">Older</a>" in _text(client, "/deployments")
    assert ">Next</a>" in _text(client, "/deployments?sort=name")

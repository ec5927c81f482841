"""Every page where it is fullest: small, nothing left out unsaid, nothing read out by itself."""

from __future__ import annotations

import re
import uuid
from datetime import datetime
from typing import Any

import pytest
from flask.testing import FlaskClient

from controller.pages.views import PAGES
from controller.parts import Parts
from controller.store import access
from controller.store.models import (
    Deployment,
    Event,
    History,
    Node,
    Operation,
    OperationLog,
    Placement,
    Request,
    RequestDeployment,
)
from controller.store.words import Action, EventKind, OperationState, Priority, RequestState, Role
from margrave.lifecycle import Kind, Outcome, State
from tests.functional.controller.kit import (
    REVISION,
    Clock,
    Runner,
    add_deployment,
    add_site,
)
from tests.functional.controller.test_pages_lists import (
    MANY,
    _key,
    _put,
    _text,
    _transitions,
)

NODES = [f"node-with-a-long-name-{number:03}" for number in range(250)]
LARGEST = 30 * 1024
WORDS = "the health check of the service web did not come through within a minute " * 2
ERROR = {"class": "health", "code": "x", "message": WORDS, "cure": "read its log, then mend it"}


def _failed(key: int, node: str, now: datetime) -> dict[str, Any]:
    return {"deployment": key, "node": node, "incarnation": 1, "state": State.FAILED, "attempt": 3,
            "outcome": Outcome.FAILED, "health": "degraded", "drift": ["x"], "components": [],
            "error": ERROR, "waiting": {"for": "window", "until": "2026-03-02T01:00:00Z"},
            "reason": WORDS, "since": now, "updated_at": now}  # fmt: skip


def _on_nodes(parts: Parts, key: int, now: datetime) -> None:
    """The one on all nodes, every other on the first."""
    nodes = [
        {"site": "harbor", "name": name, "drain": True, "status": "stale", "registered_at": now,
         "labels": {"zone": "shop", "country": "no"}, "address": f"{name}.harbor.example",
         "last_seen": now, "capabilities": {"cpus": 4, "memory": 10**9, "architecture": "amd64"}}
        for name in NODES
    ]  # fmt: skip
    with parts.store.session() as session:
        others = [int(row.key) for row in session.query(Deployment.key) if row.key != key]
    _put(parts, Node, nodes)
    _put(parts, Placement, [_failed(key, name, now) for name in NODES])
    _put(parts, Placement, [_failed(other, NODES[0], now) for other in others])


def _happened(parts: Parts, key: int, now: datetime) -> None:
    """A history, operations with logs, events."""
    _put(parts, History, _transitions(key, 100, error=ERROR))
    _put(parts, Operation, [
        {"number": number, "id": str(uuid.UUID(int=number)), "deployment": key, "site": "harbor",
         "node": NODES[0], "kind": Kind.UPDATE, "state": OperationState.FAILED, "attempt": 2,
         "phase": "health", "error": ERROR, "started_at": now, "ended_at": now, "updated_at": now}
        for number in range(1, MANY + 1)
    ])  # fmt: skip
    lines = "\n".join([WORDS[:100]] * 600).encode()
    _put(parts, OperationLog, [
        {"operation": number, "chunk": 0, "at": now, "lines": lines} for number in (1, MANY)
    ])  # fmt: skip
    data = {
        "node": NODES[0],
        "state": "FAILED",
        "outcome": "failed",
        "reason": WORDS,
        "error": ERROR,
    }
    with parts.store.write() as session:
        for row in session.query(Deployment):
            row.outcome, row.state = Outcome.FAILED, State.FAILED
            event = {"event": EventKind.PLACEMENT, "site": "harbor", "deployment": row.id}
            session.add(Event(**event, at=now, data=data))


def _asked_for(parts: Parts, now: datetime) -> None:
    """Requests that came to nothing, the last one about everything, each with a long plan."""
    nodes = [
        {"node": name, "action": "install", "from": None, "to": REVISION["a"], "why": WORDS[:60]}
        for name in NODES[:5]
    ]
    sites = [
        {"site": f"a-site-with-a-long-name-{number:02}", "action": "install", "why": WORDS[:60],
         "batches": [NODES[:3]], "duration": 60, "nodes": nodes} for number in range(MANY)
    ]  # fmt: skip
    values = {"action": Action.UPDATE, "actor": "somebody-with-a-name", "rank": 1, "body": {},
              "state": RequestState.FAILED, "priority": Priority.NORMAL, "change": {},
              "plan": {"hash": "x", "sites": sites, "findings": []}, "error": ERROR,
              "documents": MANY, "pushing": False, "created_at": now, "ended_at": now}  # fmt: skip
    _put(parts, Request, [
        {"number": number, "id": str(uuid.UUID(int=number)), **values}
        for number in range(1, MANY + 1)
    ])  # fmt: skip
    with parts.store.session() as session:
        about = [(row.id, row.site) for row in session.query(Deployment)]
    _put(parts, RequestDeployment, [
        {"request": MANY, "deployment": one, "site": site} for one, site in about
    ])  # fmt: skip


def _people(parts: Parts, now: datetime) -> None:
    name = "somebody-with-a-name"
    with parts.store.write() as session:
        for number in range(1, MANY + 1):
            access.add_user(session, {
                "name": f"{name}-{number:02}", "password_hash": "x", "role": Role.OPERATOR,
                "sites": ["harbor", "depot"], "created_at": now,
            })  # fmt: skip
            access.add_token(session, {
                "id": str(uuid.UUID(int=number)), "name": f"a-token-with-a-name-{number:02}",
                "digest": f"{number:064}", "role": Role.VIEWER, "sites": ["harbor"],
                "created_by": name, "created_at": now,
            })  # fmt: skip


@pytest.fixture
def full(parts: Parts, harbor: Runner, clock: Clock) -> str:
    """More of everything than a page holds, all of it silent and in trouble; a deployment's id."""
    for number in range(MANY):
        add_site(parts, f"a-site-with-a-long-name-{number:02}")
        add_deployment(parts, "harbor", f"a-shop-with-a-rather-long-name-{number:02}")
    one = add_deployment(parts, "harbor", "the-one")
    now, key = clock(), _key(parts, one)
    _on_nodes(parts, key, now)
    _happened(parts, key, now)
    _asked_for(parts, now)
    _people(parts, now)
    return one


def _filled(path: str, one: str) -> str:
    last = str(uuid.UUID(int=MANY))
    names = {"deployment": one, "site": "harbor", "node": NODES[0], "request_id": last,
             "operation": last}  # fmt: skip
    for name, value in names.items():
        path = path.replace(f"<{name}>", value)
    if "<verb>" in path:
        path = path.replace("<verb>", "delete")
        path += "" if one in path else "?all=yes&app=com-example-storefront"
    return path


# All that an operation wrote, as text for programs; and what a catalogue has, which is not here.
NOT_SMALL = ("/operations/<operation>/log", "/apps/<app>")
MORE = ("/activity?show=audit", "/settings?show=tokens", "/settings?show=controller",
        "/deployments?outcome=failed", "/requests?state=failed,refused")  # fmt: skip


def test_every_page_is_small_where_it_is_fullest(full: str, client: FlaskClient, clock: Clock):
    """30 KB at most, whatever there is: what is more has a page of its own."""
    clock.forward(120)
    shown = [path for path, methods, _ in PAGES if "GET" in methods and path not in NOT_SMALL]
    sizes = {path: len(_text(client, _filled(path, full)).encode()) for path in shown}
    sizes |= {path: len(_text(client, path).encode()) for path in MORE}
    large = [f"{size} {path}" for path, size in sizes.items() if size > LARGEST]
    assert large == [], "\n".join(large)


def test_what_is_more_than_a_page_is_said(full: str, client: FlaskClient):
    """Nodes of a deployment, people, tokens: none is left out without a way to it."""
    page = _text(client, f"/deployments/{full}")
    assert "<b>250</b> not heard of" in page
    assert "All 250 nodes" in page
    for path in ("/settings", "/settings?show=tokens", f"/deployments/{full}/placements"):
        shown, follow = set(), path
        while follow:
            page = _text(client, follow)
            shown |= set(re.findall(r'<th scope="row">(?:<a [^>]+>)?([^<\s]+)', page))
            more = re.search(r'rel="next" href="(\?[^"]+)"', page)
            follow = path.partition("?")[0] + more[1].replace("&amp;", "&") if more else ""
        assert len(shown) >= (250 if "placements" in path else MANY), path


LIVE = re.compile(
    r'<(\w+)[^>]*(?:aria-live="(?!off)|role="(?:status|alert|log)")[^>]*>.*?</\1>', re.DOTALL
)


def test_nothing_that_goes_on_by_itself_is_read_out(full: str, client: FlaskClient):
    """A screen reader speaks when something changes; "12 s ago" changes all the time."""
    shown = [path for path, methods, _ in PAGES if "GET" in methods and path not in NOT_SMALL]
    for path in shown:
        page = _text(client, _filled(path, full))
        spoken = [found[0] for found in LIVE.finditer(page)]
        assert not [one for one in spoken if "<time" in one or "<table" in one], path

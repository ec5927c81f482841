"""Lists of requests that concern many sites: short answers, little memory."""

from __future__ import annotations

import tracemalloc
import uuid

import pytest
from flask import Flask

from controller.access.passwords import token_hash
from controller.parts import Parts
from controller.store import access, requests
from controller.store.words import Action, Priority, RequestState, Role
from tests.functional.controller.kit import Api
from tests.functional.controller.test_pages_acting import Browser

SITES = 1000
REQUESTS = 9


@pytest.fixture
def asked(parts: Parts) -> list[str]:
    """Nine requests for a thousand sites each, with plans of four megabytes; their ids, newest
    first."""
    why = "x" * 4000
    plan = {"hash": "x", "sites": [{"site": f"site-{n:04}", "why": why} for n in range(SITES)]}
    concerned = [(str(uuid.UUID(int=n)), f"site-{n:04}") for n in range(SITES)]
    ids = [str(uuid.uuid4()) for _ in range(REQUESTS)]
    for identifier in ids:
        values = {
            "id": identifier,
            "action": Action.UPDATE,
            "actor": "ada",
            "state": RequestState.PUBLISHED,
            "priority": Priority.NORMAL,
            "rank": 1,
            "body": {"targets": {"sites": [site for _, site in concerned]}},
            "change": {"content": plan},
            "plan": plan,
        }
        with parts.store.write() as session:
            requests.add(session, values, concerned, parts.clock())
    return ids[::-1]


def test_a_list_leaves_plans_out(viewer: Api, asked: list[str]) -> None:
    """Of each request it has the first twenty deployments and how many there are; all of them and
    the plan are in the request itself. What is left out is not read either."""
    viewer.get("/requests")  # what is loaded once
    tracemalloc.start()
    answer = viewer.get("/requests")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000
    assert len(answer.data) < 50_000
    items = answer.json["items"]
    assert [one["id"] for one in items] == asked
    for one in items:
        assert one["plan"] is None
        assert [each["site"] for each in one["deployments"]] == [f"site-{n:04}" for n in range(20)]
        assert one["deployments_total"] == SITES
    whole = viewer.get(f"/requests/{asked[0]}").json
    assert len(whole["plan"]["sites"]) == len(whole["deployments"]) == SITES
    assert whole["deployments_total"] == SITES


def test_a_list_for_some_sites(app: Flask, parts: Parts, asked: list[str]) -> None:
    """A token of some sites gets its own deployments, wherever they stand among the others."""
    token = {
        "id": str(uuid.uuid4()),
        "name": "limited",
        "digest": token_hash("limited"),
        "role": Role.VIEWER,
        "sites": ["site-0007", "site-0999"],
        "created_by": "test",
        "created_at": parts.clock(),
    }
    with parts.store.write() as session:
        access.add_token(session, token)
    limited = Api(app.test_client(), "limited")
    for one in (
        limited.get("/requests").json["items"][0],
        limited.get(f"/requests/{asked[0]}").json,
    ):
        assert [each["site"] for each in one["deployments"]] == ["site-0007", "site-0999"]
        assert one["deployments_total"] == 2


def test_a_page_shows_how_many(app: Flask, asked: list[str], user: str) -> None:
    """The page of requests counts all deployments, not those that the list names."""
    assert f'<td class="w">{SITES}</td>' in Browser(app, user).get("/requests").text

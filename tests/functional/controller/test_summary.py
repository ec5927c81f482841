"""The fleet at a glance: what is counted, what needs somebody, and how the days went."""

from __future__ import annotations

import re
import uuid
from datetime import timedelta

import pytest
from flask.testing import FlaskClient
from sqlalchemy import select

from controller.pages import charts
from controller.parts import Parts
from controller.store import facts, lately, requests
from controller.store.models import Deployment, Site
from controller.store.words import Action, Priority, RequestState
from tests.functional.controller.kit import (
    REVISION,
    Api,
    Clock,
    Runner,
    add_deployment,
    add_site,
    placed,
)


def _rolled_back(harbor: Runner, parts: Parts) -> str:
    deployment = add_deployment(parts, "harbor")
    harbor.beat()
    harbor.snapshot("harbor-1")
    error = {"class": "health", "code": "x", "message": "never got healthy", "cure": "mend it"}
    steps = [
        placed(deployment, "harbor-1", "PENDING"),
        placed(deployment, "harbor-1", "FAILED", "UPDATING", outcome="failed", error=error),
        placed(deployment, "harbor-1", "INSTALLED", "ROLLINGBACK", outcome="rolled-back"),
    ]
    for step in steps:
        assert harbor.report("placement", step).status_code == 200
    return deployment


def test_it_counts_and_names_what_needs_somebody(harbor: Runner, parts: Parts, viewer: Api):
    """Numbers by state and outcome; what rolled back and who was never heard of, with a cure."""
    deployment = _rolled_back(harbor, parts)
    add_site(parts, "depot")
    told = viewer.get("/summary").json
    assert told["deployments"] == {"INSTALLED": {"rolled-back": 1}}
    assert (told["sites"]["fresh"], told["sites"]["never"]) == (1, 1)
    assert told["nodes"] == {"active": 1, "unusable": 0, "stale": 0, "offline": 0}
    needs = {(one["kind"], one["name"]): one for one in told["attention"]}
    assert needs["deployment", "storefront"]["id"] == deployment
    assert "never" in needs["site", "depot"]["words"]
    assert all(one["cure"] for one in told["attention"])
    assert told["changed"][0]["placements"][0]["node"] == "harbor-1"
    assert told["latest"][0]["to"] == "INSTALLED"


def test_days_tell_what_went_back_from_what_succeeded(harbor: Runner, parts: Parts, viewer: Api):
    """A roll-back is counted as one, beside the try that failed, and never as a success."""
    _rolled_back(harbor, parts)
    days = viewer.get("/summary").json["days"]
    assert len(days) == 14
    today = {"succeeded": 0, "rolled_back": 1, "failed": 1, "deleted": 0}
    assert days[-1] == {"day": "2026-03-01", "known": True, **today}
    assert all(day["known"] and not any(list(day.values())[2:]) for day in days[:-1])


def test_durations_are_those_of_what_came_through(
    harbor: Runner, parts: Parts, clock: Clock, viewer: Api
):
    """The middle and the slow end of each kind of operation."""
    deployment = _rolled_back(harbor, parts)
    began = clock().isoformat()
    for seconds in (10, 20):
        clock.forward(seconds)
        done = {
            "id": str(uuid.uuid4()),
            "deployment": deployment,
            "node": "harbor-1",
            "kind": "update",
            "state": "succeeded",
            "revision": REVISION["a"],
            "started_at": began,
            "ended_at": clock().isoformat(),
        }
        assert harbor.report("operation", done).status_code == 200
    told = viewer.get("/summary").json["durations"]
    assert told == [{"kind": "update", "number": 2, "p50": 30.0, "p90": 30.0}]


def test_a_silent_site_is_seen_to_be(harbor: Runner, parts: Parts, clock: Clock, viewer: Api):
    """The spans of the last day tell when it was heard of, and since when it is not."""
    _rolled_back(harbor, parts)
    assert viewer.get("/summary").json["sites"]["unknown"] == 0
    clock.forward(120)
    told = viewer.get("/summary").json["sites"]
    assert (told["unknown"], told["silence"]["minutes"]) == (1, 1)
    spans = viewer.get("/sites/harbor/freshness").json["spans"]
    assert spans[-1]["freshness"] == "unknown"
    assert viewer.get("/sites/nowhere/freshness").status_code == 404


def test_a_fleet_that_nobody_hears_of_is_not_well(
    harbor: Runner, parts: Parts, clock: Clock, viewer: Api, client: FlaskClient
):
    """What succeeded at a silent site, or on a silent node, is counted apart, and drawn grey."""
    one = add_deployment(parts, "harbor")
    asked = _published(parts, one)
    harbor.beat("harbor-1", "harbor-2")
    harbor.snapshot("harbor-1", "harbor-2")
    for node in ("harbor-1", "harbor-2"):
        done = placed(one, node, "INSTALLED", "INSTALLING", outcome="succeeded")
        assert harbor.report("placement", done).status_code == 200

    def good() -> list[str]:
        headers = {"Authorization": "Bearer viewer", "Accept": "text/html"}
        paths = ("/", f"/requests/{asked}", f"/deployments/{one}")
        pages = [client.get(path, headers=headers).text for path in paths]
        tile = re.findall(r"<b>(\d+)</b>\s*<span><span[^>]*>✓</span> as wanted", pages[0])
        bars = [re.findall(r'key good"></span><b>(\d+)</b> succeeded', page) for page in pages[1:]]
        return [*tile, *(bar[0] if bar else "0" for bar in bars)]

    assert good() == ["1", "1", "2"]
    assert viewer.get("/summary").json["unknown"] == {}
    silent = {"name": "harbor-2", "status": "offline"}
    assert harbor.report("node", silent).status_code == 200
    assert good() == ["0", "0", "1"]
    clock.forward(600)
    assert good() == ["0", "0", "0"]
    told = viewer.get("/summary").json
    assert (told["deployments"], told["unknown"]) == (
        {"INSTALLED": {"succeeded": 1}},
        {"succeeded": 1},
    )
    fares = viewer.get(f"/requests/{asked}/progress").json
    assert (fares["outcomes"], fares["unknown"]) == ({"succeeded": 1}, {"succeeded": 1})
    assert [each["freshness"] for each in fares["deployments"]] == ["unknown"]


def test_a_site_that_is_quiet_all_day_is_known_to_be_well(
    harbor: Runner, parts: Parts, clock: Clock, viewer: Api
):
    """Heartbeats change nothing, so nothing is told of them: what was told last still holds."""
    begun = clock()
    for _ in range(25 * 6):
        harbor.beat()
        clock.forward(600)
        harbor.beat()
    told = viewer.get("/sites/harbor/freshness").json
    assert [one["freshness"] for one in told["spans"]] == ["fresh"]
    assert told["spans"][0]["from"] == told["since"]
    assert clock() - begun > timedelta(hours=24)


def test_days_beyond_what_is_counted_are_not_known(
    harbor: Runner, parts: Parts, clock: Clock, viewer: Api, monkeypatch: pytest.MonkeyPatch
):
    """Numbers come from the newest transitions; a day that they do not cover says so."""
    deployment = add_deployment(parts, "harbor")
    monkeypatch.setattr(lately, "NEWEST_TRANSITIONS", 4)
    for _ in range(4):
        harbor.report("placement", placed(deployment, "harbor-1", "UPDATING", "INSTALLED"))
        harbor.report("placement", placed(deployment, "harbor-1", "INSTALLED", "UPDATING"))
        clock.forward(86400)
    days = {day["day"]: day for day in viewer.get("/summary").json["days"]}
    assert [days[f"2026-03-0{number}"]["known"] for number in range(1, 6)] == [
        False, False, False, True, True,
    ]  # fmt: skip
    assert days["2026-03-04"]["succeeded"] == 1
    drawn = charts.days(list(days.values()))
    assert "2026-03-01 UTC: not known any more" in drawn
    assert "2026-03-04 UTC: 1 succeeded" in drawn


def test_whatever_stops_the_fleet_needs_somebody(
    harbor: Runner, parts: Parts, clock: Clock, viewer: Api, client: FlaskClient
):
    """Publishing, requests, findings, a pause, a window: each is told, with its next step."""
    harbor.beat()
    assert viewer.get("/summary").json["attention"] == []
    one = add_deployment(parts, "harbor")
    _published(parts, one, RequestState.FAILED)
    waits = {"for": "window", "until": "2026-03-02T01:00:00Z", "detail": "closed"}
    harbor.report("placement", placed(one, "harbor-1", "PENDING", waiting=waits))
    reason = {"reason": "main was rewritten", "cure": "accept it", "commit": "c", "known": "k"}
    with parts.store.write() as session:
        facts.put(session, facts.HALT, {**reason, "since": "2026-03-01T12:00:00Z"})
        site = session.get_one(Site, "harbor")
        site.paused = {"reason": "stocktaking", "by": "ada", "until": None}
        site.clock_offset = -90
        site.findings = [{"message": "is not a time", "file": "sites/harbor.yaml", "cure": "5m0s"}]
    told = viewer.get("/summary").json
    assert told["needs"] == dict.fromkeys(
        ("unpublished", "request", "findings", "clock", "paused", "window"), 1
    )
    words = {need["why"]: need for need in told["attention"]}
    assert all(need["cure"] for need in words.values())
    assert "main was rewritten" in words["unpublished"]["words"]
    assert "stocktaking" in words["paused"]["words"]
    assert "90 s behind" in words["clock"]["words"]
    assert "sites/harbor.yaml: is not a time" in words["findings"]["words"]
    page = client.get("/", headers={"Authorization": "Bearer viewer", "Accept": "text/html"}).text
    assert "Nothing needs anybody" not in page
    assert 'datetime="2026-03-02T01:00:00Z"' in page
    clock.forward(2 * 86400)
    assert "request" not in viewer.get("/summary").json["needs"]


def test_the_forge_out_of_reach_needs_somebody(
    parts: Parts, viewer: Api, monkeypatch: pytest.MonkeyPatch
):
    """While nothing can be published that is said first, whatever else is well."""
    monkeypatch.setattr(type(parts.publisher), "problem", "the forge does not answer")
    first = viewer.get("/summary").json["attention"][0]
    assert first["why"] == "unpublished"
    assert "the forge does not answer" in first["words"]


def test_how_many_need_somebody_is_told_with_the_way_to_them(
    parts: Parts, viewer: Api, client: FlaskClient
):
    """Of many a few are shown; the rest is a number that leads to all of them."""
    for number in range(30):
        add_site(parts, f"site-{number:02}")
    told = viewer.get("/summary").json
    assert (told["needs"], len(told["attention"])) == ({"silent": 30}, 8)
    page = client.get("/", headers={"Authorization": "Bearer viewer", "Accept": "text/html"}).text
    assert '<a href="/sites?freshness=unknown">22 more silent sites</a>' in page


def _published(parts: Parts, deployment: str, state: RequestState = RequestState.PUBLISHED) -> str:
    """A request that was about it."""
    made = str(uuid.uuid4())
    values = {"id": made, "action": Action.UPDATE, "actor": "ada", "state": state, "rank": 1,
              "priority": Priority.NORMAL, "body": {}, "change": {}, "plan": None,
              "ended_at": parts.clock()}  # fmt: skip
    with parts.store.write() as session:
        requests.add(session, values, [(deployment, "harbor")], parts.clock())
        if state is RequestState.PUBLISHED:
            row = session.scalars(select(Deployment).where(Deployment.id == deployment)).one()
            row.request = made
    return made


def test_activity_is_newest_first_and_paged(harbor: Runner, parts: Parts, viewer: Api):
    """Stored events, a page at a time."""
    _rolled_back(harbor, parts)
    first = viewer.get("/activity?limit=2").json
    assert [one["id"] for one in first["items"]] == sorted(
        (one["id"] for one in first["items"]), reverse=True
    )
    rest = viewer.get(f"/activity?limit=200&cursor={first['next']}").json["items"]
    assert rest[0]["id"] < first["items"][-1]["id"]


def test_revisions_of_what_git_never_had_are_none(harbor: Runner, parts: Parts, viewer: Api):
    """A deployment without a commit has no earlier content."""
    deployment = add_deployment(parts, "harbor")
    assert viewer.get(f"/deployments/{deployment}/revisions").json == {"items": [], "next": None}
    assert viewer.get(f"/deployments/{uuid.uuid4()}/revisions").status_code == 404


def test_lists_come_in_the_order_that_is_asked_for(
    harbor: Runner, parts: Parts, clock: Clock, viewer: Api
):
    """By name, by site, by last change: page by page nothing is missing and nothing comes twice."""
    add_site(parts, "depot")
    for name, site in (("b", "harbor"), ("a", "harbor"), ("c", "depot"), ("a", "depot")):
        clock.forward(1)
        add_deployment(parts, site, name, updated_at=clock())

    def listed(sort: str) -> list[str]:
        found, cursor = [], ""
        while cursor is not None:
            page = viewer.get(f"/deployments?limit=1&sort={sort}&cursor={cursor}").json
            found += [f"{one['site']}/{one['name']}" for one in page["items"]]
            cursor = page["next"]
        return found

    assert listed("name") == ["harbor/a", "depot/a", "harbor/b", "depot/c"]
    assert listed("site") == ["depot/c", "depot/a", "harbor/b", "harbor/a"]
    assert listed("updated") == ["depot/a", "depot/c", "harbor/a", "harbor/b"]
    assert listed("newest") == ["depot/a", "depot/c", "harbor/a", "harbor/b"]
    wrong = viewer.get("/deployments?sort=nmae")
    assert (wrong.status_code, wrong.json["errors"][0]["pointer"]) == (422, "/sort")

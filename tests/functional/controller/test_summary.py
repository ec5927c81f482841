"""The fleet at a glance: what is counted, what needs somebody, and how the days went."""

from __future__ import annotations

import uuid

from controller.parts import Parts
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
    assert told["nodes"] == {"active": 1, "stale": 0, "offline": 0}
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
    assert days[-1] == {"day": "2026-03-01", **today}
    assert all(not any(list(day.values())[1:]) for day in days[:-1])


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

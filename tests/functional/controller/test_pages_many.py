"""Acting on many from the list: by ticks or by its filter, planned first, without a script."""

from __future__ import annotations

import re

import pytest

from controller.parts import Parts
from tests.functional.controller.kit import Api
from tests.functional.controller.test_pages_acting import (  # noqa: F401 - fixtures
    Browser,
    browser,
    plan_hash,
    settings,
    shop,
)


@pytest.fixture
def three(shop: None, admin: Api, parts: Parts) -> list[dict[str, str]]:  # noqa: F811
    """Storefront under three names, published."""
    assert admin.post("/sites", json={"name": "depot"}).status_code == 201
    made = []
    for name, site in (("one", "harbor"), ("two", "depot"), ("three", "depot")):
        body = {"app": "storefront", "version": "1.0.0", "name": name}
        answer = admin.post("/deployments", json={**body, "targets": {"sites": [site]}})
        assert answer.status_code == 202, answer.text
        parts.publisher.publish_all()
        made += answer.json["deployments"]
    return made


def _versions(admin: Api) -> dict[str, str]:
    return {one["name"]: one["version"] for one in admin.get("/deployments").json["items"]}


def test_what_is_ticked_is_updated_in_one_commit(
    three: list[dict[str, str]],
    browser: Browser,  # noqa: F811
    admin: Api,
    parts: Parts,
):
    """Ticks, a version, the plan, the act: one request; what was not ticked stays."""
    page = browser.get("/deployments").text
    boxes = re.findall(r'name="pick" value="([^"]+)"', page)
    assert set(boxes) == {f"{one['id']}@{one['site']}" for one in three}
    ticked = [f"{one['id']}@{one['site']}" for one in three[:2]]

    page = browser.post("/deployments/act/update", pick=ticked).text
    assert "Update 2 deployments" in page
    assert "Choose a version" in page
    form = {"pick": ticked, "version": "1.1.0", "reason": "the new greeting"}
    page = browser.post("/deployments/act/update", **form, do="plan").text
    assert "<b>2</b> update" in page
    answer = browser.post("/deployments/act/update", **form, do="act", plan_hash=plan_hash(page))

    assert answer.status_code == 303, answer.text
    asked = admin.get(answer.headers["Location"]).json
    assert (len(asked["deployments"]), asked["action"]) == (2, "update")
    parts.publisher.publish_all()
    assert _versions(admin) == {"one": "1.1.0", "two": "1.1.0", "three": "1.0.0"}


def test_all_that_match_a_filter_are_deleted(
    three: list[dict[str, str]],
    browser: Browser,  # noqa: F811
    admin: Api,
    parts: Parts,
):
    """The filter is what is selected, on every page of the list."""
    page = browser.get("/deployments?site=depot&q=t").text
    assert '<input type="hidden" name="site" value="depot">' in page
    form = {"all": "yes", "site": "depot", "q": "t"}
    page = browser.post("/deployments/act/delete", **form).text
    assert "Delete 2 deployments" in page
    answer = browser.post("/deployments/act/delete", **form, do="act", plan_hash=plan_hash(page))
    assert answer.status_code == 303, answer.text
    parts.publisher.publish_all()
    left = [one["name"] for one in admin.get("/deployments").json["items"] if one["in_git"]]
    assert left == ["one"]


def test_a_plan_that_no_longer_holds_is_shown_anew(
    three: list[dict[str, str]],
    browser: Browser,  # noqa: F811
    admin: Api,
    parts: Parts,
):
    """Between the plan and the act one more came to match: nothing is done."""
    form = {"all": "yes", "app": "storefront"}
    stale = plan_hash(browser.post("/deployments/act/retry", **form).text)
    body = {"app": "storefront", "version": "1.0.0", "name": "four"}
    admin.post("/deployments", json={**body, "targets": {"sites": ["harbor"]}})
    parts.publisher.publish_all()
    before = len(admin.get("/requests").json["items"])

    answer = browser.post("/deployments/act/retry", **form, do="act", plan_hash=stale)

    assert answer.status_code == 422
    assert "the plan no longer holds" in answer.text
    assert "Retry 4 deployments" in answer.text
    assert len(admin.get("/requests").json["items"]) == before


def test_several_outcomes_are_one_filter(
    three: list[dict[str, str]],
    browser: Browser,  # noqa: F811
    admin: Api,
):
    """A list of what failed or waits is acted on as it is filtered."""
    assert len(admin.get("/deployments?outcome=pending,failed").json["items"]) == 3
    assert admin.get("/deployments?outcome=failed,held").json["items"] == []
    wrong = admin.get("/deployments?outcome=failed,hold")
    assert wrong.json["errors"][0]["pointer"] == "/outcome"
    form = {"all": "yes", "outcome": "failed,pending", "site": "depot"}
    answer = browser.act("/deployments/act/retry", **form)
    assert len(admin.get(answer.headers["Location"]).json["deployments"]) == 2


def test_nothing_chosen_is_never_everything(
    three: list[dict[str, str]],
    browser: Browser,  # noqa: F811
):
    """Neither without a tick, nor with "all" and no filter."""
    for form in ({}, {"all": "yes"}):
        answer = browser.post("/deployments/act/delete", **form)
        assert answer.status_code == 422
        assert "nothing is chosen" in answer.text


def test_the_api_selects_as_the_list_filters(three: list[dict[str, str]], admin: Api):
    """State, outcome and words select too; a command's plan names whom it is about."""
    for select, names in (
        ({"q": "thr"}, {"three"}),
        ({"state": "PENDING", "sites": ["depot"]}, {"two", "three"}),
        ({"outcome": "pending", "name": "one"}, {"one"}),
    ):
        plan = admin.post("/plans", json={"action": "retry", "select": select}).json["plan"]
        assert {one["name"] for one in plan["sites"]} == names
        assert {one["action"] for one in plan["sites"]} == {"retry"}
    both = {"outcome": ["failed", "pending"], "sites": ["depot"]}
    assert (
        len(admin.post("/plans", json={"action": "retry", "select": both}).json["plan"]["sites"])
        == 2
    )
    for key in ("state", "outcome"):
        wrong = admin.post("/plans", json={"action": "retry", "select": {key: "GONE"}})
        assert wrong.json["errors"][0]["pointer"].startswith(f"/select/{key}")

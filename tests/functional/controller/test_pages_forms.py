"""Forms and nothing else change things; a refusal is a page, and people come back to theirs."""

from __future__ import annotations

import re
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from controller.pages import acting, many, overview
from controller.pages.views import PAGES
from controller.parts import Parts
from tests.functional.controller.kit import Api, Runner
from tests.functional.controller.test_pages_acting import (  # noqa: F401 - fixtures
    Browser,
    _deployed,
    browser,
    plan_hash,
    settings,
    shop,
)

HTML = {"Accept": "text/html"}


def _asked(admin: Api) -> int:
    return len(admin.get("/requests").json["items"])


@pytest.fixture
def one(shop: None, browser: Browser, parts: Parts) -> str:  # noqa: F811
    """A deployment of storefront, published, with an earlier content."""
    made = _deployed(browser, parts)
    assert browser.act(f"/deployments/{made}/act/update", version="1.1.0").status_code == 303
    parts.publisher.publish_all()
    return made


@pytest.mark.parametrize("verb", acting.VERBS)
def test_a_link_changes_nothing(
    one: str,
    browser: Browser,  # noqa: F811
    admin: Api,
    verb: str,
):
    """Whatever an address says, to open it is to look: with a plan's hash and without one."""
    more = {"update": "&version=1.0.0"}.get(verb, "")
    chosen = f"pick={one}@harbor{more}"
    form = {"pick": f"{one}@harbor", "version": "1.0.0"}
    plan = plan_hash(browser.post(f"/deployments/act/{verb}", **form).text)
    before = _asked(admin)
    for path in (
        f"/deployments/act/{verb}?{chosen}&do=act&plan_hash={plan}",
        f"/deployments/act/{verb}?all=yes&app=storefront&do=act{more}",
        f"/deployments/{one}/act/{verb}?site=harbor&do=act&plan_hash={plan}{more}",
        f"/deploy?app=storefront&sites=harbor&name=b&do=act&plan_hash={plan}",
    ):
        assert browser.get(path).status_code == 200
        assert browser.client.head(path, headers=HTML).status_code == 200
        # a body changes nothing either: only a POST is asked for the session's token
        browser.client.get(path, data={"do": "act", "plan_hash": plan, **form}, headers=HTML)
    assert _asked(admin) == before


def test_no_page_writes_when_it_is_opened(
    one: str,
    browser: Browser,  # noqa: F811
    admin: Api,
):
    """Of all pages, with every word that a form may send in the address."""
    names = {
        "deployment": one, "app": "storefront", "source": "apps", "site": "harbor", "node": "n",
        "request_id": one, "operation": one, "what": "users", "name": "ada",
    }  # fmt: skip
    words = "do=act&sure=yes&what=users&name=eve&role=admin&url=/&plan_hash=x&commit=0123456"
    kept = ("/requests", "/sites", "/users", "/tokens", "/app-sources", "/repository")
    before = [admin.get(path).json for path in kept]
    for path, _, _ in PAGES:
        for verb in ("delete", "remove", "pause", "drain", "revoke", "sync"):
            filled = path.replace("<verb>", verb)
            for name, value in names.items():
                filled = filled.replace(f"<{name}>", value)
            browser.get(f"{filled}?{words}")
    assert [admin.get(path).json for path in kept] == before


def test_a_page_has_no_door_of_its_own(app: Flask, parts: Parts, browser: Browser):  # noqa: F811
    """Where a page forgets to ask for a form, the way to the API refuses for it."""
    from controller.api.call import Call
    from controller.api.problems import Problem
    from controller.pages.asking import ask
    from tests.functional.controller.kit import ADMIN

    with app.test_request_context("/"), pytest.raises(Problem) as refused:
        ask(Call(parts, ADMIN), "POST", "/sites", {"name": "depot"})
    assert refused.value.status == 405


def test_nothing_is_done_before_its_plan_was_seen(
    one: str,
    browser: Browser,  # noqa: F811
    admin: Api,
):
    """do=act without the hash shows the plan; so do all forms that act."""
    before = _asked(admin)
    forms: dict[str, dict[str, Any]] = {
        "/deploy": {"app": "storefront", "sites": "harbor", "name": "b"},
        f"/deployments/{one}/act/update": {"version": "1.0.0"},
        f"/deployments/{one}/act/delete": {},
        f"/deployments/{one}/act/cancel": {},
        "/deployments/act/delete": {"pick": f"{one}@harbor"},
    }
    for path, form in forms.items():
        page = browser.post(path, **form, do="act")
        assert page.status_code == 200, page.text
        assert "What would happen" in page.text
        assert plan_hash(page.text)
    assert _asked(admin) == before


def _first_button(page: str) -> str:
    form = page.partition('class="work"')[2]
    buttons = re.findall(r"<button[^>]*>([^<]+)", form)
    return str(buttons[0])


def test_enter_shows_the_plan_until_one_is_shown(one: str, browser: Browser):  # noqa: F811
    """The first button of a form is what Enter presses: the act only below its own plan."""
    update = f"/deployments/{one}/act/update"
    assert _first_button(browser.get("/deploy?app=storefront").text) == "Show the plan"
    assert _first_button(browser.get(update).text) == "Show the plan"
    ticked = {"pick": f"{one}@harbor"}
    assert _first_button(browser.post("/deployments/act/update", **ticked).text) == "Show the plan"
    form = {"app": "storefront", "sites": "harbor", "name": "b", "do": "check"}
    assert _first_button(browser.post("/deploy", **form).text) == "Deploy"
    wrong = browser.post("/deploy", **form, **{"p.greeting": "x" * 41}).text
    assert _first_button(wrong) == "Show the plan"
    assert _first_button(browser.post(update, version="1.0.0", do="check").text) == "Update"
    assert _first_button(browser.get(f"/deployments/{one}/act/delete").text) == "Delete"


def test_whose_session_is_over_comes_back_to_the_form(client: FlaskClient, harbor: Runner):
    """A button's address is no page: after signing in, the page with the button is shown."""
    form = "http://localhost/sites/harbor?done=resume"
    for path in ("/sites/harbor/pause", "/sites/harbor/drain"):
        away = client.post(path, headers={**HTML, "Referer": form})
        assert away.headers["Location"] == "/sign-in?next=/sites/harbor%3Fdone%3Dresume"
    for referer in ({}, {"Referer": "https://evil.example/sites"}):
        away = client.post("/sites/harbor/pause", headers={**HTML, **referer})
        assert away.headers["Location"] == "/sign-in?next=/"
    part = client.post(
        "/deploy", headers={"HX-Request": "true", "Referer": "http://localhost/deploy"}
    )
    assert part.headers["HX-Redirect"] == "/sign-in?next=/deploy"


def test_every_refusal_is_a_page_for_people(
    browser: Browser,  # noqa: F811
    harbor: Runner,
    monkeypatch: pytest.MonkeyPatch,
):
    """404, 405, 413 and 500 too, with a way on; programs are told in problem details."""
    get, large = browser.client.get, {"token": browser.token, "reason": "x" * 2_000_000}
    program = {"Accept": "application/json"}
    monkeypatch.setattr(overview, "_tiles", lambda *_: 1 / 0)
    for told, status, words in (
        (browser.get("/nothing"), 404, "no page at this address"),
        (browser.get("/sites/harbor/pause"), 405, "only takes a form"),
        (browser.post("/sites/harbor/pause", **large), 413, "larger than a page takes"),
        (browser.get("/"), 500, "inside the controller"),
    ):
        assert (told.status_code, told.mimetype) == (status, "text/html")
        assert words in told.text
        assert '<a href="/">' in told.text
    assert "ZeroDivisionError" not in browser.get("/").text
    for path, status in (("/nothing", 404), ("/sites/harbor/pause", 405), ("/", 500)):
        answer = get(path, headers=program)
        assert (answer.status_code, answer.mimetype) == (status, "application/problem+json")
    for path in ("/api/v1/nothing", "/schemas/nothing", "/static/nothing"):
        assert get(path, headers=HTML).mimetype == "application/problem+json"


def test_many_and_one_know_the_same_verbs() -> None:
    """Each verb of one deployment has its words for many."""
    assert set(many.WORDS) == set(acting.VERBS)

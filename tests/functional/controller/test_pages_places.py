"""Sites and nodes on pages: added, paused, drained and forgotten, asked again where it matters."""

from __future__ import annotations

import pytest

from controller.pages import places
from controller.parts import Parts
from controller.store import documents
from tests.functional.controller.kit import Api, Runner
from tests.functional.controller.test_drain_plan import MACHINE, ONE, runs
from tests.functional.controller.test_pages_acting import (  # noqa: F401 - fixtures
    Browser,
    browser,
    settings,
)


def test_a_site_is_added_paused_and_drained(
    browser: Browser,  # noqa: F811
    admin: Api,
):
    """The token is shown once; what stops things is asked again before it is done."""
    made = browser.post("/sites", name="depot", labels="zone=shop")
    assert "mgs" in made.text
    assert "mgs" not in browser.get("/sites").text
    assert browser.post("/sites/depot/pause", reason="stocktaking").status_code == 303
    assert "stocktaking" in browser.get("/sites/depot?done=pause").text
    assert browser.post("/sites/depot/resume").status_code == 303
    assert "Drain depot?" in browser.post("/sites/depot/drain").text
    assert admin.get("/sites/depot").json["drain"] is False
    assert browser.post("/sites/depot/drain", sure="yes").status_code == 303
    assert admin.get("/sites/depot").json["drain"] is True
    wrong = browser.post("/sites", name="No Name")
    assert (wrong.status_code, 'role="alert"' in wrong.text) == (422, True)


def test_what_a_drain_stops_stands_below_its_question(
    browser: Browser,  # noqa: F811
    harbor: Runner,
    parts: Parts,
    admin: Api,
):
    """Of a node and of a whole site: what moves and where to, what stops and why."""
    harbor.snapshot("harbor-1", "harbor-2")
    for name in ("harbor-1", "harbor-2"):
        told = {"name": name, "address": "10.0.0.1", "status": "active", "capabilities": MACHINE}
        harbor.report("node", told)
    harbor.beat("harbor-1", "harbor-2")
    runs(parts, harbor, "kiosk", **ONE)
    runs(parts, harbor, "ledger", data=True, **ONE)
    page = browser.post("/sites/harbor/nodes/harbor-1/drain").text
    for words in ("it moves to harbor-2", "its data stays on harbor-1"):
        assert page.index("?</h1>") < page.index(words) < page.index(">Drain</button>")
    assert "no other node can take it" in browser.post("/sites/harbor/drain").text
    assert "Nothing stands there" in browser.post("/sites/harbor/nodes/harbor-2/drain").text
    assert admin.get("/sites/harbor").json["drain"] is False


def test_a_drain_that_cannot_be_planned_is_asked_about_all_the_same(
    browser: Browser,  # noqa: F811
    harbor: Runner,
    monkeypatch: pytest.MonkeyPatch,
):
    """The question stands alone then."""
    refused = {"hash": None, "sites": [], "findings": [{"severity": "error", "message": "no"}]}
    monkeypatch.setattr(places, "planned", lambda *_: refused)
    page = browser.post("/sites/harbor/drain").text
    assert "Drain harbor?" in page
    assert 'id="plan"' not in page


def test_a_node_is_drained_and_forgotten(
    browser: Browser,  # noqa: F811
    harbor: Runner,
    parts: Parts,
):
    """By buttons on its page; forgetting is asked again."""
    harbor.beat()
    harbor.snapshot("harbor-1")
    assert "harbor-1" in browser.get("/sites/harbor").text
    assert "10.0.0.1" in browser.get("/sites/harbor/nodes/harbor-1").text
    assert browser.post("/sites/harbor/nodes/harbor-1/reload").status_code == 303
    assert "gone for good" in browser.post("/sites/harbor/nodes/harbor-1/forget").text
    gone = browser.post("/sites/harbor/nodes/harbor-1/forget", sure="yes")
    assert gone.status_code == 303
    assert browser.get("/sites/harbor/nodes/harbor-1").status_code == 404


def test_a_site_names_its_findings(
    browser: Browser,  # noqa: F811
    harbor: Runner,
    parts: Parts,
):
    """Each finding of its files is shown with file, line, place and cure; of many the first."""
    finding = {"pointer": "/spec", "message": "is missing", "cure": "add it", "line": 3}
    file = "deployments/harbor/{}.yaml"
    with parts.store.write() as session:
        for number in range(25):
            named = file.format(number)
            documents.site_findings(session, "harbor", named, [{**finding, "file": named}])
    page = browser.get("/sites/harbor").text
    for words in (f"{file.format(0)}:3", "/spec", "is missing", "add it", "And 5 more"):
        assert words in page
    assert file.format(19) in page
    assert file.format(20) not in page

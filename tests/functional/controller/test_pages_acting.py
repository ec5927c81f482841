"""What is done on pages: forms are ours, roles hold, the plan comes before the act."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from controller.access.passwords import hash_password
from controller.parts import Parts
from controller.settings import ControllerSettings
from controller.store import access
from controller.store.words import Role
from tests.functional.controller import shopping
from tests.functional.controller.kit import PASSWORD, Api, Runner, add_deployment
from tests.support.works import APPS


@pytest.fixture
def settings(tmp_path: Path, database: str | None) -> Iterator[ControllerSettings]:
    with shopping.settings(tmp_path, database) as made:
        yield made


class Browser:
    """Somebody who is signed in, without scripts: links, and forms with what they hold."""

    def __init__(self, app: Flask, user: str) -> None:
        self.client: FlaskClient = app.test_client()
        token = self._token(self.get("/sign-in").text)
        form = {"token": token, "user": user, "password": PASSWORD}
        assert self.client.post("/sign-in", data=form).status_code == 303
        self.token = self._token(self.get("/").text)

    @staticmethod
    def _token(page: str) -> str:
        found = re.search(r'name="token" value="([^"]+)"', page)
        return found[1] if found else ""

    def get(self, path: str) -> TestResponse:
        return self.client.get(path, headers={"Accept": "text/html"})

    def post(self, path: str, **form: object) -> TestResponse:
        data = {"token": self.token, **form}
        return self.client.post(path, data=data, headers={"Accept": "text/html"})

    def act(self, path: str, **form: object) -> TestResponse:
        """Look at the plan, then do what it says."""
        plan = plan_hash(self.post(path, **form, do="plan").text)
        return self.post(path, **form, do="act", plan_hash=plan)


def plan_hash(page: str) -> str:
    """The hash of the plan that a page shows."""
    found = re.search(r'name="plan_hash" value="([^"]+)"', page)
    assert found, page
    return found[1]


def _person(parts: Parts, name: str, role: Role) -> None:
    with parts.store.write() as session:
        person = {
            "name": name,
            "password_hash": hash_password(PASSWORD),
            "role": role,
            "sites": None,
            "created_at": parts.clock(),
        }
        access.add_user(session, person)


@pytest.fixture
def browser(app: Flask, user: str) -> Browser:
    """An admin."""
    return Browser(app, user)


@pytest.fixture
def shop(admin: Api) -> None:
    """Storefront in the catalogue and the site harbor."""
    assert admin.post("/app-sources", json={"name": "apps", "url": str(APPS)}).status_code == 201
    assert admin.post("/app-sources/apps/sync").status_code == 200
    assert admin.post("/sites", json={"name": "harbor"}).status_code == 201


def _deployed(browser: Browser, parts: Parts) -> str:
    answer = browser.act("/deploy", app="storefront", version="1.0.0", sites="harbor")
    assert answer.status_code == 303, answer.text
    parts.publisher.publish_all()
    return answer.headers["Location"].partition("/deployments/")[2].partition("?")[0]


def test_the_form_tells_what_is_wrong_at_its_field(shop: None, browser: Browser, viewer: Api):
    """A value that the schema refuses is told beside it, in the API's words; nothing is written."""
    form = {"app": "storefront", "sites": "harbor", "p.greeting": "x" * 41}
    for do, status in (("check", 200), ("plan", 422), ("act", 422)):
        page = browser.post("/deploy", **form, do=do)
        assert page.status_code == status
        field = page.text.partition('id="f-greeting"')[2].partition("</div>")[0]
        assert "has 41 characters: write 40 at most" in field
        assert 'aria-invalid="true"' in field
        assert "<h3>harbor" in page.text, "where it would go is told all the same"
    assert viewer.get("/requests").json["items"] == []


def test_deploying_shows_the_plan_and_then_does_it(shop: None, browser: Browser, parts: Parts):
    """The plan's hash travels with the form; what was asked is shown, then the deployment."""
    form = {"app": "storefront", "sites": "harbor", "p.greeting": "ahoy", "do": "plan"}
    plan = plan_hash(browser.post("/deploy", **form).text)
    answer = browser.post("/deploy", **{**form, "do": "act", "plan_hash": plan})
    assert answer.status_code == 303
    shown = browser.get(answer.headers["Location"]).text
    assert "queued" in shown
    parts.publisher.publish_all()
    shown = browser.get(answer.headers["Location"]).text
    assert "published" in shown
    assert "ahoy" in shown
    stale = browser.post("/deploy", **{**form, "name": "b", "do": "act", "plan_hash": "sha256:x"})
    assert "the plan no longer holds" in stale.text


def test_targets_by_label_and_by_node(shop: None, browser: Browser, admin: Api):
    """Labels preview the sites that match; a node nobody has is told."""
    admin.patch("/sites/harbor", json={"labels": {"zone": "shop"}})
    form = {"app": "storefront", "do": "check"}
    page = browser.post("/deploy", **form, by="labels", labels="zone=shop").text
    assert "<h3>harbor" in page
    page = browser.post("/deploy", **form, by="labels", labels="zone=moon").text
    assert "selects no site" in page
    page = browser.post("/deploy", **form, by="nodes", nodes="harbor/nothing").text
    assert "has no node" in page


def test_update_rollback_compare_and_delete(shop: None, browser: Browser, parts: Parts):
    """Each shows first what would happen; what changed can be read; the end is a delete."""
    one = _deployed(browser, parts)
    act = f"/deployments/{one}/act"
    page = browser.post(f"{act}/update", version="1.1.0", do="check").text
    assert "it waits as PENDING" in page
    assert "plan_hash" in page
    assert browser.act(f"{act}/update", version="1.1.0").status_code == 303
    parts.publisher.publish_all()
    changed = browser.get(f"/deployments/{one}/compare").text
    assert re.search(r"(?m)^<del>.*version: 1\.0\.0</del>$", changed)
    assert re.search(r"(?m)^<ins>.*version: 1\.1\.0</ins>$", changed)
    assert ">1.0.0 · greeting=" in browser.get(f"{act}/rollback").text
    assert browser.act(f"{act}/rollback").status_code == 303
    parts.publisher.publish_all()
    assert "1.0.0" in browser.get(f"/deployments/{one}").text
    assert "its document leaves Git" in browser.get(f"{act}/delete").text
    assert browser.act(f"{act}/delete", reason="over").status_code == 303
    parts.publisher.publish_all()
    assert 'href="' + act not in browser.get(f"/deployments/{one}").text
    assert browser.get("/requests").text.count("</span>published") == 4


def test_commands_are_told_and_audited(
    shop: None, browser: Browser, parts: Parts, admin: Api
) -> None:
    """Retry, cancel and release need no commit; who asked for them is written down."""
    one = _deployed(browser, parts)
    for verb in ("retry", "cancel", "release"):
        assert "is told" in browser.get(f"/deployments/{one}/act/{verb}").text
        answer = browser.act(f"/deployments/{one}/act/{verb}", reason="try")
        assert answer.status_code == 303
    done = [one["action"] for one in admin.get("/audit").json["items"][:3]]
    assert done == ["deployment.release", "deployment.cancel", "deployment.retry"]
    assert "deployment.release" in browser.get("/activity?show=audit").text


def test_people_and_tokens(browser: Browser, admin: Api, user: str):
    """Added, changed and removed by an admin; a token is shown this once."""
    bad = browser.post("/settings", what="users", name="bo", password="short", role="viewer")
    assert bad.status_code == 422
    form = {"what": "users", "name": "bo", "password": PASSWORD, "role": "viewer"}
    assert browser.post("/settings", **form).status_code == 303
    assert browser.post("/settings/users/bo/change", role="operator").status_code == 303
    assert _user(admin, "bo")["role"] == "operator"
    assert "Remove bo?" in browser.post("/settings/users/bo/remove").text
    assert browser.post("/settings/users/bo/remove", sure="yes").status_code == 303
    made = browser.post("/settings", what="tokens", name="ci", role="viewer").text
    token = re.search(r"mgt[A-Za-z0-9_-]+", made)
    assert token
    assert token[0] not in browser.get("/settings?show=tokens").text


def _user(admin: Api, name: str) -> dict[str, object]:
    return next(one for one in admin.get("/users").json["items"] if one["name"] == name)


def test_a_person_is_limited_to_sites(browser: Browser, harbor: Runner, admin: Api, user: str):
    """By name, by label or to all again; what the field is not told stays as it is."""
    form = {"what": "users", "name": "bo", "password": PASSWORD, "role": "viewer"}
    assert browser.post("/settings", **form).status_code == 303
    change = "/settings/users/bo/change"
    assert browser.post(change, role="viewer", sites_were="", sites="harbor").status_code == 303
    assert _user(admin, "bo")["sites"] == ["harbor"]
    assert 'name="sites" value="harbor"' in browser.get("/settings").text
    browser.post(change, role="operator", sites_were="harbor", sites="harbor")
    assert _user(admin, "bo")["sites"] == ["harbor"]
    browser.post(change, sites_were="harbor", sites="zone=shop")
    assert "where zone=shop" in browser.get("/settings").text
    assert browser.post(change, disabled="yes").status_code == 303
    browser.post(change, sites_were="zone=shop", sites="")
    assert (_user(admin, "bo")["sites"], _user(admin, "bo")["disabled"]) == (None, True)
    assert browser.post(change, disabled="no").status_code == 303
    assert _user(admin, "bo")["disabled"] is False
    assert browser.post(change, sites_were="", sites="nowhere").status_code == 422


def test_sources_are_added_synced_and_removed(browser: Browser):
    """With the sync's findings, and the reason when it cannot be read."""
    assert browser.post("/sources", name="apps", url=str(APPS)).status_code == 303
    assert browser.post("/sources/apps/sync").status_code == 303
    assert "Storefront" in browser.get("/apps?q=shop").text
    assert "hello" in browser.get("/apps/storefront?version=1.1.0").text
    assert browser.post("/sources", name="x", url="ext::sh -c id").status_code == 422
    assert "Remove the source apps?" in browser.post("/sources/apps/remove").text
    assert browser.post("/sources/apps/remove", sure="yes").status_code == 303
    assert "No source yet" in browser.get("/sources").text


def test_a_form_that_is_not_ours_does_nothing(browser: Browser, shop: None, admin: Api):
    """Without the token of the session nothing is changed, whatever the address."""
    browser.token = "guessed"
    for path in ("/sites/harbor/pause", "/settings", "/deploy", "/sources"):
        assert browser.post(path, name="x").status_code == 403
    assert admin.get("/sites/harbor").json["paused"] is None


def test_roles_hold_on_pages(app: Flask, parts: Parts, harbor: Runner):
    """A viewer reads and is offered no button; what they send by hand is refused."""
    _person(parts, "vi", Role.VIEWER)
    one = add_deployment(parts, "harbor")
    viewer = Browser(app, "vi")
    page = viewer.get(f"/deployments/{one}").text
    assert "storefront" in page
    assert "/act/" not in page
    assert 'href="/deploy"' not in page
    assert 'href="/settings"' not in page
    for path in (f"/deployments/{one}/act/delete", "/deploy", "/settings"):
        assert viewer.get(path).status_code == 403
    for path in ("/sites/harbor/reload", "/sites", f"/deployments/{one}/act/delete"):
        assert viewer.post(path, do="act", sure="yes", name="x").status_code == 403


def test_who_is_signed_out_comes_back_to_where_they_were(client: FlaskClient):
    """The whole address is kept; a part that a script asks for sends the page there."""
    away = client.get("/deployments?site=harbor", headers={"Accept": "text/html"})
    assert away.headers["Location"] == "/sign-in?next=/deployments%3Fsite%3Dharbor"
    part = client.get("/deployments", headers={"HX-Request": "true"})
    assert (part.status_code, part.headers["HX-Redirect"]) == (401, "/sign-in?next=/deployments")

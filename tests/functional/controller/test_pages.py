"""What a page shows is in its HTML, honest, escaped, and small."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from controller.parts import Parts
from tests.functional.controller.kit import REVISION, Clock, Runner, add_deployment, placed

VIEWER = {"Authorization": "Bearer viewer", "Accept": "text/html"}


def _text(client: FlaskClient, path: str = "/") -> str:
    answer = client.get(path, headers=VIEWER)
    assert answer.status_code == 200, answer.text
    return answer.text


def _rolled_back(harbor: Runner, parts: Parts) -> str:
    uuid = add_deployment(parts, "harbor")
    harbor.snapshot("harbor-1")
    runs = {"revision": REVISION["b"], "version": "0.9.0"}
    error = {"class": "health", "code": "x", "message": "web <b>never</b> got healthy", "cure": ""}
    harbor.send(
        harbor.event("placement", placed(uuid, "harbor-1", "PENDING")),
        harbor.event(
            "placement",
            placed(uuid, "harbor-1", "FAILED", "UPDATING", **runs, outcome="failed", error=error),
        ),
        harbor.event(
            "placement",
            placed(uuid, "harbor-1", "INSTALLED", "ROLLINGBACK", **runs, outcome="rolled-back"),
        ),
    )
    return uuid


def test_the_first_page_shows_deployments_with_history(client, harbor: Runner, parts: Parts):
    """Name, site, state, outcome, placements and what happened last are in the HTML."""
    _rolled_back(harbor, parts)
    page = _text(client)
    for word in ("storefront", "harbor-1", "INSTALLED", "rolled back", "0.9.0", "ROLLINGBACK"):
        assert word in page
    assert 'class="badge warn"><span class="sign" aria-hidden="true">↩' in page
    assert "succeeded</span>" not in re.sub(r"<select.*?</select>", "", page, flags=re.S)


def test_what_comes_from_elsewhere_is_escaped(client: FlaskClient, harbor: Runner, parts: Parts):
    """A message from a node is text, never markup."""
    page = _text(client, f"/deployments/{_rolled_back(harbor, parts)}")
    assert "<b>never</b>" not in page
    assert "&lt;b&gt;never&lt;/b&gt;" in page


def test_a_silent_site_is_shown_as_such(client, harbor: Runner, parts: Parts, clock: Clock):
    """The last known state stays, said to be the last known."""
    _rolled_back(harbor, parts)
    assert "last known" not in _text(client)
    clock.forward(60)
    assert "last known" in _text(client)


def test_a_deployments_page_holds_its_whole_history(client, harbor: Runner, parts: Parts):
    """Every transition, why it is not as wanted, and the document as in Git."""
    page = _text(client, f"/deployments/{_rolled_back(harbor, parts)}")
    assert page.count("<li>") >= 3
    assert "Why it is not as wanted" in page
    assert "metadata: {name: storefront}" in page


@pytest.mark.parametrize("path", ["/", "/sites", "/apps", "/sources", "/deployments"])
def test_empty_pages_say_what_to_do(client: FlaskClient, path):
    """Where there is nothing yet, the command that changes it is named."""
    assert "<pre>margrave" in _text(client, path)


def test_an_unknown_page_is_told_to_people_as_a_page(client: FlaskClient):
    """A browser gets words and a way back, a program problem details."""
    answer = client.get("/apps/nothing", headers=VIEWER)
    assert answer.status_code == 404
    assert "<h1>" in answer.text
    answer = client.get("/apps/nothing", headers={**VIEWER, "Accept": "application/json"})
    assert answer.content_type == "application/problem+json"


def test_an_address_that_is_none(client: FlaskClient):
    """People get a page wherever they mistype; what is for programs stays problem details."""
    for path, kind in (("/nothing", "text/html"), ("/api/v1/nothing", "application/problem+json")):
        answer = client.get(path, headers=VIEWER)
        assert (answer.status_code, answer.mimetype) == (404, kind)


def test_nothing_is_inline_and_nothing_from_elsewhere(client, harbor: Runner, parts: Parts):
    """The pages keep the policy they are sent with."""
    uuid = _rolled_back(harbor, parts)
    for path in ("/", "/sites", "/sites/harbor", "/apps", f"/deployments/{uuid}", "/sign-in"):
        page = client.get(path, headers=VIEWER).text
        assert not re.search(r"<script(?![^>]*\bsrc=\"/)", page)
        assert not re.search(r"\son[a-z]+=|\sstyle=|<style", page)
        assert not re.search(r"(src|href)=\"(https?:)?//", page)


def test_lists_are_paged_and_small(client: FlaskClient, parts: Parts, harbor: Runner):
    """A page holds 32 deployments, names the way to older ones, and stays below 30 KB."""
    for number in range(45):
        add_deployment(parts, "harbor", f"a-shop-with-a-rather-long-name-{number:02}")
    page = _text(client, "/deployments")
    assert page.count('<th scope="row">') == 32
    assert len(page.encode()) < 30_000
    assert len(_text(client).encode()) < 30_000
    older = re.search(r'href="(\?cursor=[^"]+)"', page)
    assert older
    assert _text(client, "/deployments" + older[1]).count('<th scope="row">') == 13
    ticks = client.get("/deployments", headers={**VIEWER, "Authorization": "Bearer operator"})
    assert ticks.text.count('name="pick"') == 32
    assert len(ticks.data) < 30_000


def test_the_filter_is_an_address(client: FlaskClient, parts: Parts, harbor: Runner):
    """What is searched for stands in the address and in the form."""
    add_deployment(parts, "harbor", "one")
    add_deployment(parts, "harbor", "two")
    page = _text(client, "/deployments?q=one&site=harbor&state=PENDING&outcome=")
    assert page.count('<th scope="row">') == 1
    assert 'value="one"' in page


def test_styles_and_script_are_served(client: FlaskClient):
    """They come from here, and together stay below 100 KB."""
    named = re.findall(r'(?:src|href)="(/static/[^"]+)"', client.get("/sign-in").text)
    assert len(named) >= 5
    sizes = [len(client.get(path).data) for path in set(named)]
    assert all(sizes)
    assert sum(sizes) < 100_000

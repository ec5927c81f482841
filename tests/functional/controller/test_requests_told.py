"""The audit names deployments, and the page of a request shows the outcome of that request."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from controller.parts import Parts
from controller.settings import ControllerSettings
from controller.store import requests
from controller.store.words import RequestState
from tests.functional.controller import shopping
from tests.functional.controller.kit import Api


@pytest.fixture
def settings(tmp_path: Path, database: str | None) -> Iterator[ControllerSettings]:
    with shopping.settings(tmp_path, database) as made:
        yield made


def _newest(admin: Api) -> dict[str, object]:
    found: dict[str, object] = admin.get("/audit?limit=1").json["items"][0]
    return found


def test_the_audit_names_deployments_and_sites(admin: Api, operator: Api, parts: Parts) -> None:
    """Its target is what a person calls it; ids of request and deployments are in the detail."""
    shopping.opened(admin)
    for site in ("depot", "quay"):
        assert admin.post("/sites", json={"name": site}).status_code == 201
    sites = {"sites": ["harbor", "depot", "quay"]}
    made = operator.post("/deployments", json={**shopping.DEPLOY, "targets": sites}).json
    entry = _newest(admin)
    assert (entry["action"], entry["target"]) == (
        "deployment.create",
        "storefront at depot, harbor, quay",
    )
    assert entry["detail"]["request"] == made["id"]  # type: ignore[index]
    parts.publisher.publish_all()
    one = made["deployments"][0]["id"]
    asked = operator.patch(f"/deployments/{one}", json={"version": "1.1.0"}).json
    assert _newest(admin)["target"] == f"storefront at {asked['deployments'][0]['site']}"
    assert operator.delete(f"/requests/{asked['id']}").status_code == 200
    entry = _newest(admin)
    assert entry["action"] == "request.cancel"
    assert entry["target"] == f"update storefront at {asked['deployments'][0]['site']}"


def test_the_audit_of_a_large_request_names_some(admin: Api, operator: Api, parts: Parts) -> None:
    """A line that a person reads does not hold a thousand sites."""
    shopping.opened(admin)
    names = [f"site-{number:02d}" for number in range(9)]
    for name in names:
        assert admin.post("/sites", json={"name": name}).status_code == 201
    operator.post("/deployments", json={**shopping.DEPLOY, "targets": {"sites": names}})
    target = str(_newest(admin)["target"])
    assert target == "storefront at site-00, site-01, site-02, site-03, site-04 and 4 more"


def _page(client: FlaskClient, request_id: str) -> str:
    headers = {"Authorization": "Bearer viewer", "Accept": "text/html"}
    return client.get(f"/requests/{request_id}", headers=headers).text


def test_a_failed_request_does_not_show_the_outcome_of_another(
    admin: Api, operator: Api, viewer: Api, client: FlaskClient, parts: Parts
) -> None:
    """Another request brought the running release, so the failed one has no outcome there."""
    shopping.opened(admin)
    one = shopping.deploy(operator, parts)
    failed = operator.patch(f"/deployments/{one}", json={"version": "1.1.0"}).json["id"]
    with parts.store.write() as session:
        error = {"class": "", "code": "gone", "message": "the document is gone", "cure": ""}
        requests.move(session, failed, RequestState.FAILED, parts.clock(), error=error)
    fares = viewer.get(f"/requests/{failed}/progress").json
    assert (fares["outcomes"], fares["deployments"], fares["others"]) == ({}, [], 1)
    page = _page(client, failed)
    assert "the document is gone" in page
    assert "Nothing of it was published" in page
    assert "pending" not in page


def test_a_request_that_waits_has_no_outcome_yet(
    admin: Api, operator: Api, viewer: Api, client: FlaskClient, parts: Parts
) -> None:
    """The outcome of the release before is not its own."""
    shopping.opened(admin)
    one = shopping.deploy(operator, parts)
    waits = operator.patch(f"/deployments/{one}", json={"version": "1.1.0"}).json["id"]
    assert viewer.get(f"/requests/{waits}/progress").json["outcomes"] == {}
    assert "not published yet" in _page(client, waits)
    parts.publisher.publish_all()
    fares = viewer.get(f"/requests/{waits}/progress").json
    assert (fares["outcomes"], fares["others"]) == ({"pending": 1}, 0)


def test_a_request_that_another_followed_says_so(
    admin: Api, operator: Api, viewer: Api, client: FlaskClient, parts: Parts
) -> None:
    """The present outcome is that of the newest request; the older page leads to no wrong end."""
    shopping.opened(admin)
    one = shopping.deploy(operator, parts)
    first = viewer.get("/requests").json["items"][0]["id"]
    assert viewer.get(f"/requests/{first}/progress").json["outcomes"] == {"pending": 1}
    operator.patch(f"/deployments/{one}", json={"version": "1.1.0"})
    parts.publisher.publish_all()
    fares = viewer.get(f"/requests/{first}/progress").json
    assert (fares["outcomes"], fares["others"]) == ({}, 1)
    assert "1 deployment was changed by others" in _page(client, first)


def test_a_command_shows_what_it_acts_on(
    admin: Api, operator: Api, viewer: Api, parts: Parts
) -> None:
    """Retry, cancel and release change no document: they act on the present one."""
    shopping.opened(admin)
    one = shopping.deploy(operator, parts)
    asked = operator.post(f"/deployments/{one}/retry").json["id"]
    fares = viewer.get(f"/requests/{asked}/progress").json
    assert (fares["outcomes"], fares["others"]) == ({"pending": 1}, 0)

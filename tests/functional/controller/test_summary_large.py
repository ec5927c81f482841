"""The first page of a large fleet is as right as that of a small one, and there as soon."""

from __future__ import annotations

import pytest
from flask import Flask
from flask.testing import FlaskClient

from controller.pages import compiled
from controller.parts import Parts
from controller.store import summary
from tests.functional.controller.kit import Api, Clock, add_deployment, add_site


@pytest.mark.parametrize("few", [0, 1000], ids=["among many", "a few"])
def test_who_changed_last_of_an_outcome_is_told_first(
    parts: Parts,
    clock: Clock,
    admin: Api,
    viewer: Api,
    client: FlaskClient,
    few: int,
    monkeypatch: pytest.MonkeyPatch,
):
    """However many there are, and to whom less is shown: of their own sites alone."""
    monkeypatch.setattr(summary, "FEW", few)
    for site in ("harbor", "depot"):
        add_site(parts, site)
    for number in range(8):
        clock.forward(1)
        add_deployment(parts, ("harbor", "depot")[number % 2], f"shop-{number}", updated_at=clock())
    body = {"name": "eva", "role": "viewer", "sites": ["harbor"]}
    token = admin.post("/tokens", json=body).json["token"]
    own = Api(client, token).get("/summary").json
    told = viewer.get("/summary").json
    assert [one["name"] for one in told["under_way"]] == [f"shop-{one}" for one in (7, 6, 5, 4, 3)]
    assert [one["name"] for one in own["under_way"]] == [f"shop-{one}" for one in (6, 4, 2, 0)]
    assert told["under_way"] == told["changed"]
    assert (told["deployments"], told["unknown"]) == ({"PENDING": {"pending": 8}}, {"pending": 8})
    assert (own["deployments"], own["unknown"]) == ({"PENDING": {"pending": 4}}, {"pending": 4})


def test_the_first_page_is_compiled_before_anybody_asks(
    app: Flask, client: FlaskClient, monkeypatch: pytest.MonkeyPatch
):
    """As it is served: who comes first does not wait for templates."""
    compiled(app)

    def late(*_: object, **__: object) -> None:
        raise AssertionError("a template is compiled")

    monkeypatch.setattr(app.jinja_env, "compile", late)
    headers = {"Authorization": "Bearer viewer", "Accept": "text/html"}
    assert client.get("/", headers=headers).status_code == 200

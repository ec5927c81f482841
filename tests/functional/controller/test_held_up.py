"""A change that does not go on says why, wherever an operator looks."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.store import requests
from tests.functional.controller.kit import Api, Runner, add_deployment
from tests.support.works import ADA, Works, with_nodes

HOST = "registry.margrave.lab:5000"


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    """A controller without a way to the registry that the nodes know."""
    away = [{"host": HOST, "address": "127.0.0.1:9", "insecure": True}]
    made = Works(tmp_path / "state", None, registries=away).with_apps("harbor")
    with_nodes(made, "harbor", "harbor-1")
    yield made
    made.store.close()


def test_a_plan_warns_of_a_registry_that_does_not_answer(works: Works) -> None:
    """It can be asked for all the same; the finding names the registry and the setting."""
    body = {"app": "storefront", "targets": {"sites": ["harbor"]}}

    plan = works.admission.plan(body, ADA)

    [finding] = plan["findings"]
    assert (finding["severity"], finding["code"]) == ("warning", "registry")
    assert f"registry {HOST} does not answer the controller" in finding["message"]
    assert "[[registries]]" in finding["cure"]


def test_a_request_that_waits_for_a_registry_says_so(works: Works) -> None:
    """Its error names the registry and the setting; the request stays in the queue."""
    answer = works.create("harbor")
    works.publisher.publish_all()

    request = works.request(answer)
    assert request["state"] == "queued"
    assert f"registry {HOST} does not answer the controller" in request["error"]["message"]
    assert "[[registries]]" in request["error"]["cure"]


def _explained(api: Api, deployment: str) -> dict[str, dict[str, Any]]:
    """The steps of an explanation that stop, by name."""
    steps = api.get(f"/deployments/{deployment}/explain").json["steps"]
    return {step["step"]: step for step in steps if not step["ok"]}


def test_a_pause_is_explained_with_its_end(harbor: Runner, parts: Any, operator: Api) -> None:
    """As a lock is."""
    deployment = add_deployment(parts, "harbor")
    until = "2026-03-01T18:00:00Z"
    operator.post("/sites/harbor/pause", json={"reason": "stocktaking", "until": until})
    harbor.report("site", {"locked": {"reason": "repair", "until": until}, "halted": None})

    held = _explained(operator, deployment)

    assert held["paused"]["detail"].startswith("the site is paused: stocktaking, until 2026-03-01T")
    assert held["locked"]["detail"] == f"the site is locked: repair, until {until}"


def test_a_request_that_waits_is_found_by_its_deployment(works: Works) -> None:
    """The newest request that has not ended counts, not the one that brought what runs."""
    answer = works.create("harbor")
    works.publisher.publish_all()
    [created] = answer["deployments"]

    with works.store.session() as session:
        found = requests.open_for(session, created["id"], "harbor")
        stuck = [row.id for row in requests.waiting_with_error(session, None, 10)]

    assert (found, stuck) == (answer["id"], [answer["id"]])

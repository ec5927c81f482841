"""What a plan knows: what is fixed, what is taken, how much has to be fetched, and for how long."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from controller.store import aggregate, deployments, fleet
from controller.store.models import Deployment, Operation, Placement
from controller.store.words import OperationState
from margrave.errors import DocumentError
from margrave.lifecycle import Kind, Outcome, State
from tests.support import packages
from tests.support.registry import BASE, OWN, FakeRegistry
from tests.support.works import ADA, Works

CAPABLE = {"architecture": "amd64", "cpus": 2, "deployment_types": ["compose"]}


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    registry = FakeRegistry().start()
    yield registry
    registry.stop()


@pytest.fixture
def works(tmp_path: Path, registry: FakeRegistry) -> Iterator[Works]:
    """The shop at harbor, which has two nodes."""
    works = Works(tmp_path / "state", registry)
    for version in ("1.0.0", "1.1.0"):
        packages.write(tmp_path / "apps", version=version)
    works.catalog.add({"name": "own", "url": str(tmp_path / "apps")})
    assert works.catalog.sync("own")["findings"] == []
    works.sites.create({"name": "harbor"}, ADA)
    nodes(works, "harbor", "harbor-1", "harbor-2")
    yield works
    works.store.close()


def nodes(works: Works, site: str, *names: str) -> None:
    with works.store.write() as session:
        fleet.tell_site(session, site, {"last_seen": works.clock()})
        for name in names:
            values = {"status": "active", "capabilities": CAPABLE}
            fleet.tell_node(session, site, name, values, works.clock())


def deploy(works: Works, **more: Any) -> str:
    body = {"app": "shop", "version": "1.0.0", "targets": {"sites": ["harbor"]}, **more}
    answer = works.admission.create(body, ADA)
    works.publisher.publish_all()
    return str(answer["deployments"][0]["id"])


def runs(works: Works, deployment: str, *names: str) -> None:
    """It is installed on the nodes, as their runner would tell."""
    with works.store.write() as session:
        key = deployments.find(session, deployment)
        assert key is not None
        for name in names:
            values = {
                "state": State.INSTALLED,
                "outcome": Outcome.SUCCEEDED,
                "revision": key.revision,
                "version": key.version,
                "since": works.clock(),
                "updated_at": works.clock(),
            }
            session.add(Placement(deployment=key.key, node=name, incarnation=1, **values))
        session.flush()
        aggregate.settle(session, key.key, works.clock())


def change(works: Works, deployment: str, **more: Any) -> dict[str, Any]:
    body = {"action": "update", "select": {"ids": [deployment]}, **more}
    return works.admission.plan(body, ADA)


def test_what_is_immutable_stays_once_it_is_installed(works: Works) -> None:
    """Before it runs anywhere it may change; afterwards that is refused with its place."""
    one = deploy(works)
    assert change(works, one, parameters={"shelf": "right"})["findings"] == []
    runs(works, one, "harbor-1")
    plan = change(works, one, parameters={"shelf": "right"})
    assert [(found["pointer"], found["code"]) for found in plan["findings"]] == [
        ("/parameters/shelf", "immutable")
    ]
    with pytest.raises(DocumentError, match="cannot be changed once it is installed"):
        works.act("update", one, parameters={"shelf": "right"})
    assert change(works, one, parameters={"greeting": "ahoy"})["findings"] == []


def test_a_port_that_a_parameter_brings_is_seen(works: Works) -> None:
    """The port of a node that a new value asks for belongs to a neighbour already."""
    deploy(works)
    second = deploy(works, name="second", parameters={"port": 8001})
    plan = change(works, second, parameters={"port": 8000})
    assert [found["code"] for found in plan["findings"]] == ["port"]
    assert change(works, second, parameters={"port": 8002})["findings"] == []


def test_the_images_of_the_same_version_stay_pinned(works: Works) -> None:
    """Another value of a parameter pulls nothing else than what Git names by digest."""
    one = deploy(works)
    (site,) = change(works, one, parameters={"greeting": "ahoy"})["sites"]
    assert all("@sha256:" in node["images"][0] for node in site["nodes"])
    (site,) = change(works, one, version="1.1.0")["sites"]
    assert site["nodes"][0]["images"] == ["registry.margrave.lab:5000/shop:1.1.0"]


def test_a_plan_says_how_much_is_fetched(works: Works, registry: FakeRegistry) -> None:
    """All of it at first; later what the node has not; null while the registry does not answer."""
    body = {"app": "shop", "version": "1.0.0", "targets": {"sites": ["harbor"]}}
    registry.ill = True
    (site,) = works.admission.plan(body, ADA)["sites"]
    assert [node["bytes"] for node in site["nodes"]] == [None, None]
    registry.ill = False
    first = works.admission.plan(body, ADA)
    assert [node["bytes"] for node in first["sites"][0]["nodes"]] == [BASE + OWN, BASE + OWN]
    one = deploy(works)
    runs(works, one, "harbor-1")
    (site,) = change(works, one, version="1.1.0")["sites"]
    fetched = {node["node"]: node["bytes"] for node in site["nodes"]}
    assert fetched == {"harbor-1": OWN, "harbor-2": BASE + OWN}


def test_whether_sizes_are_known_does_not_change_the_plan(
    works: Works, registry: FakeRegistry
) -> None:
    """A plan that was made while the registry was away still holds when it is back."""
    body = {"app": "shop", "version": "1.0.0", "targets": {"sites": ["harbor"]}}
    registry.ill = True
    before = works.admission.plan(body, ADA)["hash"]
    registry.ill = False
    assert works.admission.plan(body, ADA)["hash"] == before
    assert works.admission.create({**body, "plan_hash": before}, ADA)["position"] == 1


@pytest.mark.parametrize(
    ("batch", "expected", "seconds"),
    [
        ("all", [["harbor-1", "harbor-2", "harbor-3"]], 20.0),
        ("canary", [["harbor-1"], ["harbor-2", "harbor-3"]], 40.0),
        (2, [["harbor-1", "harbor-2"], ["harbor-3"]], 40.0),
        ("30%", [["harbor-1"], ["harbor-2"], ["harbor-3"]], 60.0),
    ],
)
def test_batches_and_how_long_they_take(
    works: Works, batch: object, expected: list[list[str]], seconds: float
) -> None:
    """Which nodes go together, and for how long by what the same application took before."""
    nodes(works, "harbor", "harbor-3")
    body = {"app": "shop", "targets": {"sites": ["harbor"]}, "strategy": {"batch": batch}}
    plan = works.admission.plan(body, ADA)
    assert plan["sites"][0]["batches"] == expected
    assert plan["duration"] is None
    one = deploy(works, name="before", parameters={"port": 8001})
    took(works, one, 10, 20, 90)
    plan = works.admission.plan(body, ADA)
    assert (plan["duration"], plan["sites"][0]["duration"]) == (seconds, seconds)
    strategy = plan["sites"][0]["nodes"][0]["strategy"]
    assert "one at a time can hold port 8000/tcp" in strategy["why"]


def took(works: Works, deployment: str, *seconds: float) -> None:
    """Installs of it that came through, as its runner told."""
    with works.store.write() as session:
        key = session.query(Deployment).filter_by(id=deployment).one().key
        for one in seconds:
            values = {
                "kind": Kind.INSTALL,
                "state": OperationState.SUCCEEDED,
                "attempt": 1,
                "started_at": works.clock(),
                "ended_at": works.clock() + timedelta(seconds=one),
                "updated_at": works.clock(),
            }
            row = Operation(
                id=str(uuid.uuid4()), deployment=key, site="harbor", node="harbor-1", **values
            )
            session.add(row)


def test_a_plan_says_which_window_it_waits_for(works: Works) -> None:
    """The site's and the deployment's own have to be open; what is urgent passes, with a reason."""
    night = {"cron": "0 2 * * *", "duration": "1h"}
    works.sites.change("harbor", {"windows": [night]}, ADA)
    body = {"app": "shop", "targets": {"sites": ["harbor"]}}
    (site,) = works.admission.plan(body, ADA)["sites"]
    waiting = {"for": "window", "until": "2026-03-02T02:00:00Z"}
    assert [node["waiting"] for node in site["nodes"]] == [waiting, waiting]
    urgent = {**body, "priority": "urgent", "reason": "line stands still"}
    (site,) = works.admission.plan(urgent, ADA)["sites"]
    assert [node["waiting"] for node in site["nodes"]] == [None, None]
    works.sites.change("harbor", {"windows": [{"cron": "0 * * * *", "duration": "2h"}]}, ADA)
    (site,) = works.admission.plan({**body, "windows": [night]}, ADA)["sites"]
    assert site["nodes"][0]["waiting"] == waiting


def test_no_site_waits_behind_the_flood_of_another(works: Works) -> None:
    """One after the other where two sites want something; each site in its own order."""
    works.sites.create({"name": "depot"}, ADA)
    order = {}
    for name, site in (("a", "harbor"), ("b", "harbor"), ("c", "harbor"), ("d", "depot")):
        body = {"app": "shop", "name": name, "targets": {"sites": [site]}}
        more = {"parameters": {"port": 8000 + len(order)}}
        order[works.admission.create({**body, **more}, ADA)["id"]] = name
    urgent = {"app": "shop", "name": "u", "targets": {"sites": ["harbor"]}, "priority": "urgent"}
    urgent |= {"reason": "line stands still", "parameters": {"port": 9000}}
    order[works.admission.create(urgent, ADA)["id"]] = "u"
    told = []
    while works.publisher.publish_next():
        done = [one for one in order if works.request({"id": one})["state"] == "published"]
        told += [order[one] for one in done if order[one] not in told]
    assert told == ["u", "d", "a", "b", "c"]


def test_no_flood_is_long_enough_to_hide_a_site(works: Works) -> None:
    """However many of one site wait, another one's only request is among the first."""
    works.sites.create({"name": "depot"}, ADA)
    wide = {"parameters": {"port": 9000}}
    for number in range(30):
        more = {"name": f"flood-{number}", "parameters": {"port": 8000 + number}}
        works.admission.create({"app": "shop", "targets": {"sites": ["harbor"]}, **more}, ADA)
    body = {"app": "shop", "name": "one", "targets": {"sites": ["depot"]}, **wide}
    only = works.admission.create(body, ADA)
    works.publisher.publish_next()
    works.publisher.publish_next()
    assert works.request(only)["state"] == "published"

"""What a plan knows: what is fixed, what is taken, how much has to be fetched, and for how long."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.store import aggregate, deployments, fleet
from controller.store.models import Placement
from margrave.errors import DocumentError
from margrave.lifecycle import Outcome, State
from tests.support import packages
from tests.support.registry import FakeRegistry
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

"""What is let into the queue, what is refused with which finding, and what the plan says."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.access.identity import Identity, Role
from controller.admission import QueueFull
from controller.admission.decision import Asked
from margrave.documents.deployment import read_deployment
from margrave.errors import Conflict, DocumentError
from tests.support.registry import FakeRegistry
from tests.support.works import ADA, Works, with_nodes


@pytest.fixture(scope="module")
def untouched(
    tmp_path_factory: pytest.TempPathFactory, shared_database: str | None
) -> Iterator[Works]:
    """For tests that refuse everything, and so may share it."""
    registry = FakeRegistry().start()
    folder = tmp_path_factory.mktemp("works") / "state"
    works = Works(folder, registry, database={"url": shared_database}).with_apps("harbor")
    yield works
    works.store.close()
    registry.stop()


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    registry = FakeRegistry().start()
    works = Works(tmp_path / "state", registry, queue={"limit": 3}).with_apps("depot", "harbor")
    yield works
    works.store.close()
    registry.stop()


def refused(works: Works, **body: Any) -> list[tuple[str, str]]:
    """Pointer and code of each finding that refuses a creation."""
    whole = {"app": "storefront", "targets": {"sites": ["harbor"]}, **body}
    with pytest.raises(DocumentError) as caught:
        works.admission.create(whole, ADA)
    return [(one.pointer, one.code) for one in caught.value.findings]


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        ({"app": "storefrnt"}, "/app", "unknown"),
        ({"version": "9.9.9"}, "/version", "unknown"),
        ({"profile": "helm"}, "/profile", "unknown"),
        ({"targets": {"sites": ["habor"]}}, "/targets/sites/0", "unknown"),
        ({"targets": {"nodes": ["harbor/none"]}}, "/targets/nodes/0", "unknown"),
        ({"targets": {"selector": {"matchLabels": {"a": "b"}}}}, "/targets/selector", "unknown"),
        ({"targets": {}}, "/targets", "invalid"),
        ({"targets": {"sites": []}}, "/targets/sites", "invalid"),
        ({"parameters": {"greeting": "x" * 41}}, "/parameters/greeting", "invalid"),
        ({"parameters": {"greting": "x"}}, "/parameters/greting", "unknown-key"),
        ({"name": "Not A Name"}, "/name", "invalid"),
        ({"strategy": {"batch": "some"}}, "/strategy/batch", "invalid"),
        ({"priority": "urgent"}, "/reason", "invalid"),
        ({"parametres": {}}, "/parametres", "unknown-key"),
        ({"drift": "hael"}, "/drift", "invalid"),
    ],
)
def test_refusals_name_the_place(
    untouched: Works, body: dict[str, Any], pointer: str, code: str
) -> None:
    """Each thing that is wrong in a request is one finding at its place, and nothing is written."""
    assert refused(untouched, **body) == [(pointer, code)]
    assert untouched.publisher.publish_next() is False


def test_several_findings_at_once(works: Works) -> None:
    """An unknown site and an unknown application are told together."""
    found = refused(works, app="x", targets={"sites": ["habor"]})
    assert found == [("/app", "unknown"), ("/targets/sites/0", "unknown")]


def test_taken_name_comes_before_findings(works: Works) -> None:
    """A name that the site has already is a conflict, whatever else is wrong."""
    works.create("harbor")
    with pytest.raises(Conflict, match='there is a deployment "storefront" at harbor'):
        works.create("harbor", "depot", parameters={"greeting": "x" * 99})


def test_name_is_free_once_deleted(works: Works) -> None:
    """As soon as a deployment is gone from Git its name may be used again."""
    one = works.create("harbor")["deployments"][0]
    works.publisher.publish_all()
    works.act("delete", one["id"])
    works.publisher.publish_all()
    assert works.create("harbor")["deployments"][0]["id"] != one["id"]


def test_plan_tells_each_node(works: Works) -> None:
    """The plan names each node with action, version, images and why, and writes nothing."""
    with_nodes(works, "harbor", "harbor-1", "harbor-2")
    body = {"app": "storefront", "version": "1.0.0", "targets": {"sites": ["harbor", "depot"]}}
    plan = works.admission.plan(body, ADA)
    depot, harbor = plan["sites"]
    assert (depot["site"], depot["nodes"]) == ("depot", [])
    assert "has no node yet" in depot["why"]
    assert [node["node"] for node in harbor["nodes"]] == ["harbor-1", "harbor-2"]
    node = harbor["nodes"][0]
    assert (node["action"], node["from"], node["to"]) == ("install", None, "1.0.0")
    assert node["images"][0] == "registry.margrave.lab:5000/storefront-web:1.0.0"
    assert node["waiting"] is None
    assert works.publisher.publish_next() is False


def test_plan_holds_or_is_a_conflict(works: Works) -> None:
    """A plan's hash lets the same request in and refuses it when the world has changed."""
    with_nodes(works, "harbor", "harbor-1")
    body = {"app": "storefront", "version": "1.0.0", "targets": {"sites": ["harbor"]}}
    plan = works.admission.plan(body, ADA)
    with_nodes(works, "harbor", "harbor-2")
    with pytest.raises(Conflict, match="the plan no longer holds"):
        works.admission.create({**body, "plan_hash": plan["hash"]}, ADA)
    again = works.admission.plan(body, ADA)
    assert works.admission.create({**body, "plan_hash": again["hash"]}, ADA)["position"] == 1


def test_plan_of_the_unknown_says_so(works: Works) -> None:
    """A plan of something unknown is no error: its findings tell what is unknown."""
    plan = works.admission.plan({"app": "x", "targets": {"sites": ["harbor"]}}, ADA)
    assert [one["code"] for one in plan["findings"]] == ["unknown"]


def test_nodes_that_do_not_fit(works: Works) -> None:
    """A site with nodes of which none fits refuses, and says of each node why."""
    with_nodes(works, "harbor", "harbor-1", capabilities={"deployment_types": ["helm"]})
    with pytest.raises(DocumentError, match="harbor-1: it cannot run compose"):
        works.create("harbor")
    with_nodes(works, "harbor", "harbor-2")
    works.create("harbor")
    assert refused(works, name="two", placement={"nodes": 2}) == [
        ("/targets/sites/0", "unfit"),
        ("/targets/sites/0", "port"),
    ]


def test_host_port_is_taken(works: Works) -> None:
    """A second deployment that wants the same host port of a node is refused by name."""
    with_nodes(works, "harbor", "harbor-1")
    works.create("harbor")
    with pytest.raises(
        DocumentError, match="port 8000/tcp of harbor-1 at harbor belongs to storefront"
    ):
        works.create("harbor", name="second")


def test_nodes_as_targets(works: Works) -> None:
    """One node named pins the document to it, several become its placement."""
    with_nodes(works, "harbor", "harbor-1", "harbor-2")
    with_nodes(works, "depot", "depot-1", "depot-2", "depot-3")
    single = works.create(targets={"nodes": ["harbor/harbor-1"]})
    several = works.create(targets={"nodes": ["depot/depot-1", "depot/depot-3"]})
    works.publisher.publish_all()
    assert b"deviceId: harbor/harbor-1\n" in works.document(single["deployments"][0])
    placed = read_deployment(works.document(several["deployments"][0]))
    assert placed.device_id == "depot/*"
    assert placed.extensions.placement.nodes == ["depot-1", "depot-3"]


def test_idempotency_key(works: Works) -> None:
    """The same request with the same key is accepted once; another one under it is a conflict."""
    body = {"app": "storefront", "targets": {"sites": ["harbor"]}}
    first = works.admission.create(body, ADA, Asked("k"))
    assert works.admission.create(body, ADA, Asked("k"))["id"] == first["id"]
    with pytest.raises(Conflict):
        works.admission.create({**body, "name": "other"}, ADA, Asked("k"))


def test_an_idempotency_key_is_its_tokens_own(works: Works) -> None:
    """Two tokens of one name are two askers: neither gets the answer of the other."""
    one, two = (Identity("ci", Role.OPERATOR, token=token) for token in ("a", "b"))
    body = {"app": "storefront", "targets": {"sites": ["harbor"]}}
    first = works.admission.create(body, one, Asked("k"))
    second = works.admission.create({**body, "name": "other"}, two, Asked("k"))
    assert second["id"] != first["id"]


def test_full_queue(works: Works) -> None:
    """Past its limit the queue refuses and says when to come again."""
    for number in range(3):
        works.create("depot", name=f"shop-{number}")
    with pytest.raises(QueueFull) as caught:
        works.create("depot", name="shop-3")
    assert caught.value.retry_after > 0


def test_foreign_sites(works: Works) -> None:
    """Who may see one site only cannot deploy to another."""
    bob = Identity("bob", Role.OPERATOR, frozenset({"depot"}))
    with pytest.raises(DocumentError) as caught:
        works.admission.create({"app": "storefront", "targets": {"sites": ["harbor"]}}, bob)
    assert [one.code for one in caught.value.findings] == ["forbidden"]


def test_shape_and_meaning_are_told_together(untouched: Works) -> None:
    """A key that is not known hides neither an unknown version nor an unknown site."""
    found = refused(untouched, targets={"sites": ["nix"]}, version="9.9.9", zork=1, drift="hael")
    assert {("/zork", "unknown-key"), ("/version", "unknown")} <= set(found)
    assert ("/targets/sites/0", "unknown") in found

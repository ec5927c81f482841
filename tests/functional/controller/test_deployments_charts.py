"""Charts through the controller: which profile a site gets, what is pinned, what is refused."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.store import deployments, fleet
from controller.store.models import Placement
from margrave import yaml_text
from margrave.documents.deployment import read_deployment
from margrave.errors import DocumentError
from margrave.lifecycle import Outcome, State
from tests.support import packages
from tests.support.registry import FakeRegistry
from tests.support.works import ADA, Works

CHART, COMPOSE = "showcase-helm", "showcase-compose"
IMAGE = "registry.margrave.lab:5000/storefront-web:1.0.0"


@pytest.fixture
def works(tmp_path: Path) -> Iterator[Works]:
    """Showcase in the catalogue; depot has nodes with Kubernetes, harbor one beside two others."""
    registry = FakeRegistry().start()
    works = Works(tmp_path / "state", registry).with_apps("harbor", "depot", "quay")
    nodes(works, "harbor", compose=2, helm=1)
    nodes(works, "depot", helm=2)
    yield works
    works.store.close()
    registry.stop()


def nodes(works: Works, site: str, **kinds: int) -> None:
    """So many nodes that run each kind of profile."""
    with works.store.write() as session:
        fleet.tell_site(session, site, {"last_seen": works.clock()})
        for kind, count in kinds.items():
            for number in range(count):
                can = {"architecture": "amd64", "cpus": 2, "deployment_types": [kind]}
                values = {"status": "active", "capabilities": can}
                fleet.tell_node(session, site, f"{kind}-{number}", values, works.clock())


def body(*sites: str, **more: Any) -> dict[str, Any]:
    """A request for showcase."""
    return {"app": "showcase", "version": "1.0.0", "targets": {"sites": list(sites)}, **more}


def test_each_site_gets_the_profile_that_most_of_its_nodes_run(works: Works) -> None:
    """The author's order decides between equals, and where a site has no node yet."""
    plan = works.admission.plan(body("harbor", "depot", "quay"), ADA)

    assert plan["findings"] == []
    found = {one["site"]: one for one in plan["sites"]}
    placed = {site: [node["node"] for node in one["nodes"]] for site, one in found.items()}
    assert placed == {
        "harbor": ["compose-0", "compose-1"],
        "depot": ["helm-0", "helm-1"],
        "quay": [],
    }
    assert found["harbor"]["why"].endswith(f"fits there as {COMPOSE}")
    assert found["depot"]["why"].endswith(f"fits there as {CHART}")
    one_is_enough = body("harbor", placement={"nodes": 1})
    assert CHART in works.admission.plan(one_is_enough, ADA)["sites"][0]["why"]
    named = {**body(), "targets": {"nodes": ["harbor/helm-0"]}}
    assert CHART in works.admission.plan(named, ADA)["sites"][0]["why"]


def test_a_profile_that_is_named_is_taken_or_refused(works: Works) -> None:
    """Where no node runs it, each says why."""
    plan = works.admission.plan(body("harbor", profile=CHART), ADA)
    assert [node["node"] for node in plan["sites"][0]["nodes"]] == ["helm-0"]
    with pytest.raises(DocumentError, match="cannot run compose deployments"):
        works.admission.create(body("depot", profile=COMPOSE), ADA)


def test_what_is_published_of_a_chart(works: Works) -> None:
    """The folder by its digest, images of values pinned; values of parameters keep their types."""
    answer = works.admission.create(body("depot", parameters={"replicas": 2}), ADA)
    works.publisher.publish_all()

    deployment = answer["deployments"][0]
    document = read_deployment(works.document(deployment))
    assert document.profile_type == "helm"
    assert document.targeted("showcase-chart") == {"web.greeting": "hello", "web.replicas": 2}
    source = document.components[0].source
    head = works.repository.head()
    assert source is not None
    assert head is not None
    values = works.repository.read(head, f"{source}/values.yaml")
    assert values is not None
    pinned = yaml_text.parse(values).value["image"]
    assert pinned.startswith(f"{IMAGE}@sha256:")
    for file in ("Chart.yaml", "templates/web.yaml"):
        assert works.repository.read(head, f"{source}/{file}") == (
            (Path("examples/apps/showcase/1.0.0/chart") / file).read_bytes()
        )
    assert images(works, deployment, replicas=1) == [pinned]


def images(works: Works, deployment: dict[str, str], **parameters: Any) -> list[str]:
    """What a change of parameters would run, by its plan."""
    change = {"action": "update", "select": {"ids": [deployment["id"]]}, "parameters": parameters}
    found: list[str] = works.admission.plan(change, ADA)["sites"][0]["nodes"][0]["images"]
    return found


def test_what_an_engine_cannot_do_is_told_before_anything_is_written(works: Works) -> None:
    """Start-first is a chart's matter; what a chart says itself is no more than worth a look."""
    start = {"strategy": {"update": "start-first"}}
    with pytest.raises(DocumentError) as refused:
        works.admission.create(body("harbor", **start), ADA)
    found = refused.value.findings[0]
    assert (found.pointer, found.code) == ("/strategy/update", "strategy")
    assert "profile of type helm" in found.cure
    assert works.admission.plan(body("depot", **start), ADA)["findings"] == []
    stop = {"strategy": {"update": "stop-first"}}
    warned = works.admission.plan(body("depot", **stop), ADA)["findings"]
    assert [(one["severity"], one["code"]) for one in warned] == [("warning", "strategy")]


def runs(works: Works, deployment: str, node: str) -> None:
    """Its runner has told that it runs there."""
    with works.store.write() as session:
        found = deployments.find(session, deployment)
        assert found is not None
        values = {"state": State.INSTALLED, "outcome": Outcome.SUCCEEDED}
        times = {"since": works.clock(), "updated_at": works.clock()}
        placed = Placement(deployment=found.key, node=node, incarnation=1, **values, **times)
        placed.revision = found.revision
        session.add(placed)


def test_an_update_that_only_chooses_a_profile_is_not_ignored(works: Works) -> None:
    """Before anything runs it takes effect at the same version; afterwards it is refused."""
    answer = works.admission.create(body("harbor"), ADA)
    works.publisher.publish_all()
    one = answer["deployments"][0]
    before = read_deployment(works.document(one))
    assert before.profile_type == "compose"
    works.act("update", one["id"], profile=before.profile_type)
    works.publisher.publish_all()
    assert read_deployment(works.document(one)).revision == before.revision
    works.act("update", one["id"], profile=CHART)
    works.publisher.publish_all()
    after = read_deployment(works.document(one))
    assert (after.profile_type, after.version) == ("helm", before.version)
    runs(works, one["id"], "chart-0")
    with pytest.raises(DocumentError, match="it runs as helm, and cannot become compose"):
        works.act("update", one["id"], profile="compose")


def test_a_deployment_that_runs_keeps_the_kind_of_its_profile(works: Works) -> None:
    """A node could not go back to what it runs; before anything runs it is a matter of course."""
    answer = works.admission.create(body("harbor"), ADA)
    works.publisher.publish_all()
    one = answer["deployments"][0]["id"]
    change = {"version": "1.1.0", "profile": CHART}
    plan = works.admission.plan({"action": "update", "select": {"ids": [one]}, **change}, ADA)
    assert plan["findings"] == []
    runs(works, one, "compose-0")
    with pytest.raises(DocumentError, match="it runs as compose, and cannot become helm"):
        works.act("update", one, **change)


def test_a_sites_policy_names_registries_of_charts_too(works: Works) -> None:
    """Of the chart's values before it is rendered; the rest is for the node to say."""
    works.sites.change("depot", {"policy": {"registries": ["registry.example"]}}, ADA)
    works.publisher.publish_all()
    with pytest.raises(DocumentError) as refused:
        works.admission.create(body("depot"), ADA)
    assert [one.code for one in refused.value.findings] == ["policy"]
    assert "registry.margrave.lab:5000 is not in registries" in str(refused.value)


def test_a_chart_that_is_none_cannot_be_deployed(works: Works, tmp_path: Path) -> None:
    """The catalogue tells why, with what would help."""
    package = packages.write(tmp_path / "own", app="broken")
    raw = yaml_text.parse((package / "margo.yaml").read_text()).value
    del raw["configuration"]
    raw |= {"deploymentProfiles": [_helm("./compose")], "parameters": {}}
    (package / "margo.yaml").write_text(yaml_text.dump(raw))
    works.catalog.add({"name": "own", "url": str(tmp_path / "own")})

    findings = works.catalog.sync("own")["findings"]

    assert [one["message"] for one in findings] == ["Chart.yaml: is missing"]
    assert findings[0]["pointer"].endswith("/components/0/x-margrave-extensions/path")


def _helm(path: str) -> dict[str, Any]:
    component = {
        "name": "broken",
        "properties": {"repository": "oci://registry.example/broken", "revision": "1.0.0"},
        "x-margrave-extensions": {"path": path},
    }
    return {"type": "helm", "id": "chart", "components": [component]}

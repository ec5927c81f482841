"""A chart from the controller through Git and the runner to Kubernetes: one life, told in order.

Each test begins where the one before it ended.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from margrave import yaml_text
from tests.support import charts, packages
from tests.support.charted_site import ChartedSite
from tests.support.charts import HELM, SECRET
from tests.support.waiting import eventually

OURS = "x-margrave-extensions"

pytestmark = [pytest.mark.lab, pytest.mark.full]


@pytest.fixture(scope="module")
def deployment(site: ChartedSite) -> str:
    """Showcase with a secret as its greeting; nobody says which profile."""
    known = {"secret": "words"}
    return site.deploy("showcase", "1.0.0", parameters={"greeting": known, "replicas": 1})


def test_a_chart_is_installed_where_there_is_kubernetes(site: ChartedSite, deployment: str) -> None:
    """The profile that comes first fits one of the nodes; the secret reaches the pods alone."""
    site.settled(deployment, "INSTALLED", "succeeded", "1.0.0")

    assert site.placement(deployment)["node"] == site.node
    assert site.placement(deployment)["health"] == "healthy"
    assert site.get(f"/deployments/{deployment}")["profile"] == "helm"
    assert site.pages(deployment) == [{"version": "1.0.0", "greeting": SECRET}]
    image = site.kubectl("get deployment -o jsonpath={..image}")
    assert image.startswith("registry.margrave.lab:5000/storefront-web:1.0.0@sha256:")
    kept = [site.folder / "controller", site.runner.state]
    found = subprocess.run(
        ["grep", "-rlF", SECRET, *map(str, kept)], capture_output=True, text=True
    )
    assert found.stdout == ""
    log = site.ssh("journalctl --no-pager -o cat | grep -cF " + SECRET + " || true")
    assert log.strip() == "0"


def _tellers(site: ChartedSite) -> list[str]:
    """Files of controller and runner that have the secret: its own place aside, there are none."""
    kept = [site.controller.folder, site.runner.base]
    found = subprocess.run(
        ["grep", "-rlF", SECRET, *map(str, kept)], capture_output=True, text=True, check=False
    )
    return found.stdout.split()


def test_parameters_reach_values_in_their_own_types(site: ChartedSite, deployment: str) -> None:
    """A number is a number to the chart; the pods that come are ready before the old ones end."""
    parameters = {"greeting": "hei 'du' på $kaia: {{ 1 }}", "replicas": 2}
    site.act("update", deployment, parameters=parameters)
    eventually(lambda: "update" in site.operations(deployment), 60, "it is updated")
    site.settled(deployment, "INSTALLED", "succeeded", "1.0.0")

    expected = {"version": "1.0.0", "greeting": parameters["greeting"]}
    assert site.pages(deployment) == [expected, expected]


def test_a_bad_release_goes_back_and_is_not_tried_again(site: ChartedSite, deployment: str) -> None:
    """1.2.0 is never ready: what ran answers all the time, and Git is looked at in vain."""
    site.act("update", deployment, version="1.2.0")
    site.settled(deployment, "INSTALLED", "rolled-back", "1.0.0")

    assert [one["version"] for one in site.pages(deployment)] == ["1.0.0", "1.0.0"]
    tried = site.operations(deployment)
    assert tried.count("rollback") == 1
    errors = [one["error"] for one in site.history(deployment) if one["error"]]
    assert {one["class"] for one in errors} == {"health"}
    site.runner.margrave("runner", "once")
    assert site.operations(deployment) == tried
    assert site.placement(deployment)["wanted_version"] == "1.2.0"
    assert not any(one.get("irregular") for one in site.history(deployment))


def test_an_operator_goes_back_to_what_was_before(site: ChartedSite, deployment: str) -> None:
    """A good version goes through, and the one before it comes back as it was."""
    site.act("update", deployment, version="1.1.0")
    site.settled(deployment, "INSTALLED", "succeeded", "1.1.0")
    assert {one["version"] for one in site.pages(deployment)} == {"1.1.0"}

    site.act("rollback", deployment, to="1.0.0")
    site.settled(deployment, "INSTALLED", "succeeded", "1.0.0")

    assert [one["version"] for one in site.pages(deployment)] == ["1.0.0", "1.0.0"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("scale deployment {} --replicas=3", "3 replicas instead of 2"),
        ("delete deployment {} --wait=true", "missing"),
    ],
    ids=["scaled", "deleted"],
)
def test_what_a_person_changes_comes_back(
    site: ChartedSite, deployment: str, words: str, told: str
) -> None:
    """Seen at the next look, told with its reason, and healed."""
    before = len(site.history(deployment))
    site.kubectl(words.format(site.release(deployment)))

    def healed() -> bool:
        moves = [(one["to"], str(one["reason"])) for one in site.history(deployment)[before:]]
        assert [to for to, _ in moves] == ["UPDATING", "INSTALLED"], moves
        assert told in moves[0][1], moves
        return True

    eventually(healed, 90, "it is healed", 0.3)
    assert [one["version"] for one in site.pages(deployment)] == ["1.0.0", "1.0.0"]


def test_the_other_profile_runs_beside_it(site: ChartedSite) -> None:
    """The same application, asked for by name as Compose, on the node that has podman."""
    other = site.deploy("showcase", "1.0.0", name="windows", profile="showcase-compose")
    site.settled(other, "INSTALLED", "succeeded", "1.0.0")

    assert site.placement(other)["node"] == "harbor-1"
    site.act("delete", other)
    site.settled(other, "DELETED", "succeeded", None)


def _source(site: ChartedSite, name: str, component: dict[str, Any]) -> Path:
    """A source of one application of one chart, whose greeting is a parameter; its package."""
    package = packages.write(site.folder / name, app=name)
    raw = yaml_text.parse((package / "margo.yaml").read_text()).value
    del raw["configuration"]
    targets = [{"pointer": "web.greeting", "components": [component["name"]]}]
    raw |= {
        "deploymentProfiles": [{"type": "helm", "id": "chart", "components": [component]}],
        "parameters": {"greeting": {"value": "moin", "targets": targets}},
    }
    (package / "margo.yaml").write_text(yaml_text.dump(raw))
    return package


def _read(site: ChartedSite, name: str) -> None:
    site.controller.post("/app-sources", name=name, url=str(site.folder / name))
    site.controller.post(f"/app-sources/{name}/sync")


STOREFRONT = {
    "repository": "oci://registry.margrave.lab:5000/charts/storefront",
    "revision": "1.0.0",
}


def test_a_chart_of_a_registry_is_pulled_by_the_node(site: ChartedSite, tmp_path: Path) -> None:
    """By name and version, over plain HTTP because the runner's `registries` say so."""
    image = site.kubectl("get deployment -o jsonpath={..image}").split()[0]
    charts.push(site.lab, charts.write_chart(tmp_path / "chart", "1.0.0", image), tmp_path)
    _source(site, "pulled", {"name": "storefront", "properties": STOREFRONT})
    _read(site, "pulled")

    pulled = site.deploy("pulled", "1.0.0")
    site.settled(pulled, "INSTALLED", "succeeded", "1.0.0")

    assert site.kubectl("get configmap web -o jsonpath={.data.greeting}") == "moin"
    site.act("delete", pulled)
    site.settled(pulled, "DELETED", "succeeded", None)
    assert site.kubectl("get pvc -o name").split() == ["persistentvolumeclaim/data"]


def test_an_error_that_quotes_a_secret_does_not_tell_it(site: ChartedSite) -> None:
    """Whatever Helm says on the node, no record of runner or controller has the value."""
    component = {"name": "fails", "properties": STOREFRONT}
    package = _source(site, "quoting", {**component, OURS: {"path": "./chart"}})
    image = "registry.margrave.lab:5000/idle:1"
    fails = '{{ fail (printf "no such words: %s" .Values.web.greeting) }}\n'
    charts.write_chart(package / "chart", "1.0.0", image, templates__words=fails)
    _read(site, "quoting")

    quoting = site.deploy("quoting", "1.0.0", parameters={"greeting": {"secret": "words"}})
    site.settled(quoting, "FAILED", "failed", None)

    assert "no such words: [redacted]" in site.placement(quoting)["error"]["message"]
    assert _tellers(site) == []
    site.act("delete", quoting)
    site.settled(quoting, "DELETED", "succeeded", None)


def test_delete_leaves_nothing(site: ChartedSite, deployment: str) -> None:
    """No release, no object, no file of it; the node stays the runner's."""
    site.act("delete", deployment)
    site.settled(deployment, "DELETED", "succeeded", None)

    assert site.ssh(f"{HELM} list -Aaq") == ""
    assert site.kubectl("get deployments,configmaps -o name").split() == [
        "configmap/kube-root-ca.crt"
    ]
    assert site.ssh("ls /var/lib/margrave/deployments 2>/dev/null || true") == ""

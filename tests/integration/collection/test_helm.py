"""Charts on a real Kubernetes: fetched, checked before anything changes, healed and taken off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from lab import Lab
from tests.support import charts
from tests.support.charts import ChartShop
from tests.support.private_registry import PASSWORD, USER, PrivateRegistry
from tests.support.shop import Step
from tests.support.waiting import eventually

pytestmark = [pytest.mark.lab, pytest.mark.full]

HOOK = """
apiVersion: v1
kind: ConfigMap
metadata: {name: hook, annotations: {helm.sh/hook: pre-install}}
"""
REACHING = """
apiVersion: v1
kind: Pod
metadata: {name: reaching}
spec:
  hostNetwork: true
  containers:
    - {name: it, image: docker.io/it:1, securityContext: {privileged: true}}
  volumes: [{name: node, hostPath: {path: /etc}}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: lost}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Mi}}}
"""
LOOKUP = '{{ (lookup "v1" "Secret" "kube-system" "").items }}\n'
ABROAD = """
apiVersion: v1
kind: ConfigMap
metadata: {name: abroad, namespace: kube-system}
"""
CRASHING = """
apiVersion: v1
kind: Pod
metadata: {name: crashing}
spec:
  terminationGracePeriodSeconds: 0
  containers: [{name: it, image: IMAGE, command: [/bin/false]}]
"""


@pytest.fixture
def shop(
    lab: Lab, kubernetes_node: str, chart_folders: dict[str, Path], tmp_path: Path
) -> Iterator[ChartShop]:
    """A deployment that is not there yet, on a node that no runner has claimed."""
    shop = ChartShop(lab, tmp_path, chart_folders, kubernetes_node)
    shop.clean()
    yield shop
    shop.clean()


def _from_registry(shop: ChartShop, version: str, **more: str) -> dict[str, Any]:
    """Parameters for a version whose chart comes from the registry."""
    content = shop.content(version)
    component = content["components"][0]
    del component["src"]
    host = "registry.margrave.lab:5000"
    chart = {"repository": f"oci://{host}/charts/storefront", "revision": version}
    component.update({**chart, **more})
    return {**content, "registries": [{"host": host, "insecure": True}]}


def test_a_chart_comes_from_a_registry_ahead_of_its_window(shop: ChartShop, tmp_path: Path) -> None:
    """Made ready first, installed later while the registry is away; values reach it typed; what is
    not there is told."""
    charts.push(shop.lab, shop.packages["1.0.0"], tmp_path)
    shop.ssh("ctr -n k8s.io images ls -q | grep storefront | xargs -r ctr -n k8s.io images rm")
    shop.values = {"web.replicas": 2}
    wanted = _from_registry(shop, "1.0.0")
    wrong = _from_registry(shop, "1.0.0", digest="sha256:" + "0" * 64)
    missing = _from_registry(shop, "1.0.0", revision="9.9.9")
    ready = Step("workload_prefetch", wanted)

    first, again, looked = shop.call(ready, ready, shop.info())
    shop.lab.fail(shop.node, registry=True)
    try:
        installed = shop.one(Step("workload_install", wanted))
    finally:
        shop.lab.heal(shop.node)
    refused, absent, deleted = shop.call(
        Step("workload_update", {**wrong, "revision": "sha256:" + "1" * 64}),
        Step("workload_update", {**missing, "revision": "sha256:" + "2" * 64}),
        shop.delete(),
    )

    assert [(one["state"], one["changed"]) for one in (first, again)] == [
        ("PREFETCHED", True),
        ("PREFETCHED", False),
    ]
    assert looked["workloads"][0]["next_revision"] == wanted["revision"]
    assert first["images"][0] in shop.ssh("ctr -n k8s.io images ls -q")
    assert looked["workloads"][0]["revision"] is None
    assert (installed["state"], installed["changed"]) == ("INSTALLED", True), installed["error"]
    assert (refused["error"]["class"], refused["error"]["code"]) == ("image", "digest-mismatch")
    assert absent["error"]["class"] == "image", absent["error"]
    assert (deleted["state"], deleted["volumes_kept"]) == ("DELETED", ["data"])
    assert shop.kubectl("get pvc -o name").split() == ["persistentvolumeclaim/data"]


def test_a_login_for_charts_leaves_no_trace(
    shop: ChartShop, private: PrivateRegistry, tmp_path: Path
) -> None:
    """A wrong password is of class auth; the right one is in no file and no process list."""
    charts.push(shop.lab, shop.packages["1.0.0"], tmp_path)
    wanted = _from_registry(shop, "1.0.0", repository=f"oci://{private.address}/charts/storefront")
    login = {"host": private.address, "username": USER, "insecure": True}

    wrong, right = shop.call(
        *(
            Step("workload_prefetch", {**wanted, "registries": [{**login, "password": one}]})
            for one in ("wrong", PASSWORD)
        )
    )
    traces = shop.ssh(
        f"grep -rlF {PASSWORD} /var/lib/margrave /run/margrave /root /tmp /etc 2>/dev/null || true;"
        f" journalctl --no-pager -o cat | grep -F {PASSWORD} || true"
    )

    assert wrong["error"]["class"] == "auth", wrong["error"]
    assert right["state"] == "PREFETCHED", right["error"]
    assert traces == ""


def test_drift_is_told_by_category_and_mended(shop: ChartShop) -> None:
    """Scaled, changed, and removed by hand: each is told in its own word, and comes back."""
    shop.one(shop.install("1.0.0"))
    shop.kubectl("scale deployment web --replicas=2")
    shop.kubectl("set env deployment web EXTRA=1")
    shop.kubectl("delete configmap web")

    drifted, mended, fine = shop.call(shop.info(), shop.install("1.0.0"), shop.info())

    told = {(one["service"], one["what"]) for one in drifted["workloads"][0]["drift"]}
    assert told >= {
        ("shop/Deployment/web", "replicas"),
        ("shop/Deployment/web", "environment"),
        ("shop/ConfigMap/web", "missing"),
    }
    assert (mended["state"], mended["changed"]) == ("INSTALLED", True), mended["error"]
    assert fine["workloads"][0]["drift"] == []
    assert shop.kubectl("get deployment web -o jsonpath={.spec.replicas}") == "1"


def test_what_a_chart_may_not_do_is_refused_before_anything_changes(
    shop: ChartShop, lab: Lab, tmp_path: Path
) -> None:
    """Hooks, lookups, other namespaces and what policy forbids: all of them, each with its cure."""
    odd = {
        "hook": {"templates__hook": HOOK},
        "reach": {"templates__reach": REACHING},
        "lookup": {"templates__lookup": LOOKUP},
        "abroad": {"templates__abroad": ABROAD},
        "crds": {"crds__one": "kind: CustomResourceDefinition\n"},
    }
    image = "registry.margrave.lab:5000/idle:1"
    for name, files in odd.items():
        shop.packages = {
            **shop.packages,
            name: charts.write_chart(tmp_path / name, "1.0.0", image, **files),
        }

    refused = dict(zip(odd, shop.call(*(shop.install(name) for name in odd)), strict=True))

    assert {one["error"]["class"] for one in refused.values()} == {"config"}
    assert {one["changed"] for one in refused.values()} == {False}
    words = {name: one["error"]["message"] for name, one in refused.items()}
    assert "is a hook (pre-install)" in words["hook"]
    for finding in ("hostNetwork", "privileged", "/etc is not in host_paths", "lost: would be"):
        assert finding in words["reach"]
    assert "lookup finds nothing" in words["lookup"]
    assert "namespace" in words["abroad"]
    assert "definitions of resources" in words["crds"]
    assert shop.ssh(f"{charts.HELM} list -Aaq") == ""


def test_what_is_certain_is_not_waited_for(shop: ChartShop, tmp_path: Path) -> None:
    """An image that does not exist changes nothing; a crash loop goes back before the time-out."""
    idle = "registry.margrave.lab:5000/idle:1"
    shop.packages = {
        **shop.packages,
        "gone": charts.write_chart(tmp_path / "gone", "1.1.0", idle.replace("idle", "nothing")),
        "crashing": charts.write_chart(
            tmp_path / "crashing",
            "1.1.0",
            idle,
            templates__crash=CRASHING.replace("IMAGE", idle),
            templates__web="",
        ),
    }
    updates = [
        Step("workload_update", shop.content(name, timeout=600)) for name in ("gone", "crashing")
    ]

    _, gone, crashing = shop.call(shop.install("1.0.0"), *updates)

    assert (gone["error"]["class"], gone["rolled_back"]) == ("image", False), gone["error"]
    assert (gone["changed"], gone["phase"]) == (False, "prefetch")
    assert (crashing["error"]["class"], crashing["rolled_back"]) == ("health", True)
    assert "crashed" in crashing["error"]["message"]
    assert crashing["durations"]["health"] < 300
    assert shop.page()["version"] == "1.0.0"


def test_a_chart_whose_pods_crash_is_degraded_and_goes_back(
    shop: ChartShop, tmp_path: Path
) -> None:
    """Restarts of its pods are counted, and an attempt that has to prove itself fails."""
    idle = "registry.margrave.lab:5000/idle:1"
    later = CRASHING.replace("[/bin/false]", '[/bin/sh, -c, "sleep 8; exit 7"]')
    chart = charts.write_chart(
        tmp_path / "later",
        "1.1.0",
        idle,
        templates__crash=later.replace("IMAGE", idle),
        templates__web="",
    )
    shop.packages = {**shop.packages, "later": chart}
    good = shop.one(shop.install("1.0.0"))
    health = {"timeout": 120, "grace": 1}
    update = {**shop.content("later"), "health": health, "proven": good["release"]}
    bad = shop.one(Step("workload_update", update))
    assert bad["state"] == "INSTALLED", bad["error"]

    def found() -> dict[str, Any]:
        info = Step("workload_info", {"deployment": shop.deployment})
        workload: dict[str, Any] = shop.one(info)["workloads"][0]
        return workload

    eventually(lambda: found()["stability"]["disturbances"], 120, "a restart is counted")
    assert found()["health"] == "degraded"
    answer = shop.one(Step("workload_update", {**update, "prove": 60}))
    assert answer["error"], answer
    assert answer["error"]["class"] == "health", answer
    assert (answer["rolled_back"], answer["release"]) == (True, good["release"])
    assert found()["stability"]["disturbances"] == []


def test_what_is_not_ours_is_taken_over_only_when_asked(shop: ChartShop) -> None:
    """A chart that has an object's name does not get the object, unless somebody says so."""
    shop.ssh(f"{charts.KUBECTL} create namespace {charts.NAMESPACE}")
    shop.kubectl("create configmap web --from-literal=greeting=mine")

    refused, would, adopted = shop.call(
        shop.install("1.0.0"),
        shop.install("1.0.0", check=True, adopt=True),
        shop.install("1.0.0", adopt=True),
    )

    assert refused["error"]["code"] == "foreign-object", refused["error"]
    assert would["changed"] is True
    assert adopted["state"] == "INSTALLED", adopted["error"]
    assert shop.page()["greeting"] == "hello"


def test_a_node_tells_that_it_runs_charts(shop: ChartShop) -> None:
    """Placement reads deployment_types; the checks name helm and Kubernetes."""
    node = shop.one(Step("node_info", {}))

    assert node["capabilities"]["deployment_types"] == ["helm"]
    assert [one["name"] for one in node["checks"] if not one["ok"]] == []
    assert {one["name"] for one in node["checks"]} >= {"kubernetes", "helm"}

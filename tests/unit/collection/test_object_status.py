"""What a cluster tells becomes ready, not yet, or certainly failed, and drift has a word."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _objects

CONTAINER: dict[str, Any] = {
    "name": "web",
    "image": "registry.site/web:1",
    "env": [{"name": "A", "value": "1"}],
    "ports": [{"containerPort": 80}],
    "resources": {"limits": {"memory": "64Mi"}},
    "volumeMounts": [{"name": "data", "mountPath": "/data"}],
}


def _deployment(status: dict[str, int] | None = None, replicas: int = 1) -> dict[str, Any]:
    ready = {"updatedReplicas": 1, "availableReplicas": 1, "replicas": 1}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "generation": 2},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"spec": {"containers": [copy.deepcopy(CONTAINER)], "volumes": []}},
        },
        "status": {"observedGeneration": 2, **(ready if status is None else status)},
    }


def _pod(waiting: dict[str, str] | None = None, restarts: int = 0) -> dict[str, Any]:
    state = {"waiting": waiting} if waiting else {"running": {}}
    told = {"name": "web", "image": "web:1", "state": state, "restartCount": restarts}
    return {
        "kind": "Pod",
        "metadata": {"name": "web-1", "uid": "u", "labels": {"app": "web"}},
        "status": {"phase": "Pending", "containerStatuses": [told]},
    }


def _other(kind: str, status: dict[str, Any], **spec: Any) -> dict[str, Any]:
    metadata = {"name": "it", "generation": 1}
    told = {"observedGeneration": 1, **status}
    return {"kind": kind, "metadata": metadata, "spec": spec, "status": told}


@pytest.mark.parametrize(
    ("one", "lacks"),
    [
        (_deployment(), None),
        (_deployment({"updatedReplicas": 0, "availableReplicas": 1, "replicas": 1}), "0 of 1"),
        (_deployment({"updatedReplicas": 1, "availableReplicas": 1, "replicas": 2}), "2 of 1"),
        (_deployment({"observedGeneration": 1}), "not looked at"),
        (_other("StatefulSet", {"readyReplicas": 1}, replicas=2), "1 of 2"),
        (
            _other(
                "StatefulSet",
                {"readyReplicas": 1, "currentRevision": "a", "updateRevision": "b"},
                replicas=1,
            ),
            "0 of 1",
        ),
        (
            _other(
                "DaemonSet",
                {"desiredNumberScheduled": 1, "updatedNumberScheduled": 1, "numberAvailable": 1},
            ),
            None,
        ),
        (_other("Job", {}), "is not done"),
        (_other("Job", {"succeeded": 1}), None),
        (_other("Pod", {"phase": "Succeeded"}), None),
        (_other("Pod", {"phase": "Pending"}), "is Pending"),
        (_other("ConfigMap", {}), None),
    ],
)
def test_what_is_waited_for(one: dict[str, Any], lacks: str | None) -> None:
    """Ready is what runs in the new shape alone; whatever lacks is named."""
    told = _objects.waiting_for(one)

    assert (told is None) if lacks is None else lacks in str(told)


@pytest.mark.parametrize(
    ("pod", "kind"),
    [
        (_pod(), None),
        (_pod({"reason": "ContainerCreating"}), None),
        (_pod({"reason": "ImagePullBackOff", "message": "manifest unknown"}), "image"),
        (_pod({"reason": "ErrImagePull", "message": "connection refused"}), None),
        (_pod({"reason": "CreateContainerConfigError", "message": "no key"}), "config"),
        (_pod(restarts=2), None),
        (_pod(restarts=3), "health"),
    ],
)
def test_what_is_certain(pod: dict[str, Any], kind: str | None) -> None:
    """What no waiting mends fails at once; the site's own trouble may pass."""
    error = _objects.failure([_deployment()], [pod], {})

    assert (error.kind if error else None) == kind


def test_restarts_from_before_do_not_count() -> None:
    """A pod that crashed last week is not blamed on this release."""
    pods = [_pod(restarts=5)]

    assert _objects.failure([], pods, _objects.restarts(pods)) is None
    assert _objects.pods_of([_deployment()], pods) == pods


def test_what_nothing_probes_has_to_run_for_a_while() -> None:
    """Kubernetes calls it ready at once; here it has the grace that a container has elsewhere."""
    pod = _pod()
    pod["spec"] = {"containers": [{"name": "web"}]}
    state = {"running": {"startedAt": "1970-01-01T00:01:40Z"}}
    pod["status"]["containerStatuses"][0]["state"] = state

    assert _objects.settling([pod], 104.0, 5.0) == ["Pod/web-1 has just begun to run"]
    assert _objects.settling([pod], 105.0, 5.0) == []
    pod["spec"]["containers"][0]["readinessProbe"] = {"exec": {}}
    assert _objects.settling([pod], 104.0, 5.0) == []


def test_the_sites_trouble_is_told_as_such() -> None:
    """Pods that wait for a registry make a failure the registry's."""
    error = _objects.pull_trouble([_pod({"reason": "ErrImagePull", "message": "i/o timeout"})])

    assert error is not None
    assert error.kind == "registry"


@pytest.mark.parametrize(
    ("change", "category"),
    [
        ({"image": "other"}, "image"),
        ({"env": []}, "environment"),
        ({"volumeMounts": []}, "mounts"),
        ({"ports": []}, "ports"),
        ({"resources": {}}, "limits"),
    ],
)
def test_drift_by_category(change: dict[str, Any], category: str) -> None:
    """Each thing that a person may change has its own word."""
    now = _deployment()
    now["spec"]["template"]["spec"]["containers"][0].update(change)

    found = list(_objects.differences(_objects.facets(_deployment()), now))

    assert [one[0] for one in found] == [category]
    assert [
        one[0] for one in _objects.differences(_objects.facets(_deployment()), _deployment())
    ] == []


def test_scaling_is_drift_only_where_the_chart_states_a_number() -> None:
    """An autoscaler's work is not undone."""
    stated = _objects.facets(_deployment())
    free = {name: value for name, value in stated.items() if name != "replicas"}

    assert [one[0] for one in _objects.differences(stated, _deployment(replicas=3))] == ["replicas"]
    assert list(_objects.differences(free, _deployment(replicas=3))) == []

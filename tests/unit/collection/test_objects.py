"""What a cluster tells becomes ready, not yet, or certainly failed, and drift has a word."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _chart_policy, _objects, _values
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

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


DENY: dict[str, Any] = {"host_paths": [], "devices": [], "registries": ["registry.site"]}


@pytest.mark.parametrize(
    ("pod", "finding", "allowed"),
    [
        ({"hostPID": True}, "hostPID", {"host_namespaces": "allow"}),
        ({"volumes": [{"hostPath": {"path": "/etc"}}]}, "/etc", {"host_paths": ["/etc"]}),
        ({"image": "docker.io/x"}, "registry docker.io", {"registries": ["*"]}),
        ({"securityContext": {"privileged": True}}, "privileged", {"privileged": "allow"}),
        (
            {"securityContext": {"capabilities": {"add": ["NET_ADMIN"]}}},
            "NET_ADMIN",
            {"capabilities": ["CAP_NET_ADMIN"]},
        ),
        (
            {"securityContext": {"seccompProfile": {"type": "Unconfined"}}},
            "seccompProfile",
            {"privileged": "allow"},
        ),
        (
            {"securityContext": {"seLinuxOptions": {"type": "spc_t"}}},
            "seLinuxOptions",
            {"privileged": "allow"},
        ),
        (
            {"volumes": [{"name": "d", "iscsi": {"iqn": "x"}}]},
            "iscsi: needs /",
            {"host_paths": ["/"]},
        ),
        ({"resources": {"limits": {"gpu.site/one": 1}}}, "gpu.site/one", {"devices": ["gpu.*"]}),
    ],
)
def test_a_chart_reaches_no_further_than_policy(
    pod: dict[str, Any], finding: str, allowed: dict[str, Any]
) -> None:
    """What a chart renders is held against the same policy as a Compose model."""
    one, whole = _deployment(), ("hostPID", "volumes")
    spec = one["spec"]["template"]["spec"]
    (spec if set(pod) & set(whole) else spec["containers"][0]).update(pod)

    with pytest.raises(ConfigError, match=finding):
        _chart_policy.check("web", [one], DENY)
    _chart_policy.check("web", [one], {**DENY, **allowed})


def test_data_is_not_lost_with_a_release() -> None:
    """A claim has to outlive its release."""
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
    }

    with pytest.raises(ConfigError, match="would be lost"):
        _chart_policy.check("web", [claim], DENY)

    kept = {**claim, "metadata": {"name": "d", "annotations": {_chart_policy.KEEP: "keep"}}}
    _chart_policy.check("web", [kept], DENY)


def _object(version: str, kind: str, **more: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "x"}, **more}


def _role(verbs: list[str], *resources: str, **more: Any) -> dict[str, Any]:
    rule = {"apiGroups": [""], "resources": list(resources), "verbs": verbs, **more}
    return _object("rbac.authorization.k8s.io/v1", "Role", rules=[rule])


def _binding(kind: str, name: str) -> dict[str, Any]:
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": name}
    return _object("rbac.authorization.k8s.io/v1", "RoleBinding", roleRef=role)


@pytest.mark.parametrize(
    ("one", "finding"),
    [
        (_object("helm.cattle.io/v1", "HelmChart"), "HelmChart of helm.cattle.io"),
        (_object("rbac.authorization.k8s.io/v1", "ClusterRoleBinding"), "ClusterRoleBinding"),
        (_object("v1", "Namespace"), "Namespace of the core"),
        (_object("batch.volcano.sh/v1", "Job"), "Job of batch.volcano.sh"),
        (_binding("ClusterRole", "cluster-admin"), "roleRef: ClusterRole cluster-admin"),
        (_role(["create"], "pods"), "rules: create of pods"),
        (_role(["*"], "configmaps"), r"rules: \* of configmaps"),
        (_role(["get"], "*"), r"rules: get of \*"),
        (_role(["get"], "pods/exec"), "rules: get of pods/exec"),
        (_role(["list"], "secrets"), "rules: list of secrets"),
        (_role(["bind", "escalate"], "roles"), "rules: bind, escalate of roles"),
    ],
)
def test_a_chart_stays_in_its_own_namespace(one: dict[str, Any], finding: str) -> None:
    """Kinds and rights that are not known to stay there are as good as privileged."""
    with pytest.raises(ConfigError, match=finding):
        _chart_policy.check("web", [one], DENY)
    _chart_policy.check("web", [one], {**DENY, "privileged": "allow"})


@pytest.mark.parametrize(
    "one",
    [
        _object("networking.k8s.io/v1", "Ingress"),
        _object("autoscaling/v2", "HorizontalPodAutoscaler"),
        _object("policy/v1", "PodDisruptionBudget"),
        _object("v1", "ServiceAccount"),
        _binding("Role", "web"),
        _binding("ClusterRole", "view"),
        _role(["get", "list", "watch"], "pods", "pods/log", "services"),
        _role(["create", "update", "delete"], "leases", "configmaps", "events"),
        _role(["get"], "secrets", resourceNames=["web"]),
    ],
)
def test_what_applications_are_made_of_needs_no_allowance(one: dict[str, Any]) -> None:
    """Workloads and what stands beside them, up to electing a leader."""
    _chart_policy.check("web", [one], DENY)


def test_a_chart_itself_comes_from_a_registry_that_is_named() -> None:
    """Before it is fetched, as an image would be."""
    policy = {**DENY, "registries": ["r.example:5000", "docker.io"]}

    _chart_policy.check_source("web", "oci://r.example:5000/charts/web", policy)
    with pytest.raises(ConfigError, match=r"other\.example is not in registries"):
        _chart_policy.check_source("web", "oci://other.example/charts/web", policy)


def test_values_by_dotted_path() -> None:
    """Paths become a tree, types stay, a dot in a key is written with a backslash."""
    found = _values.nested({"a.b": 1, "a.c[1].d": True, "a.e\\.f": None, "g": {"h": [1]}})

    assert found == {
        "a": {"b": 1, "c": [None, {"d": True}], "e.f": None},
        "g": {"h": [1]},
    }


@pytest.mark.parametrize("values", [{"a": 1, "a.b": 2}, {"a..b": 1}, {"": 1}, {"a[x]": 1}])
def test_paths_that_say_nothing(values: dict[str, Any]) -> None:
    """Contradictions and typing errors are told, not guessed at."""
    with pytest.raises(ConfigError):
        _values.nested(values)

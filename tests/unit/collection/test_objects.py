"""How far the objects of a chart may reach, and what its values say."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _chart_policy, _values
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
        "metadata": {"name": "web"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": "web"}},
            "template": {"spec": {"containers": [copy.deepcopy(CONTAINER)], "volumes": []}},
        },
        "status": {"observedGeneration": 2, **(ready if status is None else status)},
    }


NAMESPACE = "shop"


def _check(objects: list[dict[str, Any]], policy: dict[str, Any]) -> None:
    _chart_policy.check({"web": objects}, policy, NAMESPACE)


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
        _check([one], DENY)
    _check([one], {**DENY, **allowed})


def test_data_is_not_lost_with_a_release() -> None:
    """A claim has to outlive its release."""
    claim = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
    }

    with pytest.raises(ConfigError, match="would be lost"):
        _check([claim], DENY)

    kept = {**claim, "metadata": {"name": "d", "annotations": {_chart_policy.KEEP: "keep"}}}
    _check([kept], DENY)


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
        _check([one], DENY)
    _check([one], {**DENY, "privileged": "allow"})


@pytest.mark.parametrize(
    "one",
    [
        _object("networking.k8s.io/v1", "Ingress"),
        _object("autoscaling/v2", "HorizontalPodAutoscaler"),
        _object("policy/v1", "PodDisruptionBudget"),
        _object("v1", "ServiceAccount"),
        _binding("ClusterRole", "view"),
        _role(["get", "list", "watch"], "pods", "pods/log", "services"),
        _role(["create", "update", "delete"], "leases", "events"),
        _role(["get", "list", "create"], "configmaps"),
    ],
)
def test_what_applications_are_made_of_needs_no_allowance(one: dict[str, Any]) -> None:
    """Workloads and what stands beside them, up to electing a leader."""
    _check([one], DENY)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (_binding("Role", "x"), _role(["get"], "pods")),
        (_role(["get"], "secrets", resourceNames=["x"]), _object("v1", "Secret")),
        (_role(["update"], "configmaps", resourceNames=["x"]), _object("v1", "ConfigMap")),
    ],
)
def test_rights_over_its_own_objects_are_a_charts_to_give(
    one: dict[str, Any], other: dict[str, Any]
) -> None:
    """Without the object they would be rights over another deployment's."""
    _check([one, other], DENY)
    with pytest.raises(ConfigError, match=r"own|not of this deployment"):
        _check([one], DENY)


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

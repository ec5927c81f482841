"""A chart gets what the table lists, and nothing of other deployments in its namespace."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _chart_policy, _charted
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError

from tests.support import chart_objects
from tests.support.chart_objects import made

DENY: dict[str, Any] = {
    "privileged": "deny",
    "host_namespaces": "deny",
    "host_paths": [],
    "devices": [],
    "capabilities": [],
    "registries": ["*"],
}
PRIVILEGED = {"privileged": "allow"}
NAMESPACES = {"host_namespaces": "allow"}


def _check(objects: list[dict[str, Any]], **policy: Any) -> None:
    _chart_policy.check({"web": copy.deepcopy(objects)}, {**DENY, **policy}, "shop")


def _opened(*names: str) -> dict[str, Any]:
    return {"host_paths": list(names)}


def _spec(kind: str, **spec: Any) -> dict[str, Any]:
    return made(kind, spec=spec)


def _pod(**spec: Any) -> dict[str, Any]:
    return chart_objects.deployment(pod=spec)


def _container(**more: Any) -> dict[str, Any]:
    return chart_objects.deployment(container=more)


def _marked(kind: str = "ConfigMap", **metadata: Any) -> dict[str, Any]:
    found = chart_objects.deployment() if kind == "Deployment" else made(kind)
    found["metadata"].update(metadata)
    return found


def _pod_marked(**annotations: str) -> dict[str, Any]:
    found = chart_objects.deployment()
    marks = {name.replace("__", "/"): text for name, text in annotations.items()}
    found["spec"]["template"]["metadata"]["annotations"] = marks
    return found


def _claimed(**claim: Any) -> dict[str, Any]:
    found = made("PersistentVolumeClaim", name="data", spec=claim)
    found["metadata"]["annotations"] = {"helm.sh/resource-policy": "keep"}
    return found


BACKEND = {"service": {"name": "other", "port": {"number": 80}}}
SYSTEM = {"priorityClassName": "system-node-critical"}
SYSCTL = {"securityContext": {"sysctls": [{"name": "kernel.msgmax", "value": "1"}]}}
SA_TOKEN = {"type": "kubernetes.io/service-account-token"}
TOKEN_OF = {"annotations": {"kubernetes.io/service-account.name": "other"}}
APPARMOR = "container.apparmor.security.beta.kubernetes.io/web"
SUBJECT = {"kind": "ServiceAccount", "name": "other", "namespace": "shop"}

REFUSED: dict[str, tuple[dict[str, Any], str, dict[str, Any] | None]] = {
    # Confinement.
    "AppArmor by annotation": (
        _marked("Deployment", annotations={APPARMOR: "unconfined"}),
        "metadata.annotations: container.apparmor",
        PRIVILEGED,
    ),
    "seccomp by annotation, of a pod": (
        _pod_marked(**{"seccomp.security.alpha.kubernetes.io__pod": "unconfined"}),
        "spec.template.metadata.annotations: seccomp",
        PRIVILEGED,
    ),
    "AppArmor profile of the node": (
        _pod(securityContext={"appArmorProfile": {"type": "Localhost", "localhostProfile": "x"}}),
        "spec.template.spec.securityContext.appArmorProfile.type: Localhost",
        PRIVILEGED,
    ),
    "a runtime": (_pod(runtimeClassName="kata"), "spec.template.spec.runtimeClassName", PRIVILEGED),
    "a priority": (_pod(**SYSTEM), "spec.template.spec.priorityClassName", PRIVILEGED),
    "a scheduler": (_pod(schedulerName="own"), "spec.template.spec.schedulerName", PRIVILEGED),
    "a node": (_pod(nodeName="kube-1"), "spec.template.spec.nodeName", PRIVILEGED),
    "an unsafe sysctl": (_pod(**SYSCTL), "securityContext.sysctls[0].name: kernel.msg", PRIVILEGED),
    "a process of Windows": (
        _pod(securityContext={"windowsOptions": {"hostProcess": True}}),
        "securityContext.windowsOptions.hostProcess",
        PRIVILEGED,
    ),
    "another's MCS level": (
        _container(securityContext={"seLinuxOptions": {"level": "s0:c1,c2"}}),
        "containers[0].securityContext.seLinuxOptions.level",
        PRIVILEGED,
    ),
    "mounts that come out of the container": (
        _container(volumeMounts=[{"name": "a", "mountPropagation": "Bidirectional"}]),
        "volumeMounts[0].mountPropagation: Bidirectional",
        PRIVILEGED,
    ),
    "a field of tomorrow": (
        _pod(hostSomething=True),
        "spec.template.spec.hostSomething: is not in the table",
        PRIVILEGED,
    ),
    "an owner": (
        _marked(ownerReferences=[{"kind": "Node", "name": "kube-1"}]),
        "metadata.ownerReferences: is not in the table",
        PRIVILEGED,
    ),
    # Networks.
    "addresses of others": (
        _spec("Service", externalIPs=["10.0.0.1"]),
        "spec.externalIPs",
        NAMESPACES,
    ),
    "an address of the load balancer": (
        _spec("Service", type="LoadBalancer", loadBalancerIP="10.0.0.1"),
        "spec.loadBalancerIP",
        NAMESPACES,
    ),
    "a name elsewhere": (
        _spec("Service", type="ExternalName", externalName="db.other.svc"),
        "spec.externalName",
        NAMESPACES,
    ),
    "an address of the cluster": (
        _spec("Service", clusterIP="10.96.0.10"),
        "spec.clusterIP: 10.96.0.10",
        NAMESPACES,
    ),
    "a probe of the node": (
        _container(livenessProbe={"httpGet": {"host": "127.0.0.1", "port": 10250}}),
        "livenessProbe.httpGet.host",
        NAMESPACES,
    ),
    "a call to the node": (
        _container(lifecycle={"preStop": {"tcpSocket": {"host": "127.0.0.1", "port": 22}}}),
        "lifecycle.preStop.tcpSocket.host",
        NAMESPACES,
    ),
    # Objects of other deployments.
    "a Secret, as a volume": (
        _pod(volumes=[{"name": "a", "secret": {"secretName": "other"}}]),
        "volumes[0].secret.secretName: other is not of this deployment",
        _opened("secret:other"),
    ),
    "a Secret, projected": (
        _pod(volumes=[{"name": "a", "projected": {"sources": [{"secret": {"name": "other"}}]}}]),
        "projected.sources[0].secret.name: other",
        _opened("secret:other"),
    ),
    "a Secret, in the environment": (
        _container(envFrom=[{"secretRef": {"name": "other"}}]),
        "envFrom[0].secretRef.name: other",
        _opened("secret:other"),
    ),
    "a Secret's key, in the environment": (
        _container(
            env=[{"name": "A", "valueFrom": {"secretKeyRef": {"name": "other", "key": "a"}}}]
        ),
        "env[0].valueFrom.secretKeyRef.name: other",
        _opened("secret:other"),
    ),
    "a login": (
        _pod(imagePullSecrets=[{"name": "other"}]),
        "imagePullSecrets[0].name: other",
        _opened("secret:other"),
    ),
    "a certificate": (
        _spec("Ingress", tls=[{"hosts": ["a"], "secretName": "other"}]),
        "spec.tls[0].secretName: other",
        _opened("secret:other"),
    ),
    "a ConfigMap": (
        _container(envFrom=[{"configMapRef": {"name": "other"}}]),
        "envFrom[0].configMapRef.name: other",
        _opened("configmap:other"),
    ),
    "a claim": (
        _pod(volumes=[{"name": "a", "persistentVolumeClaim": {"claimName": "other"}}]),
        "persistentVolumeClaim.claimName: other",
        _opened("volume:other"),
    ),
    "a volume": (
        _claimed(accessModes=["ReadWriteOnce"], volumeName="other"),
        "spec.volumeName: other",
        _opened("volume:other"),
    ),
    "a copy of a claim": (
        _claimed(dataSource={"kind": "PersistentVolumeClaim", "name": "other"}),
        "spec.dataSource: is not in the table",
        PRIVILEGED,
    ),
    "an account": (
        _pod(serviceAccountName="other"),
        "spec.template.spec.serviceAccountName: other",
        _opened("serviceaccount:other"),
    ),
    "an account's token": (
        {**_marked("Secret", **TOKEN_OF), **SA_TOKEN},
        "type: kubernetes.io/service-account-token",
        PRIVILEGED,
    ),
    "rights for others": (
        made(
            "RoleBinding",
            roleRef={"kind": "ClusterRole", "name": "view"},
            subjects=[SUBJECT],
        ),
        "subjects[0].name: other gives rights to others",
        _opened("serviceaccount:other"),
    ),
    "rights for everybody": (
        made(
            "RoleBinding",
            roleRef={"kind": "ClusterRole", "name": "view"},
            subjects=[{"kind": "Group", "name": "system:authenticated"}],
        ),
        "subjects[0].kind: Group gives rights to others",
        None,
    ),
    "a backend": (
        _spec("Ingress", rules=[{"http": {"paths": [{"path": "/", "backend": BACKEND}]}}]),
        "rules[0].http.paths[0].backend.service.name: other",
        _opened("service:other"),
    ),
    "traffic to all pods": (
        _spec("NetworkPolicy", podSelector={}, policyTypes=["Ingress"]),
        "spec.podSelector: may select pods of other deployments",
        PRIVILEGED,
    ),
    "traffic of others": (
        _spec("Service", selector={"app": "other"}),
        "spec.selector: may select pods of other deployments",
        PRIVILEGED,
    ),
    "others' disruptions": (
        _spec("PodDisruptionBudget", selector={"matchExpressions": []}),
        "spec.selector: may select",
        PRIVILEGED,
    ),
    "others' replicas": (
        _spec("HorizontalPodAutoscaler", scaleTargetRef={"kind": "Deployment", "name": "other"}),
        "spec.scaleTargetRef: Deployment other",
        PRIVILEGED,
    ),
    # Orders to other programs.
    "orders to a controller": (
        _marked("Ingress", annotations={"nginx.ingress.kubernetes.io/configuration-snippet": "x"}),
        "metadata.annotations: nginx.ingress.kubernetes.io/configuration-snippet",
        _opened("annotation:nginx.ingress.kubernetes.io/*"),
    ),
    "devices by annotation": (
        _pod_marked(**{"cdi.k8s.io__x": "vendor.com/device=all"}),
        "spec.template.metadata.annotations: cdi.k8s.io/x",
        _opened("annotation:cdi.k8s.io/*"),
    ),
    "a state of Helm's": (
        _marked("Secret", labels={"owner": "helm"}),
        "metadata.labels: owner: helm",
        None,
    ),
    "a record of Helm's": (
        made("Secret", name="sh.helm.release.v1.margrave-other.v2"),
        "metadata.name: sh.helm.release.v1.margrave-other.v2 is a name of Helm's own",
        None,
    ),
    "the node's SSH": (
        _container(ports=[{"containerPort": 22, "hostPort": 22}]),
        "containers[0].ports[0].hostPort: 22 is a port of the node's own services",
        NAMESPACES,
    ),
    "the node's API server": (
        _spec("Service", type="LoadBalancer", ports=[{"port": 6443}]),
        "spec.ports[0].port: 6443 is a port of the node's own services",
        NAMESPACES,
    ),
    "rights over an operator's resources": (
        made("Role", rules=[{"apiGroups": ["x.io"], "resources": ["leases"], "verbs": ["get"]}]),
        "rules: the group x.io is not of Kubernetes itself",
        PRIVILEGED,
    ),
    "a label of ours": (
        _marked(labels={"margrave.deployment": "another"}),
        "metadata.labels: margrave.deployment",
        None,
    ),
    "data that goes with its set": (
        _spec("StatefulSet", persistentVolumeClaimRetentionPolicy={"whenDeleted": "Delete"}),
        "whenDeleted: Delete would lose data",
        None,
    ),
    "a hook": (_marked(annotations={"helm.sh/hook": "pre-install"}), "is a hook (pre-in", None),
    "no name": (_marked(name=None, generateName="web-"), "metadata.name: is missing", None),
}


@pytest.mark.parametrize(("found", "finding", "opens"), REFUSED.values(), ids=list(REFUSED))
def test_fields_outside_the_table_are_refused_with_their_path(
    found: dict[str, Any], finding: str, opens: Mapping[str, Any] | None
) -> None:
    """Each with the key of the policy that allows it, and with that key it passes."""
    own = [chart_objects.deployment()]

    with pytest.raises(ConfigError) as refused:
        _check([*own, found])

    assert f"{found['kind']}/" in refused.value.message
    assert finding in refused.value.message
    if opens is not None:
        assert "allowed by" in refused.value.message
        _check([*own, found], **opens)


@pytest.mark.parametrize("objects", chart_objects.ORDINARY.values(), ids=chart_objects.ORDINARY)
def test_ordinary_charts_pass(objects: list[dict[str, Any]]) -> None:
    """Under the policy that denies everything, in the forms that common chart libraries write."""
    _check(objects)


def test_components_refer_to_each_other() -> None:
    """A component's pods may use what another component of the same deployment makes."""
    pod = _container(envFrom=[{"secretRef": {"name": "db"}}])

    _chart_policy.check({"web": [pod], "db": [made("Secret", name="db")]}, DENY, "shop")
    with pytest.raises(ConfigError, match=r"components\.web: Deployment/web: .* db is not of this"):
        _chart_policy.check({"web": [pod], "db": []}, DENY, "shop")


def test_selectors_of_the_own_release_pass() -> None:
    """A chart may have a budget for pods that these values do not make."""
    budget = _spec("PodDisruptionBudget", selector={"matchLabels": {chart_objects.INSTANCE: "own"}})

    _chart_policy.check({"web": [budget]}, DENY, "shop", ["own"])
    with pytest.raises(ConfigError, match="may select pods of other deployments"):
        _chart_policy.check({"web": [budget]}, DENY, "shop", ["another"])


def test_a_confining_annotation_passes() -> None:
    """AppArmor and seccomp as every container has them."""
    _check([_marked("Deployment", annotations={APPARMOR: "runtime/default"})])


def test_all_findings_are_reported_at_once() -> None:
    """An author mends a chart in one go."""
    with pytest.raises(ConfigError) as refused:
        _check([_pod(runtimeClassName="kata"), _spec("Service", externalIPs=["10.0.0.1"])])

    assert refused.value.message.count("components.web: ") == 2
    with pytest.raises(ConfigError, match=r"; and 50 more$"):
        _check([_pod(runtimeClassName="kata")] * 100)


@pytest.mark.parametrize(
    "found",
    [
        made("Deployment", spec="x"),
        made("Deployment", spec={"template": ["x"]}),
        _pod(containers="x"),
        _pod(containers=["x", {"name": []}]),
        _pod(volumes={"hostPath": "x"}),
        _pod_marked(a="b") | {"metadata": {"name": "web", "annotations": ["x"]}},
        _marked(labels="x"),
        _container(securityContext={"capabilities": {"add": "ALL"}}),
        made("Role", rules="x"),
        made("Role", rules=["x", {"verbs": [{}], "resources": [["pods"]]}]),
        made("RoleBinding", roleRef="x", subjects="x"),
        _spec("Service", selector="x"),
        _spec("StatefulSet", volumeClaimTemplates="x", template={"metadata": {"labels": "x"}}),
        _spec("NetworkPolicy", podSelector={"matchLabels": "x"}),
        _spec("CronJob", jobTemplate="x"),
    ],
    ids=lambda found: json.dumps(found)[:60],
)
def test_values_of_a_wrong_type_are_findings(found: dict[str, Any]) -> None:
    """A value of another type than Kubernetes expects is a finding, never an error of ours."""
    with pytest.raises(ConfigError):
        _check([found])
    assert all(isinstance(each, dict) for each in _charted.images([found]).values())
    assert all(isinstance(name, str) for name in _charted.claims([found]))

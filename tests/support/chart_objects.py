"""Kubernetes objects as charts of applications render them."""

from __future__ import annotations

from typing import Any

from ansible_collections.margrave.edge.plugins.module_utils._chart_table import TABLE

INSTANCE = "app.kubernetes.io/instance"
LABELS = {
    INSTANCE: "web",
    "app.kubernetes.io/managed-by": "Helm",
    "app.kubernetes.io/name": "web",
    "helm.sh/chart": "web-1.0.0",
}
SELECTED = {INSTANCE: "web", "app.kubernetes.io/name": "web"}
GROUPS = {kind: group for group, kinds in TABLE.items() for kind in kinds}


def made(kind: str, name: str = "web", **fields: Any) -> dict[str, Any]:
    """Return an object of a kind."""
    group = GROUPS[kind]
    metadata = {"name": name, "namespace": "shop", "labels": dict(LABELS)}
    version = f"{group}/v1" if group else "v1"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def deployment(
    pod: dict[str, Any] | None = None, container: dict[str, Any] | None = None
) -> dict[str, Any]:
    """Return a Deployment of one container, with more of these fields."""
    containers = [{"name": "web", "image": "registry.site/web:1", **(container or {})}]
    template = {"metadata": {"labels": dict(LABELS)}, "spec": {"containers": containers}}
    template["spec"].update(pod or {})
    spec = {"replicas": 1, "selector": {"matchLabels": SELECTED}, "template": template}
    return made("Deployment", spec=spec)


# As common libraries write containers: confined as far as they can be.
CONFINED = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "privileged": False,
    "readOnlyRootFilesystem": True,
    "runAsGroup": 1001,
    "runAsNonRoot": True,
    "runAsUser": 1001,
    "seLinuxOptions": {},
    "seccompProfile": {"type": "RuntimeDefault"},
}
WORKER = {
    "name": "web",
    "image": "registry.site/web:1",
    "imagePullPolicy": "IfNotPresent",
    "securityContext": CONFINED,
    "command": ["/bin/web"],
    "args": ["--port", "8080"],
    "env": [
        {"name": "POD_IP", "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}}},
        {"name": "PASSWORD", "valueFrom": {"secretKeyRef": {"name": "web", "key": "password"}}},
        {"name": "LIMIT", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
    ],
    "envFrom": [{"configMapRef": {"name": "web"}}, {"secretRef": {"name": "web"}}],
    "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP", "hostPort": 80}],
    "livenessProbe": {"tcpSocket": {"port": "http"}, "periodSeconds": 10, "failureThreshold": 6},
    "readinessProbe": {"httpGet": {"path": "/", "port": "http"}, "timeoutSeconds": 3},
    "startupProbe": {"exec": {"command": ["/bin/health"]}, "initialDelaySeconds": 1},
    "lifecycle": {"preStop": {"exec": {"command": ["sleep", "1"]}}},
    "resources": {"limits": {"cpu": "150m", "ephemeral-storage": "2Gi"}, "requests": {"cpu": "1m"}},
    "volumeMounts": [{"name": "data", "mountPath": "/data", "subPath": "web"}],
}
AWAY = {"labelSelector": {"matchLabels": SELECTED}, "topologyKey": "kubernetes.io/hostname"}
WORK = {
    "affinity": {
        "nodeAffinity": None,
        "podAffinity": None,
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"podAffinityTerm": AWAY, "weight": 1}
            ]
        },
    },
    "automountServiceAccountToken": False,
    "containers": [WORKER],
    "enableServiceLinks": True,
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["db"]}],
    "hostIPC": False,
    "hostNetwork": False,
    "hostPID": False,
    "imagePullSecrets": [{"name": "web"}],
    "initContainers": [{"name": "own", "image": "registry.site/web:1", "command": ["chown"]}],
    "priorityClassName": "shop-high",
    "schedulerName": "",
    "securityContext": {
        "fsGroup": 1001,
        "fsGroupChangePolicy": "Always",
        "supplementalGroups": [],
        "sysctls": [{"name": "net.ipv4.ip_unprivileged_port_start", "value": "0"}],
    },
    "serviceAccountName": "web",
    "shareProcessNamespace": False,
    "terminationGracePeriodSeconds": 30,
    "tolerations": [{"operator": "Exists"}],
    "topologySpreadConstraints": [],
    "volumes": [
        {"name": "data", "persistentVolumeClaim": {"claimName": "web"}},
        {"name": "words", "configMap": {"name": "web", "defaultMode": 420}},
        {"name": "keys", "secret": {"secretName": "web", "items": [{"key": "a", "path": "a"}]}},
        {"name": "tmp", "emptyDir": {"medium": "Memory", "sizeLimit": "10Mi"}},
        {"name": "podinfo", "downwardAPI": {"items": []}},
        {
            "name": "all",
            "projected": {
                "sources": [
                    {"configMap": {"name": "kube-root-ca.crt"}},
                    {"serviceAccountToken": {"path": "token"}},
                    {"secret": {"name": "web"}},
                ]
            },
        },
        {
            "name": "scratch",
            "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}},
        },
    ],
}
MARKS = {
    "checksum/config": "0" * 64,
    "prometheus.io/scrape": "true",
    "prometheus.io/port": "8080",
    "rollme": "x",
}
TEMPLATE = {"metadata": {"labels": LABELS, "annotations": MARKS}, "spec": WORK}
KEPT = {"annotations": {"helm.sh/resource-policy": "keep"}}


def _claim(name: str = "web") -> dict[str, Any]:
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    claim = made("PersistentVolumeClaim", name, spec=spec)
    claim["metadata"].update(KEPT)
    return claim


def _beside() -> list[dict[str, Any]]:
    """Return what stands beside the pods."""
    selector = {"matchLabels": SELECTED}
    ports = [{"name": "http", "port": 80, "targetPort": "http", "nodePort": 30080}]
    backend = {"service": {"name": "web", "port": {"name": "http"}}}
    target = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    rules = [
        {"apiGroups": [""], "resources": ["pods", "pods/log"], "verbs": ["get", "list", "watch"]},
        {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["create"]},
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": ["web"], "verbs": ["get"]},
    ]
    subject = {"kind": "ServiceAccount", "name": "web", "namespace": "shop"}
    metrics = [{"type": "Resource", "resource": {"name": "cpu"}}]
    return [
        made("ConfigMap", data={"a": "1"}),
        made("Secret", type="Opaque", data={"password": "eA=="}),
        made("ServiceAccount", automountServiceAccountToken=False, secrets=[{"name": "web"}]),
        made("Service", spec={"type": "NodePort", "ports": ports, "selector": SELECTED}),
        made("Service", "headless", spec={"clusterIP": "None", "ports": ports}),
        made(
            "NetworkPolicy",
            spec={"podSelector": selector, "policyTypes": ["Ingress"], "egress": [{}]},
        ),
        made("PodDisruptionBudget", spec={"maxUnavailable": 1, "selector": selector}),
        made(
            "HorizontalPodAutoscaler",
            spec={"scaleTargetRef": target, "maxReplicas": 3, "metrics": metrics},
        ),
        made(
            "Ingress",
            spec={
                "ingressClassName": "nginx",
                "rules": [
                    {
                        "host": "web.site",
                        "http": {
                            "paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]
                        },
                    }
                ],
                "tls": [{"hosts": ["web.site"], "secretName": "web"}],
            },
        ),
        made("Role", rules=rules),
        made(
            "RoleBinding",
            roleRef={"apiGroup": GROUPS["Role"], "kind": "Role", "name": "web"},
            subjects=[subject],
        ),
    ]


def _workload(kind: str, **spec: Any) -> dict[str, Any]:
    whole = {"selector": {"matchLabels": SELECTED}, "template": TEMPLATE, **spec}
    return made(kind, spec=whole)


def _stateful() -> dict[str, Any]:
    claim = _claim("disk")
    claim["metadata"] = {"name": "disk"}
    return _workload(
        "StatefulSet",
        serviceName="headless",
        podManagementPolicy="Parallel",
        updateStrategy={"type": "RollingUpdate"},
        persistentVolumeClaimRetentionPolicy={"whenDeleted": "Retain", "whenScaled": "Retain"},
        volumeClaimTemplates=[claim],
    )


JOB = {"backoffLimit": 1, "ttlSecondsAfterFinished": 60, "template": TEMPLATE}
ORDINARY: dict[str, list[dict[str, Any]]] = {
    "a server": [
        _workload("Deployment", replicas=2, strategy={"type": "RollingUpdate"}),
        _claim(),
        *_beside(),
    ],
    "a database": [_stateful(), _claim(), *_beside()[:7]],
    "an agent": [_workload("DaemonSet", updateStrategy={}), _claim(), *_beside()[:3]],
    "jobs": [
        made("Job", spec=JOB),
        made("CronJob", spec={"schedule": "@daily", "jobTemplate": {"spec": JOB}}),
        _claim(),
        *_beside()[:3],
    ],
    "a pod": [made("Pod", spec=WORK), _claim(), *_beside()[:3]],
    "the account of everybody": [deployment(pod={"serviceAccountName": "default"})],
    "a claim of a stateful set": [
        _stateful(),
        _claim(),
        deployment(
            pod={"volumes": [{"name": "a", "persistentVolumeClaim": {"claimName": "disk-web-0"}}]}
        ),
        *_beside()[:3],
    ],
}

# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Table of the Kubernetes objects and fields that a chart may have. Data, no logic.

TABLE holds the fields of each kind by API group, whatever the version. A mapping lists the fields
of an object, and applies to each item of a list; a Row says what may stand in a field. The key `*`
of a mapping is for all fields that it does not list. What has no row is refused, and needs
`privileged: allow`.
"""

from __future__ import annotations

from collections import namedtuple

from ansible_collections.margrave.edge.plugins.module_utils._types import Any

# check   the name of a function of _chart_checks, which judges a value
# allows  data for the check: the allowed values, or the kind that a name refers to
# opens   the key of the site's policy that allows the rest, or nothing where none does
# reason  why the rest is refused
Row = namedtuple("Row", ("check", "allows", "opens", "reason"))

ANY = Row("anything", (), "", "")
AS_PRIVILEGED = "is as good as privileged, which is denied"
BEYOND = "reaches beyond the deployment"
FOREIGN = "is not of this deployment"


def one_of(*values: str, opens: str = "privileged", reason: str = AS_PRIVILEGED) -> Row:
    """Return a row for a field that takes these values alone."""
    return Row("one_of", values, opens, reason)


def own(kind: str) -> Row:
    """Return a row for the name of an object that has to be the deployment's own."""
    return Row("own", (kind,), "", FOREIGN)


def check(function: str, opens: str = "privileged", reason: str = AS_PRIVILEGED) -> Row:
    """Return a row whose values a function of the check judges."""
    return Row(function, (), opens, reason)


def closed(opens: str = "privileged", reason: str = AS_PRIVILEGED) -> Row:
    """Return a row for a field that has to be off, empty or absent."""
    return Row("closed", (), opens, reason)


def free(names: str) -> dict[str, Any]:
    """Return the rows of fields that may hold anything."""
    return dict.fromkeys(names.split(), ANY)


# Annotations with a domain are orders to controllers, known and unknown, so the harmless ones are
# listed. Others, such as `checksum/config`, need no listing.
ANNOTATIONS = (
    "app.kubernetes.io/*",
    "helm.sh/hook*",  # hooks are refused elsewhere
    "helm.sh/resource-policy",
    "kubectl.kubernetes.io/default-container",
    "kubectl.kubernetes.io/restartedAt",
    "kubernetes.io/change-cause",
    "kubernetes.io/description",
    "kubernetes.io/ingress.class",
    "nginx.ingress.kubernetes.io/backend-protocol",
    "nginx.ingress.kubernetes.io/force-ssl-redirect",
    "nginx.ingress.kubernetes.io/proxy-body-size",
    "nginx.ingress.kubernetes.io/proxy-connect-timeout",
    "nginx.ingress.kubernetes.io/proxy-read-timeout",
    "nginx.ingress.kubernetes.io/proxy-send-timeout",
    "nginx.ingress.kubernetes.io/ssl-redirect",
    "prometheus.io/*",
    "service.alpha.kubernetes.io/tolerate-unready-endpoints",
)
# These confine a pod as it is confined without them, and go by their value.
CONFINING_ANNOTATIONS = (
    "container.apparmor.security.beta.kubernetes.io/*",
    "container.seccomp.security.alpha.kubernetes.io/*",
    "seccomp.security.alpha.kubernetes.io/pod",
)
CONFINING_VALUES = ("runtime/default", "docker/default")
# Labels of a domain that Kubernetes, Helm or Margrave reads.
READ_LABELS = ("kubernetes.io", "k8s.io", "helm.sh", "margrave.")
LABELS = ("app.kubernetes.io/*", "helm.sh/chart")

METADATA = {
    "name": check("name", "", "is a name of Helm's own records"),
    "namespace": ANY,  # kubectl refuses another one than the deployment's
    "labels": check("labels", reason="is read by the cluster"),
    "annotations": check("annotations", "", "tells other programs what to do"),
}
SELECTOR = check("selector", reason="may select pods of other deployments")

CONFINEMENT = {
    **free("runAsUser runAsGroup runAsNonRoot"),
    "appArmorProfile": {"type": one_of("RuntimeDefault"), "localhostProfile": closed()},
    "seccompProfile": {"type": one_of("RuntimeDefault"), "localhostProfile": closed()},
    "seLinuxOptions": {},
    "windowsOptions": {},
}
SYSCTLS = (
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_wmem",
)
POD_SECURITY = {
    **CONFINEMENT,
    **free("fsGroup fsGroupChangePolicy supplementalGroups supplementalGroupsPolicy"),
    "sysctls": {"name": one_of(*SYSCTLS), "value": ANY},
}
CONTAINER_SECURITY = {
    **CONFINEMENT,
    **free("allowPrivilegeEscalation readOnlyRootFilesystem"),
    "capabilities": {
        "add": check("capability", "capabilities", "is not in capabilities"),
        "drop": ANY,
    },
    "privileged": closed(reason="is denied"),
    "procMount": one_of("Default"),
}

# The kubelet calls from the node itself: another host than the pod could be the node's own.
OTHER_HOST = closed("host_namespaces", "has the node itself call another host")
CALLS = {
    "exec": ANY,
    "grpc": ANY,
    "httpGet": {**free("httpHeaders path port scheme"), "host": OTHER_HOST},
    "sleep": ANY,
    "tcpSocket": {"port": ANY, "host": OTHER_HOST},
}
# Traffic to these ports would go to the pod instead of the node's own services: SSH, etcd, the API
# server, the beacon, RKE2's supervisor, and the parts of Kubernetes itself.
NODE_PORTS = (22, 2379, 2380, 2381, 6443, 9180, 9345, *range(10248, 10260))
NODE_PORT = check("port", "host_namespaces", "is a port of the node's own services")
# A load balancer on an edge node listens on the node's own addresses.
BALANCED = {"spec": {"ports": {"port": NODE_PORT, "*": ANY}, "*": ANY}, "*": ANY}
PROBE = {
    **CALLS,
    **free("failureThreshold initialDelaySeconds periodSeconds successThreshold"),
    **free("terminationGracePeriodSeconds timeoutSeconds"),
}
CONTAINER = {
    **free("args command imagePullPolicy name resizePolicy restartPolicy stdin stdinOnce"),
    **free("terminationMessagePath terminationMessagePolicy tty workingDir"),
    "env": {
        **free("name value"),
        "valueFrom": {
            **free("fieldRef resourceFieldRef"),
            "configMapKeyRef": {**free("key optional"), "name": own("configmap")},
            "secretKeyRef": {**free("key optional"), "name": own("secret")},
        },
    },
    "envFrom": {
        "prefix": ANY,
        "configMapRef": {"name": own("configmap"), "optional": ANY},
        "secretRef": {"name": own("secret"), "optional": ANY},
    },
    "image": check("image", "registries", "is not in registries"),
    "lifecycle": {"postStart": CALLS, "preStop": CALLS, "stopSignal": ANY},
    "livenessProbe": PROBE,
    "readinessProbe": PROBE,
    "startupProbe": PROBE,
    "ports": {**free("containerPort hostIP name protocol"), "hostPort": NODE_PORT},
    "resources": {
        "claims": closed("devices", "asks for devices"),
        "limits": check("resources", "devices", "is not in devices"),
        "requests": check("resources", "devices", "is not in devices"),
    },
    "securityContext": CONTAINER_SECURITY,
    "volumeDevices": {
        "name": ANY,
        "devicePath": check("device", "devices", "is not in devices"),
    },
    "volumeMounts": {
        **free("mountPath name readOnly recursiveReadOnly subPath subPathExpr"),
        "mountPropagation": one_of("None", "HostToContainer"),
    },
}

CLAIM = {
    **free("accessModes resources storageClassName volumeMode"),
    "selector": {},
    "volumeName": own("volume"),
}
HOST_PATH = {"path": check("host_path", "host_paths", "is not in host_paths"), "type": ANY}
FOREIGN_VOLUME = check("foreign_volume", "", "needs / in host_paths")
VOLUME = {
    **free("name downwardAPI"),
    "configMap": {**free("defaultMode items optional"), "name": own("configmap")},
    "emptyDir": free("medium sizeLimit"),
    "ephemeral": {"volumeClaimTemplate": {"metadata": METADATA, "spec": CLAIM}},
    "hostPath": HOST_PATH,
    "image": {"reference": CONTAINER["image"], "pullPolicy": ANY},
    "persistentVolumeClaim": {"claimName": own("volume"), "readOnly": ANY},
    "projected": {
        "defaultMode": ANY,
        "sources": {
            **free("downwardAPI serviceAccountToken"),
            "configMap": {**free("items optional"), "name": own("configmap")},
            "secret": {**free("items optional"), "name": own("secret")},
        },
    },
    "secret": {**free("defaultMode items optional"), "secretName": own("secret")},
    "*": FOREIGN_VOLUME,
}

HOST_NAMESPACE = closed("host_namespaces", "is denied")
POD = {
    **free("activeDeadlineSeconds affinity automountServiceAccountToken dnsConfig dnsPolicy"),
    **free("enableServiceLinks hostAliases hostUsers hostname nodeSelector os preemptionPolicy"),
    **free("readinessGates restartPolicy setHostnameAsFQDN shareProcessNamespace subdomain"),
    **free("terminationGracePeriodSeconds tolerations topologySpreadConstraints"),
    "containers": CONTAINER,
    "hostIPC": HOST_NAMESPACE,
    "hostNetwork": HOST_NAMESPACE,
    "hostPID": HOST_NAMESPACE,
    "imagePullSecrets": {"name": own("secret")},
    "initContainers": CONTAINER,
    "nodeName": closed(reason="goes past the scheduler"),
    "priorityClassName": check("priority", reason="is for the cluster's own pods"),
    "runtimeClassName": closed(reason="chooses another runtime"),
    "schedulerName": one_of("default-scheduler", reason="goes past the scheduler"),
    "securityContext": POD_SECURITY,
    "serviceAccount": own("serviceaccount"),
    "serviceAccountName": own("serviceaccount"),
    "volumes": VOLUME,
}
TEMPLATE = {"metadata": METADATA, "spec": POD}
JOB = {
    **free("activeDeadlineSeconds backoffLimit backoffLimitPerIndex completionMode completions"),
    **free("maxFailedIndexes parallelism podFailurePolicy podReplacementPolicy successPolicy"),
    **free("suspend ttlSecondsAfterFinished"),
    "template": TEMPLATE,
}
CONTROLLER = {**free("minReadySeconds revisionHistoryLimit selector"), "template": TEMPLATE}
BACKEND = {"service": {"name": own("service"), "port": ANY}}


def kind(**fields: Any) -> dict[str, Any]:
    """Return the fields of a kind, with those that each object has."""
    # The API server ignores a status here.
    return {**free("apiVersion kind status"), "metadata": METADATA, **fields}


TABLE = {
    "": {
        "ConfigMap": kind(**free("binaryData data immutable")),
        "PersistentVolume": kind(
            spec={
                **free(
                    "accessModes capacity mountOptions nodeAffinity storageClassName volumeMode"
                ),
                **free("persistentVolumeReclaimPolicy volumeAttributesClassName"),
                "claimRef": {
                    **free("apiVersion kind"),
                    "name": own("volume"),
                    "namespace": check("namespace", reason=BEYOND),
                },
                "hostPath": HOST_PATH,
                "local": {**HOST_PATH, "fsType": ANY},
                "*": FOREIGN_VOLUME,
            }
        ),
        "PersistentVolumeClaim": kind(spec=CLAIM),
        "Pod": kind(spec=POD),
        "Secret": kind(
            **free("data immutable stringData"),
            type=one_of(
                "Opaque",
                "kubernetes.io/basic-auth",
                "kubernetes.io/dockercfg",
                "kubernetes.io/dockerconfigjson",
                "kubernetes.io/ssh-auth",
                "kubernetes.io/tls",
                reason="is read by the cluster or by Helm",
            ),
        ),
        "Service": kind(
            spec={
                **free("allocateLoadBalancerNodePorts externalTrafficPolicy healthCheckNodePort"),
                **free("internalTrafficPolicy ipFamilies ipFamilyPolicy loadBalancerSourceRanges"),
                **free("ports publishNotReadyAddresses sessionAffinity sessionAffinityConfig"),
                **free("trafficDistribution"),
                "clusterIP": one_of("None", opens="host_namespaces", reason=BEYOND),
                "clusterIPs": one_of("None", opens="host_namespaces", reason=BEYOND),
                "externalIPs": closed("host_namespaces", "takes traffic of other addresses"),
                "externalName": closed("host_namespaces", BEYOND),
                "loadBalancerIP": closed("host_namespaces", "asks for an address of its own"),
                "selector": check("service_selector", reason=SELECTOR.reason),
                "type": one_of(
                    "ClusterIP", "LoadBalancer", "NodePort", opens="host_namespaces", reason=BEYOND
                ),
            }
        ),
        "ServiceAccount": kind(
            automountServiceAccountToken=ANY,
            imagePullSecrets={"name": own("secret")},
            secrets={"name": own("secret")},
        ),
    },
    "apps": {
        "DaemonSet": kind(spec={**CONTROLLER, "updateStrategy": ANY}),
        "Deployment": kind(
            spec={**CONTROLLER, **free("paused progressDeadlineSeconds replicas strategy")}
        ),
        "ReplicaSet": kind(spec={**CONTROLLER, "replicas": ANY}),
        "StatefulSet": kind(
            spec={
                **CONTROLLER,
                **free("ordinals podManagementPolicy replicas serviceName updateStrategy"),
                "persistentVolumeClaimRetentionPolicy": dict.fromkeys(
                    ("whenDeleted", "whenScaled"),
                    one_of("Retain", opens="", reason="would lose data"),
                ),
                "volumeClaimTemplates": kind(spec=CLAIM),
            }
        ),
    },
    "autoscaling": {
        "HorizontalPodAutoscaler": kind(
            spec={
                **free("behavior maxReplicas metrics minReplicas targetCPUUtilizationPercentage"),
                "scaleTargetRef": check("workload", reason=FOREIGN),
            }
        )
    },
    "batch": {
        "CronJob": kind(
            spec={
                **free("concurrencyPolicy failedJobsHistoryLimit schedule startingDeadlineSeconds"),
                **free("successfulJobsHistoryLimit suspend timeZone"),
                "jobTemplate": {"metadata": METADATA, "spec": JOB},
            }
        ),
        "Job": kind(spec=JOB),
    },
    "networking.k8s.io": {
        "Ingress": kind(
            spec={
                "defaultBackend": BACKEND,
                "ingressClassName": ANY,
                "rules": {
                    "host": ANY,
                    "http": {"paths": {**free("path pathType"), "backend": BACKEND}},
                },
                "tls": {"hosts": ANY, "secretName": own("secret")},
            }
        ),
        "NetworkPolicy": kind(spec={**free("egress ingress policyTypes"), "podSelector": SELECTOR}),
    },
    "policy": {
        "PodDisruptionBudget": kind(
            spec={
                **free("maxUnavailable minAvailable unhealthyPodEvictionPolicy"),
                "selector": SELECTOR,
            }
        )
    },
    "rbac.authorization.k8s.io": {
        "Role": kind(rules=check("rules")),
        "RoleBinding": kind(
            roleRef=check("role", reason=FOREIGN),
            subjects={
                **free("apiGroup"),
                "kind": one_of("ServiceAccount", reason="gives rights to others"),
                "name": check("subject", "", "gives rights to others"),
                "namespace": check("namespace", reason="gives rights to others"),
            },
        ),
    },
}

# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Which kinds of objects stay in a deployment's own namespace, and which rights do. Pure.

Lists of what is allowed: a cluster learns new kinds with every operator that is installed on it,
and some of those deploy whatever they are told, with rights of their own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

# By API group, whatever the version.
KINDS = {
    "": (
        "ConfigMap",
        "PersistentVolume",  # what it mounts is looked at
        "PersistentVolumeClaim",
        "Pod",
        "Secret",
        "Service",
        "ServiceAccount",
    ),
    "apps": ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    "autoscaling": ("HorizontalPodAutoscaler",),
    "batch": ("CronJob", "Job"),
    "networking.k8s.io": ("Ingress", "NetworkPolicy"),
    "policy": ("PodDisruptionBudget",),
    "rbac.authorization.k8s.io": ("Role", "RoleBinding"),
}
READING = {"get", "list", "watch"}
WRITING = {"create", "update", "patch", "delete"}
# What an application may write of its own namespace: enough to elect a leader and to say why.
WRITABLE = {"configmaps", "events", "leases"}
# Of others it is a way into containers: a connection to `pods/exec` is a `get` to Kubernetes.
HARMLESS_PARTS = {"log", "scale", "status"}


def far(one: dict) -> Iterator[str]:
    """In which ways an object reaches beyond its own namespace, or gives rights that do."""
    group, kind = _group(one), str(one.get("kind"))
    if kind not in KINDS.get(group, ()):
        yield f"{kind} of {group or 'the core'} may reach beyond the deployment's namespace"
    elif kind == "Role":
        yield from _rules(one.get("rules") or [])
    elif kind == "RoleBinding":
        role = one.get("roleRef") or {}
        # The cluster's own `view` shows no secrets.
        if role.get("kind") != "Role" and role.get("name") != "view":
            yield f"roleRef: {role.get('kind')} {role.get('name')} is not of the deployment's chart"


def _rules(rules: Iterable[dict]) -> Iterator[str]:
    for rule in rules:
        verbs, resources = set(rule.get("verbs") or []), set(rule.get("resources") or [])
        for resource in sorted(resources):
            beyond = verbs - _harmless(resource, bool(rule.get("resourceNames")))
            if beyond:
                yield f"rules: {', '.join(sorted(beyond))} of {resource} gives more than its own"


def _harmless(resource: str, named: bool) -> set[str]:
    """Verbs on a resource that give nobody more than the application's own."""
    whole, part = resource.partition("/")[::2]
    if whole == "*" or (part and part not in HARMLESS_PARTS):
        return set()
    # The namespace's other secrets may be another deployment's.
    if whole == "secrets":
        return READING if named else set()
    return READING | WRITING if resource in WRITABLE else READING


def _group(one: dict) -> str:
    group, slash, _version = str(one.get("apiVersion") or "").partition("/")
    return group if slash else ""

# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a chart rendered, held against the site's policy and what charts may do at all. Pure."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator

from ansible_collections.margrave.edge.plugins.module_utils._chart_kinds import far
from ansible_collections.margrave.edge.plugins.module_utils._errors import ConfigError
from ansible_collections.margrave.edge.plugins.module_utils._policy import (
    capability,
    is_below_any,
    registry_of,
)
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

KEEP = "helm.sh/resource-policy"
HOOK = "helm.sh/hook"
# Volumes that show a pod nothing but its own namespace.
PLAIN = (
    "name",
    "configMap",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
)
# What a PersistentVolume says beside where it lies.
ABOUT = (
    "accessModes",
    "capacity",
    "claimRef",
    "mountOptions",
    "nodeAffinity",
    "persistentVolumeReclaimPolicy",
    "storageClassName",
    "volumeAttributesClassName",
    "volumeMode",
)
HOST_NAMESPACES = ("hostNetwork", "hostPID", "hostIPC")


def check(component: str, objects: Iterable[dict], policy: dict) -> None:
    """Refuse what reaches further than the policy allows; all findings at once."""
    findings = [
        f"components.{component}: {one['kind']} {_name(one)}: {finding}"
        for one in objects
        for finding in _findings(one, policy)
    ]
    if findings:
        raise ConfigError(
            "policy",
            "; ".join(findings),
            "change the chart, or widen the policy of sites/<site>.yaml",
        )


def check_source(component: str, repository: str, policy: dict) -> None:
    """Refuse a chart of a registry that the policy does not name, before it is fetched."""
    registry = registry_of(repository.partition("://")[2])
    if not _named(registry, policy):
        raise ConfigError(
            "policy",
            f"components.{component}.repository: registry {registry} is not in registries",
            "widen the policy of sites/<site>.yaml, or have Git deliver the chart",
        )


def _named(registry: str, policy: dict) -> bool:
    return any(fnmatch.fnmatchcase(registry, one) for one in policy.get("registries") or [])


def pod_of(one: dict) -> dict:
    """The pod that an object makes or is, or nothing."""
    spec = one.get("spec") or {}
    if one.get("kind") == "Pod":
        return spec
    if one.get("kind") == "CronJob":
        spec = (spec.get("jobTemplate") or {}).get("spec") or {}
    template = spec.get("template")
    return (template.get("spec") or {}) if isinstance(template, dict) else {}


def containers(pod: dict) -> Iterator[dict]:
    """All containers of a pod."""
    for kind in ("initContainers", "containers", "ephemeralContainers"):
        yield from pod.get(kind) or []


def _name(one: dict) -> str:
    return str((one.get("metadata") or {}).get("name") or "")


def _findings(one: dict, policy: dict) -> Iterator[str]:
    marks = (one.get("metadata") or {}).get("annotations") or {}
    if HOOK in marks and not str(marks[HOOK]).startswith("test"):
        yield f"is a hook ({marks[HOOK]}): Margo's charts have none"
    if one.get("kind") == "CustomResourceDefinition":
        yield "Margo's charts do not manage definitions of resources"
    elif policy.get("privileged") != "allow":
        for finding in far(one):
            yield f"{finding}, which is as good as privileged, and that is denied"
    if one.get("kind") == "PersistentVolume":
        yield from _volume(one.get("spec") or {}, policy)
    if one.get("kind") == "PersistentVolumeClaim" and marks.get(KEEP) != "keep":
        yield f"would be lost with the release: annotate it {KEEP}: keep"
    pod = pod_of(one)
    yield from _pod(pod, policy)
    for container in containers(pod):
        for finding in _container(container, policy):
            yield f"container {container.get('name')}: {finding}"


def _pod(pod: dict, policy: dict) -> Iterator[str]:
    for word in HOST_NAMESPACES:
        if pod.get(word) and policy.get("host_namespaces") != "allow":
            yield f"{word}: is denied by host_namespaces"
    for volume in pod.get("volumes") or []:
        yield from _volume(volume, policy)
    yield from _confinement(pod.get("securityContext") or {}, policy)


def _volume(volume: dict, policy: dict) -> Iterator[str]:
    roots = policy.get("host_paths") or []
    for kind, told in volume.items():
        path = told.get("path") if isinstance(told, dict) else None
        if kind in ("hostPath", "local"):
            if not is_below_any(str(path), roots):
                yield f"{kind}: {path} is not in host_paths"
        elif kind == "image":
            yield from _image(str(told.get("reference") or ""), policy)
        elif kind not in (*PLAIN, *ABOUT) and "/" not in roots:
            yield f"{kind}: needs / in host_paths"


def _container(container: dict, policy: dict) -> Iterator[str]:
    yield from _image(str(container.get("image") or ""), policy)
    security = container.get("securityContext") or {}
    yield from _confinement(security, policy)
    allowed = policy.get("privileged") == "allow"
    if security.get("privileged") and not allowed:
        yield "privileged: is denied"
    known = {capability(one) for one in policy.get("capabilities") or []}
    for one in (security.get("capabilities") or {}).get("add") or []:
        if not allowed and capability(one) not in known:
            yield f"capabilities: {one} is not in capabilities"
    for device in container.get("volumeDevices") or []:
        if not _device(str(device.get("devicePath")), policy):
            yield f"volumeDevices: {device.get('devicePath')} is not in devices"
    for name in _resources(container):
        if "/" in name and not _device(name, policy):
            yield f"resources: {name} is not in devices"


def _image(image: str, policy: dict) -> Iterator[str]:
    registry = registry_of(image)
    if not _named(registry, policy):
        yield f"image: registry {registry} is not in registries"


def _resources(container: dict) -> set[str]:
    told = container.get("resources") or {}
    return {name for kind in ("limits", "requests") for name in told.get(kind) or {}}


def _device(name: str, policy: dict) -> bool:
    return any(fnmatch.fnmatchcase(name, one) for one in policy.get("devices") or [])


def _confinement(security: dict, policy: dict) -> Iterator[str]:
    if policy.get("privileged") == "allow":
        return
    for kind in ("seccompProfile", "appArmorProfile"):
        told: Any = security.get(kind) or {}
        if told.get("type") == "Unconfined":
            yield f"{kind}: Unconfined is as good as privileged, which is denied"
    if (security.get("seLinuxOptions") or {}).get("type"):
        yield "seLinuxOptions: another type is as good as privileged, which is denied"
    if security.get("procMount") == "Unmasked":
        yield "procMount: Unmasked is as good as privileged, which is denied"

# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""What a chart's objects are noted as: names, volumes, and how they differ later."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils import _objects, _release
from ansible_collections.margrave.edge.plugins.module_utils._chart_own import (
    mapping,
    mappings,
    name_of,
)
from ansible_collections.margrave.edge.plugins.module_utils._chart_policy import (
    containers,
    pod_of,
)
from ansible_collections.margrave.edge.plugins.module_utils._files import read_json
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import key
from ansible_collections.margrave.edge.plugins.module_utils._layout import Folder
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release

CLAIM = "PersistentVolumeClaim"
# Kinds that the API server takes as a whole in place of what is there.
REPLACEABLE = (
    *("ConfigMap", "Secret", "Service", "DaemonSet", "Deployment", "ReplicaSet", "StatefulSet"),
    *("HorizontalPodAutoscaler", "CronJob", "Ingress", "NetworkPolicy", "PodDisruptionBudget"),
    *("Role", "RoleBinding"),
)
# Drift that is no change of an object's content.
WHOLE = ("missing", "unhealthy", "extra")


def place(one: dict) -> str:
    namespace = one["metadata"].get("namespace") or ""
    return f"{namespace}/{key(one)}" if namespace else key(one)


def address_of(one: dict) -> dict:
    """Enough of an object to find it again; nothing of what it holds."""
    metadata = {name: one["metadata"].get(name) or "" for name in ("name", "namespace")}
    scaled = "replicas" in mapping(one.get("spec"))
    kept = {"apiVersion": one["apiVersion"], "kind": one["kind"], "scaled": scaled}
    return {**kept, "metadata": {name: text for name, text in metadata.items() if text}}


def stored(folder: Folder, release: Release, part: Part) -> list[dict]:
    found = read_json(_release.model_path(folder, release.release, part.name)) or {}
    return found.get("objects") or []


def forget_replicas(part: Part, stated: list[dict]) -> None:
    """A chart that states no number leaves it to an autoscaler."""
    for one in stated:
        if not one.get("scaled"):
            part.services.get(place(one), {}).pop("replicas", None)


def differs(known: dict, one: dict | None) -> list[tuple[str, str]]:
    if one is None:
        return [("missing", "it is not there")]
    found = list(_objects.differences(known, one))
    waiting = _objects.waiting_for(one)
    return [*found, ("unhealthy", waiting)] if waiting else found


def claims(objects: Iterable[dict]) -> list[str]:
    """Names of claims, with patterns for those that a stateful set makes per replica."""
    found = []
    for each in objects:
        if each["kind"] == CLAIM:
            found.append(name_of(each))
        templates = mappings(mapping(each.get("spec")).get("volumeClaimTemplates"))
        found += [f"{name_of(claim)}-{name_of(each)}-[0-9]*" for claim in templates]
    return sorted(found)


def as_rendered(rendered: dict, live: dict, release: str, namespace: str) -> dict:
    """Return a live object as its release renders it, with the notes by which Helm knows it.

    Replicas that the chart does not state are an autoscaler's.
    """
    metadata, spec = dict(rendered["metadata"]), dict(mapping(rendered.get("spec")))
    helms = {"meta.helm.sh/release-name": release, "meta.helm.sh/release-namespace": namespace}
    metadata["annotations"] = {**(metadata.get("annotations") or {}), **helms}
    managed = {"app.kubernetes.io/managed-by": "Helm"}
    metadata["labels"] = {**(metadata.get("labels") or {}), **managed}
    replicas = mapping(live.get("spec")).get("replicas")
    if "template" in spec and replicas is not None:
        spec.setdefault("replicas", replicas)
    return {**rendered, "metadata": metadata, **({"spec": spec} if spec else {})}


def images(objects: Iterable[dict]) -> dict[str, dict]:
    """Images of all containers, by object and container."""
    return {
        f"{each['kind']}/{name_of(each)}/{container.get('name')}": {
            "reference": container.get("image"),
            "id": "",
            "ours": False,
        }
        for each in objects
        for container in containers(pod_of(each))
    }

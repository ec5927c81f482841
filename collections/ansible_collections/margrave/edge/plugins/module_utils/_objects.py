# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Kubernetes objects: are they ready, has it certainly failed, and how do they differ. Pure."""

from __future__ import annotations

import calendar
import json
import time
from collections.abc import Iterable, Iterator, Mapping

from ansible_collections.margrave.edge.plugins.module_utils._chart_policy import (
    containers,
    pod_of,
)
from ansible_collections.margrave.edge.plugins.module_utils._digests import sha256
from ansible_collections.margrave.edge.plugins.module_utils._errors import (
    ConfigError,
    EdgeError,
    HealthError,
    ImageError,
)
from ansible_collections.margrave.edge.plugins.module_utils._health import CRASH_LOOP
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import key
from ansible_collections.margrave.edge.plugins.module_utils._pull_errors import pull_error
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

# What the kubelet says of a container that no waiting will start.
HOPELESS = {
    "CreateContainerConfigError": ConfigError,
    "CreateContainerError": ConfigError,
    "InvalidImageName": ImageError,
    "RunContainerError": ConfigError,
}
PULLING = ("ErrImagePull", "ImagePullBackOff")


def waiting_for(one: dict) -> str | None:
    """What an object still lacks, or None when it is ready."""
    spec, status = one.get("spec") or {}, one.get("status") or {}
    seen = int(status.get("observedGeneration") or 0)
    if one["kind"] in COUNTED and seen < int(one["metadata"].get("generation") or 0):
        return f"{key(one)} was not looked at yet"
    for wanted, has in COUNTED.get(one["kind"], _nothing)(spec, status):
        if has != wanted:
            return f"{key(one)}: {has} of {wanted} are ready"
    if one["kind"] == "Job" and not status.get("succeeded") and not _failed_job(status):
        return f"{key(one)} is not done"
    if one["kind"] == "Pod" and not _pod_ready(status):
        return f"{key(one)} is {status.get('phase')}"
    return None


def _nothing(_spec: dict, _status: dict) -> list[tuple[int, int]]:
    return []


def _deployment(spec: dict, status: dict) -> list[tuple[int, int]]:
    wanted = int(spec.get("replicas", 1))
    # Old pods that are still counted in `replicas` have to go before the new ones are all there is.
    counts = ("updatedReplicas", "availableReplicas", "replicas")
    return [(wanted, int(status.get(name) or 0)) for name in counts]


def _stateful(spec: dict, status: dict) -> list[tuple[int, int]]:
    wanted = int(spec.get("replicas", 1))
    same = status.get("currentRevision") == status.get("updateRevision")
    updated = wanted if same else int(status.get("updatedReplicas") or 0)
    return [(wanted, updated), (wanted, int(status.get("readyReplicas") or 0))]


def _daemons(_spec: dict, status: dict) -> list[tuple[int, int]]:
    wanted = int(status.get("desiredNumberScheduled") or 0)
    counts = ("updatedNumberScheduled", "numberAvailable")
    return [(wanted, int(status.get(name) or 0)) for name in counts]


COUNTED = {"Deployment": _deployment, "StatefulSet": _stateful, "DaemonSet": _daemons}


def _pod_ready(status: dict) -> bool:
    if status.get("phase") == "Succeeded":
        return True
    return any(
        one.get("type") == "Ready" and one.get("status") == "True"
        for one in status.get("conditions") or []
    )


def _failed_job(status: dict) -> bool:
    return any(
        one.get("type") == "Failed" and one.get("status") == "True"
        for one in status.get("conditions") or []
    )


def failure(
    objects: Iterable[dict],
    pods: Iterable[dict],
    restarts_before: Mapping[str, int],
    restarts: int = CRASH_LOOP,
) -> EdgeError | None:
    """The error that is certain by now, or None; so many restarts of a container are one."""
    for one in objects:
        if one["kind"] == "Job" and _failed_job(one.get("status") or {}):
            return HealthError("job-failed", f"{key(one)} failed", CURE)
    for pod in pods:
        for status in statuses(pod):
            found = _failed(pod, status, restarts_before, restarts)
            if found is not None:
                return found
    return None


def pull_trouble(pods: Iterable[dict]) -> EdgeError | None:
    """Why an image could not be pulled, or None when none is waited for."""
    for pod in pods:
        for status in statuses(pod):
            told = (status.get("state") or {}).get("waiting") or {}
            if told.get("reason") in PULLING:
                return pull_error(str(status.get("image")), str(told.get("message") or ""))
    return None


CURE = "look at the pod on the node: kubectl describe, kubectl logs"


def _failed(pod: dict, status: dict, before: Mapping[str, int], most: int) -> EdgeError | None:
    name = f"pod {pod['metadata']['name']}, container {status.get('name')}"
    told = (status.get("state") or {}).get("waiting") or {}
    reason, words = str(told.get("reason") or ""), str(told.get("message") or "")
    if reason in HOPELESS:
        return HOPELESS[reason]("cannot-start", f"{name}: {reason}: {words}", CURE)
    if reason in PULLING:
        error = pull_error(str(status.get("image")), words)
        # The site's own trouble may pass while we wait; what the release names wrongly does not.
        return error if error.kind in ("image", "auth", "disk") else None
    restarts = int(status.get("restartCount") or 0) - before.get(uid(pod, status), 0)
    if restarts >= most:
        times = "once" if restarts == 1 else f"{restarts} times"
        return HealthError("not-healthy", f"{name} crashed {times}", CURE)
    return None


def restarts(pods: Iterable[dict]) -> dict[str, int]:
    """How often each container was started again so far."""
    return {
        uid(pod, status): int(status.get("restartCount") or 0)
        for pod in pods
        for status in statuses(pod)
    }


def uid(pod: dict, status: dict) -> str:
    """Return the name of a pod's container that no other has."""
    return f"{pod['metadata']['uid']}/{status.get('name')}"


def statuses(pod: dict) -> Iterator[dict]:
    """Return the statuses of the containers of a pod, init containers first."""
    status = pod.get("status") or {}
    for kind in ("initContainerStatuses", "containerStatuses"):
        yield from status.get(kind) or []


def settling(
    pods: Iterable[dict], now: float, grace: float, since: float | None = None
) -> list[str]:
    """Containers that nothing probes and that have not run for the grace yet: they may still crash.

    To Kubernetes such a container is ready the moment that it runs. Counted `since` a time, all of
    them have to run for the grace from then on.
    """
    found = []
    for pod in pods:
        probed = {one["name"] for one in pod["spec"]["containers"] if one.get("readinessProbe")}
        for status in (pod.get("status") or {}).get("containerStatuses") or []:
            began = ((status.get("state") or {}).get("running") or {}).get("startedAt")
            skipped = since is None and status.get("name") in probed
            if began and not skipped and now - max(seconds(began), since or 0.0) < grace:
                found.append(f"Pod/{pod['metadata']['name']} has just begun to run")
    return found


def seconds(written: str) -> float:
    """Return a time of the API server as seconds."""
    return calendar.timegm(time.strptime(written, "%Y-%m-%dT%H:%M:%SZ"))


def pods_of(objects: list[dict], pods: Iterable[dict]) -> list[dict]:
    """The pods that these objects made, by their selectors, and those that are objects."""
    wanted = [
        ((one.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
        for one in objects
        if one["kind"] in COUNTED or one["kind"] == "Job"
    ]
    own = {one["metadata"]["name"] for one in objects if one["kind"] == "Pod"}
    return [
        pod
        for pod in pods
        # One that is on its way out says nothing of the release that comes.
        if not pod["metadata"].get("deletionTimestamp")
        and (
            pod["metadata"]["name"] in own
            or any(
                labels and labels.items() <= (pod["metadata"].get("labels") or {}).items()
                for labels in wanted
            )
        )
    ]


def facets(one: dict) -> dict[str, Any]:
    """What a person may change in an object, by category: compared with what it was when healthy.

    What the API server holds is compared with what it held, so its own defaults never differ.
    Replicas are told apart, because an autoscaler may change them rightfully.
    """
    pod = pod_of(one)
    if not pod:
        content = {name: one.get(name) for name in ("spec", "data", "binaryData", "stringData")}
        if one["kind"] in ("PersistentVolumeClaim", "ServiceAccount", "Namespace"):
            content = {}  # bound and filled by the cluster itself
        return {"changed": _hash(content)}
    parts = list(containers(pod))
    found: dict[str, Any] = {
        "image": {part["name"]: part.get("image") for part in parts},
        "environment": _hash([[part.get("env"), part.get("envFrom")] for part in parts]),
        "mounts": _hash([[part.get("volumeMounts") for part in parts], pod.get("volumes")]),
        "ports": _hash([part.get("ports") for part in parts]),
        "limits": _hash([part.get("resources") for part in parts]),
    }
    if one["kind"] in ("Deployment", "StatefulSet"):
        found["replicas"] = (one.get("spec") or {}).get("replicas")
    return found


def differences(known: Mapping[str, Any], one: dict) -> Iterator[tuple[str, str]]:
    """Category and sentence of each way in which an object differs from what it was."""
    now = facets(one)
    for category, value in known.items():
        if now.get(category) == value:
            continue
        if category == "replicas":
            yield category, f"{key(one)} has {now.get(category)} replicas instead of {value}"
        elif category == "image":
            yield category, f"{key(one)} runs another image"
        else:
            yield category, f"{key(one)} was changed" + WORDS.get(category, "")


WORDS = {
    "environment": " in its environment",
    "mounts": " in its mounts",
    "ports": " in its ports",
    "limits": " in its limits",
}


def _hash(value: object) -> str:
    return sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()[:16]

"""From documents to the arguments of a module call. Pure; no secret is put in here."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from margrave import durations
from margrave.documents.deployment import Component, Deployment
from margrave.documents.extensions import Extensions
from margrave.lifecycle import Kind
from margrave.planning import Step
from runner.store.values import Operation, Placement

# Downloads are not counted by any health time-out; this bounds them, generously, because a slow
# line is no reason to begin again. A call that is cut off is finished by the same call made again.
_DOWNLOAD_SECONDS: Final = 3600
_WORK_SECONDS: Final = 300
# Whatever a document asks for: a call that takes longer is cut off, and made again.
LONGEST_CALL: Final = 7 * 24 * 3600
# So much sooner the node gives up by itself: its answer still finds somebody who listens.
_WAY_SECONDS: Final = 30


def release_arguments(
    deployment: Deployment,
    extensions: Extensions,
    policy: Mapping[str, Any],
    components: Path,
) -> dict[str, Any]:
    """What workload_install and workload_update need beside the fence."""
    return {
        "deployment": deployment.id,
        "name": deployment.name,
        "namespace": deployment.namespace,
        "application": deployment.application_id,
        "version": deployment.version,
        "revision": deployment.revision,
        "profile": deployment.profile_type,
        "components": [_component(deployment, one, components) for one in deployment.components],
        "health": _health(extensions),
        "policy": dict(policy),
    }


def rollback_arguments(
    deployment: str, release: str | None, extensions: Extensions, policy: Mapping[str, Any]
) -> dict[str, Any]:
    """What workload_rollback needs beside the fence: the way back is on the node."""
    return {
        "deployment": deployment,
        "to_release": release,
        "health": _health(extensions),
        "policy": dict(policy),
    }


def proof_arguments(step: Step, placement: Placement, extensions: Extensions) -> dict[str, Any]:
    """Which release is proven, and for how long one has to prove itself that was unstable."""
    stable = durations.seconds(extensions.health.stable) if step.prove else 0
    return {"proven": placement.good_release or "", "prove": stable}


def proves(operation: Operation) -> bool:
    """Whether the operation's own success proves its release."""
    return bool(operation.arguments.get("prove"))


def delete_arguments(placement: Placement) -> dict[str, Any]:
    """What workload_delete needs beside the fence. Named volumes stay."""
    return {"deployment": placement.deployment, "volumes": "keep"}


def traced(arguments: Mapping[str, Any], trace: str) -> dict[str, Any]:
    """The same with the id that the call is made for, where there is one."""
    return {**arguments, "trace": trace} if trace else dict(arguments)


def trace_of(operation: Operation) -> str:
    """The id that an operation is done for; empty when nobody knows it."""
    return str(operation.arguments.get("trace") or "")


def takes_off(operation: Operation) -> bool:
    """Whether a cancelled install is being taken off the node again."""
    return operation.kind is Kind.INSTALL and "volumes" in operation.arguments


def goes_back(operation: Operation) -> bool:
    """Whether its release is on the node already, and Git does not want it."""
    return "to_release" in operation.arguments


def called(operation: Operation) -> Kind:
    """The module that is called for an operation, which may differ from what it is told as."""
    if takes_off(operation):
        return Kind.DELETE
    # Healing what was gone back to is an update by its state, and on the node a way back.
    return Kind.ROLLBACK if goes_back(operation) else operation.kind


def leads_on(operation: Operation) -> bool:
    """Whether it leads to something new; all else is finished, whatever Git wants meanwhile."""
    return called(operation) in (Kind.INSTALL, Kind.UPDATE)


def deadline(kind: Kind, arguments: Mapping[str, Any]) -> int:
    """After how many seconds a call is given up on this side."""
    if kind is Kind.DELETE:
        return _WORK_SECONDS
    health = arguments["health"]["timeout"] + arguments["health"]["grace"]
    limits = [one["timeout"] or health for one in arguments.get("components", [])] or [health]
    # Twice: a release that fails is followed, within the call, by the one before it.
    work = 2 * sum(limits) + len(limits) * int(arguments.get("prove") or 0) + _WORK_SECONDS
    download = _DOWNLOAD_SECONDS if kind in (Kind.INSTALL, Kind.UPDATE) else 0
    return min(int(work + download), LONGEST_CALL)


def on_node(deadline: int) -> int:
    """After how many seconds the module ends by itself, also when the runner is gone."""
    return max(1, deadline - _WAY_SECONDS)


def _health(extensions: Extensions) -> dict[str, int]:
    return {
        "timeout": durations.seconds(extensions.health.timeout),
        "grace": durations.seconds(extensions.health.grace),
    }


def _component(deployment: Deployment, one: Component, folder: Path) -> dict[str, Any]:
    own = None if deployment.writes_health_timeout else one.timeout_seconds
    if deployment.profile_type == "helm":
        given = {"values": deployment.targeted(one.name)}
    else:
        given = {"variables": deployment.variables(one.name)}
    return {"name": one.name, **_content(one, folder), **given, "timeout": own}


def _content(one: Component, folder: Path) -> dict[str, Any]:
    """What Git delivered; a chart that it did not is for the node to pull."""
    if one.source is None:
        return {"repository": one.repository, "revision": one.revision}
    name = one.source.split("/")[1]
    return {"src": str(folder / name), "digest": f"sha256:{name}"}

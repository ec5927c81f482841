# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the deployments on a node stand: one look at engine and folders, nothing written."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ansible_collections.margrave.edge.plugins.module_utils import (
    _baseline,
    _compare,
    _driver,
    _engines,
    _release,
    _request,
    _stability,
)
from ansible_collections.margrave.edge.plugins.module_utils._baseline import Disturbance
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._compare import Drift
from ansible_collections.margrave.edge.plugins.module_utils._containers import DEPLOYMENT
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._errors import EngineError
from ansible_collections.margrave.edge.plugins.module_utils._journal import Journal
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._types import Any

AT_WORK = {
    "install": "INSTALLING",
    "update": "UPDATING",
    "rollback": "ROLLINGBACK",
    "delete": "DELETING",
}


def workloads(layout: Layout, deployment: str | None) -> list[dict]:
    """Each deployment that has a folder or containers here, or the one that is asked for."""
    _driver.here()
    containers, volumes = _of_engines(layout, deployment)
    ids = (name for name in layout.known() if _request.UUID.fullmatch(name))
    known = set(ids) | set(containers)
    wanted = known if deployment is None else known & {deployment}
    found = []
    for name in sorted(wanted):
        call = Call(_request.read({"deployment": name}), "info", layout, check=True)
        if call.stored_profile() == "helm":
            seen, kept = call.driver.look(), call.driver.remains().volumes
            found.append(_workload(call, seen, kept, call.driver, call.driver.disturbances))
        else:
            mine = containers.get(name, [])
            kept = volumes.get(name, [])
            found.append(_workload(call, mine, kept, _compare, _stability.disturbances))
    return found


def _of_engines(
    layout: Layout, deployment: str | None
) -> tuple[dict[str, list], dict[str, list[str]]]:
    """Containers and names of volumes by deployment: one look at each engine for all of them."""
    containers: dict[str, list] = {}
    volumes: dict[str, list[str]] = {}
    default = _engines.detect()
    for engine in _engines.all_here():
        try:
            _look_at(engine, deployment, containers, volumes)
        except EngineError:
            # One that nothing runs on may be ill: it is nobody's business here.
            if engine == default or engine.name in _in_use(layout):
                raise
    return containers, volumes


def _look_at(
    engine: Engine,
    deployment: str | None,
    containers: dict[str, list],
    volumes: dict[str, list[str]],
) -> None:
    label = DEPLOYMENT if deployment is None else f"{DEPLOYMENT}={deployment}"
    for one in engine.containers([label]):
        owner = one.labels[DEPLOYMENT]
        # Anybody may write such a label; what is no id is none of ours.
        if not _request.UUID.fullmatch(owner):
            continue
        # Of all deployments one list has to do; of one that is asked for more can be told.
        seen = engine.closely(one) if deployment else one
        containers.setdefault(owner, []).append(engine.counted(seen))
    for each in engine.volumes([label]):
        owner = (each.get("Labels") or {}).get(DEPLOYMENT, "")
        volumes.setdefault(owner, []).append(each["Name"])


def _in_use(layout: Layout) -> set[str]:
    """Engines that deployments are noted to run on."""
    return {_release.engine_of(layout.deployment(name)) for name in layout.known()}


def _workload(
    call: Call,
    seen: Iterable[Any],
    volumes: list[str],
    judge: Any,
    disturbances_of: Callable[..., list[Disturbance]],
) -> dict:
    """One entry; `judge` has drift and health for what was seen."""
    folder, name = call.folder, call.request.deployment
    current, previous, following = (
        _release.load(folder, folder.linked(name)) for name in ("current", "previous", "next")
    )
    notes = Journal.unfinished(folder)
    differences = judge.drift(current, seen) if current else []
    baseline = _baseline.load(call.layout, name, current.release) if current else None
    disturbances = disturbances_of(current, seen, baseline) if current else []
    recent = [one for one in disturbances if one.recent]
    health = judge.health(current, seen)
    found = {
        "deployment": name,
        "name": current.name if current else "",
        "application": current.application if current else "",
        "profile": current.profile if current else "",
        "revision": current.revision if current else None,
        "version": current.version if current else None,
        "release": current.release if current else None,
        "previous_revision": previous.revision if previous else None,
        "next_revision": following.revision if following else None,
        "state": _state(call, notes, current, following),
        "health": "degraded" if health == "healthy" and recent else health,
        "stability": {
            "seconds": round(_baseline.now() - baseline.at, 1) if baseline else None,
            "disturbances": [one.as_dict() for one in disturbances],
        },
        "drift": [one.as_dict() for one in differences],
        "components": _components(current, differences, recent),
        "volumes": sorted(volumes),
    }
    return {**found, "journal": notes} if notes else found


def _state(
    call: Call,
    notes: dict | None,
    current: _release.Release | None,
    following: _release.Release | None,
) -> str:
    if notes:
        return AT_WORK.get(str(notes.get("kind")), "FAILED")
    if current:
        return "INSTALLED"
    # Fetching ahead keeps no journal: where there is one, something was tried, and failed.
    return "PREFETCHED" if following and not Journal.stored(call.folder) else "FAILED"


def _components(
    current: _release.Release | None, differences: list[Drift], recent: list[Disturbance]
) -> list[dict]:
    if current is None:
        return []
    differing = {one.component: one.detail for one in differences}
    disturbed = {one.component: one.detail for one in recent}
    found = []
    for part in current.parts:
        # Pods do not name their component.
        detail = disturbed.get(part.name) or disturbed.get("")
        error = _error("unstable", detail, LOGS) if detail else None
        if part.name in differing:
            error = _error("drift", differing[part.name], MENDS)
        state = "FAILED" if part.name in differing else "INSTALLED"
        found.append({"name": part.name, "state": state, "error": error})
    return found


MENDS = "install the same revision again: it mends what differs"
LOGS = "look at the container's log on the node"


def _error(code: str, detail: str, cure: str) -> dict[str, str]:
    return {"class": "health", "code": code, "message": detail, "cure": cure}

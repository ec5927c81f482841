# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""How the deployments on a node stand: one look at engine and folders, nothing written."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils import _release
from ansible_collections.margrave.edge.plugins.module_utils._compare import drift, health
from ansible_collections.margrave.edge.plugins.module_utils._containers import (
    DEPLOYMENT,
    Container,
)
from ansible_collections.margrave.edge.plugins.module_utils._engine import Engine
from ansible_collections.margrave.edge.plugins.module_utils._journal import Journal
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout

AT_WORK = {
    "install": "INSTALLING",
    "update": "UPDATING",
    "rollback": "ROLLINGBACK",
    "delete": "DELETING",
}


def workloads(layout: Layout, engine: Engine, deployment: str | None) -> list[dict]:
    """Each deployment that has a folder or containers here, or the one that is asked for."""
    label = DEPLOYMENT if deployment is None else f"{DEPLOYMENT}={deployment}"
    containers = engine.containers([label])
    volumes = engine.volumes([label])
    known = set(layout.known()) | {one.labels[DEPLOYMENT] for one in containers}
    wanted = known if deployment is None else known & {deployment}
    return [_workload(layout, name, containers, volumes) for name in sorted(wanted)]


def _workload(
    layout: Layout, deployment: str, containers: Iterable[Container], volumes: Iterable[dict]
) -> dict:
    folder = layout.deployment(deployment)
    mine = [one for one in containers if one.labels.get(DEPLOYMENT) == deployment]
    current = _release.load(folder, folder.linked("current"))
    previous = _release.load(folder, folder.linked("previous"))
    notes = Journal.unfinished(folder)
    found = {
        "deployment": deployment,
        "name": current.name if current else "",
        "application": current.application if current else "",
        "revision": current.revision if current else None,
        "version": current.version if current else None,
        "release": current.release if current else None,
        "previous_revision": previous.revision if previous else None,
        "state": _state(notes, current is not None),
        "health": health(current, mine),
        "drift": [one.as_dict() for one in drift(current, mine)] if current else [],
        "components": _components(current, mine),
        "volumes": sorted(
            one["Name"]
            for one in volumes
            if (one.get("Labels") or {}).get(DEPLOYMENT) == deployment
        ),
    }
    return {**found, "journal": notes} if notes else found


def _state(notes: dict | None, has_current: bool) -> str:
    if notes:
        return AT_WORK.get(str(notes.get("kind")), "FAILED")
    return "INSTALLED" if has_current else "FAILED"


def _components(current: _release.Release | None, mine: list[Container]) -> list[dict]:
    if current is None:
        return []
    differing = {one.component: one.detail for one in drift(current, mine)}
    return [
        {
            "name": part.name,
            "state": "FAILED" if part.name in differing else "INSTALLED",
            "error": _error(differing[part.name]) if part.name in differing else None,
        }
        for part in current.parts
    ]


def _error(detail: str) -> dict[str, str]:
    return {
        "class": "health",
        "code": "drift",
        "message": detail,
        "cure": "install the same revision again: it mends what differs",
    }

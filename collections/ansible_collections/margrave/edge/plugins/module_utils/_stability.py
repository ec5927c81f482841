# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Disturbances of containers since the baseline: restarts, exits, OOM kills, failed health checks.

A restart by a person, by the engine's own restart or by the machine is none: the engines count only
their own restarts of a container that ended, from zero after any other start.
"""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils._baseline import (
    BOOTING,
    RECOVERED,
    Baseline,
    Disturbance,
    machine_started,
    now,
    started,
)
from ansible_collections.margrave.edge.plugins.module_utils._containers import Container
from ansible_collections.margrave.edge.plugins.module_utils._release import Release

ENDED = ("exited", "dead")
# The engine starts these again whenever they end: one that stays down was stopped by a person.
ALWAYS = ("always", "unless-stopped")


def disturbances(
    release: Release, containers: Iterable[Container], baseline: Baseline | None
) -> list[Disturbance]:
    """Return what happened to a release's containers since the baseline."""
    services = {
        (part.name, service): known
        for part in release.parts
        for service, known in part.services.items()
    }
    found: list[Disturbance] = []
    for container in containers:
        known = services.get((container.component, container.service))
        if known is not None:
            found += _of_container(container, known, baseline)
    return found


def _of_container(
    container: Container, known: dict, baseline: Baseline | None
) -> Iterable[Disturbance]:
    begun = started(container.pid) if container.pid and container.state == "running" else None
    count = _restarts(container, baseline, begun)
    words = []
    if count > 0:
        times = "once" if count == 1 else f"{count} times"
        code = f" (exit code {container.exit_code})" if container.exit_code else ""
        words.append(f"restarted {times}{code}")
    if container.state in ENDED and _failed(container, known):
        words.append(f"ended with exit code {container.exit_code}")
    if container.health == "unhealthy":
        words.append("is unhealthy")
    if not words:
        return
    if container.oom_killed:
        words.append("was killed for using too much memory")
    only_restarted = count == 1 and len(words) == 1 and begun is not None
    yield Disturbance(
        component=container.component,
        service=container.service,
        container=container.name,
        detail=f"{container.service} " + ", ".join(words),
        restarts=max(count, 0),
        exit_code=container.exit_code,
        oom_killed=container.oom_killed,
        health=container.health,
        recent=container.state != "running"
        or container.health == "unhealthy"
        or begun is None
        or now() - begun < RECOVERED,
        after=begun - baseline.at if baseline and begun is not None and only_restarted else None,
    )


def _restarts(container: Container, baseline: Baseline | None, begun: float | None) -> int:
    """Return how often the engine restarted a container since the baseline.

    Without a baseline only a restart of the last minute counts, and none that the machine's own
    start explains.
    """
    if baseline is not None:
        return container.restarts - baseline.restarts.get(container.id, 0)
    if container.state == "restarting":
        return container.restarts
    if begun is None or begun - machine_started() < BOOTING or now() - begun > RECOVERED:
        return 0
    return container.restarts


def _failed(container: Container, known: dict) -> bool:
    policy = str(known.get("restart") or "").partition(":")[0]
    return policy not in ALWAYS and bool(container.exit_code)

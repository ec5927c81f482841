# Copyright: (c) 2026, the Margrave contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later

"""Disturbances of a chart's pods since the baseline: restarts, exits, OOM kills."""

from __future__ import annotations

from collections.abc import Iterable

from ansible_collections.margrave.edge.plugins.module_utils import _objects
from ansible_collections.margrave.edge.plugins.module_utils._baseline import (
    BOOTING,
    RECOVERED,
    Baseline,
    Disturbance,
)


def disturbances(
    pods: Iterable[dict], baseline: Baseline | None, now: float, booted: float
) -> list[Disturbance]:
    """Return what happened to pods since the baseline; `now` and `booted` are wall clock times.

    Without a baseline only a restart of the last minute counts, and none that the machine's own
    start explains.
    """
    found = []
    for pod in pods:
        for status in _objects.statuses(pod):
            count, begun = int(status.get("restartCount") or 0), _begun(status)
            recent = begun is None or now - begun < RECOVERED
            if baseline is not None:
                count -= baseline.restarts.get(_objects.uid(pod, status), 0)
            elif not recent or (begun or now) - booted < BOOTING:
                continue
            if count > 0:
                found.append(_disturbance(pod, status, count, recent=recent))
    return found


def _begun(status: dict) -> float | None:
    written = ((status.get("state") or {}).get("running") or {}).get("startedAt")
    return _objects.seconds(written) if written else None


def _disturbance(pod: dict, status: dict, count: int, *, recent: bool) -> Disturbance:
    ended = (status.get("lastState") or {}).get("terminated") or {}
    code, oom_killed = int(ended.get("exitCode") or 0), ended.get("reason") == "OOMKilled"
    name = str(pod["metadata"]["name"])
    times = "once" if count == 1 else f"{count} times"
    words = f"pod {name}, container {status.get('name')} restarted {times}"
    words += f" (exit code {code})" if code else ""
    return Disturbance(
        component="",
        service=str(status.get("name") or ""),
        container=name,
        detail=words + (", was killed for using too much memory" if oom_killed else ""),
        restarts=count,
        exit_code=code,
        oom_killed=oom_killed,
        health="",
        recent=recent,
    )

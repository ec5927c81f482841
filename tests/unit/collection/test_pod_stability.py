"""Restarts of a chart's pods after the baseline are counted, with their cause."""

from __future__ import annotations

import calendar
import time
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _objects, _pod_stability
from ansible_collections.margrave.edge.plugins.module_utils._baseline import Baseline

NOW = float(calendar.timegm((2026, 3, 2, 12, 0, 0)))
BOOTED = NOW - 86_400


def _pod(count: int, ran: float, reason: str = "Error") -> dict[str, Any]:
    begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(NOW - ran))
    status = {
        "name": "web",
        "restartCount": count,
        "state": {"running": {"startedAt": begun}},
        "lastState": {"terminated": {"exitCode": 137, "reason": reason}},
    }
    return {"metadata": {"name": "web-1", "uid": "u"}, "status": {"containerStatuses": [status]}}


def _found(pod: dict[str, Any], before: int | None) -> list[dict[str, Any]]:
    baseline = None if before is None else Baseline("a" * 64, 0.0, {"u/web": before})
    found = _pod_stability.disturbances([pod], baseline, NOW, BOOTED)
    return [each.as_dict() for each in found]


def test_restarts_are_counted_from_the_baseline() -> None:
    """What restarted before it is no disturbance."""
    assert _found(_pod(2, 10), before=2) == []
    (found,) = _found(_pod(4, 10, "OOMKilled"), before=2)
    assert (found["restarts"], found["exit_code"], found["oom_killed"]) == (2, 137, True)
    assert found["recent"]
    assert not _found(_pod(4, 600), before=2)[0]["recent"]


@pytest.mark.parametrize(("ran", "counts"), [(10, True), (600, False), (86_390, False)])
def test_without_a_baseline_only_a_late_restart_counts(ran: float, *, counts: bool) -> None:
    """A machine that was started explains the rest."""
    assert bool(_found(_pod(4, ran), before=None)) is counts


def test_a_pod_that_has_to_prove_itself_runs_for_the_whole_time() -> None:
    """Its probes do not shorten it, nor does what it ran before."""
    pod = _pod(0, 600) | {"spec": {"containers": [{"name": "web", "readinessProbe": {}}]}}
    assert _objects.settling([pod], NOW, 60.0) == []
    assert _objects.settling([pod], NOW, 60.0, since=NOW - 59) != []
    assert _objects.settling([pod], NOW, 60.0, since=NOW - 60) == []
    error = _objects.failure([], [_pod(1, 5)], {}, 1)
    assert error is not None
    assert "crashed once" in error.message

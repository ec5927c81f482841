"""Waiting for a chart on a cluster that is slow to answer."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any, cast

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _helm_wait
from ansible_collections.margrave.edge.plugins.module_utils._call import Call
from ansible_collections.margrave.edge.plugins.module_utils._errors import HealthError
from ansible_collections.margrave.edge.plugins.module_utils._kubernetes import Cluster
from ansible_collections.margrave.edge.plugins.module_utils._release import Release

SLOW = 6.0  # seconds until an answer is here; it is of the moment that was asked about
GRACE = 5


class Clock:
    """A clock that moves when somebody waits."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def time(self) -> float:
        return self.now

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


class SlowCluster:
    """One pod that begins, runs for a moment and crashes, again and again."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._begun = clock.now
        self.looks = 0

    def live(self, stated: list[dict[str, Any]]) -> list[dict[str, Any]]:
        del stated
        return [self._pod()]

    def items(self, kind: str, namespace: str) -> list[dict[str, Any]]:
        del kind, namespace
        self.looks += 1
        told = [self._pod()]
        self._clock.sleep(SLOW)
        return told

    def _pod(self) -> dict[str, Any]:
        crashes = int((self._clock.now - self._begun) // 4)
        began = self._begun + 4 * crashes
        written = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(began))
        told = {
            "name": "it",
            "restartCount": crashes,
            "state": {"running": {"startedAt": written}},
        }
        return {
            "kind": "Pod",
            "metadata": {"name": "crashing", "uid": "u"},
            "spec": {"containers": [{"name": "it"}]},
            "status": {
                "phase": "Running",
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [told],
            },
        }


def test_an_answer_that_took_long_makes_nothing_older(monkeypatch: pytest.MonkeyPatch) -> None:
    """What had run for a moment when it was asked about is no proof when the answer is here."""
    clock = Clock()
    monkeypatch.setattr(_helm_wait, "time", clock)
    cluster = SlowCluster(clock)
    call = cast(Call, SimpleNamespace(safe_point=lambda: None, proving=0.0))
    release = cast(Release, SimpleNamespace(health={"grace": GRACE}, namespace="default"))

    with pytest.raises(HealthError, match="crashed"):
        _helm_wait.wait(cast(Cluster, cluster), call, [{}], {}, clock.now + 600, release, 600)
    assert cluster.looks > 1


class LateCluster(SlowCluster):
    """One pod that ends after a while and begins again; the API server hears late of its end."""

    def _pod(self) -> dict[str, Any]:
        passed = self._clock.now - self._begun
        pod = super()._pod()
        [container] = pod["status"]["containerStatuses"]
        container["restartCount"] = int(passed >= 30)
        if 8 <= passed < 30:
            container["state"] = {"waiting": {"reason": "CrashLoopBackOff"}}
        return pod


def test_a_release_that_proves_itself_runs_for_the_whole_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A pod that is said to be ready while its container waits for its next start is no proof."""
    clock = Clock()
    monkeypatch.setattr(_helm_wait, "time", clock)
    cluster = LateCluster(clock)
    call = cast(Call, SimpleNamespace(safe_point=lambda: None, proving=60.0))
    release = cast(Release, SimpleNamespace(health={"grace": GRACE}, namespace="default"))

    with pytest.raises(HealthError, match="crashed once"):
        _helm_wait.wait(cast(Cluster, cluster), call, [{}], {}, clock.now + 600, release, 600)

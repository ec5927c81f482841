"""What disturbs containers after the baseline, and what people or a boot explain."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _baseline, _stability
from ansible_collections.margrave.edge.plugins.module_utils._baseline import Baseline
from ansible_collections.margrave.edge.plugins.module_utils._containers import (
    COMPONENT,
    SERVICE,
    Container,
    from_docker,
)
from ansible_collections.margrave.edge.plugins.module_utils._layout import Layout
from ansible_collections.margrave.edge.plugins.module_utils._release import Part, Release

AT = 1000.0
BOOT = 100.0
PID = 4321


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """The time now and when the container's process began, for a test to set."""
    times = {"now": AT + 600.0, "begun": AT - 5.0}
    monkeypatch.setattr(_stability, "now", lambda: times["now"])
    monkeypatch.setattr(_stability, "machine_started", lambda: BOOT)
    monkeypatch.setattr(_stability, "started", lambda _pid: times["begun"])
    return times


def _container(**facts: Any) -> Container:
    labels = {SERVICE: "web", COMPONENT: "shop"}
    given = {"id": "1", "name": "web-1", "image": "", "image_id": "", "state": "running"}
    return Container(**{**given, "health": "", "labels": labels, "pid": PID, **facts})


def _release(restart: str = "unless-stopped") -> Release:
    part = Part("shop", "sha256:0", "project", services={"web": {"restart": restart}})
    return Release("a" * 64, "sha256:0", "1.0.0", "shop", "shop", {}, [part], proven=True)


def _found(
    container: Container, restart: str = "unless-stopped", before: int | None = 0
) -> list[_baseline.Disturbance]:
    baseline = None if before is None else Baseline("a" * 64, AT, {"1": before})
    return _stability.disturbances(_release(restart), [container], baseline)


def test_what_runs_on_is_not_disturbed(clock: dict[str, float]) -> None:
    """Neither is what restarted before the baseline."""
    assert _found(_container(restarts=4), before=4) == []
    assert _found(_container()) == []


def test_a_single_restart_has_its_time(clock: dict[str, float]) -> None:
    """So a late look can tell that it was after the window."""
    clock["begun"] = AT + 75.0
    (found,) = _found(_container(restarts=1, exit_code=3))
    assert (found.restarts, found.exit_code, found.after) == (1, 3, 75.0)
    assert found.detail == "web restarted once (exit code 3)"
    assert not found.recent


def test_of_several_restarts_the_first_is_unknown(clock: dict[str, float]) -> None:
    """They may have begun at any time."""
    clock["begun"] = clock["now"] - 3.0
    (found,) = _found(_container(restarts=6), before=4)
    assert (found.restarts, found.after, found.recent) == (2, None, True)


@pytest.mark.parametrize(
    ("restart", "code", "disturbed"),
    [
        ("no", 0, False),
        ("no", 1, True),
        ("", 1, True),
        ("on-failure:3", 1, True),
        ("unless-stopped", 137, False),
        ("always", 1, False),
    ],
)
def test_an_exit_counts_where_the_engine_leaves_it_so(
    clock: dict[str, float], restart: str, code: int, *, disturbed: bool
) -> None:
    """What the engine restarts always, and stays down, was stopped by a person."""
    found = _found(_container(state="exited", pid=0, exit_code=code), restart)
    assert bool(found) is disturbed


def test_what_is_unhealthy_or_was_out_of_memory_is_named(clock: dict[str, float]) -> None:
    """The reason is in its words."""
    (found,) = _found(_container(health="unhealthy"))
    assert (found.detail, found.recent) == ("web is unhealthy", True)
    (found,) = _found(_container(state="restarting", restarts=2, pid=0, oom_killed=True))
    assert "memory" in found.detail


def test_without_a_baseline_only_a_late_restart_counts(clock: dict[str, float]) -> None:
    """After the machine was started every count may be from before."""
    clock["begun"] = BOOT + 10.0
    clock["now"] = BOOT + 30.0
    assert _found(_container(restarts=7), before=None) == []
    clock["begun"], clock["now"] = BOOT + 500.0, BOOT + 510.0
    assert _found(_container(restarts=7), before=None)[0].restarts == 7
    clock["now"] = BOOT + 1000.0
    assert _found(_container(restarts=7), before=None) == []


def test_a_baseline_is_of_one_release(tmp_path: Path) -> None:
    """That of another release, or none, is none; what is deleted leaves none behind."""
    layout = Layout(str(tmp_path / "state"), str(tmp_path / "run"))
    _baseline.store(layout, "shop", "a" * 64, {"1": 2})
    found = _baseline.load(layout, "shop", "a" * 64)
    assert found is not None
    assert found.restarts == {"1": 2}
    assert found.at <= _baseline.now()
    assert _baseline.load(layout, "shop", "b" * 64) is None
    _baseline.forget(layout, "shop")
    assert _baseline.load(layout, "shop", "a" * 64) is None


@pytest.mark.parametrize(
    ("status", "long"),
    [("Up 3 hours", True), ("Up About an hour (healthy)", True), ("Up 59 minutes", False)],
)
def test_docker_tells_what_runs_for_long(status: str, *, long: bool) -> None:
    """Such a container needs no request of its own."""
    told = {"Id": "1", "Names": ["/web"], "State": "running", "Status": status}
    assert from_docker(told).runs_long is long

"""Failure is told as soon as it is certain, health only when it is."""

from __future__ import annotations

import time
from typing import Any

import pytest
from ansible_collections.margrave.edge.plugins.module_utils import _health
from ansible_collections.margrave.edge.plugins.module_utils._containers import SERVICE, Container
from ansible_collections.margrave.edge.plugins.module_utils._errors import HealthError


def _container(**facts: Any) -> Container:
    given = {"id": "1", "name": "web-1", "image": "", "image_id": "", "state": "running"}
    return Container(**{**given, "health": "", "labels": {SERVICE: "web"}, **facts})


def _judge(restart: str = "", **more: Any) -> _health.Judge:
    given: dict[str, Any] = {"grace": 5.0, "restarts_before": {}, "ran_before": frozenset()}
    return _health.Judge(services={"web": restart}, **{**given, **more})


@pytest.mark.parametrize(
    ("container", "restart", "steady", "verdict"),
    [
        (_container(health="healthy"), "", 0, "healthy"),
        (_container(health="starting"), "", 99, "waiting"),
        (_container(health="unhealthy"), "", 0, "failed"),
        (_container(), "", 4.9, "waiting"),
        (_container(), "", 5.0, "healthy"),
        (_container(state="exited", exit_code=1), "no", 0, "failed"),
        (_container(state="exited", exit_code=1), "on-failure", 0, "waiting"),
        (_container(state="exited", exit_code=1), "on-failure", 5.0, "failed"),
        (_container(state="exited", exit_code=1, restarts=1), "on-failure:2", 0, "waiting"),
        (_container(state="exited", exit_code=1, restarts=2), "on-failure:2", 0, "failed"),
        (_container(state="exited", exit_code=0), "", 0, "healthy"),
        (_container(state="exited", exit_code=0), "always", 0, "waiting"),
        (_container(state="restarting", restarts=3, exit_code=1), "always", 0, "failed"),
        (_container(state="restarting", restarts=2, exit_code=1), "always", 0, "waiting"),
        (_container(state="created"), "", 0, "waiting"),
    ],
    ids=[
        "its check says so",
        "its check is not through",
        "its check failed",
        "without a check it must have run for the grace",
        "and then it is healthy",
        "it ended badly and stays down",
        "it ended badly and is started again",
        "it was not started again for the grace",
        "it has a restart left",
        "it used up its restarts",
        "a job that is done",
        "it ended and comes back",
        "a crash loop",
        "not yet a crash loop",
        "not started",
    ],
)
def test_verdict(container: Container, restart: str, steady: float, verdict: str) -> None:
    """One container, one word."""
    found = _judge(restart).verdict([container], {"1": steady})
    word = "failed" if found.failed else "waiting" if found.waiting else "healthy"

    assert verdict == word


def test_old_restarts_do_not_count() -> None:
    """A container that was left alone is not blamed for last month's crashes."""
    judge = _judge("always", restarts_before={"1": 7}, ran_before=frozenset({"1"}))

    assert judge.verdict([_container(restarts=7)], {}).healthy


def test_a_service_without_container_is_waited_for() -> None:
    """Nothing there is not healthy."""
    assert _judge().verdict([], {}).waiting == ("web has no container yet",)


def test_waiting_ends_with_the_last_finding() -> None:
    """When the time is over the error says what was still missing."""
    with pytest.raises(HealthError, match="not healthy after 15 s: web is starting"):
        _health.wait(
            _judge(),
            lambda: [_container(health="starting")],
            time.monotonic() - 1,
            15,
            lambda: None,
        )

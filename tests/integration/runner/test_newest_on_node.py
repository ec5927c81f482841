"""A fix reaches a real node while the broken release is at work there: its time-out is not waited
for."""

from __future__ import annotations

import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab import Lab
from tests.support.clients import Client
from tests.support.repository import STOREFRONT, Repository, storefront_component
from tests.support.runner_process import RunnerProcess
from tests.support.shop import clean
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

NODE = "harbor-1"
NEVER_HEALTHY = "1.2.0"
TIME_OUT, SOONER = "10m00s", 240  # seconds, far below that time-out


@pytest.fixture
def runner(lab: Lab, tmp_path: Path) -> Iterator[tuple[RunnerProcess, Repository]]:
    """A site with one node, nothing deployed; clean before and after."""
    clean(lab, NODE, "podman")
    repository = Repository(tmp_path)
    repository.push()
    made = RunnerProcess(tmp_path / "runner", str(repository.bare))
    made.start()
    try:
        made.add(NODE, lab.node(NODE).address, lab.key, lab.host_key(NODE))
        yield made, repository
    finally:
        made.kill(signal.SIGTERM)
        clean(lab, NODE, "podman")


@pytest.mark.parametrize("before", ["1.0.0", ""], ids=["an update", "a first install"])
def test_a_fix_does_not_wait_for_the_time_out_of_what_it_mends(
    lab: Lab, runner: tuple[RunnerProcess, Repository], before: str
) -> None:
    """The node stops at its next safe point, and goes straight to the newer release."""
    process, repository = runner

    def push(version: str) -> None:
        component = storefront_component(repository.tree, version)
        repository.deploy(version, component=component, timeout=TIME_OUT)
        repository.push()
        process.hint()

    def runs(version: str) -> bool:
        one = process.placements(STOREFRONT).get(NODE, {})
        found = [one.get(name) for name in ("state", "outcome", "version")]
        return found == ["INSTALLED", "succeeded", version]

    if before:
        push(before)
        eventually(lambda: runs(before), SOONER, before)
    push(NEVER_HEALTHY)
    journal = f"/var/lib/margrave/deployments/{STOREFRONT}/journal.json"
    eventually(
        lambda: '"switch"' in lab.ssh(NODE, f"cat {journal}", check=False).stdout, SOONER, "switch"
    )
    push("1.1.0")
    eventually(lambda: runs("1.1.0"), SOONER, "the fix")
    assert Client(lab.node(NODE).address).ask() == "1.1.0"
    told = [(one["from"], one["to"]) for one in process.told(STOREFRONT)]
    busy = "UPDATING" if before else "INSTALLING"
    assert told[-3:] == [(busy, "FAILED"), ("FAILED", busy), (busy, "INSTALLED")]
    assert not {"ROLLINGBACK", "PENDING"} & {to for _, to in told[2:]}
    modules = lab.ssh(NODE, "pgrep -fc 'workload_(install|update)'", check=False).stdout.strip()
    assert modules == "0"

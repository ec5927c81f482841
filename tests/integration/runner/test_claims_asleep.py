"""A runner that slept through a take-over, as processes on a real node: one works, one yields."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from lab import Lab
from tests.support.clients import Client
from tests.support.repository import STOREFRONT, Repository, storefront_component
from tests.support.runner_process import RunnerProcess
from tests.support.shop import clean
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

NODE = "harbor-2"
LIMIT = 120
JOURNAL = f"/var/lib/margrave/deployments/{STOREFRONT}/journal.json"


class Pair:
    """One site, one node, and two runners that both have it for theirs."""

    def __init__(self, lab: Lab, base: Path) -> None:
        self.lab = lab
        self.repository = Repository(base)
        self.components = {
            version: storefront_component(self.repository.tree, version)
            for version in ("1.0.0", "1.1.0", "1.2.0")
        }
        key = f'[ssh]\nkey = "{lab.key}"\n'
        remote = str(self.repository.bare)
        self.first, self.second = (
            RunnerProcess(base / name, remote, more=key) for name in ("first", "second")
        )

    def want(self, version: str, *hinted: RunnerProcess) -> None:
        """Push what should run; these runners hear of it."""
        self.repository.deploy(
            version, component=self.components[version], timeout="1m00s", failure={"then": "hold"}
        )
        self.repository.push()
        for runner in hinted:
            runner.hint()

    def start(self, runner: RunnerProcess) -> None:
        """It serves, and has the node."""
        runner.start()
        address, host_key = self.lab.node(NODE).address, self.lab.host_key(NODE)
        runner.add(NODE, address, self.lab.key, host_key)

    def serves(self, version: str) -> bool:
        """Whether the node serves this version."""
        return Client(self.lab.node(NODE).address).ask() == version


@pytest.fixture
def pair(lab: Lab, tmp_path: Path) -> Iterator[Pair]:
    """On a node that is nobody's; nobody's again afterwards."""
    clean(lab, NODE)
    made = Pair(lab, tmp_path)
    yield made
    for runner in (made.first, made.second):
        if runner.process is not None:
            runner.process.send_signal(signal.SIGCONT)
            runner.kill(signal.SIGTERM)
    clean(lab, NODE)
    assert (made.first.masters(), made.second.masters()) == ([], [])


def stands(runner: RunnerProcess, *words: str) -> bool:
    """Whether its placement has this state, outcome and version."""
    one = runner.placements(STOREFRONT).get(NODE)
    return one is not None and (one["state"], one["outcome"], one["version"]) == words


@pytest.mark.full
def test_a_runner_that_slept_with_a_call_in_hand_yields_when_it_wakes(pair: Pair) -> None:
    """The node refuses its older fence: it says so, begins nothing, and the other one works."""
    first, second = pair.first, pair.second
    pair.want("1.0.0")
    pair.start(first)
    eventually(lambda: stands(first, "INSTALLED", "succeeded", "1.0.0"), LIMIT)
    pair.want("1.2.0", first)  # never healthy: the call is at work for long

    def is_at_work() -> bool:
        told = pair.lab.ssh(NODE, f"cat {JOURNAL}", check=False).stdout
        return bool(told) and json.loads(told)["phase"] == "switch"

    eventually(is_at_work, LIMIT, "the call does not come to its switch")
    assert first.process is not None
    first.process.send_signal(signal.SIGSTOP)
    pair.want("1.1.0")
    second.start()
    address, host_key = pair.lab.node(NODE).address, pair.lab.host_key(NODE)
    with pytest.raises(AssertionError, match="belongs to another runner"):
        second.add(NODE, address, pair.lab.key, host_key, alone=False)
    second.margrave("runner", "takeover", "--yes")
    second.add(NODE, address, pair.lab.key, host_key, alone=False)
    eventually(lambda: stands(second, "INSTALLED", "succeeded", "1.1.0"), LIMIT)
    assert pair.serves("1.1.0")
    first.process.send_signal(signal.SIGCONT)
    pair.want("1.0.0", first)
    eventually(lambda: httpx.get(f"{first.url}/readyz").status_code == 503, LIMIT)
    reason = httpx.get(f"{first.url}/readyz").json()["reason"]
    assert f"{NODE}" in reason and "margrave runner takeover" in reason
    error = json.loads(first.placements(STOREFRONT)[NODE]["error"])
    assert (error["class"], error["code"]) == ("conflict", "other-runner")
    assert pair.serves("1.1.0")
    second.hint()
    eventually(lambda: stands(second, "INSTALLED", "succeeded", "1.0.0"), LIMIT)
    assert pair.serves("1.0.0")
    assert second.ready()

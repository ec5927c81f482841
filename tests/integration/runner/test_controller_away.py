"""The controller away for a whole update and a heal: afterwards its history is complete.

All of it is real: a controller and a runner in processes of their own, a node with podman, a push.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from lab import Lab
from tests.support import controller_process
from tests.support.clients import Client
from tests.support.controller_process import ControllerProcess
from tests.support.repository import STOREFRONT, Repository, storefront_component
from tests.support.runner_process import RunnerProcess
from tests.support.shop import clean
from tests.support.waiting import eventually

pytestmark = pytest.mark.lab

NODE = "harbor-2"
SITE = "harbor"
LIMIT = 300  # seconds; nodes of a busy machine take their time
TOLD = ("node", "incarnation", "from", "to", "actor", "reason", "operation", "attempt", "commit")
ONE_CHANGE = [("INSTALLED", "UPDATING"), ("UPDATING", "INSTALLED")]


class Place:
    """The two processes, the node, and the repository of a forge that none of them serves."""

    def __init__(self, lab: Lab, base: Path) -> None:
        self.lab = lab
        self.repository = Repository(base)
        self.repository.push()
        self.controller = controller_process.make(base)
        own = {"REMOTE": str(self.repository.bare), "POLL_INTERVAL": "1s"}
        self.controller.settings |= {f"MARGRAVE_GIT__{key}": value for key, value in own.items()}
        self.controller.start()
        token = self.controller.post("/sites", name=SITE)["token"]
        self.runner = _runner(base, self.repository, self.controller, token)

    def want(self, version: str) -> None:
        """Push what is to run, beside what the controller has pushed."""
        words = ["git", "pull", "-q", "--rebase", "origin", "main"]
        subprocess.run(words, cwd=self.repository.tree, check=True, capture_output=True)
        component = storefront_component(self.repository.tree, version)
        self.repository.deploy(version, component=component, timeout="2m0s")
        self.repository.push()
        self.runner.hint()

    def runs(self, version: str) -> bool:
        """Whether this version is installed, and answers."""
        one = self.runner.placements(STOREFRONT).get(NODE) or {}
        return (one.get("state"), one.get("outcome"), one.get("version")) == (
            "INSTALLED",
            "succeeded",
            version,
        )

    def history(self) -> list[Mapping[str, Any]]:
        """What the controller tells of the deployment's transitions, oldest first."""
        with self.controller.api as api:
            answer = api.get(f"/deployments/{STOREFRONT}/history", params={"limit": "200"})
        return [one for one in answer.json()["items"] if one["to"]] if answer.is_success else []

    def moves(self) -> list[tuple[str, str]]:
        """The transitions that the runner noted down."""
        return [(one["from"], one["to"]) for one in self.runner.told(STOREFRONT)]


def _runner(
    base: Path, repository: Repository, controller: ControllerProcess, token: str
) -> RunnerProcess:
    return RunnerProcess(
        base / "runner",
        str(repository.bare),
        SITE,
        more=f'[controller]\nurl = "{controller.url}"\ntoken = "{token}"\n',
        drift="3s",
    )


@pytest.fixture
def place(lab: Lab, tmp_path: Path) -> Iterator[Place]:
    """A site where 1.0.0 runs on one node, and whose controller knows it."""
    made = Place(lab, tmp_path)
    try:
        made.runner.start()
        made.runner.add(NODE, lab.node(NODE).address, lab.key, lab.host_key(NODE))
        made.want("1.0.0")
        eventually(lambda: made.runs("1.0.0"), LIMIT, "1.0.0 runs", 0.2)
        eventually(lambda: len(made.history()) == len(made.moves()), LIMIT, "it is known", 0.2)
        yield made
    finally:
        made.runner.kill(signal.SIGTERM)
        made.controller.stop()
        made.controller.registry.stop()
        clean(lab, NODE)


def test_an_update_and_a_heal_while_the_controller_was_dead_are_told_afterwards(
    place: Place,
) -> None:
    """Complete, in order, each once: with who, why, which operation and which commit."""
    before = place.moves()
    trouble = lambda: place.runner.status()["controller"]["trouble"]  # noqa: E731
    place.controller.kill()
    eventually(trouble, LIMIT, "nobody answers")

    place.want("1.1.0")
    eventually(lambda: place.runs("1.1.0"), LIMIT, "1.1.0 runs", 0.2)
    eventually(lambda: place.moves() == before + ONE_CHANGE, LIMIT, "the update is noted", 0.2)
    place.lab.ssh(NODE, "podman rm -f -t 0 $(podman ps -qf name=web)", check=True)
    healed = before + 2 * ONE_CHANGE
    eventually(lambda: place.moves() == healed and place.runs("1.1.0"), LIMIT, "it is healed", 0.2)
    assert Client(place.lab.node(NODE).address).ask() == "1.1.0"
    assert trouble()
    assert place.runner.status()["controller"]["reports_waiting"] > 0

    place.controller.start()
    eventually(lambda: len(place.history()) >= len(healed), LIMIT, "the history is there", 0.2)
    waiting = lambda: place.runner.status()["controller"]["reports_waiting"]  # noqa: E731
    eventually(lambda: not waiting(), LIMIT, "all reports are delivered", 0.2)
    found = [tuple(one[key] for key in TOLD) for one in place.history()]
    assert found == [tuple(one[key] for key in TOLD) for one in place.runner.told(STOREFRONT)]
    assert [(one["from"], one["to"]) for one in place.history()] == healed

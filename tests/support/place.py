"""A site as it is run: a controller and a runner in processes of their own, a node, and a forge's
repository that none of them serves."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab import Lab
from tests.support import controller_process
from tests.support.controller_process import ControllerProcess
from tests.support.repository import STOREFRONT, Repository, storefront_component
from tests.support.runner_process import RunnerProcess

NODE = "harbor-2"
SITE = "harbor"
LIMIT = 300  # seconds; nodes of a busy machine take their time


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

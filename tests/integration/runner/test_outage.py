"""What a runner reports, as a controller takes it in: with answers lost, and from a backup.

Step by step in one process: the runner's nodes are pretended, its reports are sent by the test, and
the controller's application answers without a server. The line itself, cut for real between two
processes and a node, is in test_controller_away.py.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from controller.access.passwords import token_hash
from controller.app import assemble, create_app
from controller.settings import ControllerSettings
from controller.store import access
from controller.store.words import Role
from margrave.errors import Unreachable
from runner.outbox.client import Expected
from runner.outbox.sender import Sender
from tests.functional.controller.kit import add_deployment, add_site
from tests.support.repository import STOREFRONT
from tests.support.site import World


class Centre:
    """The controller, as the site's line reaches it."""

    def __init__(self, folder: Path) -> None:
        self._database = folder / "margrave.db"
        self._settings = ControllerSettings.model_validate({"state": {"dir": folder}})
        self.away = False
        self.loses_answers = 0
        folder.mkdir()
        self._start()
        self._parts.store.migrate()
        add_site(self._parts, "harbor")
        add_deployment(self._parts, "harbor", id=STOREFRONT)
        with self._parts.store.write() as session:
            access.add_token(
                session,
                {
                    "id": str(uuid.uuid4()),
                    "name": "reader",
                    "digest": token_hash("reader"),
                    "role": Role.ADMIN,
                    "sites": None,
                    "created_by": "test",
                    "created_at": datetime.now(UTC),
                },
            )

    def _start(self) -> None:
        self._parts = assemble(self._settings)
        self._client = create_app(self._parts).test_client()

    def stop(self) -> None:
        """As a process that ends."""
        self._parts.broker.stop()
        self._parts.store.close()

    def back_up(self, path: Path) -> None:
        """Keep the database as it is now."""
        self.stop()
        shutil.copy(self._database, path)
        self._start()

    def restore(self, path: Path) -> None:
        """Put a kept database back."""
        self.stop()
        for old in self._database.parent.glob("margrave.db*"):
            old.unlink()
        shutil.copy(path, self._database)
        self._start()

    def report(self, body: dict[str, Any]) -> int:
        """A batch, as the runner's client sends it."""
        if self.away:
            raise Unreachable("the line is cut")
        answer = self._client.post(
            "/api/v1/sites/harbor/reports",
            json=body,
            headers={"Authorization": "Bearer runner-harbor"},
        )
        told = answer.get_json()
        if answer.status_code == 409:
            raise Expected(told["expected"])
        assert answer.status_code == 200, told
        if self.loses_answers:
            self.loses_answers -= 1
            raise Unreachable("the answer was lost")
        return int(told["ack"])

    def history(self) -> list[tuple[str, str | None, str]]:
        """(node, from, to) of each transition of the deployment, oldest first."""
        answer = self._client.get(
            f"/api/v1/deployments/{STOREFRONT}/history",
            headers={"Authorization": "Bearer reader"},
            query_string={"limit": "200"},
        )
        rows: list[Mapping[str, Any]] = answer.get_json()["items"]
        return [(row["node"], row["from"], row["to"]) for row in rows if row["to"]]


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    """A site where 1.0.0 runs, of which nobody was told yet."""
    made = World(tmp_path)
    made.repository.deploy("1.0.0")
    made.repository.push()
    yield made
    made.runner.close()


@pytest.fixture
def centre(tmp_path: Path) -> Iterator[Centre]:
    """A controller that knows the deployment from Git, and nothing of its nodes."""
    made = Centre(tmp_path / "controller")
    yield made
    made.stop()


def deliver(world: World, centre: Centre) -> None:
    """Empty the outbox, whatever is lost on the way."""
    sender = Sender(world.runner.ground.store, centre)
    sender.introduce()
    for _ in range(50):
        try:
            if not sender.send_some():
                return
        except Unreachable:
            continue
    raise AssertionError("reports still wait")


def test_an_update_and_a_heal_without_the_controller_are_told_whole(
    world: World, centre: Centre
) -> None:
    """Answers get lost on the way, too: the history has every step in its order, and each once."""
    deliver(world, centre)
    world.settle()
    centre.away = True
    world.repository.deploy("1.1.0")
    world.repository.push()
    world.settle()
    world.executor.nodes["harbor-2"].drift[STOREFRONT] = [{"what": "web is missing"}]
    world.settle()
    assert set(world.versions().values()) == {"1.1.0"}
    happened = world.told()
    assert happened.count(("harbor-2", "INSTALLED", "UPDATING")) == 2
    centre.away, centre.loses_answers = False, 1
    deliver(world, centre)
    assert centre.history() == happened
    deliver(world, centre)
    assert centre.history() == happened


def test_a_controller_from_yesterdays_backup_is_brought_up_to_date(
    world: World, centre: Centre, tmp_path: Path
) -> None:
    """It asks for what it lacks; what it had acknowledged since is told again, each once."""
    deliver(world, centre)
    world.settle()
    happened = world.told()
    deliver(world, centre)
    centre.back_up(tmp_path / "yesterday.db")
    for version in ("1.1.0", "1.2.0"):
        world.repository.deploy(version)
        world.repository.push()
        world.settle()
        happened += world.told()
        deliver(world, centre)
    assert centre.history() == happened
    centre.restore(tmp_path / "yesterday.db")
    assert len(centre.history()) < len(happened)
    world.repository.deploy("1.3.0")
    world.repository.push()
    world.settle()
    happened += world.told()
    deliver(world, centre)
    assert centre.history() == happened

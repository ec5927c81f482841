"""The controller's disk is full: clear answers, nothing half done, and on it goes with room."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.app import create_app
from controller.parts import Parts
from controller.settings import ControllerSettings
from controller.store import queue
from tests.functional.controller.kit import Api, Clock, Runner, add_deployment, add_site, placed

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="a small file system takes root")


@pytest.fixture
def settings(tmp_path: Path) -> Iterator[ControllerSettings]:
    """A state folder on a file system of eight megabytes."""
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", small], check=True)
    yield ControllerSettings.model_validate(
        {"state": {"dir": small / "state"}, "catalog": {"local_roots": [tmp_path]}}
    )
    subprocess.run(["umount", "-l", small], check=True)


def fill(parts: Parts) -> Path:
    """Take every byte that is left."""
    ballast = parts.settings.state.dir.parent / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(b"\0" * 4096)
        except OSError:
            return ballast


def test_reports_are_answered_and_come_again(parts: Parts, harbor: Runner, clock: Clock) -> None:
    """A batch that finds no room is 503 with the reason and leaves nothing behind; sent again when
    there is room it is taken whole, each event once."""
    deployment = add_deployment(parts, "harbor")
    assert harbor.snapshot("harbor-1").status_code == 200
    ballast = fill(parts)
    steps = [(None, "PENDING"), ("PENDING", "INSTALLING"), ("INSTALLING", "INSTALLED")]
    batch = [
        harbor.event("placement", placed(deployment, "harbor-1", to, frm, reason="x" * 50_000))
        for frm, to in steps
    ]
    answer = harbor.send(*batch)
    assert (answer.status_code, answer.get_json()["detail"]) == (
        503,
        "the disk of the database is full",
    )
    assert answer.headers["Retry-After"]
    assert answer.get_json()["cure"]
    ballast.unlink()
    again = harbor.send(*batch)
    assert (again.status_code, again.get_json()["ack"]) == (200, harbor.seq)


def test_publishing_waits_for_room(parts: Parts, operator: Api, admin: Api) -> None:
    """Without room no site is made and nothing is published: the answer says so, the repository is
    as it was, and the same request goes through when there is room."""
    add_site(parts, "harbor")
    head = parts.repository.head()
    ballast = fill(parts)
    answer = admin.post("/sites", json={"name": "depot", "labels": {"note": "x" * 60}})
    assert answer.status_code == 503, answer.text
    assert "full" in answer.get_json()["detail"]
    assert parts.repository.head() == head
    status = create_app(parts).test_client().get("/readyz")
    assert status.status_code == 503
    assert "is full" in status.text
    ballast.unlink()
    answer = admin.post("/sites", json={"name": "depot"})
    assert answer.status_code == 201, answer.text
    with parts.store.session() as session:
        assert queue.waiting(session) == 0
    assert operator.get("/sites/depot").status_code == 200

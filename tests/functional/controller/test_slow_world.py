"""Slow world: what hangs delays only what needs it, is named, and loses nothing.

`python -m bench.slow_world` measures the same against the bar of one second.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.support import slow_world
from tests.support.slow_world import hanging_remote, locked, wait_for_pause, world
from tests.support.waiting import eventually

AT_ONCE = 8.0  # seconds, on a machine that is busy with other tests; Git is given up after 30


def test_a_registry_that_never_responds(
    tmp_path: Path, database: str | None, on_both: None
) -> None:
    """Another site is paused, other deployments are published and reads answer at once; the request
    names the registry, and is published when that responds."""
    with world(tmp_path, database) as made:
        made.silent.silent.set()
        waits = made.deploy("silent", "harbor")
        assert made.silent.waiting.wait(30)
        status, answer, seconds = made.pause("depot")
        assert status in (200, 202), answer  # later than in a second on a busy machine
        assert seconds < AT_ONCE
        wait_for_pause(made, "depot")
        passes = made.deploy("quick", "harbor")
        eventually(lambda: made.is_published(passes), AT_ONCE)
        assert made.reads() < AT_ONCE
        eventually(lambda: made.request(waits)["error"], 60)
        assert slow_world.SILENT in made.request(waits)["error"]["message"]
        assert made.request(waits)["state"] == "queued"
        made.silent.silent.clear()
        eventually(lambda: made.is_published(waits), 120)


def test_a_git_remote_that_hangs(tmp_path: Path, database: str | None, on_both: None) -> None:
    """A pause is kept and answered at once, with the remote as what it waits for; when the remote
    answers everything is in Git."""
    with hanging_remote(tmp_path, database) as (made, marker):
        marker.touch()
        request = made.deploy("quick", "harbor")
        eventually(lambda: made.request(request)["state"] == "publishing", 60)
        status, answer, seconds = made.pause("depot")
        assert status == 202, answer
        assert seconds < AT_ONCE
        assert made.reads() < AT_ONCE
        eventually(lambda: "the remote has not answered" in made.ailments().get("remote", ""), 60)
        (pending,) = made.site("depot")["pending"]
        assert "the remote has not answered" in pending["problem"]
        assert "Pause site depot waits" in made.ailments()["emergency"]
        marker.unlink()
        wait_for_pause(made, "depot")
        eventually(lambda: made.is_published(request), 60)


def test_a_database_that_is_locked(tmp_path: Path, database: str | None, on_both: None) -> None:
    """A pause stands in Git at once, reads answer, and what is not shown yet names the database."""
    with world(tmp_path, database) as made:
        made.reads()
        with locked(made):
            status, answer, seconds = made.pause("depot")
            assert (status, bool(answer["commit"])) == (202, True), answer
            assert "database" in answer["waits"]
            assert seconds < AT_ONCE
            assert made.reads() < AT_ONCE
            assert "database" in made.ailments()["emergency"]
            head = made.parts.repository.head()
            assert head is not None
            document = made.parts.repository.read(head, "sites/depot.yaml")
            assert b"paused" in (document or b"")
        wait_for_pause(made, "depot")


@pytest.mark.skipif(os.geteuid() != 0, reason="a small file system takes root")
def test_a_full_disk(tmp_path: Path) -> None:
    """A pause is kept in room that was reserved for it, and made when there is room again."""
    with slow_world.small_disk(tmp_path) as disk, world(disk, None) as made:
        made.reads()
        with slow_world.full(disk):
            status, answer, seconds = made.pause("depot")
            assert status == 202, answer
            assert seconds < AT_ONCE
            assert made.reads() < AT_ONCE
            eventually(lambda: "full" in made.ailments().get("emergency", ""), 60)
            assert "is full" in made.ailments()["disk"]
        wait_for_pause(made, "depot")


def test_a_kept_pause_survives_the_process(
    tmp_path: Path, database: str | None, on_both: None
) -> None:
    """A controller that ends while a pause waits for Git makes it when it is started again."""
    with hanging_remote(tmp_path, database) as (made, marker):
        marker.touch()
        assert made.pause("depot")[0] == 202
        journal = made.state / "emergency.journal"
        kept = journal.read_bytes()
        marker.unlink()
        wait_for_pause(made, "depot")
        assert made.resume("depot")[0] in (200, 202)  # later than in a second on a busy machine
        eventually(lambda: not made.site("depot")["paused"], 60)
        eventually(lambda: not made.site("depot")["pending"], 60)  # nothing writes the journal now
        made.chores.stop()
        journal.write_bytes(kept)  # as a process leaves it that is killed meanwhile
        again = slow_world.Chores(slow_world.assemble(made.settings))
        again.start()
        eventually(lambda: made.site("depot")["paused"], 60)
        again.stop()

"""Slow world: pausing a site and reading, while registry, Git, database or disk hang.

Each world hangs for the whole measurement; a pause and a resume of another site are sent in turn,
with four reads after each. The bar is one second for the slowest of them. Afterwards the world goes
on, and everything that was answered has to be there.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from bench.figures import keep, summary
from tests.support import slow_world
from tests.support.postgres import Postgres
from tests.support.slow_world import World
from tests.support.waiting import eventually

ROUNDS: Final = 20
BAR: Final = 1.0
DEEDS: Final = ("site.pause", "site.resume")
Ground = Callable[[Path, str | None], Any]


@contextmanager
def registry(folder: Path, database: str | None) -> Iterator[World]:
    """A registry that accepts connections and never responds, with a request that waits for it."""
    with slow_world.world(folder, database) as made:
        made.silent.silent.set()
        waits = made.deploy("silent", "harbor")
        assert made.silent.waiting.wait(30)
        yield made
        made.silent.silent.clear()
        settled(made)
        eventually(lambda: made.is_published(waits), 180)


@contextmanager
def remote(folder: Path, database: str | None) -> Iterator[World]:
    """A Git remote in the middle of a push that does not end."""
    with slow_world.hanging_remote(folder, database) as (made, marker):
        marker.touch()
        waits = made.deploy("quick", "harbor")
        eventually(lambda: made.request(waits)["state"] == "publishing")
        yield made
        marker.unlink()
        settled(made)
        eventually(lambda: made.is_published(waits), 180)


@contextmanager
def database(folder: Path, url: str | None) -> Iterator[World]:
    """A database whose write lock somebody else holds."""
    with slow_world.world(folder, url) as made:
        made.reads()
        with slow_world.locked(made):
            yield made
        settled(made)


@contextmanager
def disk(folder: Path, url: str | None) -> Iterator[World]:
    """A disk without a free byte."""
    with slow_world.small_disk(folder) as small, slow_world.world(small, url) as made:
        made.reads()
        with slow_world.full(small):
            yield made
        settled(made)


def settled(made: World) -> None:
    """Wait until all changes are made; the last one was a resume, and each is in the audit once."""
    eventually(lambda: not made.site("depot")["pending"] and not made.site("depot")["paused"], 180)
    entries = made.api.get("/audit?limit=100").json["items"]
    assert sum(one["target"] == "depot" and one["action"] in DEEDS for one in entries) == ROUNDS


def measure(ground: Ground, url: str | None) -> dict[str, Any]:
    """Times of pauses and reads in a slow world, and whether the last change came through."""
    pauses, reads = [], []
    with tempfile.TemporaryDirectory() as folder, ground(Path(folder), url) as made:
        for number in range(ROUNDS):
            seconds = made.pause("depot")[2] if number % 2 == 0 else made.resume("depot")[2]
            pauses.append(seconds)
            reads.append(made.reads())
        figures = {"pause": summary(pauses), "read": summary(reads), "told": made.ailments()}
    return {**figures, "within": max(*pauses, *reads) <= BAR}


def main() -> None:
    """Measure every world on both databases and keep."""
    os.environ.pop("MARGRAVE_TEST_DATABASE_URL", None)
    server = Postgres().start()
    try:
        figures: dict[str, Any] = {}
        for ground in (registry, remote, database):
            figures[f"{ground.__name__} sqlite"] = measure(ground, None)
            figures[f"{ground.__name__} postgresql"] = measure(ground, server.create())
        figures["disk sqlite"] = measure(disk, None)
    finally:
        server.stop()
    keep("slow_world", {"rounds": ROUNDS, "bar": BAR, **figures})


if __name__ == "__main__":
    assert Path("pyproject.toml").is_file(), "run it in the checkout"
    main()

"""P5: one request for ten deployments at each of a thousand sites, beside `git fast-import`.

The repository holds 10,000 documents; a request updates them all to another version, as an
operator's `margrave deployment update` does. `in_git` is until main holds the commit: every
document read as it stands, changed, checked, written, one commit. `published` is until the database
shows the new state of each deployment too, with an event for each. The reference is Git's own
importer, fed with the very same bytes in a copy of the same repository, right after it: the median
of three runs, for one alone differs by half. Both sync to the disk.
"""

from __future__ import annotations

import os
import shutil
import statistics
import tempfile
import time
import uuid
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

from bench.figures import keep
from controller.gate.git_command import GitCommand
from controller.publish.building import Note, stream
from controller.publish.reader import Reader
from controller.store import requests
from controller.store.words import Action, Priority, RequestState
from margrave.digest import File
from tests.support.postgres import Postgres
from tests.support.registry import FakeRegistry
from tests.support.works import NOON, Works

if TYPE_CHECKING:
    from collections.abc import Iterator

SITES = 1_000
EACH = 10
BAR = 2.0
REFERENCES = 3


def fill(works: Works) -> None:
    """One deployment published by the product, then as many like it as are wanted."""
    works.with_apps("site-0")
    one = works.create("site-0", version="1.0.0")["deployments"][0]
    works.publisher.publish_all()
    text = works.document(one).decode()
    changes: dict[str, File | None] = {}
    for site in range(SITES):
        for number in range(EACH):
            fresh = str(uuid.uuid4())
            data = text.replace(one["id"], fresh).replace("site-0/*", f"site-{site}/*")
            data = data.replace("  name: storefront\n", f"  name: shop-{number}\n")
            changes[f"deployments/site-{site}/{fresh}.yaml"] = File(data.encode())
    git, head = works.repository.git, works.repository.head()
    assert head is not None
    reference = "refs/margrave/filled"
    told = b"".join([*stream(reference, head, changes, Note("Fill", "bench", NOON)), b"done\n"])
    git("fast-import", "--quiet", "--done", stdin=told)
    assert works.repository.advance(head, git.text("rev-parse", reference))


def ask(works: Works) -> None:
    """The request as admission leaves it in the queue."""
    head = works.repository.head()
    assert head is not None
    paths = [path.split("/") for path in works.repository.paths(head, ["deployments"])]
    concerned = [(name.removesuffix(".yaml"), site) for _, site, name in paths]
    values = {
        "id": str(uuid.uuid4()),
        "action": Action.UPDATE,
        "actor": "bench",
        "state": RequestState.QUEUED,
        "priority": Priority.NORMAL,
        "rank": 1,
        "body": {},
        "change": {"kind": "update", "version": "1.1.0"},
    }
    with works.store.write() as session:
        requests.add(session, values, concerned, NOON)


def publish(works: Works) -> dict[str, float]:
    """Seconds until it is in Git, and until it is published."""
    follow, in_git = Reader.follow, []

    def timed(self: Reader, head: str | None, *more: Any) -> frozenset[str]:
        in_git.append(time.perf_counter())
        return follow(self, head, *more)

    begun = time.perf_counter()
    with patch.object(Reader, "follow", timed):
        assert works.publisher.publish_next()
    return {"in_git": in_git[-1] - begun, "published": time.perf_counter() - begun}


def fast_import(copy: Path, works: Works) -> float:
    """Git's own importer in a copy of the repository, fed with the bytes that were published."""
    head = works.repository.head()
    assert head is not None
    paths = works.repository.changed(f"{head}^", head, ["deployments", "components"])
    names = {f"{head}:{path}": path for path in paths}
    blobs = works.repository.read_many(names)
    changes = {
        path: None if (data := blobs[name]) is None else File(data) for name, path in names.items()
    }
    note = Note("Import", "git", NOON)
    told = b"".join([*stream("refs/heads/main", f"{head}^", changes, note), b"done\n"])
    parent = works.repository.git.text("rev-parse", f"{head}^").encode()
    told = told.replace(f"{head}^".encode(), parent)
    git = GitCommand(copy)
    begun = time.perf_counter()
    git("fast-import", "--quiet", "--done", stdin=told)
    return time.perf_counter() - begun


@contextmanager
def filled(url: str | None) -> Iterator[tuple[Works, Path]]:
    """A controller with 10,000 deployments, and a copy of its repository."""
    registry = FakeRegistry().start()
    with tempfile.TemporaryDirectory() as folder:
        more = {"database": {"url": url}}
        works = Works(Path(folder) / "state", registry, **more)
        fill(works)
        begun = time.perf_counter()
        works.publisher.refresh()
        print(f"read {SITES * EACH} documents in {time.perf_counter() - begun:.1f} s", flush=True)
        copy = Path(folder) / "copy.git"
        shutil.copytree(works.repository.folder, copy)
        os.sync()  # what filling left to write is neither's
        yield works, copy
        works.store.close()
    registry.stop()


def measure(url: str | None) -> dict[str, Any]:
    """One publish and, right after it, the importer; the publish is checked to be one commit."""
    with filled(url) as (works, copy):
        before = works.repository.head()
        ask(works)
        ours = publish(works)
        head = works.repository.head()
        assert works.repository.git.text("rev-list", "--count", f"{before}..{head}") == "1"
        imported = statistics.median(
            fast_import(shutil.copytree(copy, copy.with_name(f"copy-{number}.git")), works)
            for number in range(REFERENCES)
        )
    return {
        **{name: round(seconds, 2) for name, seconds in ours.items()},
        "fast_import": round(imported, 2),
        "ratio_in_git": round(ours["in_git"] / imported, 2),
        "ratio_published": round(ours["published"] / imported, 2),
    }


def main() -> None:
    """Measure on both databases and keep."""
    os.environ.pop("MARGRAVE_TEST_DATABASE_URL", None)
    server = Postgres(fsync="on", synchronous_commit="on", full_page_writes="on").start()
    try:
        figures = {"sqlite": measure(None), "postgresql": measure(server.create())}
    finally:
        server.stop()
    keep("publish", {"sites": SITES, "each": EACH, "bar": BAR, **figures})


if __name__ == "__main__":
    assert Path("pyproject.toml").is_file(), "run it in the checkout"
    main()

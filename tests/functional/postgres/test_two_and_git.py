"""Two controllers and Git: a forge tells either of them, or one has the other's repository."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from contextlib import ExitStack
from pathlib import Path

import httpx

from controller.store import Store, catalog
from tests.functional.controller.kit import NOON
from tests.functional.postgres.conftest import Tell
from tests.functional.postgres.pair import OPERATOR, SECRET, Pair, fill, served, settings_of
from tests.support import postgres
from tests.support.forges import github
from tests.support.registry import FakeRegistry
from tests.support.waiting import eventually
from tests.support.works import APPS, git


def test_whichever_a_forge_tells_the_source_is_read(pair: Pair, tmp_path: Path) -> None:
    """One of the two reads sources for both; a push that the other one is told of is read as
    soon, long before its turn."""
    git(tmp_path, "init", "-q", "--bare", "-b", "master", "apps.git")
    git(tmp_path, "clone", "-q", "apps.git", "clone")
    clone = tmp_path / "clone"
    shutil.copytree(APPS / "storefront" / "1.0.0", clone / "1.0.0")
    store = Store(pair.database)
    with store.write() as session:
        source = {"name": "own", "url": str(tmp_path / "apps.git"), "ref": None, "path": ""}
        catalog.add_source(session, source, NOON)

    def read() -> str | None:
        with store.session() as session:
            found = catalog.source(session, "own")
        return found["commit"] if found else None

    for which in (0, 1, 0, 1):
        (clone / "note").write_text(f"{which} {read()}")
        git(clone, "add", ".")
        git(clone, "commit", "-qm", "More")
        git(clone, "push", "-q", "origin", "HEAD:master")
        commit = git(clone, "rev-parse", "HEAD").strip()
        where = {"clone_url": str(tmp_path / "apps.git")}
        told = {"ref": "refs/heads/master", "after": commit, "repository": where}
        body = json.dumps(told).encode()
        signed = {**github(body, SECRET), "X-GitHub-Delivery": commit}
        answer = httpx.post(f"{pair.urls[which]}/hooks/git", content=body, headers=signed)
        assert answer.json()["status"] == "accepted", answer.text
        eventually(lambda commit=commit: read() == commit, 60, f"told controller {which}")
    store.close()


def test_one_publishes_to_the_repository_of_the_other(
    tmp_path: Path, lasting: postgres.Postgres, images: FakeRegistry, tell: Tell
) -> None:
    """The first has its own repository, the second names it as its remote: both publish, and
    neither waits for the other's end of the same push."""
    url = lasting.create()
    first = settings_of(tmp_path / "one", url, {}, images)
    remote = {
        "remote": f"http://{first.http.bind}/git/deployments.git",
        "username": "second",
        "password": "operator",
    }
    second = settings_of(tmp_path / "two", url, remote, images)
    fill(first)
    with ExitStack() as stack:
        processes = [stack.enter_context(served(one)) for one in (first, second)]
        urls = [f"http://{one.http.bind}" for one in (first, second)]
        pair = Pair(urls, processes, first.repository, tmp_path / "none", url)
        asked = []
        begin = time.monotonic()
        for number in range(3):
            path = "/sites/harbor/pause" if number % 2 else "/sites/harbor/resume"
            paused = httpx.post(f"{urls[1]}/api/v1{path}", headers=OPERATOR, json={}, timeout=30)
            assert paused.status_code in (200, 202), paused.text
            asked += [pair.create(which, f"shop-{number}-{which}") for which in (0, 1)]
        eventually(lambda: pair.published(asked), 45, "not all are published", pause=0.5)
        tell(f"six requests and three edits within {time.monotonic() - begin:.1f} s")
    assert sorted(pair.commits()) == sorted(asked)
    log = subprocess.check_output(["git", "fsck"], cwd=first.repository, text=True)
    assert "error" not in log

"""Somebody pushes to the same branch all the time, into the same documents."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from margrave import yaml_text
from margrave.documents.deployment import read_deployment
from tests.support.works import Works, at_forge, git


@pytest.fixture
def works(tmp_path: Path, forge: Path) -> Iterator[Works]:
    with at_forge(tmp_path / "state", forge, "harbor", "depot") as made:
        yield made


# Pushes of the author's for each of the controller's requests: on a busy machine one of the two
# would starve the other, which is the scheduler's doing and not theirs.
MOST_AHEAD = 4


@dataclass
class Author:
    """Greets otherwise in one document after the other, and pushes until it is in."""

    clone: Path
    paths: list[str]
    stop: threading.Event = field(default_factory=threading.Event)
    pushed: dict[str, str] = field(default_factory=dict)  # the last greeting of each document
    commits: int = 0
    ahead: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(MOST_AHEAD))

    def run(self) -> None:
        while self.ahead.acquire() and not self.stop.is_set():
            path = self.paths[self.commits % len(self.paths)]
            greeting = f"greeting {self.commits}"
            while not self._push(path, greeting):
                pass
            self.pushed[path] = greeting
            self.commits += 1

    def _push(self, path: str, greeting: str) -> bool:
        git(self.clone, "fetch", "-q")
        git(self.clone, "reset", "-q", "--hard", "origin/main")
        file = self.clone / path
        raw = yaml_text.parse(file.read_bytes()).value
        raw["spec"]["parameters"]["greeting"]["value"] = greeting
        file.write_text(yaml_text.dump(raw))
        git(self.clone, "commit", "-qam", f"Say {greeting}")
        told = git(self.clone, "push", "-q", ok=False)
        return "rejected" not in told and "error" not in told


@pytest.mark.parametrize("number", [8, pytest.param(200, marks=pytest.mark.full)])
def test_nothing_is_lost_or_undone(works: Works, forge: Path, tmp_path: Path, number: int) -> None:
    """Every request is one commit of a linear history; what each of the two wrote last into a
    document stands there in the end, although both wrote into all of them all the time."""
    placed = [
        works.create("harbor", "depot", name=name, version="1.0.0") for name in ("shop", "till")
    ]
    works.publisher.publish_all()
    ones = [one for answer in placed for one in answer["deployments"]]
    paths = [f"deployments/{one['site']}/{one['id']}.yaml" for one in ones]
    git(tmp_path, "clone", "-q", str(forge), "clone")
    author = Author(tmp_path / "clone", paths)
    thread = threading.Thread(target=author.run)
    thread.start()
    answers, wanted = [], {}
    try:
        for turn in range(number):
            one, path = ones[turn % len(ones)], paths[turn % len(ones)]
            wanted[path] = f"{turn + 30}s"
            answers.append(works.act("update", one["id"], health={"timeout": wanted[path]}))
            works.publisher.publish_all()
            works.clock.forward(60)
            author.ahead.release(MOST_AHEAD)
    finally:
        author.stop.set()
        author.ahead.release()
        thread.join(timeout=120)
    assert not thread.is_alive()
    works.publisher.refresh()
    assert {works.request(answer)["state"] for answer in answers} == {"published"}
    log = git(forge, "log", "--format=%P%x00%B%x01", "main").split("\x01")[:-1]
    assert all(" " not in entry.split("\0")[0] for entry in log), "the history is linear"
    for answer in answers:
        assert sum(f"Margrave-Request: {answer['id']}\n" in entry for entry in log) == 1
    assert sum("Say greeting" in entry for entry in log) == author.commits > 0
    for path, greeting in author.pushed.items():
        document = read_deployment(git(forge, "show", f"main:{path}").encode())
        assert document.values["greeting"] == greeting
        assert document.extensions.health.timeout == wanted[path]

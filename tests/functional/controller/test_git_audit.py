"""What came over the built-in repository's door, and who had a source read, is written down."""

from __future__ import annotations

import gzip
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from flask import Flask

from controller.access.refusal_budget import BURST
from tests.functional.controller.kit import Api
from tests.support.listening import listening
from tests.support.waiting import eventually
from tests.support.works import APPS, git


@pytest.fixture
def address(app: Flask) -> Iterator[str]:
    """Where the controller listens."""
    with listening(app) as server:
        yield f"127.0.0.1:{server.server_port}"


@pytest.fixture
def clone(address: str, tmp_path: Path) -> Path:
    """An operator's."""
    git(tmp_path, "clone", "-q", f"http://any:operator@{address}/git/deployments.git", "clone")
    return tmp_path / "clone"


def written(admin: Api, action: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = admin.get("/audit?limit=200").json["items"]
    return [one for one in reversed(items) if one["action"] == action]


def committed(clone: Path, path: str, text: str) -> str:
    (clone / path).parent.mkdir(exist_ok=True)
    (clone / path).write_text(text)
    git(clone, "add", ".")
    git(clone, "commit", "-qm", "Change it")
    return git(clone, "rev-parse", "HEAD").strip()


def test_every_push_is_written_down(clone: Path, address: str, admin: Api) -> None:
    """By whose token, from which commit to which, and with which outcome: what was let in, what
    the hook refused, and who may not push at all."""
    old = git(clone, "rev-parse", "HEAD").strip()
    good = committed(clone, "sites/harbor.yaml", "labels: {zone: north}\n")
    git(clone, "push", "-q", "origin", "HEAD:main", "HEAD:refs/heads/other")
    bad = committed(clone, "sites/harbor.yaml", "labels: 7\n")
    assert "remote rejected" in git(clone, "push", ok=False)
    viewers = f"http://any:viewer@{address}/git/deployments.git"
    assert "403" in git(clone, "push", viewers, "HEAD:main", ok=False)
    eventually(lambda: len(written(admin, "git.push")) == 4)
    none = "0" * 40
    entries = written(admin, "git.push")
    assert all(one["detail"].pop("token") for one in entries)
    told = [(one["actor"], one["target"], one["outcome"], one["detail"]) for one in entries]
    assert sorted(told[:2], key=lambda one: one[1]) == [
        ("operator", "refs/heads/main", "done", {"old": old, "new": good}),
        ("operator", "refs/heads/other", "done", {"old": none, "new": good}),
    ]
    assert told[2:] == [
        ("operator", "refs/heads/main", "refused", {"old": good, "new": bad}),
        ("viewer", "refs/heads/main", "refused", {"reason": "this token may not push"}),
    ]
    assert {one["address"] for one in written(admin, "git.push")} == {"127.0.0.1"}
    assert admin.get("/audit/verify").json["broken_at"] is None


def packet(text: str) -> bytes:
    return f"{len(text) + 4:04x}{text}".encode()


def test_a_packed_push_is_written_down(clone: Path, address: str, admin: Api) -> None:
    """A client that compresses its request leaves the same entry."""
    old = git(clone, "rev-parse", "HEAD").strip()
    new = committed(clone, "sites/harbor.yaml", "labels: {zone: north}\n")
    pack = subprocess.run(
        ["git", "pack-objects", "--stdout", "--revs", "--quiet"],
        cwd=clone, input=f"{new}\n^{old}\n".encode(), capture_output=True, check=True,
    ).stdout  # fmt: skip
    command = packet(f"{old} {new} refs/heads/main\0 report-status\n")
    answer = httpx.post(
        f"http://{address}/git/deployments.git/git-receive-pack",
        auth=("any", "operator"),
        content=gzip.compress(command + b"0000" + pack),
        headers={
            "Content-Type": "application/x-git-receive-pack-request",
            "Content-Encoding": "gzip",
        },
        timeout=30,
    )
    assert b"unpack ok" in answer.content
    eventually(lambda: written(admin, "git.push"))
    (entry,) = written(admin, "git.push")
    assert (entry["outcome"], entry["target"]) == ("done", "refs/heads/main")
    assert (entry["detail"]["old"], entry["detail"]["new"]) == (old, new)


def test_a_push_of_many_references_is_written_down(clone: Path, admin: Api) -> None:
    """Each of 120 tags and main is named in the audit; a push of more than 500 is refused with what
    helps, and that is in the audit too."""
    for number in range(120):
        git(clone, "tag", f"v{number}")
    new = committed(clone, "note.txt", "hello\n")
    git(clone, "push", "-q", "--tags", "origin", "HEAD:main")
    eventually(lambda: len(written(admin, "git.push")) == 51)
    entries = written(admin, "git.push")
    assert entries[0]["target"] == "refs/heads/main"
    assert entries[0]["detail"]["new"] == new
    together = entries[-1]["detail"]["references"]
    named = {one["target"] for one in entries[:-1]} | set(together)
    assert named == {"refs/heads/main", *(f"refs/tags/v{number}" for number in range(120))}
    assert {one["outcome"] for one in entries} == {"done"}
    lines = "".join(f"create refs/tags/w{number} {new}\n" for number in range(501))
    subprocess.run(["git", "update-ref", "--stdin"], cwd=clone, input=lines.encode(), check=True)
    told = git(clone, "push", "--tags", "origin", ok=False)
    assert "a push moves at most 500 references: push them in parts" in told
    eventually(lambda: len(written(admin, "git.push")) == 102)
    assert {one["outcome"] for one in written(admin, "git.push")[51:]} == {"refused"}
    assert admin.get("/audit/verify").json["broken_at"] is None


def test_a_direct_push_that_is_not_allowed_is_written_down(address: str, admin: Api) -> None:
    """Also of a client that did not ask first whether it may push."""
    answer = httpx.post(
        f"http://{address}/git/deployments.git/git-receive-pack",
        auth=("any", "viewer"), content=b"0000", timeout=30,
    )  # fmt: skip
    assert answer.status_code == 403
    (entry,) = written(admin, "git.push")
    assert (entry["actor"], entry["outcome"]) == ("viewer", "refused")


def test_repeated_refused_pushes_do_not_fill_the_audit(address: str, admin: Api) -> None:
    """The first ones of a caller have entries of their own; the others are counted."""
    for _ in range(BURST + 5):
        answer = httpx.post(
            f"http://{address}/git/deployments.git/git-receive-pack",
            auth=("any", "viewer"), content=b"0000", timeout=30,
        )  # fmt: skip
        assert answer.status_code == 403
    assert len(written(admin, "git.push")) == BURST


def test_a_fetch_is_none_of_it(clone: Path, admin: Api) -> None:
    """Runners fetch all day."""
    git(clone, "fetch", "-q")
    assert written(admin, "git.push") == []


def test_a_sync_that_somebody_asked_for_is_written_down(
    admin: Api, operator: Api, tmp_path: Path
) -> None:
    """With the commits before and after it, or why it failed."""
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{APPS.parents[1]}", "apps")
    source = {"name": "own", "url": str(tmp_path / "apps"), "path": "examples/apps"}
    assert admin.post("/app-sources", json=source).status_code == 201
    commit = operator.post("/app-sources/own/sync").json["commit"]
    (tmp_path / "apps").rename(tmp_path / "elsewhere")
    assert operator.post("/app-sources/own/sync").status_code == 404
    told = [
        (one["actor"], one["target"], one["outcome"], one["detail"]["old"])
        for one in written(admin, "app-source.sync")
    ]
    assert told == [("operator", "own", "done", None), ("operator", "own", "failed", commit)]

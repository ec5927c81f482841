"""What servers start inherits none of their secrets: seen by a git that writes down what it has."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.repository import Repository
from tests.support.runner_process import RunnerProcess
from tests.support.served import served
from tests.support.waiting import eventually

SECRET = "nobody-else-may-know"

Noted = Callable[[], str]


@pytest.fixture
def noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Noted:
    """All environments that git was started with since, for this test's own folders: who else lives
    in the same process of tests may ask Git meanwhile."""
    folder, notes = tmp_path / "bin", tmp_path / "environments"
    folder.mkdir()
    notes.touch()
    real = shutil.which("git")
    (folder / "git").write_text(
        f'#!/bin/sh\ncase "$PWD $*" in *{tmp_path}*) env >> {notes};; esac\nexec {real} "$@"\n'
    )
    (folder / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return notes.read_text


@pytest.fixture
def runner(tmp_path: Path, noted: Noted, monkeypatch: pytest.MonkeyPatch) -> Iterator[Noted]:
    """A runner that was given its secrets by the environment, and has fetched."""
    repository = Repository(tmp_path)
    repository.deploy("1.0.0")
    commit = repository.push()
    (tmp_path / "environments").write_text("")
    for name in ("HTTP__TOKEN", "CONTROLLER__TOKEN", "GIT__PASSWORD"):
        monkeypatch.setenv(f"MARGRAVE_{name}", SECRET)
    monkeypatch.setenv("MARGRAVE_HOOKS__SECRETS", f'["{SECRET}"]')
    made = RunnerProcess(tmp_path / "runner", str(repository.bare))
    made.start()
    try:
        eventually(lambda: made.status()["site"]["applied_commit"] == commit, 60)
        yield noted
    finally:
        made.kill()


def test_git_of_a_runner_knows_none_of_its_tokens(runner: Noted) -> None:
    """Whoever reads a process's environment, or is sent it by ssh, finds nothing."""
    assert "GIT_TERMINAL_PROMPT=0" in runner()
    assert SECRET not in runner()


def test_git_of_a_controller_knows_none_of_its_secrets(tmp_path: Path, noted: Noted) -> None:
    """Not where it publishes, and not where it reads applications."""
    with served(tmp_path, HOOKS__SECRETS=f'["{SECRET}"]', GIT__PASSWORD=SECRET) as controller:
        controller.post("/sites", {"name": "harbor"})
        eventually(lambda: controller.get("/audit")["items"], 60)
    assert "GIT_" in noted()
    assert SECRET not in noted()

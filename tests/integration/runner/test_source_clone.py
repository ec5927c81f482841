"""The runner's clone: made again when it is broken, kept when only the line is."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from margrave.errors import MargraveError, Unreachable
from runner.source import Halted, Source, clone
from tests.support.repository import Repository
from tests.support.sources import make_source
from tests.support.thin_line import ThinLine


def rot(folder: Path) -> None:
    """Every object is something else."""
    for path in (folder / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"rot")


def cut(folder: Path) -> None:
    """The disk was full, or the power went: files are there and short."""
    for path in (folder / "objects").rglob("*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def hollow(folder: Path) -> None:
    """References are there, objects are not."""
    shutil.rmtree(folder / "objects")
    (folder / "objects").mkdir()


def headless(folder: Path) -> None:
    """A clone that was begun and never got its HEAD."""
    (folder / "HEAD").unlink()


def empty_reference(folder: Path) -> None:
    """A reference that was being written."""
    (folder / "refs/remotes/origin/head").write_text("")


def locked(folder: Path) -> None:
    """A git that was killed left its locks."""
    for name in ("refs/remotes/origin/head.lock", "packed-refs.lock", "shallow.lock"):
        (folder / name).write_text("")


def not_a_clone(folder: Path) -> None:
    """Somebody put a file there."""
    shutil.rmtree(folder)
    folder.write_text("")


DAMAGES = [rot, cut, hollow, headless, empty_reference, locked, not_a_clone]


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("moved", [False, True], ids=["the same commit", "a newer commit"])
@pytest.mark.parametrize("running", [False, True], ids=["at start", "while it runs"])
def test_a_broken_clone_is_made_again(
    repository: Repository,
    tmp_path: Path,
    damage: Callable[[Path], None],
    moved: bool,
    running: bool,
) -> None:
    """Everything in the clone can be had again: at the latest the second look heals it."""
    source = make_source(tmp_path, repository)
    before = source.fetch(None, None)
    damage(tmp_path / "state/source.git")
    if moved:
        repository.deploy("1.1.0", number=1)
    commit = repository.push()
    if not running:
        source.close()
        source = make_source(tmp_path, repository)
    try:
        found = source.fetch(before, None)
    except MargraveError as error:
        assert not isinstance(error, (Halted, Unreachable)), error
        found = source.fetch(before, None)
    assert (found.commit, found.deployments[0].version) == (
        commit,
        "1.1.0" if moved else "1.0.0",
    )
    source.close()


def commits_in(folder: Path) -> int:
    """How many commits a clone knows."""
    words = ["git", "rev-list", "--count", "refs/remotes/origin/head"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    return int(done.stdout)


def test_a_new_clone_begins_at_the_newest_commit(repository: Repository, tmp_path: Path) -> None:
    """Years of history are not fetched; what comes later is followed from there."""
    for number in range(5):
        repository.write("README.md", str(number))
        repository.push()
    source = make_source(tmp_path, repository)
    first = source.fetch(None, None)
    assert commits_in(tmp_path / "state/source.git") == 1
    repository.push()
    repository.push()
    second = source.fetch(first, None)
    assert second.commit != first.commit
    assert commits_in(tmp_path / "state/source.git") == 3
    source.tidy()
    repository.push()
    third = source.fetch(second, None)
    repository.rewrite()
    with pytest.raises(Halted, match="history was rewritten"):
        source.fetch(third, None)


def test_a_clone_made_anew_knows_what_it_followed(repository: Repository, tmp_path: Path) -> None:
    """A site that lost its clone asks for the history once, and does not call it rewritten."""
    first = make_source(tmp_path, repository).fetch(None, None)
    for _ in range(3):
        commit = repository.push()
    shutil.rmtree(tmp_path / "state/source.git")
    assert make_source(tmp_path, repository).fetch(first, None).commit == commit
    shutil.rmtree(tmp_path / "state/source.git")
    rewritten = repository.rewrite()
    last = make_source(tmp_path, repository)
    assert last.fetch(first, None).commit == rewritten  # what was followed is still in it


def test_a_clone_made_anew_sees_that_history_was_rewritten(
    repository: Repository, tmp_path: Path
) -> None:
    """Although the commit it followed is nowhere to be had."""
    repository.push()
    first = make_source(tmp_path, repository).fetch(None, None)
    repository.rewrite()
    shutil.rmtree(tmp_path / "state/source.git")
    again = make_source(tmp_path, repository)
    with pytest.raises(Halted, match="history was rewritten"):
        again.fetch(first, None)
    commit = repository.push()
    assert again.fetch(first, commit).commit == commit


@pytest.fixture
def line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ThinLine:
    """A line that carries everything, so far."""
    made = ThinLine(tmp_path / "bin")
    monkeypatch.setenv("PATH", f"{made.folder}:{os.environ['PATH']}")
    return made


def over_ssh(base: Path, repository: Repository) -> Source:
    """A source whose remote is at the other end of a line."""
    return make_source(base, repository, f"ssh://git.example{repository.bare}")


def push_much(repository: Repository) -> str:
    """A commit of which no small part will do."""
    (repository.tree / "payload").write_bytes(os.urandom(400_000))
    return repository.push()


def identity(folder: Path) -> int:
    """What tells this clone from one that was made in its place."""
    return (folder / "config").stat().st_ino


def test_a_fetch_that_breaks_off_leaves_the_clone_as_it_was(
    repository: Repository, line: ThinLine, tmp_path: Path
) -> None:
    """Nothing is fetched twice over a line that is too thin for once, and no leavings gather."""
    repository.push()
    source, folder = over_ssh(tmp_path, repository), tmp_path / "state/source.git"
    before = source.fetch(None, None)
    made = identity(folder)
    commit = push_much(repository)
    line.breaks_off(50_000)
    for _ in range(2):
        with pytest.raises(Unreachable):
            source.fetch(before, None)
    assert not list((folder / "objects").rglob("tmp_*"))
    line.carries_all()
    assert source.fetch(before, None).commit == commit
    assert (identity(folder), commits_in(folder)) == (made, 2)


def test_a_first_fetch_that_breaks_off_asks_for_no_more_the_next_time(
    repository: Repository, line: ThinLine, tmp_path: Path
) -> None:
    """The newest commit is enough, at the first try and at any other."""
    repository.push()
    push_much(repository)
    line.breaks_off(50_000)
    source = over_ssh(tmp_path, repository)
    with pytest.raises(Unreachable):
        source.fetch(None, None)
    line.carries_all()
    source.fetch(None, None)
    assert commits_in(tmp_path / "state/source.git") == 1


def test_history_that_cannot_be_asked_for_now_breaks_no_clone(
    repository: Repository, line: ThinLine, tmp_path: Path
) -> None:
    """A clone made anew asks what came before; when the line is cut then, it asks again later."""
    first = over_ssh(tmp_path, repository).fetch(None, None)
    push_much(repository)
    (repository.tree / "payload").unlink()
    repository.push()
    folder = tmp_path / "state/source.git"
    shutil.rmtree(folder)
    source = over_ssh(tmp_path, repository)
    line.breaks_off(50_000)
    with pytest.raises(Unreachable):
        source.fetch(first, None)
    made = identity(folder)
    line.carries_all()
    source.fetch(first, None)
    assert identity(folder) == made


def test_a_fetch_may_take_longer_than_a_question(
    repository: Repository, line: ThinLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that carries little is no line that is dead."""
    monkeypatch.setattr(clone, "_ANSWER_SECONDS", 0.1)
    line.carries_all(after=1)
    assert over_ssh(tmp_path, repository).fetch(None, None).deployments


def test_a_full_disk_costs_no_clone(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What fails on this machine is told as what it is, and fetched again from nowhere."""
    source, folder = make_source(tmp_path, repository), tmp_path / "state/source.git"
    before = source.fetch(None, None)
    made = identity(folder)
    repository.deploy("1.1.0", number=1)
    commit = repository.push()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("runner.source.components.Components.take", full)
        with pytest.raises(MargraveError, match="No space left on device"):
            source.fetch(before, None)
    assert source.fetch(before, None).commit == commit
    assert identity(folder) == made


def test_a_remote_that_is_away_is_unreachable_not_broken(
    source: Source, repository: Repository, tmp_path: Path
) -> None:
    """The clone is not thrown away for a cut line."""
    source.fetch(None, None)
    repository.bare.rename(tmp_path / "elsewhere")
    with pytest.raises(Unreachable):
        source.fetch(None, None)
    assert (tmp_path / "state/source.git/HEAD").is_file()

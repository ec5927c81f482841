"""What playbooks/collect.yml runs on a node and here."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

FILES = Path(__file__).resolve().parents[3] / "playbooks/files"
LAID_DOWN = FILES / "laid_down.py"


def _lay_down(folder: Path, told: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(LAID_DOWN), str(folder)],
        input=json.dumps(told),
        capture_output=True,
        text=True,
        check=False,
    )


def test_files_are_their_owners_alone(tmp_path: Path) -> None:
    """A bundle is about machines of somebody's."""
    folder = tmp_path / "harbor/one"
    done = _lay_down(folder, {"load.txt": "up\n", "deployments/a/journal.json": "{}"})
    assert done.returncode == 0, done.stderr
    assert (folder / "load.txt").read_text() == "up\n"
    assert (folder / "deployments/a/journal.json").stat().st_mode & 0o777 == 0o600
    assert folder.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["../two/load.txt", "/etc/motd", "a/../../b", "", "."])
def test_a_node_writes_nowhere_else(tmp_path: Path, name: str) -> None:
    """Not even the files beside the bad one are kept."""
    done = _lay_down(tmp_path / "one", {"load.txt": "up", name: "x"})
    assert done.returncode == 1
    assert "nothing of it is kept" in done.stderr
    assert not list(tmp_path.iterdir())


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    """With a sentence, not with a traceback."""
    done = _lay_down(tmp_path / "one", {"load.txt": {"a": 1}})
    assert done.returncode == 1
    assert done.stderr.startswith("load.txt: no text")


def test_every_look_is_told_whatever_becomes_of_it() -> None:
    """Also of a command that is not there, and of one that fails."""
    fails = ["sh", "-c", "echo no >&2; exit 3"]
    looks = {"a": ["echo", 5], "b": ["no-such-program"], "c": fails}
    done = subprocess.run(
        [sys.executable, str(FILES / "looks.py"), json.dumps(looks)],
        capture_output=True,
        text=True,
        check=True,
    )
    told = json.loads(done.stdout)
    assert told["a.txt"].startswith("5\n")
    assert "no-such-program" in told["b.txt"]
    assert told["c.txt"] == "\nno\n"

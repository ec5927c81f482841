"""`margrave init` makes a controller in a folder of its own, and touches nobody else's things."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from controller.access import passwords
from controller.cli import init
from tests.support.served import MARGRAVE


def made(folder: Path) -> dict[str, Any]:
    done = CliRunner().invoke(init, [str(folder), "-o", "json"], catch_exceptions=False)
    answer: dict[str, Any] = json.loads(done.output)
    return answer


def refused(*words: str, cwd: Path) -> str:
    """What the command says on its way to exit code 5."""
    done = subprocess.run([MARGRAVE, "init", *words], cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 5, (done.stdout, done.stderr)
    return done.stderr


def standing(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize(
    ("files", "named"),
    [
        (("README.md",), "README.md"),
        ((".git/config",), ".git"),
        (("state/notes.txt",), "state/notes.txt"),
        (("a", "b", "c", "d", "e"), "a, b, c and 2 more"),
    ],
)
def test_a_folder_of_somebody_elses_is_left_alone(
    tmp_path: Path, files: tuple[str, ...], named: str
) -> None:
    """Refused with what stands there and a folder to take instead; not a file more than before."""
    for name in files:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("mine")
    before = standing(tmp_path)
    said = refused(cwd=tmp_path)  # the folder one stands in, when none is named
    assert f"holds other things already: {named} " in said
    assert "choose a folder of its own, such as controller" in said
    assert standing(tmp_path) == before


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """A name that is a file's is told as such."""
    (tmp_path / "controller").write_text("mine")
    assert "is no folder" in refused("controller", cwd=tmp_path)


def test_init_again_changes_nothing(tmp_path: Path) -> None:
    """The second time it says how to serve what is there; password and database stay."""
    made(tmp_path / "c")
    before = standing(tmp_path)
    said = refused("c", cwd=tmp_path)
    assert "is there already, and was left as it is" in said
    assert "margrave controller serve --config c/margrave.toml" in said
    assert standing(tmp_path) == before


def test_what_was_cut_short_is_made_anew(tmp_path: Path) -> None:
    """Without its configuration, which comes last, an init never came to its end."""
    (tmp_path / "c/state/keys").mkdir(parents=True)
    (tmp_path / "c/lost+found").mkdir()  # of a disk of its own
    (tmp_path / "c/margrave.new").write_text("[state]\n")
    assert Path(made(tmp_path / "c")["config"]).is_file()


def test_a_database_without_its_configuration_is_not_taken_over(tmp_path: Path) -> None:
    """Whoever lost a file does not lose the controller to a new admin."""
    first = made(tmp_path / "c")
    Path(first["config"]).unlink()
    said = refused("c", cwd=tmp_path)
    assert "it has an admin" in said and "bring its margrave.toml back" in said


def test_made_passwords_are_easy_to_copy() -> None:
    """No hyphen that an option begins with, nothing that looks like something else, one word."""
    many = {passwords.new_password() for _ in range(500)}
    assert len(many) == 500
    assert all(re.fullmatch(r"[a-z2-9]{20}", one) for one in many)
    assert not set("".join(many)) & set("ilo01")

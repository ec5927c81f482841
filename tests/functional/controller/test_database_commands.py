"""Commands of the controller's machine where the database cannot be used: the reason, no trace."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.support.controller_process import CLI
from tests.support.runner_process import free_port


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a controller."""
    home = tmp_path_factory.mktemp("controller")
    subprocess.run([CLI, "init", str(home)], check=True, capture_output=True)
    return home


def typed(home: Path, url: str, *words: str) -> tuple[int, str]:
    """Return how a command ends, and what it prints as its error."""
    config = home / "changed.toml"
    config.write_text((home / "margrave.toml").read_text() + f'[database]\nurl = "{url}"\n')
    done = subprocess.run(
        [CLI, "controller", *words, "--config", str(config)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("migrate",),
        ("serve",),
        ("backup", "FILE"),
        ("restore", "FILE", "--yes"),
        ("rebuild", "--yes"),
        ("add-admin", "grace"),
    ],
    ids=lambda words: words[0],
)
def test_a_database_that_does_not_answer_is_named(home: Path, words: tuple[str, ...]) -> None:
    """With its address, without its password, with the reason and what to look at."""
    url = f"postgresql://margrave:sesame@127.0.0.1:{free_port()}/margrave"
    code, said = typed(home, url, *(str(home / "b.tar") if w == "FILE" else w for w in words))

    assert code == 6, said
    assert "Traceback" not in said
    assert "postgresql://margrave:***@127.0.0.1:" in said and "refused" in said
    assert "database.url" in said
    assert "sesame" not in said


@pytest.mark.parametrize(
    "url", ["margrave", "postgresql://margrave@db:port/margrave", "mysql://h/d"]
)
def test_an_address_that_is_no_database_is_refused(home: Path, url: str) -> None:
    """With the two forms that are known."""
    code, said = typed(home, url, "migrate")

    assert code == 5, said
    assert "database.url" in said and "postgresql://USER@HOST/DATABASE" in said

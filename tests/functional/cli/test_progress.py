"""What takes a while tells its steps, to who sits before a terminal and to nobody else."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click
import pytest

from margrave.terminal.live import redrawing
from tests.functional.cli import fleet
from tests.functional.cli.test_node import ADDED
from tests.support.served import MARGRAVE

if TYPE_CHECKING:
    from tests.functional.cli.conftest import FakeController, Run


@pytest.fixture
def key(tmp_path: Path) -> str:
    """A private key's file."""
    path = tmp_path / "id"
    path.write_text("PRIVATE")
    return str(path)


@pytest.mark.parametrize("terminal", [True, False])
def test_steps_are_told_on_a_terminal(
    run: Run,
    controller: FakeController,
    runner: FakeController,
    key: str,
    monkeypatch: pytest.MonkeyPatch,
    *,
    terminal: bool,
) -> None:
    """On stderr, so that the answer stays what it is."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    fleet.told(controller)
    runner.on("POST", "/nodes/probe", 200, {"host_key": "SHA256:abc"})
    runner.on("POST", "/nodes", 201, ADDED)
    add = ("node", "add", "press-1", "192.0.2.1", "--site", "harbor", "--yes")
    for words, step in (
        (("app", "sync"), "reading apps …"),
        ((*add, "--identity", key, "--config", runner.url), "preparing 192.0.2.1"),
    ):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
        ran = run(*words)
        assert (ran.code, step in ran.err, step in ran.out) == (0, terminal, False), ran.err


def test_a_backup_and_its_return_tell_their_steps(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each long piece of work by its name, before it begins."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    subprocess.run([MARGRAVE, "init", "made"], cwd=tmp_path, check=True, capture_output=True)
    monkeypatch.setenv("MARGRAVE_HTTP__BIND", "127.0.0.1:1")
    kept, config = str(tmp_path / "kept"), ("--config", str(tmp_path / "made/margrave.toml"))
    for words, steps in (
        (("backup", kept), ("copying the database", "packing")),
        (("restore", kept, "--yes"), ("unpacking", "putting it in place")),
        (("rebuild", "--yes"), ("reading the repository", "reading the sources")),
    ):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        ran = run("controller", *words, *config)
        assert ran.code == 0, ran.err
        assert [one for one in steps if f"{one} …" not in ran.err] == []


def test_a_live_answer_stands_in_its_place(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second is drawn over the first, as it would be on the terminal itself."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)

    with redrawing(live=True) as redraw:
        for text in ("UPDATING", "INSTALLED"):
            redraw(lambda text=text: click.echo(f"{text} {sys.stdout.isatty()}"))

    shown = capsys.readouterr().out
    between = shown.partition("UPDATING True")[2].partition("INSTALLED True")[0]
    assert "\x1b[2K" in between, "the line is taken away before the next one stands there"


def test_what_is_not_live_stands_below(capsys: pytest.CaptureFixture[str]) -> None:
    """In a pipe there is no place to go back to."""
    with redrawing(live=False) as redraw:
        for text in ("UPDATING", "INSTALLED"):
            redraw(lambda text=text: click.echo(text))

    assert capsys.readouterr().out == "UPDATING\nINSTALLED\n"

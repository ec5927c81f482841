"""The command and its page say the same."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import click
import pytest

from margrave.cli.exits import Exit
from margrave.cli.main import NOUNS

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()


def _commands() -> list[str]:
    found = []
    for noun, (module, _) in NOUNS.items():
        command = getattr(import_module(f"margrave.cli.commands.{module}"), noun)
        verbs = command.commands if isinstance(command, click.Group) else {"": None}
        found += [f"{noun} {verb}".strip() for verb in verbs]
    return found


@pytest.mark.parametrize("command", _commands())
def test_each_command_has_its_entry(command: str) -> None:
    """A verb without a line in docs/cli.md is hidden from whoever reads."""
    assert f"`{command}" in PAGE or f"`margrave {command}" in PAGE


@pytest.mark.parametrize("code", list(Exit))
def test_each_exit_code_has_its_line(code: Exit) -> None:
    """Scripts are written from that table."""
    assert f"| {code.value} | {code.name.lower().replace('_', ' ')} |" in PAGE


@pytest.mark.parametrize("command", _commands())
def test_each_command_says_what_it_does(command: str) -> None:
    """`--help` has a sentence for everything."""
    noun, _, verb = command.partition(" ")
    found = getattr(import_module(f"margrave.cli.commands.{NOUNS[noun][0]}"), noun)
    found = found.commands[verb] if verb else found

    assert found.help

"""The command and its page say the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from margrave.cli.exits import Exit
from tests.unit.cli.test_help import VERBS

PAGE = (Path(__file__).parents[3] / "docs" / "cli.md").read_text()


@pytest.mark.parametrize("command", sorted(VERBS))
def test_each_command_has_its_entry(command: str) -> None:
    """A verb without a line in docs/cli.md is hidden from whoever reads."""
    assert f"`{command}" in PAGE or f"`margrave {command}" in PAGE


@pytest.mark.parametrize("code", list(Exit))
def test_each_exit_code_has_its_line(code: Exit) -> None:
    """Scripts are written from that table."""
    assert f"| {code.value} | {code.name.lower().replace('_', ' ')} |" in PAGE


@pytest.mark.parametrize("command", sorted(VERBS))
def test_each_command_says_what_it_does(command: str) -> None:
    """`--help` has a sentence for everything."""
    assert VERBS[command].help

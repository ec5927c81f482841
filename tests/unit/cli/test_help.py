"""Every command shows how it is used, and what it shows can be typed."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import pytest

from margrave.cli.main import root
from margrave.terminal.examples import EXAMPLES
from margrave.terminal.output import FORMATS


def _verbs(command: click.Command, path: str = "") -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        assert inner is not None
        yield from _verbs(inner, f"{path} {name}".strip())


VERBS = dict(_verbs(root))
# They run until they are stopped, become another program, or print one.
UNFORMED = {"completion", "controller serve", "lab ssh", "runner serve"}


def test_each_verb_answers_in_each_form() -> None:
    """`-o table|json|yaml|name`, whichever room brings it."""
    for path, verb in VERBS.items():
        forms = [one.type for one in verb.params if "-o" in one.opts]
        told = [list(one.choices) for one in forms if isinstance(one, click.Choice)]
        assert (path, told) == (path, [] if path in UNFORMED else [list(FORMATS)])


def test_each_verb_has_an_example() -> None:
    """And nothing has one that is no verb any more."""
    assert set(EXAMPLES) == set(VERBS)


@pytest.mark.parametrize("path", sorted(EXAMPLES))
def test_an_example_can_be_typed(path: str) -> None:
    """It names its verb, its options exist, and its arguments are as many as the verb takes."""
    for line in EXAMPLES[path]:
        words = shlex.split(line)
        verb = path.split()
        assert words[: len(verb) + 1] == ["margrave", *verb]
        context = click.Context(VERBS[path], info_name=path)
        _, left, _ = VERBS[path].make_parser(context).parse_args(words[len(verb) + 1 :])
        assert not left, line


def test_help_shows_the_examples_as_lines_to_copy() -> None:
    """Not folded, whatever the width."""
    context = click.Context(root, info_name="margrave", terminal_width=40)
    for name in ("deployment", "update"):
        group = context.command
        assert isinstance(group, click.Group)
        inner = group.get_command(context, name)
        assert inner is not None
        context = click.Context(inner, parent=context, info_name=name, terminal_width=40)

    assert all(f"  {line}\n" in context.get_help() + "\n" for line in EXAMPLES["deployment update"])

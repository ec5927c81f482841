"""The question before what cannot be undone."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from margrave.errors import MargraveError

if TYPE_CHECKING:
    from collections.abc import Callable

F = TypeVar("F", bound="Callable[..., Any]")


class Misuse(MargraveError):
    """The words given do not say one thing: ambiguous, or not to be combined."""


def asks(function: F) -> F:
    """`--yes`: the answer to the question a destructive verb asks."""
    return click.option("--yes", is_flag=True, help="do not ask")(function)


def confirm(question: str, *, yes: bool) -> None:
    """Returns when the answer is yes; without anybody to ask, `--yes` has to say it."""
    if yes:
        return
    # What is piped in answers a question that nobody sees: then stderr is kept for what went wrong.
    seen = sys.stdin.isatty()
    if seen:
        click.echo(f"{question} [y/N] ", nl=False, err=True)
    answer = sys.stdin.readline()
    if not answer:
        raise Misuse(f"nobody is there to confirm: {question}", "add --yes")
    if answer.strip().lower() not in {"y", "yes"}:
        raise MargraveError("nothing was changed: not confirmed")
    if not seen:
        click.echo(f"{question} [y/N] {answer.strip()}", err=True)

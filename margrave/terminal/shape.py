"""Nouns and verbs as click commands that show under their help how they are used."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Iterable


class Verb(click.Command):
    """A command that does something."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Its examples, one below the other, never folded: they are there to be copied."""
        found = list(_examples(ctx.command_path))
        if found:
            with formatter.section("Examples"):
                for line in found:
                    formatter.write(f"{'':{formatter.current_indent}}{line}\n")


class Noun(click.Group):
    """Verbs about one kind of thing."""

    command_class = Verb


def _examples(path: str) -> Iterable[str]:
    from margrave.terminal.examples import EXAMPLES

    return EXAMPLES.get(path.partition(" ")[2], ())

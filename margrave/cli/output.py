"""Where answers go: tables for eyes, JSON and YAML for programs, progress for a terminal."""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from margrave.cli import tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FORMATS: Final = ("table", "json", "yaml")


def lively(stream: Any = None) -> bool:
    """Whether colour and progress are welcome: a terminal, and nobody said no."""
    target = stream or sys.stdout
    return bool(target.isatty()) and not os.environ.get("NO_COLOR")


@dataclass(frozen=True, slots=True)
class Output:
    """One command's way of answering."""

    format: str = "table"

    @property
    def for_eyes(self) -> bool:
        """Whether tables are wanted."""
        return self.format == "table"

    def answer(self, value: Any, *, line: bool = False) -> None:
        """The value as JSON or YAML; `line` keeps JSON on one line, for streams of them."""
        if self.format == "yaml":
            from margrave import yaml_text

            text = yaml_text.dump(value)
            click.echo(f"---\n{text}" if line else text, nl=False)
        else:
            click.echo(json.dumps(value, ensure_ascii=False, indent=None if line else 2))

    def rows(
        self, columns: tables.Columns, rows: Iterable[tables.Resource], none: str = ""
    ) -> None:
        """A table; `none` is said when there are no rows."""
        cells = [[tables.words(cell(row)) for _, cell in columns] for row in rows]
        if not cells and none:
            click.echo(none)
            return
        click.echo(aligned([name for name, _ in columns], cells, colours=lively()), nl=False)

    def list(self, page: dict[str, Any], columns: tables.Columns, none: str = "") -> None:
        """A list as `{items, next}` or as a table."""
        if self.for_eyes:
            self.rows(columns, page["items"], none)
        else:
            self.answer(page)

    def card(self, value: tables.Resource, names: Iterable[str]) -> None:
        """One resource, a line for each field named."""
        shown = [
            (name.rsplit(".", 1)[-1], tables.words(tables.field(name)(value))) for name in names
        ]
        width = max(len(name) for name, _ in shown)
        for name, text in shown:
            label = name.replace("_", " ").ljust(width)
            style = tables.colour(text) if lively() else ""
            click.echo(f"{label}  " + (click.style(text, fg=style) if style else text))

    def say(self, text: str) -> None:
        """A sentence for eyes; nothing where a program reads."""
        if self.for_eyes:
            click.echo(text)


def aligned(head: Sequence[str], cells: Sequence[Sequence[str]], *, colours: bool) -> str:
    """Columns side by side. Nothing is cut or folded: a terminal wraps what is too long, and a
    line stays a line for whoever reads the output with another program."""
    rows = [head, *([text.replace("\n", " ") for text in row] for row in cells)]
    widths = [max(len(row[index]) for row in rows) for index in range(len(head))]
    lines = []
    for number, row in enumerate(rows):
        padded = [text.ljust(width) for text, width in zip(row, widths, strict=True)]
        padded[-1] = row[-1]
        if colours:
            padded = [_painted(text, number == 0) for text in padded]
        lines.append("  ".join(padded).rstrip() + "\n")
    return "".join(lines)


def _painted(text: str, is_head: bool) -> str:
    if is_head:
        return click.style(text, bold=True)
    colour = tables.colour(text.strip())
    return click.style(text, fg=colour) if colour else text

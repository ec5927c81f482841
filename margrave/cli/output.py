"""Where answers go: tables for eyes, JSON and YAML for programs, progress for a terminal."""

from __future__ import annotations

import json
import os
import shutil
import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from margrave.cli import tables

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

FORMATS: Final = ("table", "json", "yaml", "name")
# A column that has to give way keeps this much, or what it needs.
NARROW: Final = 12
# The column that explains a row: words for people, which no cut leaves of any use.
WHY: Final = "WHY"


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
        """The value as JSON, YAML or names; `line` keeps JSON on one line, for streams of them."""
        if self.format == "name":
            for name in names(value):
                click.echo(name)
        elif self.format == "yaml":
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
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        head = [name for name, _ in columns]
        click.echo(_whole(head, cells, lively(), width), nl=False)

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


def names(value: Any) -> list[str]:
    """What the things in an answer, a list's, a request's or one, are called in other commands."""
    if isinstance(value, list):
        return [name for one in value for name in names(one)]
    if not isinstance(value, Mapping):
        return []
    for inner in ("items", "deployments"):
        if isinstance(value.get(inner), list):
            return names(value[inner])
    if value.get("site") and value.get("name") and "id" not in value:
        return [f"{value['site']}/{value['name']}"]
    found = value.get("id") or value.get("name")
    return [str(found)] if found else []


def _whole(
    head: Sequence[str], cells: Sequence[Sequence[str]], colours: bool, width: int | None
) -> str:
    """The table; where it is too wide, what explains a row stands below it, whole."""
    needed = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    if width is None or WHY not in head or sum(needed) + 2 * (len(head) - 1) <= width:
        return aligned(head, cells, colours=colours, width=width)
    why = list(head).index(WHY)
    rest = [[text for at, text in enumerate(row) if at != why] for row in (head, *cells)]
    lines = aligned(rest[0], rest[1:], colours=colours, width=width).splitlines(keepends=True)
    found = [lines[0]]
    for line, row in zip(lines[1:], cells, strict=True):
        found.append(line)
        if row[why] != "-":
            found += [f"    {part}\n" for part in textwrap.wrap(row[why], max(width - 4, 20))]
    return "".join(found)


def aligned(
    head: Sequence[str],
    cells: Sequence[Sequence[str]],
    *,
    colours: bool = False,
    width: int | None = None,
) -> str:
    """Columns side by side, a line a row. With a width the widest columns give way until all fit;
    without one nothing is cut, so that whoever reads the output with a program has it whole."""
    rows = [list(head), *([text.replace("\n", " ") for text in row] for row in cells)]
    needed = [max(len(row[index]) for row in rows) for index in range(len(head))]
    widths = needed if width is None else fitted(needed, width - 2 * (len(head) - 1))
    lines = []
    for number, row in enumerate(rows):
        padded = [_cut(text, room).ljust(room) for text, room in zip(row, widths, strict=True)]
        if colours:
            padded = [_painted(text, number == 0) for text in padded]
        lines.append("  ".join(padded).rstrip() + "\n")
    return "".join(lines)


def fitted(needed: Sequence[int], room: int) -> list[int]:
    """Widths that fit the room as well as they can: the widest is narrowed first, to NARROW."""
    widths = list(needed)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=widths.__getitem__)
        if widths[widest] <= NARROW:
            break
        others = [one for index, one in enumerate(widths) if index != widest]
        least = max([NARROW, *(one for one in others if one < widths[widest])])
        widths[widest] = max(least - 1, NARROW, widths[widest] - (sum(widths) - room))
    return widths


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _painted(text: str, is_head: bool) -> str:
    if is_head:
        return click.style(text, bold=True)
    colour = tables.colour(text.strip())
    return click.style(text, fg=colour) if colour else text

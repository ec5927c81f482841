"""Where answers go: tables for eyes, JSON and YAML for programs, progress for a terminal."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click

from margrave.terminal.cells import colour, field, words
from margrave.terminal.columns import whole

if TYPE_CHECKING:
    from collections.abc import Iterable

    from margrave.terminal.cells import Columns, Resource

FORMATS: Final = ("table", "json", "yaml", "name")


def lively(stream: Any = None) -> bool:
    """Whether colour and progress are welcome: a terminal, and nobody said no."""
    target = stream or sys.stdout
    return bool(target.isatty()) and not os.environ.get("NO_COLOR")


@dataclass(frozen=True, slots=True)
class Output:
    """One command's way of answering; `stream` where one answer follows another."""

    format: str = "table"
    stream: bool = False

    @property
    def for_eyes(self) -> bool:
        """Whether tables are wanted."""
        return self.format == "table"

    def answer(self, value: Any) -> None:
        """The value as JSON, YAML or names; in a stream JSON is a line each."""
        if self.format == "name":
            for name in names(value):
                click.echo(name)
        elif self.format == "yaml":
            from margrave import yaml_text

            text = yaml_text.dump(value)
            click.echo(f"---\n{text}" if self.stream else text, nl=False)
        else:
            click.echo(json.dumps(value, ensure_ascii=False, indent=None if self.stream else 2))

    def done(self, text: str, answer: Any) -> None:
        """What was done: a sentence for eyes, the answer for programs."""
        if self.for_eyes:
            click.echo(text)
        else:
            self.answer(answer)

    def rows(self, columns: Columns, rows: Iterable[Resource], none: str = "") -> None:
        """A table; `none` is said when there are no rows."""
        cells = [[words(cell(row)) for _, cell in columns] for row in rows]
        if not cells and none:
            click.echo(none)
            return
        width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
        head = [name for name, _ in columns]
        click.echo(whole(head, cells, lively(), width), nl=False)

    def list(self, page: dict[str, Any], columns: Columns, none: str = "") -> None:
        """A list as `{items, next}` or as a table."""
        if self.for_eyes:
            self.rows(columns, page["items"], none)
        else:
            self.answer(page)

    def card(self, value: Resource, names: Iterable[str]) -> None:
        """One resource, a line for each field named."""
        shown = [(name.rsplit(".", 1)[-1], words(field(name)(value))) for name in names]
        width = max(len(name) for name, _ in shown)
        for name, text in shown:
            label = name.replace("_", " ").ljust(width)
            style = colour(text) if lively() else ""
            click.echo(f"{label}  " + (click.style(text, fg=style) if style else text))

    def say(self, text: str) -> None:
        """A sentence for eyes; nothing where a program reads."""
        if self.for_eyes:
            click.echo(text)

    def step(self, text: str) -> None:
        """What begins now and may take a while: told beside the answer, to who sits before it."""
        if self.for_eyes and lively(sys.stderr):
            click.echo(f"{text} …", err=True)


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

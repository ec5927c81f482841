"""Rows under each other: as wide as they need, or as wide as the terminal is."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

import click

from margrave.terminal.cells import colour as colour_of

# A column that has to give way keeps this much, or what it needs.
NARROW: Final = 12
# What other commands take: half of it is of no use.
NAMES: Final = "ID"
# Columns that explain a row: words for people, which no cut leaves of any use.
EXPLAIN: Final = {"WHY", "DETAIL", "FINDING", "CURE", "ABOUT"}


def whole(
    head: Sequence[str], cells: Sequence[Sequence[str]], colours: bool, width: int | None
) -> str:
    """The table; where it is too wide, what explains a row stands below it, whole."""
    needed = [max(map(len, column)) for column in zip(head, *cells, strict=True)]
    below = [at for at, name in enumerate(head) if name in EXPLAIN]
    if width is None or not below or sum(needed) + 2 * (len(head) - 1) <= width:
        return aligned(head, cells, colours=colours, width=width)
    rest = [[text for at, text in enumerate(row) if at not in below] for row in (head, *cells)]
    lines = aligned(rest[0], rest[1:], colours=colours, width=width).splitlines(keepends=True)
    found = [lines[0]]
    for line, row in zip(lines[1:], cells, strict=True):
        found.append(line)
        for text in (row[at] for at in below if row[at] != "-"):
            found += [f"    {part}\n" for part in textwrap.wrap(text, max(width - 4, 20))]
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
    kept = [at for at, name in enumerate(head) if name == NAMES]
    widths = needed if width is None else fitted(needed, width - 2 * (len(head) - 1), kept)
    lines = []
    for number, row in enumerate(rows):
        padded = [_cut(text, room).ljust(room) for text, room in zip(row, widths, strict=True)]
        if colours:
            padded = [_painted(text, number == 0) for text in padded]
        lines.append("  ".join(padded).rstrip() + "\n")
    return "".join(lines)


def fitted(needed: Sequence[int], room: int, kept: Sequence[int] = ()) -> list[int]:
    """Widths that fit the room as well as they can: the widest is narrowed first, to NARROW;
    those that are kept are not."""
    widths = list(needed)
    giving = [at for at in range(len(widths)) if at not in kept]
    while giving and sum(widths) > room:
        widest = max(giving, key=widths.__getitem__)
        if widths[widest] <= NARROW:
            break
        others = [widths[at] for at in giving if at != widest]
        least = max([NARROW, *(one for one in others if one < widths[widest])])
        widths[widest] = max(least - 1, NARROW, widths[widest] - (sum(widths) - room))
    return widths


def _cut(text: str, room: int) -> str:
    return text if len(text) <= room else text[: room - 1] + "…"


def _painted(text: str, is_head: bool) -> str:
    if is_head:
        return click.style(text, bold=True)
    colour = colour_of(text.strip())
    return click.style(text, fg=colour) if colour else text

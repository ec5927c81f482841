"""How-to pages: their blocks and the commands in them."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parents[3] / "docs"
_FENCE: Final = re.compile(r"^( *)```(\w*)\n(.*?)^ *```$", re.M | re.S)


@dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: str
    language: str  # empty for a block without one
    text: str

    @property
    def opening(self) -> str:
        """Return its first line that is no separator."""
        return next(line for line in self.text.splitlines() if line != "---")

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the commands of a console block."""
        return tuple(line.removeprefix("$ ") for line in self.text.splitlines())

    def parts(self) -> tuple[str, ...]:
        """Return what has to be executed of it: each command, or the whole text."""
        return self.lines if self.language == "console" else (self.text,)


@dataclass(frozen=True)
class Page:
    """A how-to page, and how to find its blocks and commands."""

    name: str

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Return all blocks in their order."""
        return blocks(self.name)

    def block(self, opening: str) -> Block:
        """Return the only block that begins so."""
        [block] = (block for block in self.blocks if block.opening.startswith(opening))
        return block

    def texts(self, language: str) -> tuple[str, ...]:
        """Return the texts of all blocks in this language."""
        return tuple(block.text for block in self.blocks if block.language == language)

    def lines(self, containing: str = "") -> tuple[str, ...]:
        """Return all commands of the page, or those that contain this text."""
        found = (block.lines for block in self.blocks if block.language == "console")
        return tuple(line for lines in found for line in lines if containing in line)

    def line(self, containing: str) -> str:
        """Return the only command that contains this text."""
        [line] = self.lines(containing)
        return line


def blocks(page: str) -> tuple[Block, ...]:
    """Return the blocks of a how-to page in their order."""
    text = (DOCS / "howto" / f"{page}.md").read_text()
    found = _FENCE.findall(text)
    return tuple(Block(page, language, textwrap.dedent(body)) for _, language, body in found)


def names() -> tuple[str, ...]:
    """Return the names of all how-to pages."""
    return tuple(sorted(path.stem for path in (DOCS / "howto").glob("*.md")))


def tree_paths(text: str) -> tuple[str, ...]:
    """Return the paths that a drawn tree shows; folders end with a slash."""
    paths: list[str] = []
    above: list[str] = []
    for line in text.splitlines():
        name = line.split("#")[0].lstrip("│├└─ ").rstrip()
        depth = (len(line) - len(line.lstrip("│├└─ "))) // 4
        above = [*above[:depth], name]
        paths.append("".join(above))
    return tuple(paths)

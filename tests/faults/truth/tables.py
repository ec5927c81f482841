"""The tables of a page, read as rows of cells by the heading of their column."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from html.parser import HTMLParser

WORD = re.compile(r"badge[^>]*>.*?</span>\s*([^<]+)<", re.DOTALL)
TITLE = re.compile(r'title="([^"]+)"')
LINK = re.compile(r'href="([^"]+)"')
TIME = re.compile(r'datetime="([^"]+)"')
TAGS = re.compile(r"<[^>]+>")


@dataclass
class Row:
    """A row of a table; cells are HTML."""

    marks: str = ""
    cells: dict[str, str] = field(default_factory=dict)

    def text(self, column: str) -> str:
        """Return the words of a cell."""
        return " ".join(TAGS.sub(" ", self.cells.get(column, "")).split())

    def badge(self, column: str) -> str:
        """Return the word of the first badge in a cell."""
        return self._first(WORD, column)

    def title(self, column: str) -> str:
        """Return what a cell shows on hover."""
        return self._first(TITLE, column)

    def link(self, column: str) -> str:
        """Return where a cell leads."""
        return self._first(LINK, column).replace("&amp;", "&")

    def time(self, column: str) -> str:
        """Return the exact time of a cell."""
        return self._first(TIME, column)

    def is_marked(self, name: str) -> bool:
        """Return whether the row has a class."""
        return name in self.marks.split()

    def _first(self, pattern: re.Pattern[str], column: str) -> str:
        match = pattern.search(self.cells.get(column, ""))
        return match[1].strip() if match else ""


class _Tables(HTMLParser):
    """Collects the rows of all tables; end tags of cells and rows may be left out."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[Row] = []
        self._heads: list[str] = []
        self._cells: list[str] | None = None
        self._in_head = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        if tag == "thead":
            self._end_row()
            self._heads, self._in_head = [], True
        elif tag == "tbody":
            self._end_head()
        elif tag == "tr":
            self._end_row()
            self._cells = []
            if not self._in_head:
                self.rows.append(Row(attributes.get("class", "")))
        elif tag in ("td", "th") and self._cells is not None:
            self._cells.append("")
        elif self._cells:
            self._cells[-1] += _tag(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._end_row()
        elif tag not in ("td", "th", "tr", "tbody", "thead") and self._cells:
            self._cells[-1] += f"</{tag}>"

    def handle_data(self, data: str) -> None:
        if self._cells:
            self._cells[-1] += data.replace("<", " ")

    def _end_head(self) -> None:
        if self._in_head:
            self._heads = [" ".join(TAGS.sub(" ", cell).split()) for cell in self._cells or ()]
        self._cells, self._in_head = None, False

    def _end_row(self) -> None:
        if self._cells is not None and not self._in_head and self.rows:
            self.rows[-1].cells = dict(zip(self._heads, self._cells, strict=False))
        self._cells = None


def _tag(tag: str, attributes: Mapping[str, str]) -> str:
    return f"<{tag}" + "".join(f' {key}="{value}"' for key, value in attributes.items()) + ">"


def rows_of(text: str) -> list[Row]:
    """Return the rows of all tables of a page; notes below a row are left out."""
    reader = _Tables()
    reader.feed(text)
    reader.close()
    return [row for row in reader.rows if not row.is_marked("note")]

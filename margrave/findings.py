"""A finding: one thing that is wrong at one place of a document, and what to write instead."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


class Severity(StrEnum):
    """An error refuses the document, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """What was found at a JSON pointer; file, line and column where they are known."""

    pointer: str
    message: str
    cure: str = ""
    code: str = "invalid"
    file: str = ""
    line: int = 0
    column: int = 0
    severity: Severity = Severity.ERROR

    @property
    def order(self) -> tuple[str, int, int, str]:
        """Findings are told in the order of their places."""
        return (self.file, self.line, self.column, self.pointer)

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part)
        words = ": ".join(part for part in (place, self.pointer, self.message) if part)
        return f"{words} ({self.cure})" if self.cure else words

    def as_dict(self) -> dict[str, object]:
        """The shape of `margrave lint -o json` and of an application's `findings`."""
        return asdict(self)

    def as_warning(self, code: str) -> Finding:
        """The same finding as something to look at, which refuses nothing."""
        return replace(self, severity=Severity.WARNING, code=code)

    def at(self, file: str, line: int, column: int) -> Finding:
        """The same finding, with its place in the text."""
        return replace(self, file=file, line=line, column=column)


def pointer(path: Iterable[str | int]) -> str:
    """A JSON pointer (RFC 6901) for keys and indexes; the whole document is the empty string."""
    return "".join("/" + str(part).replace("~", "~0").replace("/", "~1") for part in path)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A cure for a word nobody knows: the nearest known one, else all of them."""
    words = sorted(known)
    return nearest(word, words) or (f"known are {', '.join(words)}" if words else "")


def nearest(word: str, known: Iterable[str]) -> str:
    """A cure that names the one known word begun by this one, else the nearest; else nothing."""
    words = sorted(known)
    begun = [one for one in words if word and one.startswith(word)]
    near = begun if len(begun) == 1 else get_close_matches(word, words, n=1, cutoff=0.6) or begun
    return f'did you mean "{near[0]}"?' if near else ""

"""JSON text to values, with the place of each where somebody asks: the twin of `yaml_text`.

Read as strictly: UTF-8, no duplicate keys, bounded in size and depth, no numbers that JSON lacks.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, Final, NoReturn

from margrave import yaml_text
from margrave.errors import DocumentError
from margrave.findings import Finding
from margrave.yaml_text import DOCUMENT, Limits, Parsed

if TYPE_CHECKING:
    from collections.abc import Sequence

_DEPTH: Final = yaml_text.DEPTH_LIMIT
_BLANK: Final = re.compile(r"[ \t\r\n]*")
_SURROGATE: Final = re.compile(r"\\u[dD][89a-fA-F]")


class ParsedJson(Parsed):
    """A JSON document's value, and the places of its parts."""

    def place(self, path: Sequence[str | int]) -> tuple[int, int]:
        """Line and column, from 1, of the part at the path, or of the nearest part above it."""
        at = _after_blank(self.text, 0)
        for step in path:
            below = _child(self.text, at, step)
            if below is None:
                break
            at = below
        line_start = self.text.rfind("\n", 0, at) + 1
        return (self.text.count("\n", 0, at) + 1, at - line_start + 1)


def parse(data: str | bytes, file: str = "", limits: Limits = DOCUMENT) -> Parsed:
    """The one value of the text, or DocumentError."""
    text = _decoded(data, file, limits.size)
    try:
        value = json.loads(
            text, object_pairs_hook=_pairs, parse_constant=_constant, parse_float=_float
        )
        if _SURROGATE.search(text):
            json.dumps(value, ensure_ascii=False).encode()
        _check_depth(value, limits.count)
    except json.JSONDecodeError as error:
        found = Finding("", f"is not JSON: {error.msg[0].lower()}{error.msg[1:]}", _cure(error.msg))
        raise DocumentError([found.at(file, error.lineno, error.colno)]) from error
    except RecursionError as error:
        raise _refused(file, f"is nested deeper than {_DEPTH} levels", "flatten it") from error
    except UnicodeEncodeError as error:
        raise _refused(file, "holds half a surrogate pair", "write the whole character") from error
    except ValueError as error:  # what the hooks found, or a number of thousands of digits
        message, _, cure = str(error).partition(" | ")
        if not cure:
            message, cure = "holds a number that is out of range", "write it as text"
        raise _refused(file, message, cure) from error
    return ParsedJson(file, value, text)


def parse_any(data: str | bytes, file: str = "", limits: Limits = DOCUMENT) -> Parsed:
    """The same of a text that may be JSON or YAML, as its name or its first character tells."""
    begin = data[:64] if isinstance(data, str) else data[:64].decode("utf-8", "replace")
    looks_so = begin.lstrip("\ufeff \t\r\n")[:1] in ("{", "[")
    if file.endswith(".json") or (looks_so and not file.endswith((".yaml", ".yml"))):
        return parse(data, file, limits)
    return yaml_text.parse(data, file, limits)


def _decoded(data: str | bytes, file: str, most: int) -> str:
    if len(data) > most:
        raise _refused(file, f"is larger than {most} bytes", "split it")
    if isinstance(data, str):
        return data
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise _refused(file, "is not UTF-8 text", "save it as UTF-8") from error


def _refused(file: str, message: str, cure: str) -> DocumentError:
    return DocumentError([Finding("", message, cure, file=file, line=1, column=1)])


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) < len(pairs):
        counted = Counter(key for key, _ in pairs)
        twice = next(key for key, count in counted.items() if count > 1)
        raise ValueError(f'"{twice[:80]}" stands twice in one object | keep one of them')
    return made


def _constant(word: str) -> NoReturn:
    raise ValueError(f"holds {word}, which is no number in JSON | write a number, or null")


def _float(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError(f"holds {text[:40]}, which is out of range | write less, or text")
    return number


def _check_depth(value: Any, most: int) -> None:
    """RecursionError where later walks would meet it, ValueError where they would take too long."""
    level, count, below = 0, 0, [value]
    while below:
        count += len(below)
        if count > most:
            raise ValueError(f"holds more than {most} values | split it")
        level += 1
        if level > _DEPTH:
            raise RecursionError
        below = [
            item
            for one in below
            if isinstance(one, (dict, list))
            for item in (one.values() if isinstance(one, dict) else one)
        ]


def _cure(message: str) -> str:
    if "delimiter" in message or "property name" in message:
        return "check commas, colons and quotes here"
    return "check what stands here"


def _after_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _child(text: str, at: int, step: str | int) -> int | None:
    """Where the part of an object or a list begins; the text is known to be JSON."""
    opened = text[at : at + 1]
    if opened not in ("{", "["):
        return None
    at, index = _after_blank(text, at + 1), 0
    while text[at] not in "}]":
        key: str | int = index
        if opened == "{":
            key, at = _DECODER.raw_decode(text, at)
            at = _after_blank(text, _after_blank(text, at) + 1)
        if key == (str(step) if opened == "{" else step):
            return at
        _, at = _DECODER.raw_decode(text, at)
        at = _after_blank(text, at)
        at, index = (_after_blank(text, at + 1) if text[at] == "," else at), index + 1
    return None


_DECODER: Final = json.JSONDecoder()

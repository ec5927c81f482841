"""YAML text to plain values, with the place of each; and plain values to the one text they have.

Read strictly: UTF-8, one document, no duplicate keys, bounded in size, depth and count (an alias
counts each time it is used, so a small file cannot grow large), and only JSON's kinds of values.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import yaml

from margrave.errors import DocumentError
from margrave.findings import Finding, Severity, pointer

if TYPE_CHECKING:
    from collections.abc import Sequence

# A deployment is a few KiB; a large description some hundred. These stop what is not a document.
SIZE_LIMIT: Final = 1024 * 1024
DEPTH_LIMIT: Final = 64
COUNT_LIMIT: Final = 100_000

_INT_LIMIT: Final = 2**64
_TAG: Final = "tag:yaml.org,2002:"


@dataclass(frozen=True)
class Parsed:
    """A document's value, the places of its parts, and warnings about how it is written."""

    file: str
    value: Any
    root: yaml.Node
    warnings: tuple[Finding, ...] = field(default=())

    def place(self, path: Sequence[str | int]) -> tuple[int, int]:
        """Line and column, from 1, of the part at the path, or of the nearest part above it."""
        node = self.root
        for part in path:
            below = _child(node, part)
            if below is None:
                break
            node = below
        return (node.start_mark.line + 1, node.start_mark.column + 1)

    def finding(
        self, path: Sequence[str | int], message: str, cure: str = "", code: str = "invalid"
    ) -> Finding:
        """A finding at the path, with its place in the text."""
        line, column = self.place(path)
        return Finding(pointer(path), message, cure, code).at(self.file, line, column)


def parse(text: str | bytes, file: str = "") -> Parsed:
    """The one document of the text, or DocumentError."""
    decoded = _decoded(text, file)
    try:
        root = yaml.compose(decoded, Loader=yaml.CSafeLoader)
    except yaml.MarkedYAMLError as error:
        raise DocumentError([_syntax(error, file)]) from error
    except (yaml.YAMLError, RecursionError) as error:
        raise DocumentError([Finding("", f"is not YAML: {error}", file=file)]) from error
    if root is None:
        raise DocumentError([Finding("", "is empty", "write a document", file=file, line=1)])
    reader = _Reader(file)
    value = reader.value(root, ())
    if reader.errors:
        raise DocumentError(reader.errors)
    return Parsed(file, value, root, tuple(reader.warnings))


def dump(value: object) -> str:
    """The value's one text: sorted keys, LF, final newline, no wrapped lines."""
    text = yaml.dump(
        value,
        Dumper=_Dumper,
        sort_keys=True,
        default_flow_style=False,
        allow_unicode=True,
        width=2**30,
    )
    return str(text)


class _Dumper(yaml.CSafeDumper):
    """Writes each value out where it stands, however often the same object is used."""

    def ignore_aliases(self, _data: object) -> bool:
        return True


def _decoded(text: str | bytes, file: str) -> str:
    if len(text) > SIZE_LIMIT:
        raise DocumentError([Finding("", f"is larger than {SIZE_LIMIT} bytes", file=file)])
    if isinstance(text, str):
        return text
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        found = Finding("", "is not UTF-8 text", "save it as UTF-8", file=file, line=line)
        raise DocumentError([found]) from error


def _syntax(error: yaml.MarkedYAMLError, file: str) -> Finding:
    mark = error.problem_mark or error.context_mark
    words = ", ".join(part for part in (error.context, error.problem) if part)
    found = Finding("", f"is not YAML: {words}", "check indentation, quotes and colons here")
    return found.at(file, mark.line + 1, mark.column + 1) if mark else found.at(file, 1, 1)


def _child(node: yaml.Node, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        found: yaml.Node = node.value[part]
        return found
    return None


class _Reader:
    """Builds plain values from nodes and collects what is wrong on the way."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.errors: list[Finding] = []
        self.warnings: list[Finding] = []
        self._count = 0

    def value(self, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
        self._count += 1
        if self._count > COUNT_LIMIT or len(path) > DEPTH_LIMIT:
            limit = f"more than {COUNT_LIMIT} values or {DEPTH_LIMIT} levels"
            raise DocumentError([*self.errors, self._finding(node, path, f"holds {limit}")])
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.value(item, (*path, index)) for index, item in enumerate(node.value)]
        return self._scalar(node, path)

    def _mapping(self, node: yaml.MappingNode, path: tuple[str | int, ...]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key_node, value_node in node.value:
            key = str(key_node.value)
            below = (*path, key)
            if not isinstance(key_node, yaml.ScalarNode):
                self._error(key_node, path, "has a key that is not text", "write a plain key")
            elif key in result:
                self._error(key_node, below, f'"{key}" stands twice', "keep one of them")
            else:
                result[key] = self.value(value_node, below)
        return result

    def _scalar(self, node: yaml.Node, path: tuple[str | int, ...]) -> Any:
        text = str(node.value)
        match node.tag.removeprefix(_TAG):
            case "null":
                return None
            case "bool":
                return self._boolean(node, path, text)
            case "int":
                return self._integer(node, path, text)
            case "float":
                return self._float(node, path, text)
            case "str" | "timestamp" | "value" | "merge":
                return text
        return self._error(
            node, path, f"has the tag {node.tag}", "write plain text, numbers, true or false"
        )

    def _boolean(self, node: yaml.Node, path: tuple[str | int, ...], text: str) -> bool:
        if text.lower() not in ("true", "false"):
            self._warn(node, path, f"{text} is read as true or false", "quote it, or write that")
        return text.lower() in ("true", "yes", "on")

    def _integer(self, node: yaml.Node, path: tuple[str | int, ...], text: str) -> int | None:
        plain = text.lstrip("+-")
        if (len(plain) > 1 and plain.startswith("0")) or ":" in text or "_" in text:
            self._warn(node, path, f"{text} is not read as a decimal number", "quote it")
        number = _yaml_integer(text)
        if number is None or abs(number) > _INT_LIMIT:
            self._error(node, path, f"{text[:40]} is out of range", "quote it, or write less")
            return None
        return number

    def _float(self, node: yaml.Node, path: tuple[str | int, ...], text: str) -> float | None:
        try:
            number = float(text.replace("_", ""))
        except ValueError:
            self._error(node, path, f"{text[:40]} is not a number", "quote it if it is text")
            return None
        if number in (float("inf"), float("-inf")):
            self._error(node, path, f"{text[:40]} is out of range", "quote it if it is text")
        return number

    def _finding(
        self, node: yaml.Node, path: tuple[str | int, ...], message: str, cure: str = ""
    ) -> Finding:
        mark = node.start_mark
        return Finding(pointer(path), message, cure).at(self.file, mark.line + 1, mark.column + 1)

    def _error(self, node: yaml.Node, path: tuple[str | int, ...], message: str, cure: str) -> None:
        self.errors.append(self._finding(node, path, message, cure))

    def _warn(self, node: yaml.Node, path: tuple[str | int, ...], message: str, cure: str) -> None:
        found = self._finding(node, path, message, cure)
        self.warnings.append(
            Finding(
                found.pointer,
                message,
                cure,
                "surprise",
                found.file,
                found.line,
                found.column,
                Severity.WARNING,
            )
        )


def _yaml_integer(text: str) -> int | None:
    """YAML 1.1's integers: decimal, 0b, 0x, leading-zero octal; sexagesimal is nobody's intent."""
    digits = text.replace("_", "").lstrip("+")
    sign = -1 if digits.startswith("-") else 1
    digits = digits.lstrip("-")
    if len(digits) > 70:
        return None
    try:
        if digits.startswith(("0b", "0x")):
            return sign * int(digits, 0)
        return sign * int(digits, 8 if len(digits) > 1 and digits.startswith("0") else 10)
    except ValueError:
        return None

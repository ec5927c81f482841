"""YAML text to plain values, with the place of each; and plain values to the one text they have.

Read strictly: UTF-8, one document, no duplicate keys, only JSON's kinds of values, and bounded in
size, depth and count (an alias counts as all that it stands for). The value is built from libyaml's
events without recursion, so that no nesting can exhaust the stack; the tree of places is made only
when somebody asks for one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import yaml
from yaml.reader import ReaderError

from margrave import _yaml_hints
from margrave._yaml_reader import COUNT_LIMIT, DEPTH_LIMIT, Reader
from margrave._yaml_scalars import is_number_elsewhere
from margrave.errors import DocumentError
from margrave.findings import Finding, pointer

if TYPE_CHECKING:
    from collections.abc import Sequence

# A deployment is a few KiB, a large description some hundred: this stops what is no document.
SIZE_LIMIT: Final = 512 * 1024

__all__ = ["COUNT_LIMIT", "DEPTH_LIMIT", "SIZE_LIMIT", "Limits", "Parsed", "dump", "parse"]


@dataclass(frozen=True)
class Limits:
    """How much a text may hold; a reader of lists that grow with a site allows more."""

    size: int = SIZE_LIMIT  # bytes
    count: int = COUNT_LIMIT  # keys and values


DOCUMENT: Final = Limits()


@dataclass
class Parsed:
    """A document's value, the places of its parts, and warnings about how it is written."""

    file: str
    value: Any
    text: str
    warnings: tuple[Finding, ...] = field(default=())
    _root: yaml.Node | None = None

    @property
    def root(self) -> yaml.Node:
        """The tree of places, made when it is first asked for."""
        if self._root is None:
            # Recursion is safe by now: the reader has refused what is nested too deep.
            self._root = yaml.compose(self.text, Loader=yaml.CSafeLoader)
        assert self._root is not None, "a text with a value has a root"
        return self._root

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


def parse(text: str | bytes, file: str = "", limits: Limits = DOCUMENT) -> Parsed:
    """The one document of the text, or DocumentError."""
    decoded = _decoded(text, file, limits.size)
    reader = Reader(file, limits.count)
    try:
        value = reader.read(yaml.CSafeLoader(decoded))
    except yaml.MarkedYAMLError as error:
        raise DocumentError([*reader.errors, _syntax(error, decoded, file)]) from error
    except ReaderError as error:
        raise DocumentError([_unprintable(error, decoded, file)]) from error
    if reader.errors:
        raise DocumentError(reader.errors)
    return Parsed(file, value, decoded, tuple(reader.warnings))


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


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    """Text in quotes wherever some reader of YAML would take it for something else."""
    style = "'" if is_number_elsewhere(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)


def _decoded(text: str | bytes, file: str, most: int) -> str:
    if len(text) > most:
        raise DocumentError(
            [Finding("", f"is larger than {most} bytes", "split it").at(file, 1, 1)]
        )
    try:
        if isinstance(text, str):
            text.encode()
            return text
        return text.decode("utf-8-sig")
    except UnicodeEncodeError as error:
        found = Finding("", "holds half a surrogate pair", "write the whole character")
        raise DocumentError([found.at(file, 1, 1)]) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        found = Finding("", "is not UTF-8 text", "save it as UTF-8", file=file, line=line)
        raise DocumentError([found]) from error


def _syntax(error: yaml.MarkedYAMLError, text: str, file: str) -> Finding:
    mark = error.problem_mark or error.context_mark
    words = ", ".join(part for part in (error.context, error.problem) if part)
    line, column = (mark.line, mark.column) if mark else (0, 0)
    cure = _yaml_hints.cure(text, str(error.problem), line, column)
    return Finding("", f"is not YAML: {words}", cure).at(file, line + 1, column + 1)


def _unprintable(error: ReaderError, text: str, file: str) -> Finding:
    at = min(error.position, len(text))
    line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
    found = Finding("", f"is not YAML: {error.reason}", "remove what cannot be printed")
    return found.at(file, line, column)


def _child(node: yaml.Node, part: str | int) -> yaml.Node | None:
    if isinstance(node, yaml.MappingNode):
        return next((value for key, value in node.value if key.value == str(part)), None)
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        found: yaml.Node = node.value[part]
        return found
    return None

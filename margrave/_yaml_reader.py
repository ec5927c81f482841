"""Builds a document's value from libyaml's events, one after the other, with a stack of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NoReturn

import yaml

from margrave._yaml_scalars import Scalar, plain, tagged
from margrave.errors import DocumentError
from margrave.findings import Finding, pointer

# No document of ours nests deeper than a dozen levels or holds more than some thousand keys and
# values (both count).
# The count keeps the time for any input below a tenth of a second, the depth keeps every later
# walk through the value within Python's stack.
DEPTH_LIMIT: Final = 64
COUNT_LIMIT: Final = 10_000
# Nobody reads more; a file with a thousand mistakes has one cause.
_TOLD: Final = 50

_NONE: Final = object()


@dataclass
class _Open:
    """A mapping or list that has begun, and what it is called where it stands."""

    value: Any
    anchor: str | None
    first: int  # how many values there were before it
    key: Any = _NONE  # the key that waits for its value
    height: int = 1


@dataclass(frozen=True)
class _Anchored:
    """What an alias stands for, and how much that is."""

    value: Any
    count: int
    height: int


class Reader:
    """Reads one document; errors and warnings stand in it afterwards."""

    def __init__(self, file: str, most: int = COUNT_LIMIT) -> None:
        self.file = file
        self._most = most
        self.errors: list[Finding] = []
        self.warnings: list[Finding] = []
        self._stack: list[_Open] = []
        self._anchors: dict[str, _Anchored] = {}
        self._count = 0
        self._root: Any = _NONE

    def read(self, loader: yaml.CSafeLoader) -> Any:
        """The document's value; it means nothing when there are errors."""
        try:
            while not isinstance(event := loader.get_event(), yaml.StreamEndEvent):
                self._take(event)
        finally:
            loader.dispose()
        if self._root is _NONE:
            found = Finding("", "is empty", "write a document", file=self.file, line=1)
            raise DocumentError([found])
        return self._root

    def _take(self, event: Any) -> None:
        kind = type(event)
        if kind is yaml.ScalarEvent:
            self._scalar(event)
        elif kind is yaml.MappingStartEvent:
            self._begin(event, {})
        elif kind is yaml.SequenceStartEvent:
            self._begin(event, [])
        elif kind is yaml.MappingEndEvent or kind is yaml.SequenceEndEvent:
            self._end()
        elif kind is yaml.AliasEvent:
            self._alias(event)
        elif kind is yaml.DocumentStartEvent and self._root is not _NONE:
            self._stop(event, "holds a second document", "keep one document in a file")

    def _scalar(self, event: Any) -> None:
        above = self._stack[-1] if self._stack else None
        if above is not None and above.key is _NONE and type(above.value) is dict:
            above.key = str(event.value)
            self._counted(event, 1)
            if event.anchor:
                self._anchors[event.anchor] = _Anchored(above.key, 1, 0)
            if above.key in above.value:
                self._error(event, f'"{above.key}" stands twice', "keep one of them")
            return
        read = self._value_of(event)
        if read.error:
            self._error(event, read.error, _CURES.get(read.error[:3], "quote it if it is text"))
        elif read.warning:
            self._warn(event, read.warning)
        self._counted(event, 1)
        if event.anchor:
            self._anchors[event.anchor] = _Anchored(read.value, 1, 0)
        self._put(read.value, 0)

    @staticmethod
    def _value_of(event: Any) -> Scalar:
        if event.implicit[0]:
            return plain(event.value)
        if event.implicit[1] or event.tag == "!":
            return Scalar(event.value)
        return tagged(event.tag, event.value)

    def _begin(self, event: Any, value: Any) -> None:
        if len(self._stack) >= DEPTH_LIMIT:
            self._stop(event, f"is nested deeper than {DEPTH_LIMIT} levels", "flatten it")
        above = self._stack[-1] if self._stack else None
        if above is not None and above.key is _NONE and type(above.value) is dict:
            self._stop(event, "has a key that is not text", "write a plain key")
        if event.tag and not event.implicit:
            self._error(event, f"has the tag {event.tag}", _CURES["has"])
        self._stack.append(_Open(value, event.anchor, self._count))
        self._counted(event, 1)

    def _end(self) -> None:
        done = self._stack.pop()
        if done.anchor:
            size = self._count - done.first
            self._anchors[done.anchor] = _Anchored(done.value, size, done.height)
        self._put(done.value, done.height)

    def _alias(self, event: Any) -> None:
        known = self._anchors.get(event.anchor)
        if known is None:
            self._stop(event, f"*{event.anchor} stands for nothing yet", "write the value out")
        above = self._stack[-1] if self._stack else None
        if above is not None and above.key is _NONE and type(above.value) is dict:
            if not isinstance(known.value, str):
                self._stop(event, "has a key that is not text", "write a plain key")
            above.key = known.value
            return
        if len(self._stack) + known.height > DEPTH_LIMIT:
            self._stop(event, f"is nested deeper than {DEPTH_LIMIT} levels", "flatten it")
        self._counted(event, known.count)
        self._put(known.value, known.height)

    def _put(self, value: Any, height: int) -> None:
        if not self._stack:
            self._root = value
            return
        above = self._stack[-1]
        above.height = max(above.height, height + 1)
        if type(above.value) is list:
            above.value.append(value)
        else:
            above.value[above.key] = value
            above.key = _NONE

    def _counted(self, event: Any, more: int) -> None:
        self._count += more
        if self._count > self._most:
            self._stop(event, f"holds more than {self._most} values", "split it")

    def _path(self) -> list[str | int]:
        """Where the reader stands."""
        path: list[str | int] = []
        for one in self._stack:
            if type(one.value) is list:
                path.append(len(one.value))
            elif one.key is not _NONE:
                path.append(one.key)
        return path

    def _finding(self, event: Any, message: str, cure: str) -> Finding:
        mark = event.start_mark
        found = Finding(pointer(self._path()), message, cure)
        return found.at(self.file, mark.line + 1, mark.column + 1)

    def _error(self, event: Any, message: str, cure: str) -> None:
        self.errors.append(self._finding(event, message, cure))
        if len(self.errors) >= _TOLD:
            raise DocumentError(self.errors)

    def _stop(self, event: Any, message: str, cure: str) -> NoReturn:
        """What would only be guessed at from here on is not read."""
        raise DocumentError([*self.errors, self._finding(event, message, cure)])

    def _warn(self, event: Any, message: str) -> None:
        if len(self.warnings) < _TOLD:
            found = self._finding(event, message, "quote it, or write what is meant")
            self.warnings.append(found.as_warning("surprise"))


_CURES: Final = {"has": "write plain text, numbers, true or false"}

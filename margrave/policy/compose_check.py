"""Check of a resolved Compose model against the policy's table. Pure."""

from __future__ import annotations

import re

from margrave.policy.compose_bounds import (
    is_too_large,
    too_many,
)
from margrave.policy.compose_judges import (
    Judges,
)
from margrave.policy.compose_rows import (
    NAME,
)
from margrave.policy.compose_table import (
    TABLE,
)
from margrave.policy.compose_values import (
    LONGEST,
    Finding,
    Policy,
    text,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import Any

    from margrave.policy.compose_rows import (
        Row,
    )


def findings(
    model: Mapping[str, Any],
    project: str,
    package_roots: Iterable[str],
    policy: Mapping[str, Any],
) -> list[Finding]:
    """Return all that a resolved model asks for and the policy does not allow.

    `package_roots` are the folders of the package's own files, `policy` is the site's mapping.
    """
    if is_too_large(model):
        # Reading on would take whoever checks it longer than the application is worth.
        return [Finding("services", "hold more than a node reads of an application", None)]
    refused = list(too_many(model))
    if refused:
        return refused
    answers = Policy(policy)
    walk = _Walk(Judges(model, project, package_roots, answers), answers)
    return list(walk.mapping(_INDEX, model, ""))


class _Place:
    """A place of the table: its row, and the places below it."""

    def __init__(self) -> None:
        self.row: Row | None = None
        self.keys: dict[str, _Place] = {}
        self.items: dict[str, _Place] = {}


def _index() -> _Place:
    """Return the table as a tree of places."""
    root = _Place()
    for path, row in TABLE.items():
        place = root
        for step in path.split("."):
            key, bracket, kind = step.partition("[")
            place = place.keys.setdefault(key, _Place())
            if bracket:
                place = place.items.setdefault(kind[:-1], _Place())
        place.row = row
    return root


_INDEX = _index()


class _Walk:
    """One walk through a model along the table."""

    def __init__(self, judges: Judges, policy: Policy) -> None:
        self._judges = judges
        self._policy = policy

    def value(self, place: _Place, value: Any, path: str) -> Iterator[Finding]:
        """Return findings of a value at a place of the table."""
        if value is None:
            return
        if place.row is not None:
            yield from self._judged(place.row, value, path)
        if place.items:
            yield from self._items(place, value, path)
        elif place.keys and (place.row is None or isinstance(value, dict)):
            yield from self.mapping(place, value, path)

    def mapping(self, place: _Place, value: Any, path: str) -> Iterator[Finding]:
        """Return findings of a mapping, whose keys the table names."""
        if not isinstance(value, dict):
            yield Finding(path, "has to be a mapping", None)
            return
        for key in sorted(value, key=str):
            inner = f"{path}.{key}" if path else str(key)
            below = place.keys.get(key) or place.keys.get("*")
            if below is None:
                if not str(key).startswith("x-"):
                    yield Finding(inner, "is not among the keys that a node allows", None)
            elif key not in place.keys and not re.fullmatch(NAME, str(key)):
                yield Finding(inner, "is not a plain name", None)
            else:
                yield from self.value(below, value[key], inner)

    def _items(self, place: _Place, value: Any, path: str) -> Iterator[Finding]:
        """Return findings of a list, whose items may be of several types."""
        if not isinstance(value, list):
            yield Finding(path, "has to be a list", None)
            return
        for number, item in enumerate(value):
            inner, kind = f"{path}[{number}]", ""
            if "" not in place.items:
                kind = text(item.get("type")) if isinstance(item, dict) else "text"
            if kind in place.items:
                yield from self.value(place.items[kind], item, inner)
            else:
                yield Finding(f"{inner}.type", f"{kind} is not allowed", None)

    def _judged(self, row: Row, value: Any, path: str) -> Iterator[Finding]:
        """Return findings of one row."""
        if row.kind == "any":
            return
        if row.kind == "check":
            yield from getattr(self._judges, row.allows)(value, path, row)
        elif not _fits(row, value):
            yield from self._refused(row, value, path)

    def _refused(self, row: Row, value: Any, path: str) -> Iterator[Finding]:
        """Return the finding of a value that a row allows under some policies only."""
        if row.kind == "namespace" and text(value).startswith(("container:", "ns:")):
            yield Finding(path, f"{value} is not of this application", None)
        elif self._policy.opens(row.opens):
            return
        elif row.kind == "namespace" and value == "host":
            yield Finding(path, "host is denied by host_namespaces", row.opens)
        else:
            shown = "" if row.kind == "closed" or value is True else f"{text(value)[:200]} "
            yield Finding(path, f"{shown}{row.reason}", row.opens)


def _fits(row: Row, value: Any) -> bool:
    """Return whether a value is what a row allows under any policy."""
    if row.kind == "closed":
        return value is False or value in ("", [], {})
    if isinstance(value, (dict, list)) or len(text(value)) > LONGEST:
        return False
    return bool(re.fullmatch(row.allows, text(value)))

"""Between rows and values: the same names on both sides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any, TypeVar

from sqlalchemy import Result, Row

Value = TypeVar("Value")


def columns(value: Any) -> dict[str, Any]:
    """A value's fields as columns; JSON columns get plain lists and dicts."""
    return {one.name: _plain(getattr(value, one.name)) for one in fields(value)}


def value_of(kind: type[Value], row: Row[Any]) -> Value:
    """The value of a row that has all its fields as columns."""
    return kind(**row._mapping)


def values_of(kind: type[Value], rows: Result[Any]) -> tuple[Value, ...]:
    """The values of all rows; of thousands the names are looked up once."""
    names = tuple(rows.keys())
    return tuple(kind(**dict(zip(names, row, strict=True))) for row in rows)


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Sequence) and not isinstance(value, str):
        return list(value)
    return value

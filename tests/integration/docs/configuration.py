"""Configuration files as a person edits them: tables of a page merged into the file."""

from __future__ import annotations

import json
import tomllib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


def merge(path: Path, toml: str) -> None:
    """Set the keys of a text in a file; a list of tables takes the place of the one before."""
    tables = tomllib.loads(path.read_text()) if path.exists() else {}
    path.write_text(dump(_merged(tables, tomllib.loads(toml))))
    path.chmod(0o600)


def dump(tables: Mapping[str, Any]) -> str:
    """Return TOML of tables, tables in tables, lists of tables, and plain values."""
    return "".join(_table(name, value) for name, value in tables.items())


def _merged(old: Mapping[str, Any], new: Mapping[str, Any]) -> dict[str, Any]:
    result = dict(old)
    for key, value in new.items():
        both = isinstance(value, dict) and isinstance(old.get(key), dict)
        result[key] = _merged(old[key], value) if both else value
    return result


def _table(name: str, value: Any) -> str:
    if isinstance(value, list):
        return "".join(f"[[{name}]]\n{_keys(table)}" for table in value)
    inner = {key: table for key, table in value.items() if isinstance(table, dict)}
    keys = {key: one for key, one in value.items() if key not in inner}
    tables = "".join(_table(f"{name}.{key}", table) for key, table in inner.items())
    return f"[{name}]\n{_keys(keys)}{tables}"


def _keys(values: Mapping[str, Any]) -> str:
    # Strings, numbers, booleans and lists of JSON are those of TOML.
    return "".join(f"{key} = {json.dumps(value)}\n" for key, value in values.items())

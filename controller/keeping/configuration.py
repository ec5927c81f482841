"""The configuration file of a backup, kept beside the one that a restore uses."""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING, Any, Final

from controller.keeping.files import write_private

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUFFIX: Final = ".from-backup"


def put_beside(config: Path, backed_up: bytes) -> list[str]:
    """Keep a configuration that differs beside the present one; return a line that names the keys.

    The present one stays: it says where the database is, and a restore may move it.
    """
    if config.is_file() and config.read_bytes() == backed_up:
        return []
    keys = _different(_read(config.read_bytes()) if config.is_file() else {}, _read(backed_up))
    if not keys:
        return []
    beside = config.with_name(f"{config.name}{SUFFIX}")
    write_private(beside, backed_up)
    words = f"the configuration of the backup differs in {', '.join(keys)}: it is {beside}"
    return [f"{words}; {config} stays as it is"]


def _read(data: bytes) -> dict[str, Any]:
    try:
        return tomllib.loads(data.decode("utf-8"))
    except ValueError:
        return {}


def _different(first: dict[str, Any], second: dict[str, Any]) -> list[str]:
    one, other = dict(_leaves(first)), dict(_leaves(second))
    missing = object()
    return sorted(key for key in {*one, *other} if one.get(key, missing) != other.get(key, missing))


def _leaves(table: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value

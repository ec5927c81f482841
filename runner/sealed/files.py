"""The files below `secrets/<site>/`: which secrets they hold, opened when they are first needed.

What opens them is imported with the first of them: it holds megabytes, and most sites have none.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from margrave import yaml_text
from margrave.errors import DocumentError, Refused
from margrave.names import is_label

if TYPE_CHECKING:
    from runner.sealed.keys import Keys

_AGE: Final = ".age"


class Sealed:
    """Opens the site's files; what was opened last stays in memory, and nowhere else."""

    def __init__(self, key_file: Path | None) -> None:
        self._key_file = key_file
        self._lock = threading.Lock()
        self._opened: tuple[Mapping[str, bytes], dict[str, str]] = ({}, {})

    def secrets(self, files: Mapping[str, bytes]) -> Mapping[str, str]:
        """Every secret by its name, or Refused with the first file that cannot be opened."""
        if self._key_file is None:
            return {}
        with self._lock:
            if self._opened[0] != files:
                self._opened = (dict(files), _all(files, self._key_file))
            return self._opened[1]


def _all(files: Mapping[str, bytes], key_file: Path) -> dict[str, str]:
    from runner.sealed.keys import Keys

    keys = Keys(key_file)
    found: dict[str, str] = {}
    came_from: dict[str, str] = {}
    for path, content in sorted(files.items()):
        for name, value in _of_file(path, content, keys).items():
            if not is_label(name.lower().replace("_", "-").replace(".", "-")):
                raise Refused(f'{path}: "{name}" is no name of a secret', "letters, digits, - _ .")
            if name in found:
                raise Refused(f"{path}: {name} is in {came_from[name]} already", "keep one of them")
            found[name], came_from[name] = value, path
    return found


def _of_file(path: str, content: bytes, keys: Keys) -> Mapping[str, str]:
    from runner.sealed import sops

    name = path.rpartition("/")[2]
    if name.endswith(_AGE):
        try:
            text = keys.open(content, path).decode()
        except UnicodeDecodeError as error:
            raise Refused(f"{path}: holds bytes that are no text", "encode it") from error
        return {name.removesuffix(_AGE): text.rstrip("\n")}
    try:
        parse = json.loads if name.endswith(".json") else lambda it: yaml_text.parse(it, path).value
        document = parse(content)
    except DocumentError:
        raise
    except (ValueError, RecursionError) as error:
        raise Refused(f"{path}: is no JSON", "write it again with sops") from error
    return sops.values(document, path, keys.open)

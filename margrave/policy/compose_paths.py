"""Files that Compose reads before there is a model: they have to be the package's own. Pure.

`env_file`, `label_file`, `include` and `extends` are read before a policy can be applied to what
comes of them. A path that leads out of the package would show a node's files to it, and an address
would fetch what nobody checked.
"""

from __future__ import annotations

import posixpath
from collections import namedtuple

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from typing import Any

FILE = "compose.yaml"
DEPTH = 8  # files that include files that include files: nobody's intent
MOST_FILES = 50
CANNOT_BE_READ = "cannot be read: "

# where   file and place
# words   what is wrong there
# cure    what to do about it
Stray = namedtuple("Stray", ("where", "words", "cure"))
# where   place in the file
# path    path as it is written
# needed  whether the file has to exist
# first   for a file that Compose reads as one of its own: the path whose folder its paths begin at
_Named = namedtuple("_Named", ("where", "path", "needed", "first"))


class Unreadable(ValueError):
    """A file that is not one plain YAML document."""


def strays(names: Collection[str], read: Callable[[str], Any]) -> list[Stray]:
    """Return every path that leads out of the package, or to nothing in it.

    `names` are the package's files; `read` returns the value of one of them, or raises Unreadable.
    What cannot be read is a finding: nobody knows what it names.
    """
    if FILE not in names:
        return []
    return list(_Search(names, read).of_file(FILE, "", 0))


def many(value: Any) -> list[Any]:
    """Return one value or a list of them as a list, as Compose lets authors write."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def flat(mapping: dict[str, Any]) -> dict[str, Any]:
    """Return a mapping with what it merges by `<<`; its own keys win."""
    merged: dict[str, Any] = {}
    for part in reversed(many(mapping.get("<<"))):
        if isinstance(part, dict):
            merged.update(flat(part))
    merged.update((key, value) for key, value in mapping.items() if key != "<<")
    return merged


class _Search:
    """One search through the Compose files of a package."""

    def __init__(self, names: Collection[str], read: Callable[[str], Any]) -> None:
        self._names = names
        self._read = read
        self._count = 0

    def of_file(self, name: str, base: str, depth: int) -> Iterator[Stray]:
        """Return findings of one file and of those that it names."""
        self._count += 1
        if self._count > MOST_FILES:
            if self._count == MOST_FILES + 1:
                yield Stray(name, "is one file too many", "put the services into one file")
            return
        if depth > DEPTH:
            yield Stray(name, "is included too deeply", "put the services into one file")
            return
        try:
            value = self._read(name)
        except Unreadable as error:
            yield Stray(name, f"{CANNOT_BE_READ}{error}", "write one plain YAML document")
            return
        if not isinstance(value, dict):
            yield Stray(name, f"{CANNOT_BE_READ}is not a mapping", "write services: and so on")
            return
        for named in _paths(flat(value)):
            wrong = self._wrong(named, base)
            if wrong:
                yield Stray(f"{name}: {named.where}", f'"{named.path}" {wrong[0]}', wrong[1])
            elif named.first:
                inner = posixpath.dirname(_joined(base, named.first))
                yield from self.of_file(_joined(base, named.path), inner, depth + 1)

    def _wrong(self, named: _Named, base: str) -> tuple[str, str] | None:
        """Return what is wrong with a path and what to do, or None for a path of the package."""
        path = named.path
        if not isinstance(path, str) or "$" in path:
            return "is not known before it runs", "write the path of a file of the component"
        joined = _joined(base, path)
        if path.startswith(("/", "~")) or ":" in path or joined.split("/")[0] == "..":
            return "leads out of the component", "put the file into the component's folder"
        if named.needed and joined not in self._names:
            return "is not in the component", "add the file, or correct the path"
        return None


def _paths(value: dict[str, Any]) -> Iterator[_Named]:
    for entry in many(value.get("include")):
        part = flat(entry) if isinstance(entry, dict) else {"path": entry}
        paths = many(part.get("path"))
        for path in paths:
            # Of several files, the paths of all begin at the folder of the first.
            yield _Named("include", path, True, str(paths[0]))
        for path in many(part.get("env_file")):
            yield _Named("include.env_file", path, True, "")
        if "project_directory" in part:
            # No folder is among the files: one that moves where paths begin is refused.
            yield _Named("include.project_directory", part["project_directory"], True, "")
    services = value.get("services")
    for name, service in flat(services).items() if isinstance(services, dict) else ():
        if isinstance(service, dict):
            yield from _of_service(f"services.{name}", flat(service))


def _of_service(where: str, service: dict[str, Any]) -> Iterator[_Named]:
    for key in ("env_file", "label_file"):
        for entry in many(service.get(key)):
            part = flat(entry) if isinstance(entry, dict) else {"path": entry}
            needed = part.get("required") is not False
            yield _Named(f"{where}.{key}", part.get("path"), needed, "")
    extends = service.get("extends")
    if isinstance(extends, dict) and "file" in flat(extends):
        file = flat(extends)["file"]
        yield _Named(f"{where}.extends.file", file, True, str(file))


def _joined(base: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(base, path))

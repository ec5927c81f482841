"""Which other files a compose.yaml makes Compose read: they have to be the component's own.

`env_file`, `include` and `extends` are read before there is a model that the site's policy could
be held against; a path that leads out of the component would show the node's files to a package.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from margrave.errors import DocumentError
from margrave.yaml_text import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

ROOT: Final = "compose.yaml"
_DEPTH: Final = 8  # files that include files that include files: nobody's intent


@dataclass(frozen=True)
class Stray:
    """A path that a component's Compose files must not name."""

    where: str
    words: str
    cure: str

    def __str__(self) -> str:
        return f"{self.where}: {self.words}"


def strays(files: Mapping[str, bytes]) -> list[Stray]:
    """Every path that leads out of the component, or to nothing in it; empty when all is well.

    `files` are the component's files by path. What is no readable YAML names none: that is found
    elsewhere.
    """
    return list(_of_file(ROOT, files, 0))


def _of_file(name: str, files: Mapping[str, bytes], depth: int) -> Iterator[Stray]:
    if depth > _DEPTH:
        yield Stray(name, "is included too deeply", "put the services into one file")
        return
    try:
        value = parse(files[name], name).value if name in files else None
    except DocumentError:
        return
    if not isinstance(value, dict):
        return
    base = posixpath.dirname(name)
    for where, path, followed, needed in _paths(value):
        found = _wrong(path, base, files, needed)
        if found:
            yield Stray(f"{name}: {where}", f'"{path}" {found[0]}', found[1])
        elif followed:
            yield from _of_file(_joined(base, str(path)), files, depth + 1)


def _paths(value: dict[str, Any]) -> Iterator[tuple[str, Any, bool, bool]]:
    """Where, path, whether it is a Compose file itself, whether it has to be there."""
    value = flat(value)
    for one in many(value.get("include")):
        part = flat(one) if isinstance(one, dict) else {"path": one}
        yield from (("include", path, True, True) for path in many(part.get("path")))
        yield from (("include.env_file", path, False, True) for path in many(part.get("env_file")))
        if "project_directory" in part:
            yield "include.project_directory", part["project_directory"], False, True
    services = value.get("services")
    for name, service in flat(services).items() if isinstance(services, dict) else ():
        if isinstance(service, dict):
            yield from _of_service(f"services.{name}", flat(service))


def _of_service(where: str, service: dict[str, Any]) -> Iterator[tuple[str, Any, bool, bool]]:
    for key in ("env_file", "label_file"):
        for one in many(service.get(key)):
            part = flat(one) if isinstance(one, dict) else {"path": one}
            yield f"{where}.{key}", part.get("path"), False, part.get("required") is not False
    extends = service.get("extends")
    if isinstance(extends, dict) and "file" in flat(extends):
        yield f"{where}.extends.file", flat(extends)["file"], True, True


def _wrong(
    path: Any, base: str, files: Mapping[str, bytes], needed: bool
) -> tuple[str, str] | None:
    """The finding and its cure, or None for a path of the component."""
    if not isinstance(path, str) or "$" in path:
        return "is not known before it runs", "write the path of a file of the component"
    joined = _joined(base, path)
    if path.startswith(("/", "~")) or ":" in path or joined.split("/")[0] == "..":
        return "leads out of the component", "put the file into the component's folder"
    if needed and joined not in files:
        return "is not in the component", "add the file, or correct the path"
    return None


def _joined(base: str, path: str) -> str:
    return posixpath.normpath(posixpath.join(base, path))


def many(value: Any) -> list[Any]:
    """One or many, as Compose lets authors write."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def flat(mapping: dict[str, Any]) -> dict[str, Any]:
    """The mapping with what it merges by `<<`; its own keys stand above those."""
    found: dict[str, Any] = {}
    for part in reversed(many(mapping.get("<<"))):
        if isinstance(part, dict):
            found.update(flat(part))
    found.update((key, value) for key, value in mapping.items() if key != "<<")
    return found

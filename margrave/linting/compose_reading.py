"""The Compose files of a component, read for rules that name places in them."""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from margrave.errors import DocumentError
from margrave.policy.compose_paths import FILE, flat, many
from margrave.yaml_text import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from margrave.findings import Finding
    from margrave.yaml_text import Parsed

_FILE_LIMIT: Final = 64  # Compose files of one component; more is a circle or an attack


@dataclass(frozen=True)
class ComposeFile:
    """One Compose file of the component that could be read."""

    name: str
    parsed: Parsed
    files: Mapping[str, bytes]

    @property
    def content(self) -> dict[str, Any]:
        """Its top-level mapping, merge keys resolved."""
        return flat(self.parsed.value)

    def services(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Services by name, merge keys resolved."""
        yield from mappings(self.content.get("services"))

    def finding(self, path: tuple[str | int, ...], message: str, cure: str) -> Finding:
        """A finding at a place of this file."""
        return self.parsed.finding(path, message, cure, "component")


def read_all(files: Mapping[str, bytes], broken: list[Finding]) -> list[ComposeFile]:
    """Return compose.yaml and what it includes or extends; add what cannot be read to `broken`."""
    waiting, names, readable = [FILE], {FILE}, []
    while waiting and len(names) <= _FILE_LIMIT:
        name = waiting.pop(0)
        try:
            parsed = parse(files[name], name)
        except DocumentError as error:
            broken += error.findings
            continue
        if not isinstance(parsed.value, dict):
            broken.append(parsed.finding((), "is not a mapping", "write services: and what to run"))
            continue
        file = ComposeFile(name, parsed, files)
        readable.append(file)
        for reference in _references(file.content):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(name), reference))
            if path in files and path not in names:
                names.add(path)
                waiting.append(path)
    if readable and not any(isinstance(file.content.get("services"), dict) for file in readable):
        cure = "write what to run below services:"
        broken.append(readable[0].finding((), "has no services", cure))
    return readable


def _references(content: Mapping[str, Any]) -> Iterator[str]:
    """Yield paths of other Compose files; paths outside of the component have their own rule."""
    for include in many(content.get("include")):
        paths = flat(include).get("path") if isinstance(include, dict) else include
        yield from (path for path in many(paths) if isinstance(path, str))
    for _name, service in mappings(content.get("services")):
        extends = service.get("extends")
        path = flat(extends).get("file") if isinstance(extends, dict) else None
        if isinstance(path, str):
            yield path


def mappings(value: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the mappings below a value by name, merge keys resolved."""
    if isinstance(value, dict):
        for name, below in flat(value).items():
            if isinstance(below, dict):
                yield str(name), flat(below)

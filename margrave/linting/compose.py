"""Rules for the Compose files of a component, as far as one sees without Compose.

A node resolves the files with Docker Compose and decides on the result. These rules find, with
file, line and column, what every node would refuse and what no application can mean.
"""

from __future__ import annotations

import posixpath
from typing import TYPE_CHECKING, Any, Final

from margrave import compose_overrides
from margrave.linting import compose_policy, compose_variables
from margrave.linting.compose_reading import mappings, read_all
from margrave.policy.compose_paths import FILE, flat, many

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping

    from margrave.findings import Finding
    from margrave.linting.compose_reading import ComposeFile


def findings(
    files: Mapping[str, bytes], parameters: Collection[str] | None = None
) -> list[Finding]:
    """Return everything wrong with a component's Compose files, each at its place.

    `parameters` are the variables that the package's parameters set; None where they are unknown,
    and variables are not checked then.
    """
    broken: list[Finding] = []
    compose_files = read_all(files, broken)
    result = [*broken]
    for file in compose_files:
        for rule in _RULES:
            result += rule(file)
    result += _missing_images(compose_files)
    if parameters is not None and compose_files:
        result += compose_variables.findings(compose_files, files, parameters)
    return _ordered(result)


def findings_with_policy(files: Mapping[str, bytes], defaults: Mapping[str, str]) -> list[Finding]:
    """Return the same, and what a deployment with the default values asks of a site's policy."""
    result = findings(files, defaults)
    known = {(finding.file, finding.pointer) for finding in result}
    asked = compose_policy.findings(files, defaults)
    return _ordered([*result, *(one for one in asked if (one.file, one.pointer) not in known)])


def _ordered(result: list[Finding]) -> list[Finding]:
    return list(dict.fromkeys(sorted(result, key=lambda finding: finding.order)))


def _builds(file: ComposeFile) -> Iterator[Finding]:
    """Find services that would have to be built."""
    for name, service in file.services():
        if service.get("build") is not None:
            message = "nodes do not build images"
            cure = "build and push the image, name it with image:, and remove build:"
            yield file.finding(("services", name, "build"), message, cure)


def _missing_images(compose_files: list[ComposeFile]) -> Iterator[Finding]:
    """Find services without an image, in files whose services run as they are."""
    extended = {
        str(flat(service["extends"]).get("service"))
        for file in compose_files
        for _name, service in file.services()
        if isinstance(service.get("extends"), dict)
    }
    for file in compose_files:
        for name, service in file.services():
            if service.get("image") or service.get("extends") or service.get("build") is not None:
                continue
            if service.get("provider") is None and name not in extended:
                cure = "name the image that nodes pull"
                yield file.finding(("services", name), "has no image", cure)


def _mounts(file: ComposeFile) -> Iterator[Finding]:
    """Find bind mounts of files that are not in the package, and writable ones of its own."""
    for name, service in file.services():
        for index, mount in enumerate(many(service.get("volumes"))):
            source, writable = _bind(mount)
            if source is None or "$" in source:
                continue
            where = ("services", name, "volumes", index)
            if not _is_in_package(file, source):
                message = f"{source} is not in the package, and would be an empty folder"
                cure = "add the file to the component, or use a named volume for data"
                yield file.finding(where, message, cure)
            elif writable:
                message = f"{source} is mounted read-only, as all files of a package are"
                cure = "add :ro, or use a named volume for data"
                yield file.finding(where, message, cure).as_warning("advice")


def _bind(mount: Any) -> tuple[str | None, bool]:
    """Return a bind mount's relative source, None for any other mount, and if it is writable."""
    if isinstance(mount, dict):
        source, kind = mount.get("source"), mount.get("type")
        relative = kind == "bind" and isinstance(source, str) and not source.startswith(("/", "~"))
        return (str(source) if relative else None), mount.get("read_only") is not True
    source, _, rest = str(mount).partition(":")
    if not rest or not (source.startswith(("./", "../")) or source == "."):
        return None, False
    return source, "ro" not in rest.rpartition(":")[2].split(",")


def _file_sources(file: ComposeFile) -> Iterator[Finding]:
    """Find configs and secrets that read a file which is not in the package."""
    for kind in ("configs", "secrets"):
        for name, definition in mappings(file.content.get(kind)):
            path = definition.get("file")
            if not isinstance(path, str) or "$" in path or path.startswith(("/", "~")):
                continue
            if not _is_in_package(file, path):
                message = f"{path} is not in the package"
                cure = "add the file to the component, or correct the path"
                yield file.finding((kind, name, "file"), message, cure)


def _is_in_package(file: ComposeFile, path: str) -> bool:
    """Tell whether a path, relative to the component's root, is one of its files or folders."""
    normal = posixpath.normpath(path)
    if normal == ".":
        return True
    return normal in file.files or any(name.startswith(f"{normal}/") for name in file.files)


def _ignored(file: ComposeFile) -> Iterator[Finding]:
    """Find files beside compose.yaml that Compose would merge elsewhere and nodes never read."""
    if file.name != FILE:
        return
    for message, cure in compose_overrides.ignored(file.files):
        yield file.finding((), message, cure)


_RULES: Final[tuple[Callable[[ComposeFile], Iterator[Finding]], ...]] = (
    _builds,
    _mounts,
    _file_sources,
    _ignored,
)

"""A package: its description, and the component folders that lie beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from margrave import chart_files, digest
from margrave.cli.lint.documents import read_file
from margrave.cli.lint.files import content, is_folder, shown
from margrave.compose_files import CANNOT_BE_READ, strays
from margrave.documents._reading import OURS
from margrave.documents.deployment import as_text
from margrave.documents.description import read_description
from margrave.errors import UnsafeArchive
from margrave.linting import Kind, Read, compose
from margrave.linting.repository import COMPOSE_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from margrave.digest import File
    from margrave.documents.description import ApplicationDescription
    from margrave.findings import Finding

Wrong = list[tuple[str, str]]  # what is wrong, and what would help


def package(file: Path, *, follow: bool = True) -> tuple[Read, list[Finding]]:
    """The description, and what is wrong with each component that comes with the package."""
    found = read_file(file, Kind.DESCRIPTION, follow=follow)
    if found.document is None:
        return found, []
    description: ApplicationDescription = found.document
    findings: list[Finding] = []
    for profile_index, profile in enumerate(description.profiles):
        for index, component in enumerate(profile.components):
            if component.path is None:
                continue
            where = ("deploymentProfiles", profile_index, "components", index, OURS, "path")
            files, wrong = _files(file.parent, component.path)
            if files is not None:
                wrong = component_files(profile.type, files, component.path)
            findings += [found.finding(where, *one, "component") for one in wrong]
            if files is not None and profile.type == "compose":
                defaults = description.defaults(component.name)
                variables = {name: as_text(value) for name, value in defaults.items()}
                findings += compose_findings(files, file.parent / component.path, variables)
            if files is not None and profile.type == "helm":
                pointers = description.pointers(component.name)
                findings += [
                    found.finding(where, f"{component.path}/{one}", one.cure).as_warning("advice")
                    for one in chart_files.remarks(_data(files), pointers)
                ]
    return found, findings


def _files(base: Path, path: str) -> tuple[Mapping[str, File] | None, Wrong]:
    """A component's files; None, and why, where they cannot be had."""
    place = base / path
    if not _inside(place, base):
        return None, [(f"{path} leads out of the package", "keep components beside margo.yaml")]
    if not is_folder(place):
        return None, [(f"{path} is no folder of the package", "create it, or name the right one")]
    try:
        return content(place), []
    except UnsafeArchive as error:
        return None, [(f"{path}: {error.message}", error.cure)]


def component_files(kind: str, files: Mapping[str, File], path: str) -> Wrong:
    """What is wrong with a component's files, and what would help."""
    if kind == "helm":
        return [(f"{path}/{one}", one.cure) for one in chart_files.flaws(_data(files))]
    if kind != "compose":
        return []
    if COMPOSE_FILE not in files:
        return [(f"{path} holds no {COMPOSE_FILE}", "a compose component has one at its root")]
    return leading_out(files)


def compose_findings(
    files: Mapping[str, File], place: Path, defaults: Mapping[str, str] | None = None
) -> list[Finding]:
    """Return what is wrong in the Compose files of a component that lies at `place`.

    `defaults` are the values of the package's parameters; None for a component without a package.
    """
    if COMPOSE_FILE not in files:
        return []
    data = _data(files)
    found = (
        compose.findings(data) if defaults is None else compose.findings_with_policy(data, defaults)
    )
    return [replace(finding, file=shown(place / finding.file)) for finding in found]


def _data(files: Mapping[str, File]) -> dict[str, bytes]:
    return {path: one.data for path, one in files.items()}


def _inside(place: Path, base: Path) -> bool:
    try:
        return place.resolve().is_relative_to(base.resolve())
    except (OSError, RuntimeError):  # a link that leads to itself
        return False


def leading_out(files: Mapping[str, File]) -> Wrong:
    """Return paths of files that are not the component's, each with its fix.

    Files that cannot be read are left out: other rules report them at their line.
    """
    return [
        (f"{stray.where}: {stray.words}", stray.cure)
        for stray in strays(_data(files))
        if not stray.words.startswith(CANNOT_BE_READ)
    ]


def folder_digest(path: Path) -> str:
    """The digest of the folder as it stands."""
    return digest.of_files(content(path))


def component_digests(path: Path) -> list[dict[str, str]]:
    """Name, path and digest of each component of the package; empty when it is none."""
    file = path / "margo.yaml"
    if not file.is_file():
        return []
    description = read_description(file.read_bytes(), str(file))
    found = {}
    for profile in description.profiles:
        for component in profile.components:
            if component.path is not None:
                found[component.name, component.path] = folder_digest(path / component.path)
    return [
        {"name": name, "path": where, "digest": value} for (name, where), value in found.items()
    ]

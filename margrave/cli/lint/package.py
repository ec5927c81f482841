"""A package: its description, and the component folders that lie beside it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from margrave import digest, folder, yaml_text
from margrave.cli.lint.documents import findings_of
from margrave.documents.description import read_description
from margrave.errors import DocumentError, UnsafeArchive
from margrave.findings import Finding

OURS = "x-margrave-extensions"

if TYPE_CHECKING:
    from margrave.documents.description import ApplicationDescription


def package(base: Path) -> list[Finding]:
    """The findings of margo.yaml, and of each component that comes with the package."""
    file = base / "margo.yaml"
    read: list[ApplicationDescription] = []
    findings = findings_of(file, lambda data, name: read.append(read_description(data, name)))
    if not read:
        return findings
    parsed = yaml_text.parse(file.read_bytes(), str(file))
    for profile_index, profile in enumerate(read[0].profiles):
        for index, component in enumerate(profile.components):
            if component.path is None:
                continue
            where = ("deploymentProfiles", profile_index, "components", index)
            for text, cure in _component(base, component.path, profile.type):
                findings.append(parsed.finding((*where, OURS, "path"), text, cure))
    return findings


def _component(base: Path, path: str, kind: str) -> list[tuple[str, str]]:
    """What is wrong with a component's folder, and what would help."""
    place = base / path
    if not place.resolve().is_relative_to(base.resolve()):
        return [(f"{path} leads out of the package", "keep components beside margo.yaml")]
    if not place.is_dir():
        return [(f"{path} is no folder of the package", "create it, or name the right one")]
    try:
        files = folder.read(place)
    except UnsafeArchive as error:
        return [(f"{path}: {error.message}", error.cure)]
    if kind == "compose" and "compose.yaml" not in files:
        return [(f"{path} holds no compose.yaml", "a compose component has one at its root")]
    if kind == "compose":
        return _compose(files["compose.yaml"].data, f"{path}/compose.yaml")
    return []


def _compose(data: bytes, name: str) -> list[tuple[str, str]]:
    try:
        value = yaml_text.parse(data, name).value
    except DocumentError as error:
        return [(str(one), one.cure) for one in error.findings]
    if not isinstance(value, dict) or not isinstance(value.get("services"), dict):
        return [(f"{name} has no services", "write what to run below services:")]
    return []


def folder_digest(path: Path) -> str:
    """The digest of the folder as it stands."""
    return digest.of_files(folder.read(path))


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

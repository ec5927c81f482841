"""A deployments repository: every document, its place, and the components it names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from margrave import digest, folder, names
from margrave.cli.lint.documents import findings_of
from margrave.documents.deployment import read_deployment
from margrave.documents.site import read_site
from margrave.errors import UnsafeArchive
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from margrave.documents.deployment import Deployment


def repository(base: Path) -> list[Finding]:
    """The findings of deployments/, sites/ and components/."""
    findings: list[Finding] = []
    for site in _folders(base / "deployments"):
        findings += _site_name(site.name, site)
        for path in _files(site):
            findings += _deployment(base, site.name, path)
    for path in _files(base / "sites"):
        findings += _site_name(path.stem, path) + findings_of(path, read_site)
    for component in _folders(base / "components"):
        findings += _component(component)
    return findings


def _folders(base: Path) -> list[Path]:
    return sorted(path for path in base.iterdir() if path.is_dir()) if base.is_dir() else []


def _files(base: Path) -> list[Path]:
    return sorted(base.glob("*.yaml")) if base.is_dir() else []


def _site_name(name: str, path: Path) -> list[Finding]:
    if names.is_label(name):
        return []
    cure = "use lower-case letters, digits and dashes"
    return [Finding("", f"{name!r} is no name of a site", cure, "name", str(path))]


def _deployment(base: Path, site: str, path: Path) -> list[Finding]:
    read: list[Deployment] = []
    findings = findings_of(path, lambda data, name: read.append(read_deployment(data, name)))
    return findings + [
        Finding(pointer, text, cure, "place", str(path))
        for one in read
        for pointer, text, cure in _misplaced(base, site, path, one)
    ]


def _misplaced(
    base: Path, site: str, path: Path, one: Deployment
) -> Iterable[tuple[str, str, str]]:
    if path.stem != one.id:
        yield "/id", f"the file is not called {one.id}.yaml", "rename the file"
    if one.device_id.split("/")[0] != site:
        text = f"{one.device_id} is not at the site {site}, below which the file lies"
        yield "/metadata/deviceId", text, f"write {site}/*"
    for index, component in enumerate(one.components):
        if component.source and not (base / component.source).is_dir():
            where = f"/spec/deploymentProfile/components/{index}/x-margrave-extensions/source"
            yield where, f"{component.source} is not in the repository", "add the folder"


def _component(path: Path) -> list[Finding]:
    def wrong(text: str, cure: str) -> list[Finding]:
        return [Finding("", text, cure, "component", str(path))]

    if not re.fullmatch(r"[0-9a-f]{64}", path.name):
        return wrong("is not named by a digest", "name it as margrave app digest says")
    try:
        found = digest.of_files(folder.read(path)).removeprefix("sha256:")
    except UnsafeArchive as error:
        return wrong(error.message, error.cure)
    if found != path.name:
        return wrong(f"its content is {found}", "components never change: add a new folder")
    return []

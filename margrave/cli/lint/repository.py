"""A deployments repository on the disk: every document, its place, and the components."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from margrave import digest, names
from margrave.cli.lint.documents import read_file
from margrave.cli.lint.files import content, is_file, is_folder, listed, wrong
from margrave.cli.lint.package import component_files, compose_findings
from margrave.errors import UnsafeArchive
from margrave.findings import Finding, Severity
from margrave.linting import Kind
from margrave.linting.repository import ROOTS, Content, Placed, Repository, check

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PLACES = "deployments/<site>/<id>.yaml and sites/<site>.yaml are what belongs there"


def repository(base: Path) -> list[Finding]:
    """The findings of deployments/, sites/ and components/, and of what ties them together."""
    findings: list[Finding] = []
    deployments = tuple(_deployments(base, findings))
    components = dict(_components(base, findings))
    for path in listed(base / "sites", findings):
        if _is_document(path, findings):
            findings += _site_name(path.stem, path)
            findings += read_file(path, Kind.SITE).findings
    findings += check(Repository(deployments, components))
    return sorted(findings, key=lambda one: one.order)


def _deployments(base: Path, findings: list[Finding]) -> Iterator[Placed]:
    for site in listed(base / "deployments", findings):
        if not is_folder(site):
            _stray(site, findings)
            continue
        findings += _site_name(site.name, site)
        for path in listed(site, findings):
            if _is_document(path, findings):
                read = read_file(path, Kind.DEPLOYMENT)
                findings += read.findings
                if read.document is not None:
                    yield Placed(site.name, path.stem, read)


def _is_document(path: Path, findings: list[Finding]) -> bool:
    if path.suffix == ".yaml" and not is_folder(path):
        return True
    _stray(path, findings)
    return False


def _stray(path: Path, findings: list[Finding]) -> None:
    """What looks like a document and is read by nobody is an error; a note beside them is not."""
    found = wrong(path, "is no place of a document", _PLACES, "place")
    harmless = path.suffix not in (".yaml", ".yml", ".json") and is_file(path)
    findings.append(replace(found, severity=Severity.WARNING) if harmless else found)


def _site_name(name: str, path: Path) -> list[Finding]:
    if names.is_label(name):
        return []
    return [wrong(path, f'"{name}" is no name of a site', names.LABEL_CURE, "name")]


def _components(base: Path, findings: list[Finding]) -> Iterator[tuple[str, Content]]:
    for path in listed(base / "components", findings):
        if not is_folder(path):
            findings.append(wrong(path, "is no component", "a component is a folder", "component"))
            continue
        if not re.fullmatch(r"[0-9a-f]{64}", path.name):
            cure = "name it as margrave app digest says"
            findings.append(wrong(path, "is not named by a digest", cure, "component"))
            continue
        yield path.name, _content(path, findings)


def _content(path: Path, findings: list[Finding]) -> Content:
    """What the folder holds; findings when its name does not say it."""
    try:
        files = content(path)
        found = digest.of_files(files).removeprefix("sha256:")
    except UnsafeArchive as error:
        findings.append(wrong(path, error.message, error.cure, "component"))
        return Content(files=frozenset(ROOTS.values()))  # told once is enough
    if found != path.name:
        cure = "components never change: add a new folder"
        findings.append(wrong(path, f"its content is {found}", cure, "component"))
    for kind, root in ROOTS.items():
        for text, cure in component_files(kind, files, path.name) if root in files else ():
            findings.append(wrong(path / root, text, cure, "component"))
    findings += compose_findings(files, path)
    return Content(found, frozenset(files))

"""What `margrave lint` checks: a document, a package, a registry or a deployments repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from margrave.cli.lint.documents import document
from margrave.cli.lint.package import package
from margrave.cli.lint.repository import repository
from margrave.findings import Finding

if TYPE_CHECKING:
    from pathlib import Path

REPOSITORY_FOLDERS = ("deployments", "sites")


def check(path: Path) -> list[Finding]:
    """Everything that is wrong at or below the path; files are named as the path leads to them."""
    if not path.is_dir():
        return document(path)
    findings = []
    is_repository = any((path / name).is_dir() for name in REPOSITORY_FOLDERS)
    packages = sorted(found.parent for found in path.rglob("margo.yaml") if _ours(found, path))
    if is_repository:
        findings += repository(path)
    for folder in packages:
        findings += package(folder)
    if not is_repository and not packages:
        text = "holds no margo.yaml and no deployments/ or sites/: there is nothing to check"
        findings.append(Finding("", text, "name the folder that does", "empty", str(path)))
    return findings


def _ours(found: Path, base: Path) -> bool:
    """Not inside Git's own folder, nor a component's content."""
    parts = found.relative_to(base).parts
    return ".git" not in parts and parts[0] != "components"

"""What `margrave lint` checks on the disk: documents, packages, registries, repositories.

Lives here: walking, reading and mending files, and the forms in which findings are told. May use:
margrave.linting, which knows the rules. Never: the network, or a file outside of the paths given.
"""

from __future__ import annotations

import stat
from pathlib import Path
from typing import TYPE_CHECKING

from margrave.cli.lint.documents import document
from margrave.cli.lint.files import (
    DOCUMENT_FOLDERS,
    REPOSITORY_FOLDERS,
    is_folder,
    unreadable,
    walk,
    wrong,
)
from margrave.cli.lint.mending import mend_below
from margrave.cli.lint.package import package
from margrave.cli.lint.repository import repository
from margrave.linting import registry
from margrave.linting.reading import DESCRIPTION_FILE

if TYPE_CHECKING:
    from margrave.findings import Finding
    from margrave.linting import Read


def check(path: Path) -> list[Finding]:
    """Everything that is wrong at or below the path; files are named as the path leads to them."""
    try:
        is_folder = stat.S_ISDIR(path.stat().st_mode)
    except OSError as error:
        return [unreadable(path, error)]
    return _folder(path) if is_folder else document(path)


def _folder(path: Path) -> list[Finding]:
    place = path if path.name not in ("", "..") else path.resolve()
    root = None if _is_repository(path) else _root_above(place)
    if root is not None:
        return [one for one in repository(root) if Path(one.file).is_relative_to(place)]
    findings: list[Finding] = repository(path) if _is_repository(path) else []
    skip = frozenset(path / name for name in REPOSITORY_FOLDERS if _is_repository(path))
    packages = [one for one in walk(path, findings, skip) if one.name == DESCRIPTION_FILE]
    read: list[Read] = []
    for file in packages:
        found, wrongs = package(file, follow=False)
        read.append(found)
        findings += [*found.findings, *wrongs]
    findings += registry.check(read)
    if not packages and not findings and not _is_repository(path):
        text = "holds no margo.yaml and no deployments/ or sites/: there is nothing to check"
        findings.append(wrong(path, text, "name the folder that does", "empty"))
    return findings


def _is_repository(path: Path) -> bool:
    return any(is_folder(path / name) for name in DOCUMENT_FOLDERS)


def _root_above(place: Path) -> Path | None:
    """The repository that a part of it is named of: deployments/, one site's folder, sites/."""
    if place.name in REPOSITORY_FOLDERS and _is_repository(place.parent):
        return place.parent
    if place.parent.name in ("deployments", "components") and _is_repository(place.parent.parent):
        return place.parent.parent
    return None


__all__ = ["check", "mend_below"]

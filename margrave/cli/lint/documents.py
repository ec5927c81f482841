"""One document of the disk: its kind by its path, and everything that its reader finds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from margrave.cli.lint.files import load, shown
from margrave.errors import DocumentError
from margrave.linting import Kind, Read, kind_in, kind_of, read

if TYPE_CHECKING:
    from margrave.findings import Finding


def document(path: Path) -> list[Finding]:
    """A single file: margo.yaml is a description, one below `sites/` a site, else a deployment."""
    from margrave.cli.lint.package import package

    kind = kind_by_path(path)
    if kind is Kind.DESCRIPTION:
        found, findings = package(path)
        return [*found.findings, *findings]
    try:
        data = load(path, follow=True)
    except DocumentError as error:
        return list(error.findings)
    return list(read(kind_for(path, data), data, shown(path)).findings)


def kind_for(path: Path, data: bytes) -> Kind:
    """The kind by the path; JSON, which devices and managers exchange, says itself what it is."""
    kind = kind_by_path(path)
    if kind is Kind.DEPLOYMENT and path.suffix == ".json":
        return kind_in(data) or kind
    return kind


def kind_by_path(path: Path) -> Kind:
    """A link is what the file is that it leads to: it is there that the reader's rules hold."""
    try:
        return kind_of(path.resolve().parts)
    except (OSError, RuntimeError):  # a link that leads to itself; reading it says so
        return kind_of(path.absolute().parts)


def read_file(path: Path, kind: Kind, *, follow: bool = False) -> Read:
    """The document, or what stands in its way as the findings."""
    try:
        data = load(path, follow=follow)
    except DocumentError as error:
        return Read(shown(path), kind, error.findings)
    return read(kind, data, shown(path))

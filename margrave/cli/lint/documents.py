"""One document: which kind it is, and everything its reader finds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from margrave import yaml_text
from margrave.documents.deployment import read_deployment
from margrave.documents.site import read_site
from margrave.errors import DocumentError
from margrave.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


def document(path: Path) -> list[Finding]:
    """A single file: margo.yaml is a description, one below sites/ a site, else a deployment."""
    if path.name == "margo.yaml":
        from margrave.cli.lint.package import package

        return package(path.parent)
    if "sites" in path.resolve().parts[:-1] and "deployments" not in path.resolve().parts[:-1]:
        return findings_of(path, read_site)
    return findings_of(path, read_deployment)


def findings_of(path: Path, reader: Callable[[bytes, str], object]) -> list[Finding]:
    """What the reader says; a file that cannot be read is a finding too."""
    warnings: list[Finding] = []
    try:
        data = path.read_bytes()
        warnings += yaml_text.parse(data, str(path)).warnings
        reader(data, str(path))
    except DocumentError as error:
        found = [one if one.file else replace(one, file=str(path)) for one in error.findings]
        return warnings + found
    except OSError as error:
        return [Finding("", f"cannot be read: {error.strerror}", "", "unreadable", str(path))]
    return warnings

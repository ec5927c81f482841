"""Whether a file of the deployments repository may stand: the same rules for pushes and reading."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final

from margrave import digest
from margrave.digest import File
from margrave.documents.deployment import Deployment, read_deployment
from margrave.documents.site import SiteDocument, read_site
from margrave.errors import DocumentError, UnsafeArchive
from margrave.findings import Finding
from margrave.names import is_label, is_uuid

if TYPE_CHECKING:
    from collections.abc import Mapping

_DEPLOYMENT: Final = re.compile(r"deployments/([^/]+)/([^/]+)\.yaml")
SOURCE: Final = re.compile(rb"components/[0-9a-f]{64}")
_SITE: Final = re.compile(r"sites/([^/]+)\.yaml")
_SUBTREE: Final = re.compile(r"(?:deployments/([^/]+)/|sites/([^/]+)\.yaml$|secrets/([^/]+)/)")


@dataclass(frozen=True)
class Place:
    """What a path is: a deployment of a site, or a site's own document (without id)."""

    site: str
    deployment: str = ""


def place_of(path: str) -> Place | None:
    """The place of a path, or None for what is no document."""
    found = _DEPLOYMENT.fullmatch(path)
    if found and is_label(found[1]):
        return Place(found[1], found[2])
    site = _SITE.fullmatch(path)
    return Place(site[1]) if site and is_label(site[1]) else None


def site_of(path: str) -> str | None:
    """The site whose subtree a path belongs to, or None."""
    found = _SUBTREE.match(path)
    name = next((one for one in found.groups() if one), None) if found else None
    return name if is_label(name) else None


def deployment_at(path: str, data: bytes) -> Deployment:
    """The document at its path, or DocumentError with every finding."""
    place = place_of(path)
    if place is None or not place.deployment:
        raise DocumentError([misplaced(path)])
    document = read_deployment(data, path)
    findings = []
    if document.id.lower() != place.deployment.lower() or not is_uuid(place.deployment):
        words = f'"{document.id}" is not the name of the file'
        findings.append(Finding("/id", words, f"name the file {document.id}.yaml", file=path))
    if document.device_id.split("/")[0] != place.site or document.device_id.count("/") != 1:
        words = f'"{document.device_id}" is no place at the site {place.site}'
        cure = f"write {place.site}/* or {place.site}/<node>"
        findings.append(Finding("/metadata/deviceId", words, cure, file=path))
    if findings:
        raise DocumentError(findings)
    return document


def site_at(path: str, data: bytes) -> SiteDocument:
    """A site's document at its path, or DocumentError with every finding."""
    if place_of(path) is None:
        raise DocumentError([misplaced(path)])
    return read_site(data, path)


def misplaced(path: str) -> Finding:
    """A file that stands where only documents may stand."""
    cure = "deployments/<site>/<id>.yaml and sites/<site>.yaml are what belongs there"
    return Finding("", "is no place of a document", cure, file=path)


def check_file(path: str, data: bytes) -> list[Finding]:
    """Findings of a file that a push brings; none for what is nobody's business."""
    root = PurePosixPath(path).parts[0]
    if root not in ("deployments", "sites"):
        return []
    try:
        if root == "sites":
            site_at(path, data)
        else:
            deployment_at(path, data)
    except DocumentError as error:
        return list(error.findings)
    return []


def check_component(address: str, files: Mapping[str, File]) -> str:
    """What is wrong with a component's content, or an empty text."""
    wanted = address.removeprefix("components/")
    try:
        found = digest.of_files(files).removeprefix("sha256:")
    except UnsafeArchive as error:
        return str(error)
    if found != wanted:
        return f"holds content with the digest {found}"
    return ""

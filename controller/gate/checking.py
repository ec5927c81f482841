"""Whether a file of the deployments repository may stand: the same rules for pushes and reading."""

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Final, Protocol

from controller.gate import values
from margrave import digest, yaml_text
from margrave.digest import File
from margrave.documents.deployment import Deployment, read_deployment
from margrave.documents.site import SiteDocument, read_site
from margrave.errors import DocumentError, UnsafeArchive
from margrave.findings import Finding
from margrave.places import Place, misplaced, place_of, site_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from margrave.documents.description import ApplicationDescription

__all__ = ["Place", "place_of", "site_of"]

SOURCE: Final = re.compile(rb"components/[0-9a-f]{64}")


class Descriptions(Protocol):
    """Where the descriptions of applications are looked up."""

    def of(self, document: Deployment) -> ApplicationDescription | None:
        """The description of a document's application and version; None when it is not known."""


def deployment_at(path: str, data: bytes) -> Deployment:
    """The document at its path, or DocumentError with every finding."""
    place = place_of(path)
    if place is None or not place.deployment:
        raise DocumentError([_no_place(path)])
    document = read_deployment(data, path)
    wrong = list(misplaced(document, place.site, place.deployment))
    if wrong:
        parsed = yaml_text.parse(data, path)
        raise DocumentError(parsed.finding(*one, "place") for one in wrong)
    return document


def site_at(path: str, data: bytes) -> SiteDocument:
    """A site's document at its path, or DocumentError with every finding."""
    if place_of(path) is None:
        raise DocumentError([_no_place(path)])
    return read_site(data, path)


def _no_place(path: str) -> Finding:
    """A file that stands where only documents may stand."""
    cure = "deployments/<site>/<id>.yaml and sites/<site>.yaml are what belongs there"
    return Finding("", "is no place of a document", cure, file=path)


def check_file(path: str, data: bytes, descriptions: Descriptions | None = None) -> list[Finding]:
    """Findings of a file that a push brings; none for what is nobody's business.

    The values of a deployment are checked where its application is known.
    """
    root = PurePosixPath(path).parts[0]
    if root not in ("deployments", "sites"):
        return []
    try:
        if root == "sites":
            site_at(path, data)
        else:
            document = deployment_at(path, data)
            known = descriptions.of(document) if descriptions else None
            return values.findings(known, document, data, path) if known else []
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

"""Where documents stand in a deployments repository, and that each says what its path says."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from margrave.names import is_label, is_uuid

if TYPE_CHECKING:
    from collections.abc import Iterator

    from margrave.documents.deployment import Deployment

_DEPLOYMENT: Final = re.compile(r"deployments/([^/]+)/([^/]+)\.yaml")
_SITE: Final = re.compile(r"sites/([^/]+)\.yaml")
_SUBTREE: Final = re.compile(r"(?:deployments/([^/]+)/|sites/([^/]+)\.yaml$|secrets/([^/]+)/)")

Wrong = tuple[tuple[str, ...], str, str]  # where in the document, what was found, the cure


@dataclass(frozen=True)
class Place:
    """What a path is: a deployment of a site, or a site's own document (without id)."""

    site: str
    deployment: str = ""


@lru_cache(maxsize=64)  # each of a commit's thousands is asked for a few times in a row
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


def misplaced(document: Deployment, site: str, stem: str) -> Iterator[Wrong]:
    """Where a deployment says something else than the file's name and folder."""
    if stem.lower() != document.id.lower() or not is_uuid(stem):
        yield ("id",), f"the file is not called {document.id}.yaml", "rename the file"
    named, _, node = document.device_id.partition("/")
    if named != site or not (node == "*" or is_label(node)):
        words = f"{document.device_id} is no place at the site {site}"
        yield ("metadata", "deviceId"), words, f"write {site}/* or {site}/<node>"

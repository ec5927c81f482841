"""Descriptions of the catalogue as files: the hook reads them without waiting for a database."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from margrave.documents.description import read_description
from margrave.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from margrave.documents.deployment import Deployment
    from margrave.documents.description import ApplicationDescription

FOLDER: Final = "MARGRAVE_SHELF"  # the variable that tells the hook where


class Shelf:
    """A folder with a file for each version, named after it and after its content."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, ApplicationDescription | None] = {}

    def of(self, document: Deployment) -> ApplicationDescription | None:
        """The description of a document's application and version; None when it is not known."""
        if document.version is None:
            return None
        key = _key(document.application_id, document.version)
        if key not in self._read:
            self._read[key] = self._look(key)
        return self._read[key]

    def keep(
        self, known: Mapping[tuple[str, str], str], text: Callable[[str, str], bytes | None]
    ) -> None:
        """Bring it in line with {(application, version): digest}; `text` gives what is missing."""
        self._folder.mkdir(parents=True, exist_ok=True)
        wanted = {
            f"{_key(*name)}-{digest.removeprefix('sha256:')[:16]}.yaml": name
            for name, digest in known.items()
        }
        there = {path.name for path in self._folder.iterdir()}
        for file in wanted.keys() - there:
            data = text(*wanted[file])
            if data is not None:
                draft = self._folder / f".{file}"
                draft.write_bytes(data)
                draft.rename(self._folder / file)
        for file in there - wanted.keys():
            (self._folder / file).unlink(missing_ok=True)

    def _look(self, key: str) -> ApplicationDescription | None:
        for path in sorted(self._folder.glob(f"{key}-*.yaml")):
            try:
                return read_description(path.read_bytes())
            except (DocumentError, FileNotFoundError):
                continue  # written by another version of the product, or just replaced
        return None


def _key(app: str, version: str) -> str:
    return hashlib.sha256(f"{app}\0{version}".encode()).hexdigest()[:32]

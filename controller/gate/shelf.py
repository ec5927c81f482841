"""Descriptions of the catalogue as files: the hook reads them without waiting for a database."""

from __future__ import annotations

import hashlib
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from margrave.documents.description import read_description
from margrave.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from margrave.documents.deployment import Deployment
    from margrave.documents.description import ApplicationDescription

FOLDER: Final = "MARGRAVE_SHELF"  # the variable that tells the hook where
_DRAFT: Final = ".draft-"
_LEFT_BEHIND: Final = 3600.0  # seconds: writing a draft takes milliseconds


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
        drafts = {name for name in there if name.startswith(_DRAFT)}
        for file in wanted.keys() - there:
            data = text(*wanted[file])
            if data is not None:
                self._put(file, data)
        for file in there - wanted.keys() - drafts:
            (self._folder / file).unlink(missing_ok=True)
        for file in drafts:
            self._remove_left_behind(self._folder / file)

    def _put(self, file: str, data: bytes) -> None:
        """Write a file whole. Other pushes may write the same one now, so each has its draft."""
        with tempfile.NamedTemporaryFile(prefix=_DRAFT, dir=self._folder, delete=False) as opened:
            draft = Path(opened.name)
            try:
                opened.write(data)
                opened.close()
                draft.replace(self._folder / file)
            except BaseException:
                draft.unlink(missing_ok=True)
                raise

    def _remove_left_behind(self, draft: Path) -> None:
        """Remove the draft of a process that ended in the middle, and of nobody who writes now."""
        with suppress(FileNotFoundError):
            if time.time() - draft.stat().st_mtime > _LEFT_BEHIND:
                draft.unlink()

    def _look(self, key: str) -> ApplicationDescription | None:
        for path in sorted(self._folder.glob(f"{key}-*.yaml")):
            try:
                return read_description(path.read_bytes())
            except (DocumentError, FileNotFoundError):
                continue  # written by another version of the product, or just replaced
        return None


def _key(app: str, version: str) -> str:
    return hashlib.sha256(f"{app}\0{version}".encode()).hexdigest()[:32]

"""What the catalogue knows of versions: for the hook as files, for the reader by looking it up."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Final

from controller.gate.shelf import Shelf
from controller.store import catalog
from margrave.documents.description import read_description
from margrave.errors import DocumentError

if TYPE_CHECKING:
    from pathlib import Path

    from controller.store import Store
    from margrave.documents.deployment import Deployment
    from margrave.documents.description import ApplicationDescription

_ONE_AT_A_TIME: Final = threading.Lock()


def shelve(store: Store, folder: Path) -> Path:
    """Write what a push may be checked against; the folder."""

    def text(app: str, version: str) -> bytes | None:
        with store.session() as session:
            found = catalog.version_content(session, app, version)
        return _bytes(found["text"]) if found else None

    with _ONE_AT_A_TIME:  # who read the catalogue before a change must not write after it
        with store.session() as session:
            known = catalog.usable_versions(session)
        Shelf(folder).keep(known, text)
    return folder


class Descriptions:
    """Descriptions looked up for the documents that are read at once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._found: dict[tuple[str, str], ApplicationDescription | None] = {}

    def of(self, document: Deployment) -> ApplicationDescription | None:
        """The description of a document's application and version; None when it is not known."""
        if document.version is None:
            return None
        key = (document.application_id, document.version)
        if key not in self._found:
            self._found[key] = self._look(*key)
        return self._found[key]

    def _look(self, app: str, version: str) -> ApplicationDescription | None:
        with self._store.session() as session:
            found = catalog.version_content(session, app, version)
        try:
            return read_description(found["text"]) if found else None
        except DocumentError:
            return None  # stored by an older version of the product; its source is read again


def _bytes(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()

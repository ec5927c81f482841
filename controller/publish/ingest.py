"""A head's files written to their rows, in pages; an error in one becomes its own finding."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from controller.gate import checking
from controller.publish.file_findings import findings_of, too_large
from controller.publish.repository import TooLarge
from controller.publish.said import site_values
from controller.store import documents as rows
from controller.store import taking
from controller.store.documents import Told
from controller.store.taking import Document
from margrave.errors import DocumentError, Unreachable
from margrave.names import is_uuid

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from controller.gate.checking import Place
    from controller.publish.reader import Fresh
    from controller.publish.said import Values
    from controller.store import Session, Store
    from margrave.findings import Finding

    Content = bytes | TooLarge | None

LOG = logging.getLogger(__name__)


class Ingestion:
    """One reading of a head: each file is its own failure domain."""

    def __init__(self, store: Store, fresh: Fresh, values: Values, head: str, at: datetime) -> None:
        self._store = store
        self._fresh = fresh
        self._values = values
        self._head = head
        self._at = at

    def take(self, paths: Sequence[str]) -> None:
        """Write the rows of these files, in one transaction where none of them stands in the way.

        Halves are tried after an error, so that one bad file among thousands costs some
        transactions and not thousands.
        """
        try:
            with self._store.write() as session:
                page = Page(session, self._values, self._at)
                for path in paths:
                    page.add(path, self._fresh.contents[path], self._origin(path))
                page.write()
        except Unreachable:
            raise  # the database does not answer: no file is to blame
        except Exception as error:  # noqa: BLE001 - it becomes the finding of a file
            if len(paths) == 1:
                self._refuse(paths[0], error)
                return
            middle = len(paths) // 2
            self.take(paths[:middle])
            self.take(paths[middle:])

    def note_commits(self, wanted: Mapping[str, str]) -> None:
        """Note each site's newest commit; an error is a finding of its site alone."""
        try:
            with self._store.write() as session:
                taking.wanted_commits(session, wanted, self._at)
        except Unreachable:
            raise
        except Exception as error:  # noqa: BLE001 - it becomes the finding of a site
            if len(wanted) == 1:
                self._refuse(f"sites/{next(iter(wanted))}.yaml", error)
                return
            for site, commit in wanted.items():
                self.note_commits({site: commit})

    def _refuse(self, path: str, error: Exception) -> None:
        """Record the error as a finding of its file; the desired state before it stays."""
        LOG.warning("%s at %s is not taken", path, self._head[:12], exc_info=error)
        try:
            with self._store.write() as session:
                page = Page(session, self._values, self._at)
                page.refuse(path, findings_of(path, error), self._origin(path))
                page.write()
        except Unreachable:
            raise
        except Exception:  # the log has both errors, and the next file is read
            LOG.exception("the finding of %s at %s is not stored", path, self._head[:12])

    def _origin(self, path: str) -> Told:
        touch = self._fresh.touches.get(path)
        if touch is None:
            return Told(self._head, "unknown", self._at)
        return Told(touch.commit, touch.author, self._at, touch.request)


class Page:
    """Files that are written to their rows in one transaction."""

    def __init__(self, session: Session, values: Values, at: datetime) -> None:
        self._session = session
        self._values = values
        self._at = at
        self._documents: list[Document] = []
        self._findings: dict[str, tuple[str, list[dict[str, Any]]]] = {}  # by path, with the site

    def add(self, path: str, data: Content, told: Told) -> None:
        """Add a file as it stands now, None when it is gone."""
        place = checking.place_of(path)
        if place is None:
            return
        self._findings[path] = (place.site, [])
        try:
            values = self._columns(place, path, data)
        except Unreachable:
            raise
        except Exception as error:
            expected = isinstance(error, DocumentError)
            LOG.warning("%s at %s: %s", path, told.commit[:12], error, exc_info=not expected)
            self.refuse(path, findings_of(path, error), told)
            return
        if not place.deployment:
            assert values is not None, "a site whose document is gone has an empty one"
            rows.put_site(self._session, place.site, values, told)
            return
        if values is not None:  # taken all the same: runners do, whatever is shown here
            self._findings[path] = (place.site, values["findings"])
        self._documents.append(Document(place.deployment, place.site, values, told))

    def _columns(self, place: Place, path: str, data: Content) -> Mapping[str, Any] | None:
        """Return the columns of a file's row, or None for a deployment that is gone."""
        if isinstance(data, TooLarge):
            raise DocumentError(too_large(path))
        if not place.deployment:
            return site_values(checking.site_at(path, data or b"{}\n"))
        return None if data is None else self._values.of(path, data)

    def refuse(self, path: str, wrong: Iterable[Finding], told: Told) -> None:
        """Show the findings of a file that is not taken; the desired state before it stays."""
        place = checking.place_of(path)
        if place is None:
            return
        findings = [finding.as_dict() for finding in wrong]
        self._findings[path] = (place.site, findings)
        rows.ensure_site(self._session, place.site, told.at)
        if is_uuid(place.deployment):
            rows.broken(self._session, place.deployment, place.site, findings, told.at)

    def write(self) -> None:
        """Write the rows of all files that were added."""
        taking.take(self._session, self._documents, self._at)
        shown = taking.with_findings(self._session, (site for site, _ in self._findings.values()))
        for path, (site, findings) in self._findings.items():
            if findings or site in shown:
                rows.site_findings(self._session, site, path, findings)

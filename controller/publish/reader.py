"""Git's head made known to the database: own commits and people's, good and bad."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from controller.gate import checking
from controller.gate.checking import SOURCE
from controller.publish.repository import ROOTS
from controller.publish.said import Values, site_values
from controller.publish.shelving import Descriptions
from controller.publish.touches import Touch
from controller.store import documents as rows
from controller.store import taking
from controller.store.documents import Told
from controller.store.outages import Unfit
from controller.store.taking import Document
from margrave import commits
from margrave.chart_files import VALUES
from margrave.errors import DocumentError
from margrave.findings import Finding
from margrave.names import is_uuid

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from controller.publish.building import Note
    from controller.publish.repository import Repository
    from controller.store import Session, Store
    from margrave.digest import File

LOG = logging.getLogger(__name__)

# A commit may touch thousands of documents, and reports have to come in between.
CHUNK: Final = 1000

_NOTHING: Final[Mapping[str, Any]] = MappingProxyType({})
COMPOSE: Final = "compose.yaml"


@dataclass(frozen=True)
class Fresh:
    """What a head changed below the sites' folders: files (None: gone), and who touched them."""

    parent: str | None
    contents: Mapping[str, bytes | None]
    touches: Mapping[str, Touch]

    @classmethod
    def made(
        cls, parent: str | None, commit: str, files: Mapping[str, File | None], note: Note
    ) -> Fresh:
        """Of a commit that the controller made from these files."""
        trailers = note.trailers or {}
        actor = trailers.get(commits.ACTOR) or note.actor
        touch = Touch.of(commit, actor, trailers.get(commits.REQUEST, ""))
        contents = {
            path: file.data if file else None
            for path, file in files.items()
            if path.partition("/")[0] in ROOTS
        }
        return cls(parent, contents, dict.fromkeys(contents, touch))


class Reader:
    """Follows the branch. The head is noted last: after a restart what was read is read again,
    which changes nothing."""

    def __init__(self, store: Store, repository: Repository, clock: Callable[[], datetime]) -> None:
        self._store = store
        self._repository = repository
        self._clock = clock

    def ahead(self, base: str | None, files: Mapping[str, File | None]) -> Values:
        """What the documents among these files say, read before there is a commit of them."""
        documents = {
            path: file.data
            for path, file in files.items()
            if file is not None and path.startswith("deployments/")
        }
        values = Values(self._texts(base, documents.values(), files), Descriptions(self._store))
        values.read(documents)
        return values

    def follow(
        self, head: str | None, fresh: Fresh | None = None, values: Values | None = None
    ) -> frozenset[str]:
        """Bring the rows up to the head; the sites that it touched.

        `fresh` is what the head changed, where the controller made it itself, and `values` what
        was read of it ahead.
        """
        with self._store.session() as session:
            known = rows.known_head(session)
        if head is None or head == known:
            return frozenset()
        if fresh is None or fresh.parent != known:
            fresh, values = self._read(known, head), None
        if values is None:
            texts = self._texts(head, fresh.contents.values())
            values = Values(texts, Descriptions(self._store))
        sites = {site for path in fresh.contents if (site := checking.site_of(path))}
        ordered = sorted(fresh.contents)
        for begin in range(0, len(ordered), CHUNK):
            some = ordered[begin : begin + CHUNK]
            try:
                self._take(some, fresh, values, head)
            except Unfit:  # of one of them: the others are not to wait for it
                for path in some:
                    self._take_alone(path, fresh, values, head)
        with self._store.write() as session:
            taking.wanted_commits(session, _newest(sites, fresh.touches, head), self._clock())
            rows.note_head(session, head)
        return frozenset(sites)

    def _take(self, paths: Iterable[str], fresh: Fresh, values: Values, head: str) -> None:
        with self._store.write() as session:
            page = Page(session, values, self._clock())
            for path in paths:
                page.add(path, fresh.contents[path], self._told(fresh.touches.get(path), head))
            page.write()

    def _take_alone(self, path: str, fresh: Fresh, values: Values, head: str) -> None:
        """A file by itself; one that the database has no room for is shown with that finding."""
        try:
            self._take([path], fresh, values, head)
        except Unfit as error:
            LOG.warning("%s at %s: %s", path, head[:12], error)
            with self._store.write() as session:
                page = Page(session, values, self._clock())
                told = self._told(fresh.touches.get(path), head)
                page.refuse(path, [Finding("", error.message, error.cure, file=path)], told)
                page.write()

    def _read(self, known: str | None, head: str) -> Fresh:
        """What changed since the head that is known, by whoever."""
        if known is not None and not self._repository.has(known):
            known = None  # history was rewritten and the old commit collected: read it all
        contents = self._repository.read_paths(head, self._paths(known, head))
        touches = self._repository.touches(known, head)
        named = {path: legible(path) for path in {*contents, *touches}}
        return Fresh(
            known,
            {named[path]: data for path, data in contents.items()},
            {named[path]: touch for path, touch in touches.items()},
        )

    def _told(self, touch: Touch | None, head: str) -> Told:
        at = self._clock()
        return (
            Told(touch.commit, touch.author, at, touch.request)
            if touch
            else Told(head, "unknown", at)
        )

    def _paths(self, known: str | None, head: str) -> set[str]:
        if known is not None:
            return self._repository.changed(known, head)
        here = set(self._repository.paths(head, ROOTS))
        with self._store.session() as session:
            had = {f"deployments/{site}/{one}.yaml" for site, one in rows.in_git(session)}
        return here | had

    def _texts(
        self,
        head: str | None,
        documents: Iterable[bytes | None],
        files: Mapping[str, File | None] = _NOTHING,
    ) -> dict[str, str]:
        """The compose.yaml of each component that the documents name, or its chart's values, all in
        one call; `files` stand above what the head has."""
        found = {name.decode() for data in documents if data for name in SOURCE.findall(data)}
        names = {
            f"{source}/{file}": source
            for file in (VALUES, COMPOSE)  # where both are there, the later is what counts
            for source in sorted(found)
        }
        there = [name for name in names if name not in files] if head else []
        blobs = self._repository.read_many(f"{head}:{name}" for name in there)
        texts: dict[str, str] = {}
        for name, source in names.items():
            own = files.get(name)
            data = own.data if own else blobs.get(f"{head}:{name}")
            if data is not None:
                texts[source] = data.decode("utf-8", "replace")
        return texts


class Page:
    """Files that are taken in one transaction."""

    def __init__(self, session: Session, values: Values, at: datetime) -> None:
        self._session = session
        self._values = values
        self._at = at
        self._documents: list[Document] = []
        self._findings: dict[str, tuple[str, list[dict[str, Any]]]] = {}  # by path, with the site

    def add(self, path: str, data: bytes | None, told: Told) -> None:
        """A file as it stands now, None when it is gone."""
        place = checking.place_of(path)
        if place is None:
            return
        self._findings[path] = (place.site, [])
        try:
            if not place.deployment:
                document = checking.site_at(path, data or b"{}\n")
                rows.put_site(self._session, place.site, site_values(document), told)
                return
            values = None if data is None else self._values.of(path, data)
            if values is not None:  # taken all the same: runners do, whatever is shown here
                self._findings[path] = (place.site, values["findings"])
            self._documents.append(Document(place.deployment, place.site, values, told))
        except DocumentError as error:
            LOG.warning("%s at %s: %s", path, told.commit[:12], error)
            self.refuse(path, error.findings, told)

    def refuse(self, path: str, wrong: Iterable[Finding], told: Told) -> None:
        """A file that is not taken: why is shown, and what was wanted before stays."""
        place = checking.place_of(path)
        if place is None:
            return
        findings = [finding.as_dict() for finding in wrong]
        self._findings[path] = (place.site, findings)
        rows.ensure_site(self._session, place.site, told.at)
        if is_uuid(place.deployment):
            rows.broken(self._session, place.deployment, place.site, findings, told.at)

    def write(self) -> None:
        """Take it all."""
        taking.take(self._session, self._documents, self._at)
        shown = taking.with_findings(self._session, (site for site, _ in self._findings.values()))
        for path, (site, findings) in self._findings.items():
            if findings or site in shown:
                rows.site_findings(self._session, site, path, findings)


def legible(path: str) -> str:
    """A path as text, whatever bytes somebody named a file with; no document has such a path."""
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _newest(sites: Iterable[str], touches: Mapping[str, Touch], head: str) -> dict[str, str]:
    """For each site the commit that last touched its subtree; touches come newest first."""
    found: dict[str, str] = {}
    for path, touch in touches.items():
        site = checking.site_of(path)
        if site is not None:
            found.setdefault(site, touch.commit)
    return {site: found.get(site, head) for site in sites}

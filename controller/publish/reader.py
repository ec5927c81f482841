"""Git's head made known to the database: own commits and people's, good and bad."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from controller.gate import checking
from controller.gate.checking import SOURCE
from controller.publish.ingest import Ingestion
from controller.publish.repository import ROOTS
from controller.publish.said import Values
from controller.publish.shelving import Descriptions
from controller.publish.touches import Touch
from controller.store import documents as rows
from margrave import commits
from margrave.chart_files import VALUES
from margrave.errors import Unreachable
from margrave.yaml_text import SIZE_LIMIT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from controller.publish.building import Note
    from controller.publish.ingest import Content
    from controller.publish.repository import Repository
    from controller.store import Store
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
    contents: Mapping[str, Content]
    touches: Mapping[str, Touch]

    @classmethod
    def made(
        cls, parent: str | None, commit: str, files: Mapping[str, File | None], note: Note
    ) -> Fresh:
        """Of a commit that the controller made from these files."""
        trailers = note.trailers or {}
        actor = trailers.get(commits.ACTOR) or note.actor
        touch = Touch.of(commit, actor, trailers.get(commits.REQUEST, ""))
        contents: dict[str, Content] = {
            path: file.data if file else None
            for path, file in files.items()
            if path.partition("/")[0] in ROOTS
        }
        return cls(parent, contents, dict.fromkeys(contents, touch))


class Reader:
    """Follows the branch, each file by itself: an error in one is a finding on that one alone.

    Only where Git or the database do not answer is the head read again later. The head is noted
    last: after a restart what was read is read again, which changes nothing.
    """

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
        ingestion = Ingestion(self._store, fresh, values, head, self._clock())
        ordered = sorted(fresh.contents)
        for begin in range(0, len(ordered), CHUNK):
            ingestion.take(ordered[begin : begin + CHUNK])
        sites = {site for path in fresh.contents if (site := checking.site_of(path))}
        ingestion.note_commits(_newest(sites, fresh.touches, head))
        with self._store.write() as session:
            rows.note_head(session, head)
        return frozenset(sites)

    def _read(self, known: str | None, head: str) -> Fresh:
        """What changed since the head that is known, by whoever."""
        if known is not None and not self._repository.has(known):
            known = None  # history was rewritten and the old commit collected: read it all
        contents = self._contents(head, self._paths(known, head))
        touches = self._touches(known, head)
        named = {path: legible(path) for path in {*contents, *touches}}
        return Fresh(
            known,
            {named[path]: data for path, data in contents.items()},
            {named[path]: touch for path, touch in touches.items()},
        )

    def _touches(self, known: str | None, head: str) -> dict[str, Touch]:
        """Who changed what; without an answer the documents are read all the same."""
        try:
            return self._repository.touches(known, head)
        except Unreachable:
            raise
        except Exception:  # commits hold whatever people and programs write into them
            LOG.exception("the authors of %s cannot be read", head)
            return {}

    def _contents(self, head: str, paths: Iterable[str]) -> dict[str, Content]:
        """The documents among the paths; of other files nothing is read, however large they are."""
        found: dict[str, Content] = dict.fromkeys(paths)
        documents = [path for path in found if checking.place_of(path)]
        return {**found, **self._repository.read_bounded(head, documents, SIZE_LIMIT)}

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
        documents: Iterable[Content],
        files: Mapping[str, File | None] = _NOTHING,
    ) -> dict[str, str]:
        """The compose.yaml of each component that the documents name, or its chart's values, all in
        one call; `files` stand above what the head has."""
        found = {
            name.decode()
            for data in documents
            if isinstance(data, bytes)
            for name in SOURCE.findall(data)
        }
        names = {
            f"{source}/{file}": source
            for file in (VALUES, COMPOSE)  # where both are there, the later is what counts
            for source in sorted(found)
        }
        there = [name for name in names if name not in files]
        blobs = self._repository.read_bounded(head, there, SIZE_LIMIT) if head else {}
        texts: dict[str, str] = {}
        for name, source in names.items():
            own = files.get(name)
            data = own.data if own else blobs.get(name)
            if isinstance(data, bytes):  # what is too large is refused by the node
                texts[source] = data.decode("utf-8", "replace")
        return texts


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

"""Git's head made known to the database: own commits and people's, good and bad."""

from __future__ import annotations

import logging
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from controller import chart, compose
from controller.gate import checking
from controller.gate import values as checked
from controller.gate.checking import SOURCE
from controller.gate.moulds import PATH, Known, mould_of
from controller.publish.repository import ROOTS, Touch
from controller.publish.shelving import Descriptions
from controller.store import documents as rows
from controller.store import taking
from controller.store.documents import Told
from controller.store.taking import Document
from margrave import digest
from margrave.chart_files import VALUES
from margrave.errors import DocumentError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from controller.publish.building import Note
    from controller.publish.repository import Repository
    from controller.store import Session, Store
    from margrave.digest import File
    from margrave.documents.deployment import Deployment
    from margrave.documents.site import SiteDocument

LOG = logging.getLogger(__name__)

# A commit may touch thousands of documents, and reports have to come in between.
CHUNK: Final = 1000
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
        actor = trailers.get("Margrave-Actor") or note.actor
        touch = Touch(commit, actor, note.at, trailers.get("Margrave-Request"))
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

    def follow(self, head: str | None, fresh: Fresh | None = None) -> frozenset[str]:
        """Bring the rows up to the head; the sites that it touched.

        `fresh` is what the head changed, where the controller made it itself.
        """
        with self._store.session() as session:
            known = rows.known_head(session)
        if head is None or head == known:
            return frozenset()
        if fresh is None or fresh.parent != known:
            fresh = self._read(known, head)
        texts = self._texts(head, fresh.contents.values())
        values = Values(texts, Descriptions(self._store))
        sites = {site for path in fresh.contents if (site := checking.site_of(path))}
        ordered = sorted(fresh.contents)
        for begin in range(0, len(ordered), CHUNK):
            some = ordered[begin : begin + CHUNK]
            with self._store.write() as session:
                page = Page(session, values, self._clock())
                for path in some:
                    told = self._told(fresh.touches.get(path), head)
                    page.add(path, fresh.contents[path], told)
                page.write()
        with self._store.write() as session:
            taking.wanted_commits(session, _newest(sites, fresh.touches, head), self._clock())
            rows.note_head(session, head)
        return frozenset(sites)

    def _read(self, known: str | None, head: str) -> Fresh:
        """What changed since the head that is known, by whoever."""
        if known is not None and not self._repository.has(known):
            known = None  # history was rewritten and the old commit collected: read it all
        contents = self._repository.read_paths(head, self._paths(known, head))
        return Fresh(known, contents, self._repository.touches(known, head))

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

    def _texts(self, head: str, documents: Iterable[bytes | None]) -> dict[str, str]:
        """The compose.yaml of each component that the documents name, or its chart's values, all in
        one call."""
        found = {name.decode() for data in documents if data for name in SOURCE.findall(data)}
        names = {
            f"{head}:{source}/{file}": source
            for file in (VALUES, COMPOSE)  # where both are there, the later is what counts
            for source in sorted(found)
        }
        blobs = self._repository.read_many(names)
        return {
            names[name]: data.decode("utf-8", "replace")
            for name, data in blobs.items()
            if data is not None
        }


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
            findings = [finding.as_dict() for finding in error.findings]
            self._findings[path] = (place.site, findings)
            LOG.warning("%s at %s: %s", path, told.commit[:12], error)
            rows.ensure_site(self._session, place.site, told.at)
            if place.deployment:
                rows.broken(self._session, place.deployment, place.site, findings, told.at)

    def write(self) -> None:
        """Take it all."""
        taking.take(self._session, self._documents, self._at)
        shown = taking.with_findings(self._session, (site for site, _ in self._findings.values()))
        for path, (site, findings) in self._findings.items():
            if findings or site in shown:
                rows.site_findings(self._session, site, path, findings)


class Values:
    """A deployment's columns; images and host ports as far as Git holds its components."""

    def __init__(self, texts: Mapping[str, str], descriptions: Descriptions) -> None:
        self._texts = texts
        self._descriptions = descriptions
        self._known: Known[dict[str, Any]] = Known()

    def of(self, path: str, data: bytes) -> dict[str, Any]:
        """The columns of the document, or DocumentError."""
        mould = mould_of(path, data)
        found = None
        if mould is not None:
            with suppress(DocumentError):  # told below, of the document itself
                found = self._known.get(mould, lambda: self._read(PATH, mould))
        if found is None:
            found = self._read(path, data)
        return {
            **found,
            "findings": [{**one, "file": path} for one in found["findings"]],
            "document": data.decode("utf-8"),
            "document_digest": digest.of_bytes(data),
        }

    def _read(self, path: str, data: bytes) -> dict[str, Any]:
        document = checking.deployment_at(path, data)
        needs = Needs()
        for component in document.components:
            text = self._texts.get(component.source or "")
            if text is not None:
                needs.of(document, component.name, text)
        known = self._descriptions.of(document)
        wrong = checked.findings(known, document, data, path) if known else []
        findings = [one.as_dict() for one in wrong]
        return {**deployment_values(document), "needs": needs.as_dict(), "findings": findings}


class Needs:
    """What a deployment takes on a node, over its components."""

    def __init__(self) -> None:
        self._ports: set[str] = set()
        self._images: list[str] = []

    def of(self, document: Deployment, component: str, text: str) -> None:
        """Count a component in, by its compose.yaml or by its chart's values."""
        if document.profile_type == "helm":
            self._take(chart.images(text, document.targeted(component)))
        else:
            self._add(text, document.variables(component))

    def _add(self, text: str, variables: dict[str, str]) -> None:
        """A compose.yaml; one that cannot be read is the node's to refuse."""
        try:
            self._ports |= compose.host_ports(text, variables)
            images = [compose.filled(image, variables) for image in compose.images(text)]
        except DocumentError:
            return
        self._take(images)

    def _take(self, images: Iterable[str]) -> None:
        self._images += [image for image in images if image not in self._images]

    def as_dict(self) -> dict[str, Any]:
        """The shape that is stored."""
        return {"ports": sorted(self._ports), "images": self._images}


def deployment_values(document: Deployment) -> dict[str, Any]:
    """Columns of a deployment from its document."""
    node = document.device_id.split("/")[-1]
    return {
        "name": document.name,
        "app": document.application_id,
        "version": document.version,
        "profile": document.profile_type,
        "node": None if node == "*" else node,
        "revision": document.revision,
        "parameters": document.values,
        "extensions": dict(document.raw["spec"].get("x-margrave-extensions") or {}),
    }


def site_values(document: SiteDocument) -> dict[str, Any]:
    """Columns of a site from its document."""
    paused = document.paused
    return {
        "document": dict(document.raw),
        "labels": dict(document.labels),
        "timezone": document.timezone,
        "paused": paused.model_dump() if paused else None,
        "drain": document.drain,
        "drained": [name for name, wish in document.part.nodes.items() if wish.drain],
    }


def _newest(sites: Iterable[str], touches: Mapping[str, Touch], head: str) -> dict[str, str]:
    """For each site the commit that last touched its subtree; touches come newest first."""
    found: dict[str, str] = {}
    for path, touch in touches.items():
        site = checking.site_of(path)
        if site is not None:
            found.setdefault(site, touch.commit)
    return {site: found.get(site, head) for site in sites}
